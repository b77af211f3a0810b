/* Arithmetic, tensor with tensor and tensor with scalar. */

#include "elementwise.h"

/* --- sums and products ------------------------------------------------------------------- */

REAL(add, x[0] + x[2] * x[1])
INTEGER(add, x[0] + x[2] * x[1])
COMPLEX(add, JOINED(3, x[0] + x[2] * x[1]))
REAL(sub, x[0] - x[2] * x[1])
INTEGER(sub, x[0] - x[2] * x[1])
COMPLEX(sub, JOINED(3, x[0] - x[2] * x[1]))
REAL(rsub, x[1] - x[2] * x[0])
INTEGER(rsub, x[1] - x[2] * x[0])
COMPLEX(rsub, JOINED(3, x[1] - x[2] * x[0]))
REAL(mul, x[0] * x[1])
INTEGER(mul, x[0] * x[1])
COMPLEX(mul, JOINED(2, x[0] * x[1]))
REAL(div, x[0] / x[1])
COMPLEX(div, JOINED(2, x[0] / x[1]))

#define IN_NUMBERS(name) (IN, name, D_NUMBERS)
#define OUT_NUMBERS (OUT, out, D_NUMBERS)
#define ALPHA (FACTOR, alpha, 0)
#define OTHER (SCALAR, other, 0)
#define SELF_REF(dtypes) (REF, selfRef, dtypes)

ELEMENTWISE(Add, PROMOTED, real_add, integer_add, complex_add, IN_NUMBERS(self),
            IN_NUMBERS(other), ALPHA, OUT_NUMBERS)
ELEMENTWISE(InplaceAdd, PROMOTED, real_add, integer_add, complex_add, SELF_REF(D_NUMBERS),
            IN_NUMBERS(other), ALPHA)
ELEMENTWISE(Adds, PROMOTED, real_add, integer_add, complex_add, IN_NUMBERS(self), OTHER, ALPHA,
            OUT_NUMBERS)
ELEMENTWISE(InplaceAdds, PROMOTED, real_add, integer_add, complex_add, SELF_REF(D_REALS), OTHER,
            ALPHA)
ELEMENTWISE(Sub, PROMOTED, real_sub, integer_sub, complex_sub, IN_NUMBERS(self),
            IN_NUMBERS(other), ALPHA, OUT_NUMBERS)
ELEMENTWISE(InplaceSub, PROMOTED, real_sub, integer_sub, complex_sub, SELF_REF(D_NUMBERS),
            IN_NUMBERS(other), ALPHA)
ELEMENTWISE(Subs, PROMOTED, real_sub, integer_sub, complex_sub, IN_NUMBERS(self), OTHER, ALPHA,
            OUT_NUMBERS)
ELEMENTWISE(InplaceSubs, PROMOTED, real_sub, integer_sub, complex_sub, SELF_REF(D_NUMBERS), OTHER,
            ALPHA)
ELEMENTWISE(Rsubs, PROMOTED, real_rsub, integer_rsub, complex_rsub,
            (IN, self, D_FLOATS | D_I | D_C), OTHER, ALPHA, (OUT, out, D_FLOATS | D_I | D_C))
ELEMENTWISE(Mul, PROMOTED, real_mul, integer_mul, complex_mul, IN_NUMBERS(self),
            IN_NUMBERS(other), OUT_NUMBERS)
ELEMENTWISE(InplaceMul, PROMOTED, real_mul, integer_mul, complex_mul, SELF_REF(D_NUMBERS),
            IN_NUMBERS(other))
ELEMENTWISE(Muls, PROMOTED, real_mul, integer_mul, complex_mul, IN_NUMBERS(self), OTHER,
            OUT_NUMBERS)
ELEMENTWISE(InplaceMuls, PROMOTED, real_mul, integer_mul, complex_mul, SELF_REF(D_NUMBERS), OTHER)
ELEMENTWISE(Div, FLOATING, real_div, NULL, complex_div, IN_NUMBERS(self), IN_NUMBERS(other),
            OUT_NUMBERS)
ELEMENTWISE(InplaceDiv, FLOATING, real_div, NULL, complex_div, SELF_REF(D_NUMBERS),
            IN_NUMBERS(other))
ELEMENTWISE(Divs, FLOATING, real_div, NULL, complex_div, IN_NUMBERS(self), OTHER, OUT_NUMBERS)
ELEMENTWISE(InplaceDivs, FLOATING, real_div, NULL, complex_div, SELF_REF(D_NUMBERS), OTHER)

/* --- division with rounding, remainders -------------------------------------------------- */

static int64_t floor_divide(int64_t a, int64_t b)
{
    if (b == 0) {
        return -1; /* the device gives all bits set */
    }
    if (b == -1) {
        return -a;
    }
    int64_t quotient = a / b;
    return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t floor_remainder(int64_t a, int64_t b)
{
    return b == 0 ? a : b == -1 ? 0 : a - b * floor_divide(a, b);
}

static double real_floor_divide(const double *x)
{
    if (x[1] == 0) {
        return x[0] / x[1];
    }
    double remainder = fmod(x[0], x[1]);
    double quotient = (x[0] - remainder) / x[1];
    if (remainder != 0 && (remainder < 0) != (x[1] < 0)) {
        quotient -= 1;
    }
    double rounded = floor(quotient);
    return quotient == 0 ? copysign(0, x[0] / x[1])
                         : rounded + (quotient - rounded > 0.5 ? 1 : 0);
}

static double real_remainder(const double *x)
{
    double remainder = fmod(x[0], x[1]);
    return remainder != 0 && (remainder < 0) != (x[1] < 0) ? remainder + x[1] : remainder;
}

INTEGER(floor_divide, floor_divide(x[0], x[1]))
INTEGER(remainder, floor_remainder(x[0], x[1]))
REAL(fmod, fmod(x[0], x[1]))
INTEGER(fmod, x[1] == 0 ? x[0] : x[1] == -1 ? 0 : x[0] % x[1])

enum { MODE_TRUE = 0, MODE_TRUNC = 1, MODE_FLOOR = 2 };

static double real_div_mod(const double *x)
{
    int mode = (int)x[2];
    return mode == MODE_FLOOR ? real_floor_divide(x)
           : mode == MODE_TRUNC ? trunc(x[0] / x[1])
                                : x[0] / x[1];
}

static int64_t integer_div_mod(const int64_t *x)
{
    return x[2] == MODE_FLOOR ? floor_divide(x[0], x[1])
           : x[1] == 0        ? -1
           : x[1] == -1       ? -x[0]
                              : x[0] / x[1];
}

COMPLEX(div_mod, JOINED(2, x[0] / x[1]))

static aclnnStatus check_div_mod(const Call *call)
{
    int64_t mode = integer_of(call, "mode");
    bool complex_tensors = class_of(output_of(call)->dtype) == CLASS_COMPLEX;
    if (mode < MODE_TRUE || mode > MODE_FLOOR || (complex_tensors && mode != MODE_TRUE)) {
        return refuse("operator-attribute", "mode %lld", (long long)mode);
    }
    return elementwise_check(call);
}

#define DIV_MOD(Name, ...)                                                                  \
    static const Elementwise elementwise_##Name = {PROMOTED, real_div_mod, integer_div_mod, \
                                                   complex_div_mod};                        \
    OPERATOR(Name, check_div_mod, elementwise_run, &elementwise_##Name, TRAIT_ALIAS, __VA_ARGS__)

DIV_MOD(DivMod, IN_NUMBERS(self), IN_NUMBERS(other), (INT, mode, 0), OUT_NUMBERS)
DIV_MOD(InplaceDivMod, SELF_REF(D_NUMBERS), (IN, other, D_REALS), (INT, mode, 0))
DIV_MOD(DivMods, IN_NUMBERS(self), OTHER, (INT, mode, 0), OUT_NUMBERS)
DIV_MOD(InplaceDivMods, SELF_REF(D_NUMBERS), OTHER, (INT, mode, 0))

#define D_MODULO (D_FLOATS | D_INDEX)
#define D_FMOD (D_FLOATS | (D_I & ~D_I16))
#define OUT_CAST (OUT, out, D_FLOATS | D_I | D_C)

ELEMENTWISE(FloorDivide, PROMOTED, real_floor_divide, integer_floor_divide, NULL,
            (IN, self, D_REALS), (IN, other, D_REALS), OUT_CAST)
ELEMENTWISE(InplaceFloorDivide, PROMOTED, real_floor_divide, integer_floor_divide, NULL,
            SELF_REF(D_REALS), (IN, other, D_REALS))
ELEMENTWISE(FloorDivides, PROMOTED, real_floor_divide, integer_floor_divide, NULL,
            (IN, self, D_REALS), OTHER, (OUT, out, D_REALS))
ELEMENTWISE(InplaceFloorDivides, PROMOTED, real_floor_divide, integer_floor_divide, NULL,
            SELF_REF(D_REALS), OTHER)
ELEMENTWISE(RemainderTensorTensor, PROMOTED, real_remainder, integer_remainder, NULL,
            (IN, self, D_MODULO), (IN, other, D_MODULO), OUT_CAST)
ELEMENTWISE(InplaceRemainderTensorTensor, PROMOTED, real_remainder, integer_remainder, NULL,
            SELF_REF(D_MODULO), (IN, other, D_MODULO))
ELEMENTWISE(RemainderTensorScalar, PROMOTED, real_remainder, integer_remainder, NULL,
            (IN, self, D_MODULO), OTHER, OUT_CAST)
ELEMENTWISE(InplaceRemainderTensorScalar, PROMOTED, real_remainder, integer_remainder, NULL,
            SELF_REF(D_MODULO), OTHER)
ELEMENTWISE(RemainderScalarTensor, PROMOTED, real_remainder, integer_remainder, NULL,
            (SCALAR, self, 0), (IN, other, D_MODULO), (OUT, out, D_MODULO))
ELEMENTWISE(FmodTensor, PROMOTED, real_fmod, integer_fmod, NULL, (IN, self, D_FMOD),
            (IN, other, D_FMOD), (OUT, out, D_FMOD))
ELEMENTWISE(InplaceFmodTensor, PROMOTED, real_fmod, integer_fmod, NULL, SELF_REF(D_FMOD),
            (IN, other, D_FMOD))
ELEMENTWISE(FmodScalar, PROMOTED, real_fmod, integer_fmod, NULL, (IN, self, D_FMOD), OTHER,
            (OUT, out, D_FMOD))
ELEMENTWISE(InplaceFmodScalar, PROMOTED, real_fmod, integer_fmod, NULL, SELF_REF(D_FMOD), OTHER)

/* --- powers ------------------------------------------------------------------------------ */

static int64_t integer_pow(const int64_t *x)
{
    int64_t power = 1, base = x[0];
    if (x[1] < 0) {
        return base == 1 ? 1 : base == -1 ? (x[1] % 2 ? -1 : 1) : 0;
    }
    for (int64_t left = x[1]; left > 0; left /= 2) {
        power = left % 2 ? power * base : power;
        base *= base;
    }
    return power;
}

REAL(pow, pow(x[0], x[1]))
COMPLEX(pow, JOINED(2, cpow(x[0], x[1])))
/* What a number of the host is known to be before: anything to the power of zero is one. */
COMPLEX(pow_scalar, x[1] == 0 ? 1 : JOINED(2, cpow(x[0], x[1])))

static aclnnStatus check_pow(const Call *call)
{
    const Argument *self = argument_of(call, "self");
    const Argument *exponent = argument_of(call, "exponent");
    bool self_scalar = self->parameter->kind == PARAMETER_SCALAR;
    bool exponent_scalar = exponent->parameter->kind == PARAMETER_SCALAR;
    aclDataType base = self_scalar ? self->number.dtype : self->view.dtype;
    aclDataType power = exponent_scalar ? exponent->number.dtype : exponent->view.dtype;
    if (base == ACL_BOOL && power == ACL_BOOL) {
        return refuse("operator-dtype", "self and exponent are both BOOL");
    }
    if (exponent_scalar && class_of(base) == CLASS_INTEGER && class_of(power) == CLASS_INTEGER &&
        exponent->number.integer < 0) {
        return refuse("operator-attribute", "integers to a negative integer power");
    }
    return elementwise_check(call);
}

#define POWER(Name, complexes, ...)                                                             \
    static const Elementwise elementwise_##Name = {PROMOTED, real_pow, integer_pow, complexes}; \
    OPERATOR(Name, check_pow, elementwise_run, &elementwise_##Name, TRAIT_ALIAS, __VA_ARGS__)

#define D_POWER (D_FLOATS | D_I | D_C)

POWER(PowTensorTensor, complex_pow, IN_NUMBERS(self), IN_NUMBERS(exponent), OUT_NUMBERS)
POWER(InplacePowTensorTensor, complex_pow, (REF, self, D_NUMBERS), IN_NUMBERS(exponent))
POWER(PowTensorScalar, complex_pow_scalar, IN_NUMBERS(self), (SCALAR, exponent, 0), OUT_NUMBERS)
POWER(InplacePowTensorScalar, complex_pow_scalar, (REF, self, D_POWER), (SCALAR, exponent, 0))
POWER(PowScalarTensor, complex_pow, (SCALAR, self, 0), (IN, exponent, D_POWER), (OUT, out, D_POWER))

/* --- extremes, bounds -------------------------------------------------------------------- */

/* NaN wins, as in PyTorch. */
static double larger(double a, double b)
{
    return isnan(a) || a >= b ? a : b;
}

static double smaller(double a, double b)
{
    return isnan(a) || a <= b ? a : b;
}

REAL(maximum, larger(x[0], x[1]))
REAL(minimum, smaller(x[0], x[1]))
/* Of a bound that is NaN it is not said whether it bounds. */
REAL(clamp, UNLESS_NAN(isnan(x[1]) ? x[1] : x[2], smaller(larger(x[0], x[1]), x[2])))
REAL(clamp_min, UNLESS_NAN(x[1], larger(x[0], x[1])))
REAL(clamp_max, UNLESS_NAN(x[1], smaller(x[0], x[1])))
INTEGER(maximum, x[0] > x[1] ? x[0] : x[1])
INTEGER(minimum, x[0] < x[1] ? x[0] : x[1])
INTEGER(clamp, x[0] > x[2] || x[1] > x[2] ? x[2] : x[0] < x[1] ? x[1] : x[0])

static aclnnStatus check_clamp(const Call *call)
{
    if (!given(call, "clipValueMin") && !given(call, "clipValueMax")) {
        return refuse_code(ACLNN_ERR_PARAM_NULLPTR, "null-argument", "both bounds are NULL");
    }
    return elementwise_check(call);
}

#define CLAMP(Name, ...)                                                                           \
    static const Elementwise elementwise_##Name = {PROMOTED, real_clamp, integer_clamp, NULL}; \
    OPERATOR(Name, check_clamp, elementwise_run, &elementwise_##Name, TRAIT_ALIAS, __VA_ARGS__)

#define D_CLAMP (D_FLOATS | D_I)

ELEMENTWISE(Maximum, PROMOTED, real_maximum, integer_maximum, NULL, (IN, self, D_REALS),
            (IN, other, D_REALS), (OUT, out, D_REALS))
ELEMENTWISE(Minimum, PROMOTED, real_minimum, integer_minimum, NULL, (IN, self, D_REALS),
            (IN, other, D_REALS), (OUT, out, D_REALS))
ELEMENTWISE(ClampMin, PROMOTED, real_clamp_min, integer_maximum, NULL, (IN, self, D_CLAMP),
            (SCALAR, clipValueMin, 0), (OUT, out, D_CLAMP))
ELEMENTWISE(ClampMax, PROMOTED, real_clamp_max, integer_minimum, NULL, (IN, self, D_CLAMP),
            (SCALAR, clipValueMax, 0), (OUT, out, D_CLAMP))
ELEMENTWISE(InplaceClampMax, PROMOTED, real_clamp_max, integer_minimum, NULL, SELF_REF(D_CLAMP),
            (SCALAR, clipValueMax, 0))
CLAMP(Clamp, (IN, self, D_F | D_I), (LOWER, clipValueMin, 0), (UPPER, clipValueMax, 0),
      (OUT, out, D_F | D_I))
CLAMP(ClampTensor, (IN, self, D_CLAMP), (LOWER_IN, clipValueMin, D_REALS),
      (UPPER_IN, clipValueMax, D_REALS), (OUT, out, D_CLAMP))

/* --- three tensors ----------------------------------------------------------------------- */

REAL(addcmul, x[0] + x[3] * x[1] * x[2])
INTEGER(addcmul, x[0] + x[3] * x[1] * x[2])
REAL(addcdiv, x[0] + x[3] * (x[1] / x[2]))
INTEGER(addcdiv, x[2] == 0 ? x[0] : x[0] + x[3] * x[1] / x[2])
REAL(lerp, fabs(x[2]) < 0.5 ? x[0] + x[2] * (x[1] - x[0]) : x[1] - (x[1] - x[0]) * (1 - x[2]))
REAL(atan2, atan2(x[0], x[1]))

#define D_ADDCMUL (D_FLOATS | (D_I & ~D_I16))
#define D_ADDCDIV (D_FLOATS | D_I64)
#define ADDCMUL_ARGUMENTS (IN, tensor1, D_ADDCMUL), (IN, tensor2, D_ADDCMUL), (FACTOR, value, 0)
#define ADDCDIV_ARGUMENTS (IN, tensor1, D_ADDCDIV), (IN, tensor2, D_ADDCDIV), (FACTOR, value, 0)

ELEMENTWISE(Addcmul, PROMOTED, real_addcmul, integer_addcmul, NULL, (IN, self, D_ADDCMUL),
            ADDCMUL_ARGUMENTS, (OUT, out, D_ADDCMUL))
ELEMENTWISE(InplaceAddcmul, PROMOTED, real_addcmul, integer_addcmul, NULL, SELF_REF(D_ADDCMUL),
            ADDCMUL_ARGUMENTS)
ELEMENTWISE(Addcdiv, PROMOTED, real_addcdiv, integer_addcdiv, NULL, (IN, self, D_ADDCDIV),
            ADDCDIV_ARGUMENTS, (OUT, out, D_ADDCDIV))
ELEMENTWISE(InplaceAddcdiv, PROMOTED, real_addcdiv, integer_addcdiv, NULL, SELF_REF(D_ADDCDIV),
            ADDCDIV_ARGUMENTS)
ELEMENTWISE(Lerp, SAME, real_lerp, NULL, NULL, (IN, self, D_F), (IN, end, D_F), (IN, weight, D_F),
            (OUT, out, D_F))
ELEMENTWISE(InplaceLerp, SAME, real_lerp, NULL, NULL, SELF_REF(D_F), (IN, end, D_F),
            (IN, weight, D_F))
ELEMENTWISE(Lerps, SAME, real_lerp, NULL, NULL, (IN, self, D_F), (IN, end, D_F),
            (FACTOR, weight, 0), (OUT, out, D_F))
ELEMENTWISE(InplaceLerps, SAME, real_lerp, NULL, NULL, SELF_REF(D_F), (IN, end, D_F),
            (FACTOR, weight, 0))
ELEMENTWISE(Atan2, FLOATING, real_atan2, NULL, NULL, (IN, self, D_REALS), (IN, other, D_REALS),
            (OUT, out, D_FLOATS))
ELEMENTWISE(InplaceAtan2, FLOATING, real_atan2, NULL, NULL, SELF_REF(D_FLOATS),
            (IN, other, D_REALS))
