/* What the normalisations share (statistics.c). */

#ifndef SIM_NORMALIZATION_H
#define SIM_NORMALIZATION_H

#include "operator.h"

/* Reads an optional tensor: `otherwise` everywhere if it is absent; free() it. */
double *read_or(const Call *call, const char *name, int64_t count, double otherwise);
void write_optional(const Call *call, const char *name, const double *values);
/* The argument outputMask: which of three outputs the caller wants, and must give. */
bool wanted(const Call *call, int output);
aclnnStatus check_mask(const Call *call, const char *const *outputs);
/* Mean and 1 / sqrt(variance + eps) of n values. */
void moments(const double *x, int64_t n, double eps, double *mean, double *rstd);
/* The gradient of x, where y = (x - mean) * rstd over n values, from the gradient of y. */
void normalize_backward(const double *slope, const double *x, int64_t n, double mean, double rstd,
                        double *result);

#endif
