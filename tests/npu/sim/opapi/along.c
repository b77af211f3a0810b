/* Operators that work along one axis and keep the shape: softmax, scans. */

#include "reduction.h"

/* One line along the axis: from `x` (and `y`) of n elements to as many. */
typedef struct {
    void (*line)(const double *x, const double *y, double *out, int64_t n);
} Along;

static void run_lines(const View *x, const View *y, const View *out, unsigned axis,
                      const Along *along)
{
    Reduction reduction = reduction_of(x, axis);
    double *first = reduction_reals(x, &reduction);
    double *second = y == NULL ? NULL : reduction_reals(y, &reduction);
    double *result = sim_allocate((size_t)view_count(x), sizeof *result);
    for (int64_t i = 0; i < reduction.results; i++) {
        int64_t start = i * reduction.length;
        along->line(first + start, second == NULL ? NULL : second + start, result + start,
                    reduction.length);
    }
    reduction_write_reals(out, axis, result);
    free(first);
    free(second);
    free(result);
}

/* --- softmax ----------------------------------------------------------------------------- */

static double largest(const double *x, int64_t n)
{
    double top = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        top = isnan(x[i]) || x[i] > top ? x[i] : top;
    }
    return top;
}

static void softmax_line(const double *x, const double *y, double *out, int64_t n)
{
    (void)y;
    double top = largest(x, n), sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += out[i] = exp(x[i] - top);
    }
    for (int64_t i = 0; i < n; i++) {
        out[i] /= sum;
    }
}

static void log_softmax_line(const double *x, const double *y, double *out, int64_t n)
{
    (void)y;
    double top = largest(x, n), sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += exp(x[i] - top);
    }
    for (int64_t i = 0; i < n; i++) {
        out[i] = x[i] - top - log(sum);
    }
}

/* x is the output's gradient, y the output. */
static void softmax_backward_line(const double *x, const double *y, double *out, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    for (int64_t i = 0; i < n; i++) {
        out[i] = y[i] * (x[i] - sum);
    }
}

static void log_softmax_backward_line(const double *x, const double *y, double *out, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i];
    }
    for (int64_t i = 0; i < n; i++) {
        out[i] = x[i] - exp(y[i]) * sum;
    }
}

static const Along softmax = {softmax_line}, log_softmax = {log_softmax_line};
static const Along softmax_backward = {softmax_backward_line};
static const Along log_softmax_backward = {log_softmax_backward_line};

static aclnnStatus check_softmax(const Call *call)
{
    const View *self = view_of(call, "self"), *out = view_of(call, "out");
    TRY(check_one_axis(call, self));
    TRY(expect_like(out, "out", self));
    return can_cast(self->dtype, out->dtype) ? ACL_SUCCESS
                                             : refuse("operator-cast", "out cannot hold it");
}

static void run_softmax(Call *call)
{
    const View *self = view_of(call, "self");
    run_lines(self, NULL, view_of(call, "out"), one_axis(call, self), call->operator->detail);
}

static aclnnStatus check_softmax_backward(const Call *call)
{
    const View *grad = view_of(call, "gradOutput"), *output = view_of(call, "output");
    TRY(check_one_axis(call, grad));
    TRY(expect_like(output, "output", grad));
    TRY(expect_dtype(output, "output", grad->dtype));
    return expect_like(view_of(call, "out"), "out", grad);
}

static void run_softmax_backward(Call *call)
{
    const View *grad = view_of(call, "gradOutput");
    run_lines(grad, view_of(call, "output"), view_of(call, "out"), one_axis(call, grad),
              call->operator->detail);
}

#define DIM (INT64, dim, 0)
OPERATOR(Softmax, check_softmax, run_softmax, &softmax, TRAIT_WORKSPACE, (IN, self, D_FLOATS), DIM,
         (OUT, out, D_FLOATS))
OPERATOR(LogSoftmax, check_softmax, run_softmax, &log_softmax, TRAIT_WORKSPACE,
         (IN, self, D_FLOATS), DIM, (OUT, out, D_FLOATS))
OPERATOR(SoftmaxBackward, check_softmax_backward, run_softmax_backward, &softmax_backward,
         TRAIT_WORKSPACE, (IN, gradOutput, D_F), (IN, output, D_F), DIM, (OUT, out, D_F))
OPERATOR(LogSoftmaxBackward, check_softmax_backward, run_softmax_backward, &log_softmax_backward,
         TRAIT_WORKSPACE, (IN, gradOutput, D_F), (IN, output, D_F), DIM, (OUT, out, D_F))

/* --- sums and products so far ------------------------------------------------------------ */

static aclnnStatus check_scan(const Call *call)
{
    const View *self = view_of(call, "self"), *out = view_of(call, "out");
    TRY(expect_dtype(out, "out", (aclDataType)integer_of(call, "dtype")));
    TRY(check_one_axis(call, self));
    return expect_like(out, "out", self);
}

typedef struct {
    bool product;
} Scan;

static const Scan sums = {false}, products = {true};

static void run_scan(Call *call)
{
    bool product = ((const Scan *)call->operator->detail)->product;
    const View *self = view_of(call, "self"), *out = view_of(call, "out");
    unsigned axis = one_axis(call, self);
    Reduction reduction = reduction_of(self, axis);
    if (class_of(out->dtype) == CLASS_INTEGER) {
        int64_t *values = reduction_integers(self, &reduction);
        for (int64_t i = 0; i < view_count(self); i++) {
            if (i % reduction.length != 0) {
                values[i] = product ? values[i] * values[i - 1] : values[i] + values[i - 1];
            }
        }
        reduction_write_integers(out, axis, values);
        free(values);
    } else if (class_of(out->dtype) == CLASS_COMPLEX) {
        double complex *values = reduction_complexes(self, &reduction);
        for (int64_t i = 0; i < view_count(self); i++) {
            if (i % reduction.length != 0) {
                values[i] += values[i - 1];
            }
        }
        reduction_write_complexes(out, axis, values);
        free(values);
    } else {
        double *values = reduction_reals(self, &reduction);
        for (int64_t i = 0; i < view_count(self); i++) {
            if (i % reduction.length != 0) {
                values[i] = product ? values[i] * values[i - 1] : values[i] + values[i - 1];
            }
        }
        reduction_write_reals(out, axis, values);
        free(values);
    }
}

#define TYPE (DTYPE, dtype, 0)
OPERATOR(Cumsum, check_scan, run_scan, &sums, TRAIT_WORKSPACE, (IN, self, D_FLOATS | D_I | D_C),
         DIM, TYPE, (OUT, out, D_FLOATS | D_I | D_C))
/* Cumprod takes its dim as a scalar. */
OPERATOR(Cumprod, check_scan, run_scan, &products, TRAIT_WORKSPACE, (IN, self, D_FLOATS | D_I),
         (FACTOR, dim, 0), TYPE, (OUT, out, D_FLOATS | D_I))

/* --- extremes so far --------------------------------------------------------------------- */

typedef struct {
    bool largest;
} Extreme;

static const Extreme maximum = {true}, minimum = {false};

static aclnnStatus check_extreme(const Call *call)
{
    const View *self = view_of(call, "self");
    TRY(check_one_axis(call, self));
    TRY(expect_like(view_of(call, "valuesOut"), "valuesOut", self));
    return expect_like(view_of(call, "indicesOut"), "indicesOut", self);
}

static void run_extreme(Call *call)
{
    bool upward = ((const Extreme *)call->operator->detail)->largest;
    const View *self = view_of(call, "self");
    unsigned axis = one_axis(call, self);
    Reduction reduction = reduction_of(self, axis);
    double *values = reduction_reals(self, &reduction);
    int64_t *places = sim_allocate((size_t)view_count(self), sizeof *places);
    for (int64_t i = 0; i < view_count(self); i++) {
        bool first = i % reduction.length == 0;
        bool newer = first || isnan(values[i]) || (upward ? values[i] >= values[i - 1]
                                                          : values[i] <= values[i - 1]);
        places[i] = newer ? i % reduction.length : places[i - 1];
        values[i] = newer ? values[i] : values[i - 1];
    }
    reduction_write_reals(view_of(call, "valuesOut"), axis, values);
    reduction_write_integers(view_of(call, "indicesOut"), axis, places);
    free(values);
    free(places);
}

OPERATOR(Cummax, check_extreme, run_extreme, &maximum, TRAIT_WORKSPACE, (IN, self, D_REALS), DIM,
         (OUT, valuesOut, D_REALS), (OUT, indicesOut, D_INDEX))
OPERATOR(Cummin, check_extreme, run_extreme, &minimum, TRAIT_WORKSPACE, (IN, self, D_REALS), DIM,
         (OUT, valuesOut, D_REALS), (OUT, indicesOut, D_INDEX))
