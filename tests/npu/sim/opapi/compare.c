/* Comparison, logic, bits, predicates. */

#include "elementwise.h"

REAL(eq, x[0] == x[1])
INTEGER(eq, x[0] == x[1])
COMPLEX(eq, x[0] == x[1])
REAL(ne, x[0] != x[1])
INTEGER(ne, x[0] != x[1])
COMPLEX(ne, x[0] != x[1])
REAL(gt, x[0] > x[1])
INTEGER(gt, x[0] > x[1])
REAL(ge, x[0] >= x[1])
INTEGER(ge, x[0] >= x[1])
REAL(lt, x[0] < x[1])
INTEGER(lt, x[0] < x[1])
REAL(le, x[0] <= x[1])
INTEGER(le, x[0] <= x[1])

/* With a tensor and with a scalar, each also in place. */
#define COMPARISON(Name, real, integer, complexes, in)                                           \
    ELEMENTWISE(Name##Tensor, BOOLEAN, real, integer, complexes, (IN, self, in), (IN, other, in), \
                (OUT, out, D_NUMBERS))                                                         \
    ELEMENTWISE(Name##Scalar, BOOLEAN, real, integer, complexes, (IN, self, in),                 \
                (SCALAR, other, 0), (OUT, out, D_NUMBERS))                                     \
    ELEMENTWISE(Inplace##Name##Tensor, BOOLEAN, real, integer, complexes, (REF, selfRef, in),    \
                (IN, other, in))                                                               \
    ELEMENTWISE(Inplace##Name##Scalar, BOOLEAN, real, integer, complexes, (REF, selfRef, in),    \
                (SCALAR, other, 0))

COMPARISON(Eq, real_eq, integer_eq, complex_eq, D_NUMBERS)
COMPARISON(Ne, real_ne, integer_ne, complex_ne, D_NUMBERS)
COMPARISON(Gt, real_gt, integer_gt, NULL, D_REALS)
COMPARISON(Ge, real_ge, integer_ge, NULL, D_REALS)
COMPARISON(Lt, real_lt, integer_lt, NULL, D_REALS)
COMPARISON(Le, real_le, integer_le, NULL, D_REALS)

/* --- logic ------------------------------------------------------------------------------- */

REAL(and, x[0] != 0 && x[1] != 0)
INTEGER(and, x[0] != 0 && x[1] != 0)
COMPLEX(and, x[0] != 0 && x[1] != 0)
REAL(or, x[0] != 0 || x[1] != 0)
INTEGER(or, x[0] != 0 || x[1] != 0)
COMPLEX(or, x[0] != 0 || x[1] != 0)
REAL(xor, (x[0] != 0) != (x[1] != 0))
INTEGER(xor, (x[0] != 0) != (x[1] != 0))
COMPLEX(xor, (x[0] != 0) != (x[1] != 0))
REAL(not, x[0] == 0)
INTEGER(not, x[0] == 0)

#define LOGICAL(Name, real, integer, complexes)                                             \
    ELEMENTWISE(Name, BOOLEAN, real, integer, complexes, (IN, self, D_NUMBERS),             \
                (IN, other, D_NUMBERS), (OUT, out, D_NUMBERS))

LOGICAL(LogicalAnd, real_and, integer_and, complex_and)
LOGICAL(LogicalOr, real_or, integer_or, complex_or)
LOGICAL(LogicalXor, real_xor, integer_xor, complex_xor)
ELEMENTWISE(InplaceLogicalAnd, BOOLEAN, real_and, integer_and, complex_and,
            (REF, selfRef, D_NUMBERS), (IN, other, D_NUMBERS))
ELEMENTWISE(InplaceLogicalOr, BOOLEAN, real_or, integer_or, complex_or, (REF, selfRef, D_NUMBERS),
            (IN, other, D_NUMBERS))
ELEMENTWISE(LogicalNot, BOOLEAN, real_not, integer_not, NULL, (IN, self, D_REALS),
            (OUT, out, D_REALS))
ELEMENTWISE(InplaceLogicalNot, BOOLEAN, real_not, integer_not, NULL, (REF, selfRef, D_REALS))

/* --- bits -------------------------------------------------------------------------------- */

INTEGER(bit_and, x[0] & x[1])
INTEGER(bit_or, x[0] | x[1])
INTEGER(bit_xor, x[0] ^ x[1])

#define D_BITS (D_I | D_B)

#define BITWISE(Name, integer, tensor_out, scalar_out)                                          \
    ELEMENTWISE(Name##Tensor, PROMOTED, NULL, integer, NULL, (IN, self, D_BITS),                \
                (IN, other, D_BITS), (OUT, out, tensor_out))                                    \
    ELEMENTWISE(Name##Scalar, PROMOTED, NULL, integer, NULL, (IN, self, D_BITS),                \
                (SCALAR, other, D_BITS), (OUT, out, scalar_out))                                \
    ELEMENTWISE(Inplace##Name##Tensor, PROMOTED, NULL, integer, NULL, (REF, selfRef, D_BITS),   \
                (IN, other, D_BITS))                                                            \
    ELEMENTWISE(Inplace##Name##Scalar, PROMOTED, NULL, integer, NULL, (REF, selfRef, D_BITS),   \
                (SCALAR, other, D_BITS))

BITWISE(BitwiseAnd, integer_bit_and, D_BITS, D_REALS)
BITWISE(BitwiseOr, integer_bit_or, D_BITS, D_NUMBERS)
BITWISE(BitwiseXor, integer_bit_xor, D_NUMBERS, D_NUMBERS)

static void run_not(Call *call)
{
    const View *self = view_of(call, "self"), *out = output_of(call);
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    loop_add(&loop, self);
    LOOP(loop) {
        int64_t value = load_integer(self->dtype, loop.at[1]);
        store_integer(out->dtype, loop.at[0], self->dtype == ACL_BOOL ? !value : ~value);
    }
}

INTEGER(bit_not, ~x[0])
static const Elementwise bit_not = {SAME, NULL, integer_bit_not, NULL};
OPERATOR(BitwiseNot, elementwise_check, run_not, &bit_not, TRAIT_ALIAS, (IN, self, D_BITS),
         (OUT, out, D_BITS))

/* --- predicates -------------------------------------------------------------------------- */

REAL(isfinite, isfinite(x[0]) != 0)
REAL(isinf, isinf(x[0]) != 0)
INTEGER(isinf, 0 * x[0])
REAL(signbit, signbit(x[0]) != 0)
INTEGER(signbit, x[0] < 0)

static bool close_enough(const double *x)
{
    if (isnan(x[0]) || isnan(x[1])) {
        return x[4] != 0 && isnan(x[0]) && isnan(x[1]);
    }
    return x[0] == x[1] || (isfinite(x[1]) && fabs(x[0] - x[1]) <= x[3] + x[2] * fabs(x[1]));
}

REAL(isclose, close_enough(x))

ELEMENTWISE(IsFinite, BOOLEAN, real_isfinite, NULL, NULL, (IN, self, D_FLOATS), (OUT, out, D_B))
ELEMENTWISE(IsInf, BOOLEAN, real_isinf, integer_isinf, NULL, (IN, x, D_REALS), (OUT, out, D_B))
ELEMENTWISE(Signbit, BOOLEAN, real_signbit, integer_signbit, NULL, (IN, self, D_REALS),
            (OUT, out, D_B))
ELEMENTWISE(IsClose, PREDICATE, real_isclose, NULL, NULL, (IN, self, D_REALS),
            (IN, other, D_REALS), (DOUBLE, rtol, 0), (DOUBLE, atol, 0), (FLAG, equal_nan, 0),
            (OUT, out, D_B))
