/* Element-wise operators: what is computed for one element, in up to three classes of numbers.
 *
 * A function gets its arguments in the row's order, tensors and scalars alike, so that Add and
 * Adds, or PowTensorScalar and PowScalarTensor, share one. */

#ifndef SIM_ELEMENTWISE_H
#define SIM_ELEMENTWISE_H

#include "operator.h"

typedef double (*RealFunction)(const double *x);
typedef int64_t (*IntegerFunction)(const int64_t *x);
typedef double complex (*ComplexFunction)(const double complex *x);

typedef enum {
    PROMOTED, /* computes in the promoted type, the result may be cast to the output's */
    FLOATING, /* the same, but integers and bool compute in f32 */
    SAME,     /* all tensors, output included, have one dtype */
    BOOLEAN,  /* computes in the promoted type, the result is bool */
    PREDICATE, /* computes as FLOATING, the result is bool */
    MODULUS    /* computes as PROMOTED, the result of a complex number is f32 */
} ComputeMode;

typedef struct {
    ComputeMode mode;
    RealFunction reals;
    IntegerFunction integers;
    ComplexFunction complexes;
} Elementwise;

/* A product or quotient of the first `count` complex numbers: what becomes of parts that are not
 * finite when they are multiplied with each other. */
#define JOINED(count, value) settled(x, count, value)
double complex settled(const double complex *x, int count, double complex value);

/* What a page gives for numbers, and says nothing of for `x` that is NaN. */
#define UNLESS_NAN(x, value) (isnan(x) ? sim_choose_real(SIM_OPEN_NAN, value) : (value))

#define REAL(name, expression)                  \
    static double real_##name(const double *x)  \
    {                                           \
        return expression;                      \
    }
#define INTEGER(name, expression)                   \
    static int64_t integer_##name(const int64_t *x) \
    {                                               \
        return expression;                          \
    }
#define COMPLEX(name, expression)                                 \
    static double complex complex_##name(const double complex *x) \
    {                                                             \
        return expression;                                        \
    }

#define ELEMENTWISE(Name, mode, real, integer, complexes, ...)                            \
    static const Elementwise elementwise_##Name = {mode, real, integer, complexes};       \
    OPERATOR(Name, elementwise_check, elementwise_run, &elementwise_##Name, TRAIT_ALIAS, \
             __VA_ARGS__)

aclnnStatus elementwise_check(const Call *call);
void elementwise_run(Call *call);
/* The same with functions that an argument chose. */
void elementwise_run_as(const Call *call, const Elementwise *detail);
/* Dims that all tensors read broadcast to; a refusal where they do not. */
aclnnStatus broadcast_inputs(const Call *call, int *rank, int64_t *dims);
aclnnStatus broadcast_with(int *rank, int64_t *dims, const View *view, const char *name);

#endif
