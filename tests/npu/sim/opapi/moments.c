/* Variances and norms. */

#include "reduction.h"

static aclnnStatus check_out(const Call *call, const char *out)
{
    unsigned axes;
    const View *self = view_of(call, "self");
    TRY(reduction_axes(self, argument_of(call, "dim"), &axes));
    return reduction_out(self, axes, integer_of(call, "keepDim") != 0, view_of(call, out), out);
}

static unsigned axes_of(const Call *call)
{
    unsigned axes;
    reduction_axes(view_of(call, "self"), argument_of(call, "dim"), &axes);
    return axes;
}

/* --- variance ---------------------------------------------------------------------------- */

typedef struct {
    const char *correction; /* the argument's name */
    const char *variance, *mean;
    bool root;
} Moment;

static const Moment var = {"unbiased", "out", NULL, false};
static const Moment var_correction = {"correction", "out", NULL, false};
static const Moment std = {"correction", "out", NULL, true};
static const Moment var_mean = {"correction", "varOut", "meanOut", false};

static aclnnStatus check_moment(const Call *call)
{
    const Moment *moment = call->operator->detail;
    TRY(check_out(call, moment->variance));
    return moment->mean == NULL ? ACL_SUCCESS : check_out(call, moment->mean);
}

static void run_moment(Call *call)
{
    const Moment *moment = call->operator->detail;
    const View *self = view_of(call, "self");
    Reduction reduction = reduction_of(self, axes_of(call));
    int64_t n = reduction.length;
    double free_count = (double)(n - integer_of(call, moment->correction));
    double *values = reduction_reals(self, &reduction);
    double *variances = sim_allocate((size_t)reduction.results, sizeof *variances);
    double *means = sim_allocate((size_t)reduction.results, sizeof *means);
    for (int64_t i = 0; i < reduction.results; i++) {
        for (int64_t j = 0; j < n; j++) {
            means[i] += values[i * n + j] / (double)n;
        }
        means[i] = n == 0 ? NAN : means[i];
        bool open = n > 0 && !isfinite(means[i]); /* of infinity it is NaN if it runs along */
        for (int64_t j = 0; j < n; j++) {
            double distance = values[i * n + j] - means[i];
            variances[i] += distance * distance;
        }
        variances[i] /= free_count > 0 ? free_count : 0;
        variances[i] = moment->root ? sqrt(variances[i]) : variances[i];
        means[i] = open ? sim_choose_real(SIM_OPEN_NAN, means[i]) : means[i];
    }
    write_reals(view_of(call, moment->variance), variances);
    if (moment->mean != NULL) {
        write_reals(view_of(call, moment->mean), means);
    }
    free(values);
    free(variances);
    free(means);
}

#define SELF (IN, self, D_F)
#define DIMS (OPTIONAL_INTS, dim, 0)
#define KEEP (FLAG, keepDim, 0)
#define OUT_F (OUT, out, D_F)
OPERATOR(Var, check_moment, run_moment, &var, TRAIT_WORKSPACE, SELF, DIMS, (FLAG, unbiased, 0),
         KEEP, OUT_F)
OPERATOR(VarCorrection, check_moment, run_moment, &var_correction, TRAIT_WORKSPACE, SELF, DIMS,
         (INT64, correction, 0), KEEP, OUT_F)
OPERATOR(Std, check_moment, run_moment, &std, TRAIT_WORKSPACE, SELF, DIMS, (INT64, correction, 0),
         KEEP, OUT_F)
OPERATOR(VarMean, check_moment, run_moment, &var_mean, TRAIT_WORKSPACE, SELF, DIMS,
         (INT64, correction, 0), KEEP, (OUT, varOut, D_F), (OUT, meanOut, D_F))

/* --- norms ------------------------------------------------------------------------------- */

/* What is not of doubles is computed in floats: a large power is infinite. */
static double precise(const View *self, double value)
{
    return self->dtype == ACL_DOUBLE ? value : (double)(float)value;
}

static double norm(const View *self, const double *x, int64_t n, double p)
{
    double sum = p == -INFINITY ? INFINITY : 0;
    for (int64_t i = 0; i < n; i++) {
        double size = fabs(x[i]);
        if (isinf(p)) {
            sum = isnan(size) || (p > 0 ? size > sum : size < sum) ? size : sum;
        } else {
            sum = precise(self, sum + (p == 0 ? size != 0 : precise(self, pow(size, p))));
        }
    }
    return isinf(p) || p == 0 ? sum : pow(sum, 1 / p);
}

static aclnnStatus check_norm(const Call *call)
{
    return check_out(call, "out");
}

static aclnnStatus check_typed_norm(const Call *call)
{
    TRY(expect_dtype(view_of(call, "out"), "out", (aclDataType)integer_of(call, "dtype")));
    return check_norm(call);
}

static void run_norm(Call *call)
{
    const View *self = view_of(call, "self");
    double p = real_of(call, "ord");
    Reduction reduction = reduction_of(self, axes_of(call));
    double *values = reduction_reals(self, &reduction);
    double *norms = sim_allocate((size_t)reduction.results, sizeof *norms);
    for (int64_t i = 0; i < reduction.results; i++) {
        norms[i] = norm(self, values + i * reduction.length, reduction.length, p);
    }
    write_reals(view_of(call, "out"), norms);
    free(values);
    free(norms);
}

OPERATOR(Norm, check_norm, run_norm, NULL, TRAIT_WORKSPACE, SELF, (FACTOR, ord, 0),
         (INTS, dim, 0), KEEP, OUT_F)
OPERATOR(LinalgVectorNorm, check_typed_norm, run_norm, NULL, TRAIT_WORKSPACE, SELF,
         (FACTOR, ord, 0), (INTS, dim, 0), KEEP, (DTYPE, dtype, 0), OUT_F)
