/* Cat, stack, split. */

#include "operator.h"

/* Tensors of shape [0] are skipped, as in PyTorch. */
static bool is_skipped(const View *view)
{
    return view->rank == 1 && view->dims[0] == 0;
}

static aclnnStatus check_list_dtypes(const Argument *tensors, const View *out)
{
    aclDataType dtype = NO_DTYPE;
    for (uint64_t i = 0; i < tensors->count; i++) {
        aclDataType each = tensors->list[i].dtype;
        dtype = i == 0 ? each : promote(dtype, each);
        if (dtype == NO_DTYPE) {
            return refuse("operator-dtype", "the tensors' dtypes do not promote");
        }
    }
    if (tensors->count == 0 || !can_cast(dtype, out->dtype)) {
        return refuse("operator-cast", "no tensors, or their type cannot be cast to out's");
    }
    return ACL_SUCCESS;
}

static aclnnStatus check_cat(const Call *call)
{
    const Argument *tensors = argument_of(call, "tensors");
    const View *out = view_of(call, "out");
    TRY(check_list_dtypes(tensors, out));
    View expected = {.rank = -1};
    int dim = 0;
    for (uint64_t i = 0; i < tensors->count; i++) {
        const View *each = &tensors->list[i];
        if (is_skipped(each)) {
            continue;
        }
        if (expected.rank < 0) {
            expected = *each;
            TRY(wrap_dim(integer_of(call, "dim"), each->rank, &dim));
            expected.dims[dim] = 0;
        }
        View model = *each;
        model.dims[dim] = expected.dims[dim] += each->rank == expected.rank ? each->dims[dim] : 0;
        TRY(expect_like(&model, "a tensor without the joined axis", &expected));
    }
    int64_t none = 0;
    return expected.rank < 0 ? expect_dims(out, "out", 1, &none)
                             : expect_like(out, "out", &expected);
}

static void run_cat(Call *call)
{
    const Argument *tensors = argument_of(call, "tensors");
    const View *out = view_of(call, "out");
    int64_t start = 0;
    for (uint64_t i = 0; i < tensors->count; i++) {
        const View *each = &tensors->list[i];
        if (!is_skipped(each) && view_count(out) > 0) {
            int dim;
            wrap_dim(integer_of(call, "dim"), each->rank, &dim);
            View part = view_slice(out, dim, start, each->dims[dim]);
            copy_view(&part, each);
            start += each->dims[dim];
        }
    }
}

OPERATOR(Cat, check_cat, run_cat, NULL, 0, (LIST_IN, tensors, D_REALS | D_C64), (INT64, dim, 0),
         (OUT, out, D_REALS | D_C64))

static View without_dim(const View *view, int dim, int64_t index)
{
    View part = view_slice(view, dim, index, 1);
    for (int i = dim; i + 1 < view->rank; i++) {
        part.dims[i] = view->dims[i + 1];
        part.strides[i] = view->strides[i + 1];
    }
    part.rank--;
    return part;
}

static aclnnStatus check_stack(const Call *call)
{
    const Argument *tensors = argument_of(call, "tensors");
    const View *out = view_of(call, "out");
    int dim;
    TRY(check_list_dtypes(tensors, out));
    TRY(expect_rank(&tensors->list[0], "a tensor", 0, 7));
    TRY(expect_rank(out, "out", tensors->list[0].rank + 1, tensors->list[0].rank + 1));
    TRY(wrap_dim(integer_of(call, "dim"), out->rank, &dim));
    if (out->dims[dim] != (int64_t)tensors->count) {
        return refuse("operator-shape", "out has no place for %llu tensors",
                      (unsigned long long)tensors->count);
    }
    View model = without_dim(out, dim, 0);
    for (uint64_t i = 0; i < tensors->count; i++) {
        TRY(expect_like(&tensors->list[i], "a tensor", &model));
    }
    return ACL_SUCCESS;
}

static void run_stack(Call *call)
{
    const Argument *tensors = argument_of(call, "tensors");
    const View *out = view_of(call, "out");
    int dim;
    wrap_dim(integer_of(call, "dim"), out->rank, &dim);
    for (uint64_t i = 0; i < tensors->count; i++) {
        View part = without_dim(out, dim, (int64_t)i);
        copy_view(&part, &tensors->list[i]);
    }
}

OPERATOR(Stack, check_stack, run_stack, NULL, 0, (LIST_IN, tensors, D_ALL), (INT64, dim, 0),
         (OUT, out, D_ALL))

/* --- split ------------------------------------------------------------------------------- */

static aclnnStatus check_parts(const Call *call, int64_t (*length)(const Call *, uint64_t))
{
    const View *self = view_of(call, "self");
    const Argument *out = argument_of(call, "out");
    int dim;
    TRY(wrap_dim(integer_of(call, "dim"), self->rank, &dim));
    int64_t total = 0;
    for (uint64_t i = 0; i < out->count; i++) {
        View expected = *self;
        expected.dims[dim] = length(call, i);
        total += expected.dims[dim];
        TRY(expect_like(&out->list[i], "out", &expected));
        TRY(expect_dtype(&out->list[i], "out", self->dtype));
    }
    return total == self->dims[dim] ? ACL_SUCCESS
                                    : refuse("operator-shape", "the parts have %lld of %lld",
                                             (long long)total, (long long)self->dims[dim]);
}

static void run_parts(Call *call)
{
    const View *self = view_of(call, "self");
    const Argument *out = argument_of(call, "out");
    int dim;
    wrap_dim(integer_of(call, "dim"), self->rank, &dim);
    int64_t start = 0;
    for (uint64_t i = 0; i < out->count; i++) {
        View part = view_slice(self, dim, start, out->list[i].dims[dim]);
        copy_view(&out->list[i], &part);
        start += out->list[i].dims[dim];
    }
}

static int64_t equal_length(const Call *call, uint64_t part)
{
    const View *self = view_of(call, "self");
    int dim;
    wrap_dim(integer_of(call, "dim"), self->rank, &dim);
    int64_t length = integer_of(call, "splitSections"), left = self->dims[dim];
    left -= (int64_t)part * length;
    return left < length ? left : length;
}

static int64_t given_length(const Call *call, uint64_t part)
{
    const Argument *sizes = argument_of(call, "splitSize");
    return part < sizes->count ? sizes->integers[part] : -1;
}

static aclnnStatus check_split_tensor(const Call *call)
{
    return integer_of(call, "splitSections") <= 0
               ? refuse("operator-attribute", "splitSections is not positive")
               : check_parts(call, equal_length);
}

static aclnnStatus check_split_sizes(const Call *call)
{
    return check_parts(call, given_length);
}

OPERATOR(SplitTensor, check_split_tensor, run_parts, NULL, 0, (IN, self, D_ALL),
         (UINT64, splitSections, 0), (INT64, dim, 0), (LIST_OUT, out, D_ALL))
OPERATOR(SplitWithSize, check_split_sizes, run_parts, NULL, 0, (IN, self, D_ALL),
         (INTS, splitSize, 0), (INT64, dim, 0), (LIST_OUT, out, D_ALL))
