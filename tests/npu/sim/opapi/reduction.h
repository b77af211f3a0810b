/* Reductions over some axes: the elements of each result, one result after the other. */

#ifndef SIM_REDUCTION_H
#define SIM_REDUCTION_H

#include "operator.h"

/* Which axes go, as a bit mask. */
typedef struct {
    unsigned axes;
    int64_t length;  /* elements per result */
    int64_t results;
} Reduction;

/* Reads the axes of an argument of integers: NULL or none means all. */
aclnnStatus reduction_axes(const View *self, const Argument *dims, unsigned *axes);
/* Checks an output's shape. */
aclnnStatus reduction_out(const View *self, unsigned axes, bool keep, const View *out,
                          const char *name);
Reduction reduction_of(const View *self, unsigned axes);
/* The elements of `self` in the order of the results, each result's together; free() it. */
double *reduction_reals(const View *self, const Reduction *reduction);
double complex *reduction_complexes(const View *self, const Reduction *reduction);
int64_t *reduction_integers(const View *self, const Reduction *reduction);
/* Writes elements in that order. */
void reduction_write_reals(const View *view, unsigned axes, const double *values);
void reduction_write_complexes(const View *view, unsigned axes, const double complex *values);
void reduction_write_integers(const View *view, unsigned axes, const int64_t *values);
/* The axis that the argument `dim` names, as a mask: none for a tensor without dimensions. */
unsigned one_axis(const Call *call, const View *view);
aclnnStatus check_one_axis(const Call *call, const View *view);

#endif
