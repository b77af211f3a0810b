/* Activations and their gradients. */

#include "elementwise.h"

/* --- forward ----------------------------------------------------------------------------- */

static double sigmoid(double x)
{
    return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

static double softplus(double x, double beta, double threshold)
{
    return x * beta > threshold ? x : log1p(exp(x * beta)) / beta;
}

static double gelu_erf(double x)
{
    return 0.5 * x * (1 + erf(x * M_SQRT1_2));
}

static const double GELU_CUBE = 0.044715;
static const double GELU_SCALE = M_2_SQRTPI * M_SQRT1_2; /* sqrt(2 / pi) */

static double gelu_tanh(double x)
{
    return 0.5 * x * (1 + tanh(GELU_SCALE * (x + GELU_CUBE * x * x * x)));
}

static double bound(double x, double low, double high)
{
    return isnan(x) ? x : x < low ? low : x > high ? high : x;
}

REAL(relu, isnan(x[0]) || x[0] > 0 ? x[0] : 0)
INTEGER(relu, x[0] > 0 ? x[0] : 0)
REAL(sigmoid, sigmoid(x[0]))
REAL(tanh, tanh(x[0]))
REAL(gelu, gelu_tanh(x[0]))
REAL(gelu_v2, x[1] != 0 ? gelu_tanh(x[0]) : gelu_erf(x[0]))
REAL(silu, x[0] * sigmoid(x[0]))
REAL(mish, x[0] * tanh(softplus(x[0], 1, 20)))
REAL(softplus, softplus(x[0], x[1], x[2]))
REAL(hardswish, x[0] * bound(x[0] + 3, 0, 6) / 6)
REAL(hardsigmoid, bound(x[0] + 3, 0, 6) / 6)
INTEGER(hardsigmoid, (x[0] < -3 ? 0 : x[0] > 3 ? 6 : x[0] + 3) / 6)
REAL(hardtanh, bound(x[0], x[1], x[2]))
INTEGER(hardtanh, x[0] < x[1] ? x[1] : x[0] > x[2] ? x[2] : x[0])
REAL(elu, x[0] > 0 ? x[2] * x[0] : x[2] * x[1] * expm1(x[3] * x[0]))
REAL(leaky_relu, x[0] > 0 ? x[0] : x[1] * x[0])
REAL(log_sigmoid, -softplus(-x[0], 1, 1e300))
REAL(threshold, UNLESS_NAN(x[0], x[0] > x[1] ? x[0] : x[2]))
INTEGER(threshold, x[0] > x[1] ? x[0] : x[2])

#define BOTH(Name, mode, real, integer, in, to)                                           \
    ELEMENTWISE(Name, mode, real, integer, NULL, (IN, self, in), (OUT, out, to))          \
    ELEMENTWISE(Inplace##Name, mode, real, integer, NULL, (REF, selfRef, to))
#define ALONE(Name, mode, real, integer, in, to) \
    ELEMENTWISE(Name, mode, real, integer, NULL, (IN, self, in), (OUT, out, to))

ALONE(Relu, SAME, real_relu, integer_relu, D_F | D_INDEX | D_I8, D_F | D_INDEX | D_I8)
ELEMENTWISE(InplaceRelu, SAME, real_relu, integer_relu, NULL, (REF, selfRef, D_F | (D_I & ~D_I16)))
BOTH(Sigmoid, PROMOTED, real_sigmoid, NULL, D_F, D_F)
BOTH(Tanh, FLOATING, real_tanh, NULL, D_F | D_I | D_B, D_F)
ALONE(Gelu, SAME, real_gelu, NULL, D_F, D_F)
ELEMENTWISE(GeluV2, SAME, real_gelu_v2, NULL, NULL, (IN, x, D_F), (INT64, approximate, 0),
            (OUT, y, D_F))
ALONE(Silu, SAME, real_silu, NULL, D_F, D_F)
BOTH(Mish, SAME, real_mish, NULL, D_F, D_F)
ELEMENTWISE(Softplus, SAME, real_softplus, NULL, NULL, (IN, self, D_F), (FACTOR, beta, 0),
            (FACTOR, threshold, 0), (OUT, out, D_F))
BOTH(Hardswish, SAME, real_hardswish, NULL, D_F, D_F)
BOTH(Hardsigmoid, SAME, real_hardsigmoid, integer_hardsigmoid, D_F | D_I32, D_F | D_I32)
ALONE(LogSigmoid, SAME, real_log_sigmoid, NULL, D_F, D_F)

#define HARDTANH_BOUNDS (FACTOR, clipValueMin, D_REALS), (FACTOR, clipValueMax, D_REALS)
static const Elementwise hardtanh = {SAME, real_hardtanh, integer_hardtanh, NULL};

static aclnnStatus check_hardtanh(const Call *call)
{
    return real_of(call, "clipValueMin") > real_of(call, "clipValueMax")
               ? refuse("operator-attribute", "the lower bound is above the upper one")
               : elementwise_check(call);
}

OPERATOR(Hardtanh, check_hardtanh, elementwise_run, &hardtanh, TRAIT_ALIAS,
         (IN, self, D_FLOATS | D_I), HARDTANH_BOUNDS, (OUT, out, D_FLOATS | D_I))
OPERATOR(InplaceHardtanh, check_hardtanh, elementwise_run, &hardtanh, TRAIT_ALIAS,
         (REF, selfRef, D_FLOATS | D_I), HARDTANH_BOUNDS)

#define ELU_SCALARS (FACTOR, alpha, 0), (FACTOR, scale, 0), (FACTOR, inputScale, 0)
ELEMENTWISE(Elu, PROMOTED, real_elu, NULL, NULL, (IN, self, D_F), ELU_SCALARS, (OUT, out, D_F))
ELEMENTWISE(InplaceElu, PROMOTED, real_elu, NULL, NULL, (REF, selfRef, D_F), ELU_SCALARS)
ELEMENTWISE(LeakyRelu, PROMOTED, real_leaky_relu, NULL, NULL, (IN, self, D_F),
            (FACTOR, negativeSlope, 0), (OUT, out, D_F))
ELEMENTWISE(InplaceLeakyRelu, PROMOTED, real_leaky_relu, NULL, NULL, (REF, selfRef, D_F),
            (FACTOR, negativeSlope, 0))
ELEMENTWISE(Threshold, PROMOTED, real_threshold, integer_threshold, NULL, (IN, self, D_F | D_I),
            (FACTOR, threshold, 0), (FACTOR, value, 0), (OUT, out, D_F | D_I))
ELEMENTWISE(InplaceThreshold, PROMOTED, real_threshold, integer_threshold, NULL,
            (REF, selfRef, D_F | D_I), (FACTOR, threshold, 0), (FACTOR, value, 0))

/* --- PRelu: one weight, or one per channel (dimension 1) --------------------------------- */

static aclnnStatus check_prelu(const Call *call)
{
    const View *self = view_of(call, "self"), *weight = view_of(call, "weight");
    int64_t channels = self->rank > 1 ? self->dims[1] : 1;
    int64_t count = view_count(weight);
    if (count != 1 && count != channels) {
        return refuse("operator-shape", "%lld weights for %lld channels", (long long)count,
                      (long long)channels);
    }
    TRY(expect_dtype(view_of(call, "out"), "out", self->dtype));
    return expect_like(view_of(call, "out"), "out", self);
}

static void run_prelu(Call *call)
{
    const View *self = view_of(call, "self"), *out = view_of(call, "out");
    double *weights = read_reals(view_of(call, "weight"));
    bool many = view_count(view_of(call, "weight")) > 1;
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    loop_add(&loop, self);
    LOOP(loop) {
        double value = load_real(self->dtype, loop.at[1]);
        double weight = weights[many ? loop.index[1] : 0];
        store_real(out->dtype, loop.at[0], value > 0 ? value : weight * value);
    }
    free(weights);
}

OPERATOR(Prelu, check_prelu, run_prelu, NULL, 0, (IN, self, D_F), (IN, weight, D_F),
         (OUT, out, D_F))

/* --- gradients: the first argument is the output's gradient ------------------------------- */

static double silu_slope(double x)
{
    double s = sigmoid(x);
    return s * (1 + x * (1 - s));
}

static double gelu_erf_slope(double x)
{
    double density = exp(-0.5 * x * x) * M_2_SQRTPI * M_SQRT1_2 * 0.5;
    return 0.5 * (1 + erf(x * M_SQRT1_2)) + x * density;
}

static double gelu_tanh_slope(double x)
{
    double t = tanh(GELU_SCALE * (x + GELU_CUBE * x * x * x));
    double inner = GELU_SCALE * (1 + 3 * GELU_CUBE * x * x);
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner;
}

static double elu_slope(const double *x)
{
    bool of_result = x[4] != 0;
    if (x[5] > 0) {
        return x[2];
    }
    return of_result ? x[3] * (x[5] + x[2] * x[1]) : x[3] * x[2] * x[1] * exp(x[3] * x[5]);
}

REAL(threshold_backward, UNLESS_NAN(x[1], x[1] > x[2] ? x[0] : 0))
INTEGER(threshold_backward, x[1] > x[2] ? x[0] : 0)
REAL(sigmoid_backward, x[0] * (1 - x[1]) * x[1])
COMPLEX(sigmoid_backward, JOINED(2, x[0] * conj((1 - x[1]) * x[1])))
REAL(tanh_backward, x[0] * (1 - x[1] * x[1]))
REAL(gelu_backward, x[0] * gelu_tanh_slope(x[1]))
REAL(gelu_erf_backward, x[0] * gelu_erf_slope(x[1]))
REAL(silu_backward, x[0] * silu_slope(x[1]))
REAL(softplus_backward, x[1] * x[2] > x[3] ? x[0] : x[0] * sigmoid(x[1] * x[2]))
REAL(hardtanh_backward, x[1] <= x[2] || x[1] >= x[3] ? 0 : x[0])
REAL(hardswish_backward, x[1] < -3   ? 0
                         : x[1] <= 3 ? x[0] * (x[1] / 3 + 0.5)
                                     : x[0])
REAL(hardsigmoid_backward, x[1] > -3 && x[1] < 3 ? x[0] / 6 : 0)
REAL(leaky_relu_backward, x[1] > 0 ? x[0] : x[2] * x[0])
REAL(elu_backward, x[0] * elu_slope(x))

#define GRAD(dtypes) (IN, gradOutput, dtypes)
#define INPUT(dtypes) (IN, self, dtypes)
#define RESULT(dtypes) (IN, output, dtypes)
#define GRAD_INPUT(dtypes) (OUT, gradInput, dtypes)
#define D_THRESHOLD (D_F | D_I32 | D_I8 | D_U8)

ELEMENTWISE(ThresholdBackward, PROMOTED, real_threshold_backward, integer_threshold_backward, NULL,
            GRAD(D_THRESHOLD), INPUT(D_THRESHOLD), (FACTOR, threshold, 0),
            (OUT, out, D_THRESHOLD))
ELEMENTWISE(SigmoidBackward, PROMOTED, real_sigmoid_backward, NULL, complex_sigmoid_backward,
            GRAD(D_FLOATS | D_C), RESULT(D_FLOATS | D_C), GRAD_INPUT(D_FLOATS | D_C))
ELEMENTWISE(TanhBackward, PROMOTED, real_tanh_backward, NULL, NULL, GRAD(D_FLOATS),
            RESULT(D_FLOATS), GRAD_INPUT(D_FLOATS))
ELEMENTWISE(GeluBackward, PROMOTED, real_gelu_backward, NULL, NULL, GRAD(D_F), INPUT(D_F),
            GRAD_INPUT(D_F))
ELEMENTWISE(SiluBackward, PROMOTED, real_silu_backward, NULL, NULL, GRAD(D_F), INPUT(D_F),
            GRAD_INPUT(D_F))
ELEMENTWISE(SoftplusBackward, PROMOTED, real_softplus_backward, NULL, NULL, GRAD(D_FLOATS),
            INPUT(D_REALS), (FACTOR, beta, 0), (FACTOR, threshold, 0), GRAD_INPUT(D_FLOATS))
ELEMENTWISE(HardtanhBackward, PROMOTED, real_hardtanh_backward, NULL, NULL, GRAD(D_F), INPUT(D_F),
            (FACTOR, min, 0), (FACTOR, max, 0), (OUT, out, D_F))
ELEMENTWISE(HardswishBackward, PROMOTED, real_hardswish_backward, NULL, NULL, GRAD(D_F),
            INPUT(D_F), (OUT, out, D_F))
ELEMENTWISE(HardsigmoidBackward, PROMOTED, real_hardsigmoid_backward, NULL, NULL, GRAD(D_F),
            INPUT(D_F), (OUT, out, D_F))
ELEMENTWISE(LeakyReluBackward, PROMOTED, real_leaky_relu_backward, NULL, NULL, GRAD(D_FLOATS),
            INPUT(D_FLOATS), (FACTOR, negativeSlope, D_REALS), (FLAG, selfIsResult, 0),
            (OUT, out, D_FLOATS))
ELEMENTWISE(EluBackward, PROMOTED, real_elu_backward, NULL, NULL, GRAD(D_F), ELU_SCALARS,
            (FLAG, isResult, 0), (IN, selfOrResult, D_F), GRAD_INPUT(D_F))

/* --- GeluBackwardV2: the formula is named by a text -------------------------------------- */

static const Elementwise by_tanh = {PROMOTED, real_gelu_backward, NULL, NULL};
static const Elementwise by_erf = {PROMOTED, real_gelu_erf_backward, NULL, NULL};

static aclnnStatus check_gelu_backward(const Call *call)
{
    const char *approximate = argument_of(call, "approximate")->text;
    if (approximate == NULL) {
        return refuse_code(ACLNN_ERR_PARAM_NULLPTR, "null-argument", "approximate is NULL");
    }
    if (strcmp(approximate, "none") != 0 && strcmp(approximate, "tanh") != 0) {
        return refuse("operator-attribute", "approximate is '%s'", approximate);
    }
    return elementwise_check(call);
}

static void run_gelu_backward(Call *call)
{
    bool tanh_formula = strcmp(argument_of(call, "approximate")->text, "tanh") == 0;
    elementwise_run_as(call, tanh_formula ? &by_tanh : &by_erf);
}

OPERATOR(GeluBackwardV2, check_gelu_backward, run_gelu_backward, &by_erf, TRAIT_ALIAS, GRAD(D_F),
         INPUT(D_F), (TEXT, approximate, 0), GRAD_INPUT(D_F))
