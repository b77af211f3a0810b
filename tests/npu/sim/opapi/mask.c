/* Where a condition holds: where, masked fill, and what it selects. */

#include "elementwise.h"

/* --- where ------------------------------------------------------------------------------- */

static aclnnStatus check_where(const Call *call)
{
    int rank;
    int64_t dims[SIM_MOST_DIMS];
    const View *out = view_of(call, "out");
    aclDataType dtype = promote(view_of(call, "self")->dtype, view_of(call, "other")->dtype);
    if (dtype == NO_DTYPE || !can_cast(dtype, out->dtype)) {
        return refuse("operator-cast", "self and other do not promote to what out can hold");
    }
    TRY(broadcast_inputs(call, &rank, dims));
    return expect_dims(out, "out", rank, dims);
}

static void run_where(Call *call)
{
    const View *condition = view_of(call, "condition"), *out = view_of(call, "out");
    const View *self = view_of(call, "self"), *other = view_of(call, "other");
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    loop_add(&loop, condition);
    loop_add(&loop, self);
    loop_add(&loop, other);
    LOOP(loop) {
        bool holds = load_integer(condition->dtype, loop.at[1]) != 0;
        convert(out->dtype, loop.at[0], (holds ? self : other)->dtype, loop.at[holds ? 2 : 3]);
    }
}

OPERATOR(SWhere, check_where, run_where, NULL, TRAIT_ALIAS, (IN, condition, D_B | D_U8),
         (IN, self, D_ALL), (IN, other, D_ALL), (OUT, out, D_ALL))

/* --- masked fill ------------------------------------------------------------------------- */

static aclnnStatus check_fill(const Call *call)
{
    const View *self = view_of(call, "selfRef");
    const Argument *value = argument_of(call, "value");
    bool tensor = is_tensor_kind(value->parameter->kind);
    aclDataType dtype = tensor ? value->view.dtype : value->number.dtype;
    bool fits = self->dtype == ACL_BOOL ? class_of(dtype) == CLASS_INTEGER
                                        : can_cast(dtype, self->dtype);
    if (!fits || (tensor && value->view.rank != 0)) {
        return refuse("operator-cast", "value of %s for %s", dtype_name(dtype),
                      dtype_name(self->dtype));
    }
    View both = *self;
    TRY(broadcast_with(&both.rank, both.dims, view_of(call, "mask"), "mask"));
    return expect_like(&both, "mask", self);
}

static void run_fill(Call *call)
{
    const View *self = view_of(call, "selfRef"), *mask = view_of(call, "mask");
    const Argument *value = argument_of(call, "value");
    unsigned char element[16];
    if (is_tensor_kind(value->parameter->kind)) {
        convert(self->dtype, element, value->view.dtype, value->view.data);
    } else if (class_of(value->number.dtype) == CLASS_INTEGER) {
        store_integer(self->dtype, element, value->number.integer);
    } else {
        store_real(self->dtype, element, value->number.real);
    }
    Loop loop = loop_over(self->rank, self->dims);
    loop_add(&loop, self);
    loop_add(&loop, mask);
    LOOP(loop) {
        if (load_integer(mask->dtype, loop.at[1]) != 0) {
            memcpy(loop.at[0], element, aclDataTypeSize(self->dtype));
        }
    }
}

#define D_FILL (D_F | D_B | D_INDEX | D_I8)
OPERATOR(InplaceMaskedFillScalar, check_fill, run_fill, NULL, 0, (REF, selfRef, D_FILL),
         (IN, mask, D_B), (FACTOR, value, 0))
OPERATOR(InplaceMaskedFillTensor, check_fill, run_fill, NULL, 0, (REF, selfRef, D_FILL),
         (IN, mask, D_B), (IN, value, D_FILL))

/* --- outputs whose shape the data decides ------------------------------------ */

/* The output's dims as they turned out: the run tells the descriptor. */
static void set_dims(Call *call, const char *name, int rank, const int64_t *dims)
{
    View *view = (View *)(uintptr_t)view_of(call, name);
    memcpy(view->dims, dims, (size_t)rank * sizeof *dims);
}

static aclnnStatus check_masked_select(const Call *call)
{
    const View *out = view_of(call, "out");
    View both = *view_of(call, "self");
    TRY(broadcast_with(&both.rank, both.dims, view_of(call, "mask"), "mask"));
    int64_t most = view_count(&both);
    TRY(expect_dtype(out, "out", both.dtype));
    return expect_dims(out, "out", 1, &most);
}

static void run_masked_select(Call *call)
{
    const View *self = view_of(call, "self"), *mask = view_of(call, "mask");
    const View *out = view_of(call, "out");
    View both = *self;
    broadcast_with(&both.rank, both.dims, mask, "mask");
    size_t size = aclDataTypeSize(out->dtype);
    int64_t count = 0;
    Loop loop = loop_over(both.rank, both.dims);
    loop_add(&loop, self);
    loop_add(&loop, mask);
    LOOP(loop) {
        if (load_integer(mask->dtype, loop.at[1]) != 0) {
            memcpy(out->data + count++ * (int64_t)size, loop.at[0], size);
        }
    }
    set_dims(call, "out", 1, &count);
}

OPERATOR(MaskedSelect, check_masked_select, run_masked_select, NULL, TRAIT_WORKSPACE,
         (IN, self, D_REALS), (IN, mask, D_B | D_U8), (PENDING_OUT, out, D_REALS))

/* Nonzero gives [count, rank], its second version [rank, count]. */
typedef struct {
    bool rows_first;
} Layout;

static const Layout by_element = {true}, by_dimension = {false};

static aclnnStatus check_nonzero(const Call *call)
{
    const View *self = view_of(call, "self"), *out = view_of(call, "out");
    bool rows_first = ((const Layout *)call->operator->detail)->rows_first;
    int64_t count = view_count(self);
    int64_t dims[2] = {rows_first ? count : self->rank, rows_first ? self->rank : count};
    if (!view_contiguous(out)) {
        return refuse("operator-layout", "out must be contiguous");
    }
    return expect_dims(out, "out", 2, dims);
}

static bool is_zero(aclDataType dtype, const void *element)
{
    return class_of(dtype) == CLASS_REAL ? load_real(dtype, element) == 0
                                         : load_integer(dtype, element) == 0;
}

static void run_nonzero(Call *call)
{
    const View *self = view_of(call, "self"), *out = view_of(call, "out");
    bool rows_first = ((const Layout *)call->operator->detail)->rows_first;
    int64_t *places = sim_allocate((size_t)view_count(out), sizeof *places);
    int64_t count = 0;
    Loop loop = loop_over(self->rank, self->dims);
    loop_add(&loop, self);
    LOOP(loop) {
        if (!is_zero(self->dtype, loop.at[0])) {
            memcpy(places + count++ * self->rank, loop.index,
                   (size_t)self->rank * sizeof *places);
        }
    }
    int64_t *target = (int64_t *)(void *)out->data;
    for (int64_t i = 0; i < count; i++) {
        for (int j = 0; j < self->rank; j++) {
            target[rows_first ? i * self->rank + j : j * count + i] = places[i * self->rank + j];
        }
    }
    int64_t dims[2] = {rows_first ? count : self->rank, rows_first ? self->rank : count};
    set_dims(call, "out", 2, dims);
    free(places);
}

OPERATOR(Nonzero, check_nonzero, run_nonzero, &by_element, TRAIT_WORKSPACE,
         (IN, self, D_REALS), (PENDING_OUT, out, D_I64))
OPERATOR(NonzeroV2, check_nonzero, run_nonzero, &by_dimension, TRAIT_WORKSPACE,
         (IN, self, D_REALS), (PENDING_OUT, out, D_I64))

/* --- unique ------------------------------------------------------------------------------ */

static aclnnStatus check_unique(const Call *call)
{
    const View *self = view_of(call, "self");
    int64_t count = view_count(self);
    if (!view_contiguous(self)) {
        return refuse("operator-layout", "self must be contiguous");
    }
    TRY(expect_dtype(view_of(call, "valueOut"), "valueOut", self->dtype));
    TRY(expect_dims(view_of(call, "valueOut"), "valueOut", 1, &count));
    if (integer_of(call, "returnInverse") != 0) {
        TRY(expect_like(view_of(call, "inverseOut"), "inverseOut", self));
    }
    return integer_of(call, "returnCounts") == 0
               ? ACL_SUCCESS
               : expect_dims(view_of(call, "countsOut"), "countsOut", 1, &count);
}

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run_unique(Call *call)
{
    int64_t count = view_count(view_of(call, "self")), found = 0;
    double *values = read_reals(view_of(call, "self"));
    double *sorted = read_reals(view_of(call, "self"));
    int64_t *counts = sim_allocate((size_t)count, sizeof *counts);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_reals);
    for (int64_t i = 0; i < count; i++) {
        bool fresh = i == 0 || sorted[i] != sorted[found - 1];
        sorted[found] = fresh ? sorted[i] : sorted[found];
        found += fresh;
        counts[found - 1]++;
    }
    set_dims(call, "valueOut", 1, &found);
    write_reals(view_of(call, "valueOut"), sorted);
    if (integer_of(call, "returnInverse") != 0) {
        int64_t *inverse = sim_allocate((size_t)count, sizeof *inverse);
        for (int64_t i = 0; i < count; i++) {
            const double *at = bsearch(&values[i], sorted, (size_t)found, sizeof *sorted,
                                       compare_reals);
            inverse[i] = at == NULL ? 0 : at - sorted;
        }
        write_integers(view_of(call, "inverseOut"), inverse);
        free(inverse);
    }
    if (integer_of(call, "returnCounts") != 0) {
        set_dims(call, "countsOut", 1, &found);
        write_integers(view_of(call, "countsOut"), counts);
    }
    free(values);
    free(sorted);
    free(counts);
}

OPERATOR(Unique2, check_unique, run_unique, NULL, TRAIT_WORKSPACE, (IN, self, D_REALS),
         (FLAG, sorted, 0), (FLAG, returnInverse, 0), (FLAG, returnCounts, 0),
         (PENDING_OUT, valueOut, D_REALS), (OUT, inverseOut, D_I64), (OUT, countsOut, D_I64))

/* --- one-hot, counts, places in a sorted sequence ---------------------------------------- */

static aclnnStatus check_one_hot(const Call *call)
{
    View expected = *view_of(call, "self");
    int64_t axis = integer_of(call, "axis"), classes = integer_of(call, "numClasses");
    if (axis < -1 || axis > expected.rank || classes < 0 || expected.rank >= SIM_MOST_RANK) {
        return refuse("operator-attribute", "axis %lld, %lld classes", (long long)axis,
                      (long long)classes);
    }
    int at = axis == -1 ? expected.rank : (int)axis;
    memmove(expected.dims + at + 1, expected.dims + at,
            (size_t)(expected.rank - at) * sizeof *expected.dims);
    expected.dims[at] = classes;
    expected.rank++;
    TRY(expect_dtype(view_of(call, "onValue"), "onValue", view_of(call, "out")->dtype));
    TRY(expect_dtype(view_of(call, "offValue"), "offValue", view_of(call, "out")->dtype));
    return expect_like(view_of(call, "out"), "out", &expected);
}

static void run_one_hot(Call *call)
{
    const View *self = view_of(call, "self"), *out = view_of(call, "out");
    int at = integer_of(call, "axis") == -1 ? self->rank : (int)integer_of(call, "axis");
    int64_t from[SIM_MOST_DIMS];
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    LOOP(loop) {
        memcpy(from, loop.index, sizeof from);
        memmove(from + at, from + at + 1, (size_t)(self->rank - at) * sizeof *from);
        bool on = load_integer(self->dtype, element_at(self, from)) == loop.index[at];
        const View *value = view_of(call, on ? "onValue" : "offValue");
        memcpy(loop.at[0], value->data, aclDataTypeSize(out->dtype));
    }
}

#define D_HOT (DTYPE_BIT(ACL_FLOAT) | DTYPE_BIT(ACL_FLOAT16) | D_INDEX)
OPERATOR(OneHot, check_one_hot, run_one_hot, NULL, 0, (IN, self, D_INDEX | D_U8),
         (INT, numClasses, 0), (IN, onValue, D_HOT), (IN, offValue, D_HOT), (INT64, axis, 0),
         (OUT, out, D_HOT))

static aclnnStatus check_bincount(const Call *call)
{
    TRY(expect_rank(view_of(call, "self"), "self", 1, 1));
    if (given(call, "weights")) {
        TRY(expect_like(view_of(call, "weights"), "weights", view_of(call, "self")));
    }
    TRY(expect_rank(view_of(call, "out"), "out", 1, 1));
    return view_of(call, "out")->dims[0] < integer_of(call, "minlength")
               ? refuse("operator-shape", "out is shorter than minlength")
               : ACL_SUCCESS;
}

static void run_bincount(Call *call)
{
    const View *out = view_of(call, "out");
    int64_t count = view_count(view_of(call, "self"));
    int64_t *values = read_integers(view_of(call, "self"));
    double *weights = given(call, "weights") ? read_reals(view_of(call, "weights")) : NULL;
    double *sums = sim_allocate((size_t)out->dims[0], sizeof *sums);
    for (int64_t i = 0; i < count; i++) {
        if (values[i] < 0 || values[i] >= out->dims[0]) {
            call->fault = ACL_ERROR_RT_AICORE_EXCEPTION;
            break;
        }
        sums[values[i]] += weights == NULL ? 1 : weights[i];
    }
    write_reals(out, sums);
    free(values);
    free(weights);
    free(sums);
}

OPERATOR(Bincount, check_bincount, run_bincount, NULL, TRAIT_WORKSPACE, (IN, self, D_I),
         (OPTIONAL_IN, weights, D_HOT | D_I | D_B), (INT64, minlength, 0),
         (OUT, out, D_F64 | DTYPE_BIT(ACL_FLOAT) | D_INDEX))
