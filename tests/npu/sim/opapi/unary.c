/* Functions of one tensor. */

#include "elementwise.h"

/* Name, and in place; `in` and `to` are the dtypes of self and out. */
#define UNARY(Name, mode, real, integer, complexes, in, to) \
    ELEMENTWISE(Name, mode, real, integer, complexes, (IN, self, in), (OUT, out, to))
#define TWIN(Name, mode, real, integer, complexes, in) \
    ELEMENTWISE(Inplace##Name, mode, real, integer, complexes, (REF, selfRef, in))
#define BOTH(Name, mode, real, integer, complexes, in, to) \
    UNARY(Name, mode, real, integer, complexes, in, to)    \
    TWIN(Name, mode, real, integer, complexes, to)

#define D_BIN64 (D_B | D_I64)

/* --- signs and rounding ------------------------------------------------------------------ */

REAL(abs, fabs(x[0]))
INTEGER(abs, x[0] < 0 ? -x[0] : x[0])
COMPLEX(abs, cabs(x[0]))
REAL(neg, -x[0])
INTEGER(neg, -x[0])
COMPLEX(neg, -x[0])
REAL(sign, UNLESS_NAN(x[0], isnan(x[0]) ? x[0] : (x[0] > 0) - (x[0] < 0)))
INTEGER(sign, (x[0] > 0) - (x[0] < 0))
COMPLEX(sign, JOINED(1, x[0] == 0 ? 0 : x[0] / cabs(x[0])))
REAL(floor, floor(x[0]))
REAL(ceil, ceil(x[0]))
REAL(round, rint(x[0]))
REAL(trunc, trunc(x[0]))
REAL(frac, x[0] - trunc(x[0]))
INTEGER(same, x[0])
INTEGER(zero, 0 * x[0])

UNARY(Abs, MODULUS, real_abs, integer_abs, complex_abs, D_REALS | D_C64, D_REALS)
BOTH(Neg, PROMOTED, real_neg, integer_neg, complex_neg, D_FLOATS | D_C | D_INDEX | D_I8,
     D_FLOATS | D_C | D_INDEX | D_I8)
ELEMENTWISE(Sign, PROMOTED, real_sign, integer_sign, complex_sign,
            (IN, self, D_FLOATS | D_B | D_C | D_INDEX), (OUT, result, D_FLOATS | D_B | D_C | D_INDEX))
BOTH(Floor, SAME, real_floor, integer_same, NULL, D_FLOATS | D_I, D_FLOATS | D_I)
BOTH(Ceil, SAME, real_ceil, NULL, NULL, D_FLOATS, D_FLOATS)
BOTH(Round, SAME, real_round, integer_same, NULL, D_FLOATS | D_INDEX, D_FLOATS | D_INDEX)
BOTH(Trunc, SAME, real_trunc, NULL, NULL, D_F, D_F)
BOTH(Frac, SAME, real_frac, integer_zero, NULL, D_F | D_I, D_F | D_I)

/* --- exponentials, logarithms, roots ----------------------------------------------------- */

REAL(exp, exp(x[0]))
COMPLEX(exp, JOINED(1, cexp(x[0])))
REAL(exp2, exp2(x[0]))
REAL(expm1, expm1(x[0]))
REAL(log, log(x[0]))
COMPLEX(log, clog(x[0]))
REAL(log2, log2(x[0]))
COMPLEX(log2, clog(x[0]) / log(2))
REAL(log10, log10(x[0]))
COMPLEX(log10, clog(x[0]) / log(10))
REAL(log1p, log1p(x[0]))
REAL(sqrt, sqrt(x[0]))
COMPLEX(sqrt, csqrt(x[0]))
REAL(rsqrt, 1 / sqrt(x[0]))
COMPLEX(rsqrt, JOINED(1, 1 / csqrt(x[0])))
REAL(reciprocal, 1 / x[0])
COMPLEX(reciprocal, JOINED(1, 1 / x[0]))
REAL(square, x[0] * x[0])
INTEGER(square, x[0] * x[0])

BOTH(Exp, FLOATING, real_exp, NULL, complex_exp, D_FLOATS | D_C | D_BIN64, D_FLOATS | D_C)
BOTH(Exp2, FLOATING, real_exp2, NULL, NULL, D_REALS, D_FLOATS)
BOTH(Expm1, FLOATING, real_expm1, NULL, NULL, D_F | D_BIN64, D_F)
BOTH(Log, FLOATING, real_log, NULL, complex_log, D_NUMBERS, D_FLOATS | D_C)
BOTH(Log2, FLOATING, real_log2, NULL, complex_log2, D_NUMBERS, D_FLOATS | D_C)
BOTH(Log10, FLOATING, real_log10, NULL, complex_log10, D_NUMBERS, D_F | D_C)
BOTH(Log1p, FLOATING, real_log1p, NULL, NULL, D_REALS, D_FLOATS)
BOTH(Sqrt, FLOATING, real_sqrt, NULL, complex_sqrt, D_NUMBERS, D_FLOATS | D_C)
BOTH(Rsqrt, FLOATING, real_rsqrt, NULL, complex_rsqrt, D_NUMBERS, D_FLOATS | D_C)
BOTH(Reciprocal, FLOATING, real_reciprocal, NULL, complex_reciprocal, D_NUMBERS, D_FLOATS | D_C)
UNARY(Square, SAME, real_square, integer_square, NULL, D_F | D_INDEX, D_F | D_INDEX)

/* --- trigonometric and hyperbolic -------------------------------------------------------- */

REAL(sin, sin(x[0]))
COMPLEX(sin, JOINED(1, csin(x[0])))
REAL(cos, cos(x[0]))
COMPLEX(cos, JOINED(1, ccos(x[0])))
REAL(tan, tan(x[0]))
COMPLEX(tan, JOINED(1, ctan(x[0])))
REAL(sinh, sinh(x[0]))
COMPLEX(sinh, JOINED(1, csinh(x[0])))
REAL(cosh, cosh(x[0]))
COMPLEX(cosh, JOINED(1, ccosh(x[0])))
REAL(asin, asin(x[0]))
REAL(acos, acos(x[0]))
REAL(atan, atan(x[0]))
REAL(asinh, asinh(x[0]))
COMPLEX(asinh, casinh(x[0]))
REAL(acosh, acosh(x[0]))
COMPLEX(acosh, cacosh(x[0]))
REAL(atanh, atanh(x[0]))
COMPLEX(atanh, catanh(x[0]))

BOTH(Sin, FLOATING, real_sin, NULL, complex_sin, D_NUMBERS, D_FLOATS | D_C)
BOTH(Cos, FLOATING, real_cos, NULL, complex_cos, D_NUMBERS, D_FLOATS | D_C)
BOTH(Tan, FLOATING, real_tan, NULL, complex_tan, D_NUMBERS, D_FLOATS | D_C)
BOTH(Sinh, FLOATING, real_sinh, NULL, complex_sinh, D_NUMBERS, D_FLOATS | D_C)
BOTH(Cosh, FLOATING, real_cosh, NULL, complex_cosh, D_NUMBERS, D_FLOATS | D_C)
BOTH(Asin, FLOATING, real_asin, NULL, NULL, D_REALS, D_FLOATS)
BOTH(Acos, FLOATING, real_acos, NULL, NULL, D_REALS, D_FLOATS)
BOTH(Atan, FLOATING, real_atan, NULL, NULL, D_REALS, D_FLOATS)
BOTH(Asinh, FLOATING, real_asinh, NULL, complex_asinh, D_NUMBERS, D_FLOATS | D_C)
BOTH(Acosh, FLOATING, real_acosh, NULL, complex_acosh, D_NUMBERS, D_FLOATS | D_C)
BOTH(Atanh, FLOATING, real_atanh, NULL, complex_atanh, D_NUMBERS, D_FLOATS | D_C)

/* --- error functions, what is not a number ----------------------------------------------- */

REAL(erf, erf(x[0]))
REAL(erfc, erfc(x[0]))

/* Newton's method on erf, from a rational start. */
static double real_erfinv(const double *x)
{
    if (fabs(x[0]) >= 1) {
        return fabs(x[0]) == 1 ? copysign(INFINITY, x[0]) : NAN;
    }
    double l = log1p(-x[0] * x[0]);
    double a = 2 / (M_PI * 0.147) + l / 2;
    double y = copysign(sqrt(sqrt(a * a - l / 0.147) - a), x[0]);
    for (int i = 0; i < 4; i++) {
        y -= (erf(y) - x[0]) / (2 / sqrt(M_PI) * exp(-y * y));
    }
    return y;
}

REAL(nan_to_num, isnan(x[0])   ? x[1]
                 : isinf(x[0]) ? x[0] > 0 ? x[2] : x[3]
                               : x[0])

BOTH(Erf, FLOATING, real_erf, NULL, NULL, D_FLOATS | D_BIN64, D_FLOATS)
BOTH(Erfc, FLOATING, real_erfc, NULL, NULL, D_FLOATS | D_BIN64, D_FLOATS)
BOTH(Erfinv, FLOATING, real_erfinv, NULL, NULL, D_F | D_I | D_B, D_F)
ELEMENTWISE(NanToNum, SAME, real_nan_to_num, integer_same, NULL, (IN, self, D_F | D_I | D_B),
            (FLOAT, nan, 0), (FLOAT, posinf, 0), (FLOAT, neginf, 0), (OUT, out, D_F | D_I | D_B))
ELEMENTWISE(InplaceNanToNum, SAME, real_nan_to_num, integer_same, NULL,
            (REF, selfRef, D_F | D_I | D_B), (FLOAT, nan, 0), (FLOAT, posinf, 0),
            (FLOAT, neginf, 0))
