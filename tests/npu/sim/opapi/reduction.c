/* Sums, products, means, moments, extremes, truth, norms. */

#include "elementwise.h"
#include "reduction.h"

/* --- axes -------------------------------------------------------------------------------- */

aclnnStatus reduction_axes(const View *self, const Argument *dims, unsigned *axes)
{
    *axes = 0;
    if (!dims->present || dims->count == 0) {
        *axes = (1u << self->rank) - 1;
        return ACL_SUCCESS;
    }
    for (uint64_t i = 0; i < dims->count; i++) {
        int dim;
        TRY(wrap_dim(dims->integers[i], self->rank, &dim));
        if (*axes & 1u << dim) {
            return refuse("operator-dim", "dim %d appears twice", dim);
        }
        *axes |= 1u << dim;
    }
    return ACL_SUCCESS;
}

aclnnStatus reduction_out(const View *self, unsigned axes, bool keep, const View *out,
                          const char *name)
{
    int rank = 0;
    int64_t dims[SIM_MOST_DIMS];
    for (int i = 0; i < self->rank; i++) {
        bool gone = axes >> i & 1;
        if (!gone || keep) {
            dims[rank++] = gone ? 1 : self->dims[i];
        }
    }
    return expect_dims(out, name, rank, dims);
}

Reduction reduction_of(const View *self, unsigned axes)
{
    Reduction reduction = {axes, 1, 1};
    for (int i = 0; i < self->rank; i++) {
        *(axes >> i & 1 ? &reduction.length : &reduction.results) *= self->dims[i];
    }
    return reduction;
}

/* The view with the axes that stay first, the others last. */
static View axes_last(const View *self, unsigned axes)
{
    View moved = *self;
    int next = 0;
    for (unsigned gone = 0; gone < 2; gone++) {
        for (int i = 0; i < self->rank; i++) {
            if ((axes >> i & 1) == gone) {
                moved.dims[next] = self->dims[i];
                moved.strides[next++] = self->strides[i];
            }
        }
    }
    return moved;
}

double *reduction_reals(const View *self, const Reduction *reduction)
{
    View moved = axes_last(self, reduction->axes);
    return read_reals(&moved);
}

int64_t *reduction_integers(const View *self, const Reduction *reduction)
{
    View moved = axes_last(self, reduction->axes);
    return read_integers(&moved);
}

double complex *reduction_complexes(const View *self, const Reduction *reduction)
{
    View moved = axes_last(self, reduction->axes);
    double complex *values = sim_allocate((size_t)view_count(self), sizeof *values);
    Loop loop = loop_over(moved.rank, moved.dims);
    loop_add(&loop, &moved);
    int64_t i = 0;
    LOOP(loop) {
        values[i++] = load_complex(self->dtype, loop.at[0]);
    }
    return values;
}

void reduction_write_complexes(const View *view, unsigned axes, const double complex *values)
{
    View moved = axes_last(view, axes);
    Loop loop = loop_over(moved.rank, moved.dims);
    loop_add(&loop, &moved);
    LOOP(loop) {
        store_complex(view->dtype, loop.at[0], *values++);
    }
}

void reduction_write_reals(const View *view, unsigned axes, const double *values)
{
    View moved = axes_last(view, axes);
    write_reals(&moved, values);
}

void reduction_write_integers(const View *view, unsigned axes, const int64_t *values)
{
    View moved = axes_last(view, axes);
    write_integers(&moved, values);
}

aclnnStatus check_one_axis(const Call *call, const View *view)
{
    int dim;
    return wrap_dim(integer_of(call, "dim"), view->rank, &dim);
}

unsigned one_axis(const Call *call, const View *view)
{
    int dim = 0;
    wrap_dim(integer_of(call, "dim"), view->rank, &dim);
    return view->rank == 0 ? 0 : 1u << dim;
}

/* --- one result from some elements ------------------------------------------------------- */

typedef struct {
    double (*real)(const double *x, int64_t n);
    int64_t (*integer)(const int64_t *x, int64_t n);
    double complex (*complexes)(const double complex *x, int64_t n);
    bool boolean; /* the result is bool */
} Reducer;

#define FOLD(name, type, start, step)                           \
    static type name(const type *x, int64_t n)                  \
    {                                                           \
        type value = start;                                     \
        for (int64_t i = 0; i < n; i++) {                       \
            value = step;                                       \
        }                                                       \
        return value;                                           \
    }

static double larger(double a, double b)
{
    return isnan(a) || a >= b ? a : b;
}

static double smaller(double a, double b)
{
    return isnan(a) || a <= b ? a : b;
}

typedef double complex complex_double;
FOLD(real_sum, double, 0, value + x[i])
FOLD(integer_sum, int64_t, 0, value + x[i])
FOLD(complex_sum, complex_double, 0, value + x[i])
FOLD(real_product, double, 1, value * x[i])
FOLD(integer_product, int64_t, 1, value * x[i])
FOLD(complex_product, complex_double, 1, value * x[i])
FOLD(real_max, double, -INFINITY, larger(x[i], value))
FOLD(integer_max, int64_t, INT64_MIN, x[i] > value ? x[i] : value)
FOLD(real_min, double, INFINITY, smaller(x[i], value))
FOLD(integer_min, int64_t, INT64_MAX, x[i] < value ? x[i] : value)
FOLD(real_any, double, 0, value != 0 || x[i] != 0)
FOLD(integer_any, int64_t, 0, value || x[i])
FOLD(real_all, double, 1, value != 0 && x[i] != 0)
FOLD(integer_all, int64_t, 1, value && x[i])

static double real_mean(const double *x, int64_t n)
{
    return real_sum(x, n) / (double)n;
}

static complex_double complex_mean(const complex_double *x, int64_t n)
{
    return complex_sum(x, n) / (double)n;
}

static double log_sum_exp(const double *x, int64_t n)
{
    double top = real_max(x, n), sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += isinf(top) ? exp(x[i]) : exp(x[i] - top);
    }
    return isinf(top) ? log(sum) : top + log(sum);
}

static const Reducer sum = {real_sum, integer_sum, complex_sum, false};
static const Reducer product = {real_product, integer_product, complex_product, false};
static const Reducer mean = {real_mean, NULL, complex_mean, false};
static const Reducer maximum = {real_max, integer_max, NULL, false};
static const Reducer minimum = {real_min, integer_min, NULL, false};
static const Reducer any = {real_any, integer_any, NULL, true};
static const Reducer all = {real_all, integer_all, NULL, true};
static const Reducer logsumexp = {log_sum_exp, NULL, NULL, false};

static void reduce(const View *self, unsigned axes, const Reducer *reducer, aclDataType compute,
                   const View *out)
{
    Reduction reduction = reduction_of(self, axes);
    int64_t n = reduction.length;
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    int64_t i = 0;
    if (class_of(compute) == CLASS_COMPLEX) {
        complex_double *values = reduction_complexes(self, &reduction);
        LOOP(loop) {
            store_complex(out->dtype, loop.at[0], reducer->complexes(values + n * i++, n));
        }
        free(values);
    } else if (class_of(compute) == CLASS_REAL || reducer->integer == NULL) {
        double *values = reduction_reals(self, &reduction);
        LOOP(loop) {
            store_real(out->dtype, loop.at[0], reducer->real(values + n * i++, n));
        }
        free(values);
    } else {
        int64_t *values = reduction_integers(self, &reduction);
        LOOP(loop) {
            store_integer(out->dtype, loop.at[0], reducer->integer(values + n * i++, n));
        }
        free(values);
    }
}

/* --- rows: the axes are called dims, the flag keepDims ------------------------------------ */

static unsigned axes_of(const Call *call)
{
    unsigned axes;
    reduction_axes(view_of(call, "self"), argument_of(call, "dims"), &axes);
    return axes;
}

static aclnnStatus check_shape(const Call *call)
{
    unsigned axes;
    const View *self = view_of(call, "self");
    TRY(reduction_axes(self, argument_of(call, "dims"), &axes));
    return reduction_out(self, axes, integer_of(call, "keepDims") != 0, output_of(call), "out");
}

static aclnnStatus check_typed(const Call *call)
{
    TRY(expect_dtype(view_of(call, "out"), "out", (aclDataType)integer_of(call, "dtype")));
    return check_shape(call);
}

static aclnnStatus check_mean(const Call *call)
{
    aclDataType dtype = (aclDataType)integer_of(call, "dtype");
    const View *out = view_of(call, "out");
    if (argument_of(call, "dims")->count == 0 && view_of(call, "self")->rank > 0) {
        return refuse("operator-dim", "an empty dim has no documented meaning: pass every axis");
    }
    if (class_of(dtype) == CLASS_INTEGER || !can_cast(dtype, out->dtype)) {
        return refuse("operator-cast", "a mean in %s for an output of %s", dtype_name(dtype),
                      dtype_name(out->dtype));
    }
    return check_shape(call);
}

static aclnnStatus check_extreme(const Call *call)
{
    TRY(expect_dtype(view_of(call, "out"), "out", view_of(call, "self")->dtype));
    TRY(check_shape(call));
    Reduction reduction = reduction_of(view_of(call, "self"), axes_of(call));
    return reduction.length == 0 ? refuse("operator-shape", "an axis without elements is reduced")
                                 : ACL_SUCCESS;
}

/* Computes in the class of the output's type, or in self's for what gives bool. */
static void run_reduce(Call *call)
{
    const Reducer *reducer = call->operator->detail;
    const View *self = view_of(call, "self"), *out = output_of(call);
    reduce(self, axes_of(call), reducer, reducer->boolean ? self->dtype : out->dtype, out);
}

#define SELF(dtypes) (IN, self, dtypes)
#define OUT_OF(dtypes) (OUT, out, dtypes)
#define DIMS (INTS, dims, 0)
#define KEEP (FLAG, keepDims, 0)
#define TYPE (DTYPE, dtype, 0)
#define D_MEAN (D_FLOATS | D_I | D_C)

OPERATOR(ReduceSum, check_typed, run_reduce, &sum, TRAIT_WORKSPACE, SELF(D_NUMBERS), DIMS, KEEP,
         TYPE, OUT_OF(D_NUMBERS))
OPERATOR(Mean, check_mean, run_reduce, &mean, TRAIT_WORKSPACE, SELF(D_MEAN), DIMS, KEEP, TYPE,
         OUT_OF(D_MEAN))
OPERATOR(Amax, check_extreme, run_reduce, &maximum, TRAIT_WORKSPACE, SELF(D_REALS), DIMS, KEEP,
         OUT_OF(D_REALS))
OPERATOR(Amin, check_extreme, run_reduce, &minimum, TRAIT_WORKSPACE, SELF(D_REALS), DIMS, KEEP,
         OUT_OF(D_REALS))
OPERATOR(Any, check_shape, run_reduce, &any, TRAIT_WORKSPACE, SELF(D_REALS), DIMS, KEEP,
         OUT_OF(D_B))
OPERATOR(All, check_shape, run_reduce, &all, TRAIT_WORKSPACE, SELF(D_REALS), DIMS, KEEP,
         OUT_OF(D_B | D_U8))
OPERATOR(LogSumExp, check_shape, run_reduce, &logsumexp, TRAIT_WORKSPACE, SELF(D_F | D_I | D_B),
         DIMS, KEEP, OUT_OF(D_F))

/* --- rows: everything, or one axis ------------------------------------------------------- */

static aclnnStatus check_full(const Call *call)
{
    if (call->operator->detail == &product) {
        aclDataType dtype = (aclDataType)integer_of(call, "dtype");
        TRY(expect_dtype(view_of(call, "out"), "out", dtype));
    } else {
        TRY(expect_dtype(view_of(call, "out"), "out", view_of(call, "self")->dtype));
        if (view_count(view_of(call, "self")) == 0) {
            return refuse("operator-shape", "no elements");
        }
    }
    return expect_dims(view_of(call, "out"), "out", 0, NULL);
}

static void run_full(Call *call)
{
    const View *self = view_of(call, "self"), *out = view_of(call, "out");
    reduce(self, (1u << self->rank) - 1, call->operator->detail, out->dtype, out);
}

OPERATOR(Max, check_full, run_full, &maximum, TRAIT_WORKSPACE, SELF(D_REALS), OUT_OF(D_REALS))
OPERATOR(Min, check_full, run_full, &minimum, TRAIT_WORKSPACE, SELF(D_REALS), OUT_OF(D_REALS))
OPERATOR(Prod, check_full, run_full, &product, TRAIT_WORKSPACE, SELF(D_NUMBERS), TYPE,
         OUT_OF(D_NUMBERS))

static aclnnStatus check_axis(const Call *call, const char *out)
{
    const View *self = view_of(call, "self");
    TRY(check_one_axis(call, self));
    return reduction_out(self, one_axis(call, self), integer_of(call, "keepDim") != 0,
                         view_of(call, out), out);
}

static aclnnStatus check_prod_dim(const Call *call)
{
    TRY(expect_dtype(view_of(call, "out"), "out", (aclDataType)integer_of(call, "dtype")));
    return check_axis(call, "out");
}

static void run_prod_dim(Call *call)
{
    const View *self = view_of(call, "self"), *out = view_of(call, "out");
    reduce(self, one_axis(call, self), &product, out->dtype, out);
}

#define DIM (INT64, dim, 0)
#define KEEP_ONE (FLAG, keepDim, 0)
OPERATOR(ProdDim, check_prod_dim, run_prod_dim, NULL, TRAIT_WORKSPACE, SELF(D_NUMBERS), DIM,
         KEEP_ONE, TYPE, OUT_OF(D_NUMBERS))

/* --- where the extreme is ---------------------------------------------------------------- */

typedef struct {
    bool largest;
} Extreme;

static const Extreme largest = {true}, smallest = {false};

/* The first place of the extreme; NaN counts as the most extreme. */
static int64_t place_of(const double *x, int64_t n, bool is_largest)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n && !isnan(x[best]); i++) {
        if (isnan(x[i]) || (is_largest ? x[i] > x[best] : x[i] < x[best])) {
            best = i;
        }
    }
    return best;
}

static int64_t integer_place_of(const int64_t *x, int64_t n, bool is_largest)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++) {
        best = (is_largest ? x[i] > x[best] : x[i] < x[best]) ? i : best;
    }
    return best;
}

static int64_t *places(const View *self, unsigned axis, bool is_largest, int64_t *count)
{
    Reduction reduction = reduction_of(self, axis);
    int64_t n = reduction.length;
    int64_t *found = sim_allocate((size_t)reduction.results, sizeof *found);
    *count = reduction.results;
    if (class_of(self->dtype) == CLASS_REAL) {
        double *values = reduction_reals(self, &reduction);
        for (int64_t i = 0; i < reduction.results; i++) {
            found[i] = place_of(values + n * i, n, is_largest);
        }
        free(values);
    } else {
        int64_t *values = reduction_integers(self, &reduction);
        for (int64_t i = 0; i < reduction.results; i++) {
            found[i] = integer_place_of(values + n * i, n, is_largest);
        }
        free(values);
    }
    return found;
}

static aclnnStatus check_places(const Call *call, const char *out)
{
    TRY(check_axis(call, out));
    const View *self = view_of(call, "self");
    Reduction reduction = reduction_of(self, one_axis(call, self));
    return reduction.length == 0 ? refuse("operator-shape", "an axis without elements")
                                 : ACL_SUCCESS;
}

static aclnnStatus check_arg(const Call *call)
{
    return check_places(call, "out");
}

static void run_arg(Call *call)
{
    int64_t count;
    const Extreme *extreme = call->operator->detail;
    const View *self = view_of(call, "self");
    int64_t *found = places(self, one_axis(call, self), extreme->largest, &count);
    write_integers(view_of(call, "out"), found);
    free(found);
}

OPERATOR(ArgMax, check_arg, run_arg, &largest, TRAIT_WORKSPACE, SELF(D_FLOATS | D_I), DIM,
         KEEP_ONE, OUT_OF(D_INDEX))
OPERATOR(ArgMin, check_arg, run_arg, &smallest, TRAIT_WORKSPACE, SELF(D_FLOATS | D_I), DIM,
         KEEP_ONE, OUT_OF(D_INDEX))

static aclnnStatus check_with_indices(const Call *call)
{
    TRY(expect_dtype(view_of(call, "out"), "out", view_of(call, "self")->dtype));
    TRY(check_places(call, "out"));
    return expect_like(view_of(call, "indices"), "indices", view_of(call, "out"));
}

static void run_with_indices(Call *call)
{
    int64_t count;
    const Extreme *extreme = call->operator->detail;
    const View *self = view_of(call, "self");
    int64_t *found = places(self, one_axis(call, self), extreme->largest, &count);
    write_integers(view_of(call, "indices"), found);
    free(found);
    reduce(self, one_axis(call, self), extreme->largest ? &maximum : &minimum, self->dtype,
           view_of(call, "out"));
}

#define D_EXTREME (D_F | D_B | D_I64)
OPERATOR(MaxDim, check_with_indices, run_with_indices, &largest, TRAIT_WORKSPACE, SELF(D_EXTREME),
         DIM, KEEP_ONE, OUT_OF(D_EXTREME), (OUT, indices, D_INDEX))
OPERATOR(MinDim, check_with_indices, run_with_indices, &smallest, TRAIT_WORKSPACE,
         SELF(D_EXTREME), DIM, KEEP_ONE, OUT_OF(D_EXTREME), (OUT, indices, D_INDEX))

static aclnnStatus check_equal(const Call *call)
{
    int64_t one = 1;
    return expect_dims(view_of(call, "out"), "out", 1, &one);
}

static void run_equal(Call *call)
{
    const View *self = view_of(call, "self"), *other = view_of(call, "other");
    double same = self->rank == other->rank &&
                  memcmp(self->dims, other->dims, (size_t)self->rank * sizeof *self->dims) == 0;
    Loop loop = loop_over(same != 0 ? self->rank : 0, self->dims);
    if (same != 0) {
        loop_add(&loop, self);
        loop_add(&loop, other);
        LOOP(loop) {
            same = same != 0 && load_real(self->dtype, loop.at[0]) ==
                                    load_real(other->dtype, loop.at[1]);
        }
    }
    write_reals(view_of(call, "out"), &same);
}

OPERATOR(Equal, check_equal, run_equal, NULL, TRAIT_WORKSPACE, SELF(D_REALS), (IN, other, D_REALS),
         OUT_OF(D_REALS))
