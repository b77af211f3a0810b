/* What the normalisations share: moments, gradients, optional tensors. */

#include "normalization.h"

/* Reads an optional tensor: `otherwise` everywhere if it is absent. */
double *read_or(const Call *call, const char *name, int64_t count, double otherwise)
{
    if (given(call, name)) {
        return read_reals(view_of(call, name));
    }
    double *values = sim_allocate((size_t)count, sizeof *values);
    for (int64_t i = 0; i < count; i++) {
        values[i] = otherwise;
    }
    return values;
}

void write_optional(const Call *call, const char *name, const double *values)
{
    if (given(call, name)) {
        write_reals(view_of(call, name), values);
    }
}

bool wanted(const Call *call, int output)
{
    return argument_of(call, "outputMask")->integers[output] != 0;
}

aclnnStatus check_mask(const Call *call, const char *const *outputs)
{
    const Argument *mask = argument_of(call, "outputMask");
    if (mask->count != 3) {
        return refuse("operator-attribute", "outputMask has %llu values",
                      (unsigned long long)mask->count);
    }
    for (int i = 0; i < 3; i++) {
        if (mask->integers[i] && !given(call, outputs[i])) {
            return refuse_code(ACLNN_ERR_PARAM_NULLPTR, "null-argument", "%s is NULL", outputs[i]);
        }
    }
    return ACL_SUCCESS;
}

/* Mean and 1 / sqrt(variance + eps) of n values. */
void moments(const double *x, int64_t n, double eps, double *mean, double *rstd)
{
    double sum = 0, square = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i];
    }
    *mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) {
        square += (x[i] - *mean) * (x[i] - *mean);
    }
    *rstd = 1 / sqrt(square / (double)n + eps);
}

/* The input's gradient of y = (x - mean) * rstd over n values, from the gradient of y. */
void normalize_backward(const double *slope, const double *x, int64_t n, double mean, double rstd,
                        double *result)
{
    double sum = 0, product = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += slope[i];
        product += slope[i] * (x[i] - mean) * rstd;
    }
    for (int64_t i = 0; i < n; i++) {
        double y = (x[i] - mean) * rstd;
        result[i] = rstd * (slope[i] - (sum + y * product) / (double)n);
    }
}
