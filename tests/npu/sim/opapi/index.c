/* Operators that read or write where an index tensor says.
 *
 * Indices are data: one that is out of range is found when the operator runs, and faults it. */

#include "operator.h"

/* A checked index; a bad one faults the call and reads place 0. */
static int64_t place(Call *call, int64_t index, int64_t size, bool negative_allowed)
{
    if (negative_allowed && index < 0) {
        index += size;
    }
    if (index < 0 || index >= size) {
        call->fault = ACL_ERROR_RT_AICORE_EXCEPTION;
        return 0;
    }
    return index;
}

static void move(const View *to, void *target, const void *source)
{
    memcpy(target, source, aclDataTypeSize(to->dtype));
}

/* --- select, gather, embedding ----------------------------------------------------------- */

static aclnnStatus check_index_select(const Call *call)
{
    View expected = *view_of(call, "self");
    int dim;
    TRY(wrap_dim(integer_of(call, "dim"), expected.rank, &dim));
    TRY(expect_rank(view_of(call, "index"), "index", 0, 1));
    if (expected.rank > 0) {
        expected.dims[dim] = view_count(view_of(call, "index"));
    }
    TRY(expect_dtype(view_of(call, "out"), "out", expected.dtype));
    return expect_like(view_of(call, "out"), "out", &expected);
}

static void run_index_select(Call *call)
{
    const View *self = view_of(call, "self"), *out = view_of(call, "out");
    int64_t *indices = read_integers(view_of(call, "index"));
    int64_t from[SIM_MOST_DIMS];
    int dim;
    wrap_dim(integer_of(call, "dim"), self->rank, &dim);
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    LOOP(loop) {
        memcpy(from, loop.index, sizeof from);
        from[dim] = place(call, indices[loop.index[dim]], self->rank ? self->dims[dim] : 1, false);
        if (call->fault) {
            break;
        }
        move(out, loop.at[0], element_at(self, from));
    }
    free(indices);
}

static aclnnStatus check_gather(const Call *call)
{
    const View *self = view_of(call, "self"), *index = view_of(call, "index");
    int dim;
    TRY(wrap_dim(integer_of(call, "dim"), self->rank, &dim));
    TRY(expect_rank(index, "index", self->rank, self->rank));
    for (int i = 0; i < self->rank; i++) {
        if (i != dim && index->dims[i] > self->dims[i]) {
            return refuse("operator-shape", "index is larger than self in dimension %d", i);
        }
    }
    TRY(expect_dtype(view_of(call, "out"), "out", self->dtype));
    return expect_like(view_of(call, "out"), "out", index);
}

static void run_gather(Call *call)
{
    const View *self = view_of(call, "self"), *out = view_of(call, "out");
    const View *index = view_of(call, "index");
    int64_t from[SIM_MOST_DIMS];
    int dim;
    wrap_dim(integer_of(call, "dim"), self->rank, &dim);
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    loop_add(&loop, index);
    LOOP(loop) {
        memcpy(from, loop.index, sizeof from);
        int64_t given_index = load_integer(index->dtype, loop.at[1]);
        from[dim] = place(call, given_index, self->rank ? self->dims[dim] : 1, false);
        if (call->fault) {
            break;
        }
        move(out, loop.at[0], element_at(self, from));
    }
}

static aclnnStatus check_take(const Call *call)
{
    TRY(expect_dtype(view_of(call, "out"), "out", view_of(call, "self")->dtype));
    return expect_like(view_of(call, "out"), "out", view_of(call, "index"));
}

static void run_take(Call *call)
{
    const View *self = view_of(call, "self"), *out = view_of(call, "out");
    const View *index = view_of(call, "index");
    int64_t from[SIM_MOST_DIMS] = {0};
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    loop_add(&loop, index);
    LOOP(loop) {
        int64_t flat = place(call, load_integer(index->dtype, loop.at[1]), view_count(self), false);
        if (call->fault) {
            break;
        }
        for (int i = self->rank - 1; i >= 0; i--) {
            from[i] = flat % self->dims[i];
            flat /= self->dims[i];
        }
        move(out, loop.at[0], element_at(self, from));
    }
}

static aclnnStatus check_embedding(const Call *call)
{
    const View *weight = view_of(call, "weight");
    View expected = *view_of(call, "indices");
    TRY(expect_rank(weight, "weight", 2, 2));
    TRY(expect_rank(&expected, "indices", 0, SIM_MOST_RANK - 1));
    expected.dims[expected.rank++] = weight->dims[1];
    TRY(expect_dtype(view_of(call, "out"), "out", weight->dtype));
    return expect_like(view_of(call, "out"), "out", &expected);
}

static void run_embedding(Call *call)
{
    const View *weight = view_of(call, "weight"), *out = view_of(call, "out");
    const View *indices = view_of(call, "indices");
    View rows = *indices; /* the same index for all of a row */
    rows.dims[rows.rank] = 1;
    rows.strides[rows.rank++] = 0;
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    loop_add(&loop, &rows);
    LOOP(loop) {
        int64_t row = place(call, load_integer(indices->dtype, loop.at[1]), weight->dims[0], false);
        if (call->fault) {
            break;
        }
        int64_t from[2] = {row, loop.index[out->rank - 1]};
        move(out, loop.at[0], element_at(weight, from));
    }
}

#define INDEX (IN, index, D_INDEX)
#define DIM (INT64, dim, 0)
OPERATOR(IndexSelect, check_index_select, run_index_select, NULL, 0, (IN, self, D_ALL), DIM, INDEX,
         (OUT, out, D_ALL))
OPERATOR(Gather, check_gather, run_gather, NULL, 0, (IN, self, D_REALS | D_U), DIM, INDEX,
         (OUT, out, D_REALS | D_U))
OPERATOR(Take, check_take, run_take, NULL, 0, (IN, self, D_ALL), INDEX, (OUT, out, D_ALL))
OPERATOR(Embedding, check_embedding, run_embedding, NULL, 0, (IN, weight, D_NUMBERS),
         (IN, indices, D_INDEX), (OUT, out, D_NUMBERS))

static aclnnStatus check_embedding_backward(const Call *call)
{
    const View *grad = view_of(call, "grad"), *indices = view_of(call, "indices");
    if (grad->rank == 0) {
        return refuse("operator-rank", "grad has no dimensions");
    }
    int64_t dims[2] = {integer_of(call, "numWeights"), grad->dims[grad->rank - 1]};
    if (view_count(grad) != view_count(indices) * dims[1]) {
        return refuse("operator-shape", "grad and indices do not fit");
    }
    return expect_dims(view_of(call, "out"), "out", 2, dims);
}

static void run_embedding_backward(Call *call)
{
    const View *out = view_of(call, "out");
    int64_t width = out->dims[1], count = view_count(view_of(call, "indices"));
    int64_t padding = integer_of(call, "paddingIdx");
    bool scale = integer_of(call, "scaleGradByFreq") != 0;
    double *grad = read_reals(view_of(call, "grad"));
    int64_t *indices = read_integers(view_of(call, "indices"));
    double *sums = sim_allocate((size_t)view_count(out), sizeof *sums);
    double *uses = sim_allocate((size_t)out->dims[0], sizeof *uses);
    for (int64_t i = 0; i < count && !call->fault; i++) {
        int64_t row = place(call, indices[i], out->dims[0], false);
        uses[row] += out->dims[0] > 0;
    }
    for (int64_t i = 0; i < count && !call->fault; i++) {
        for (int64_t j = 0; j < width && indices[i] != padding; j++) {
            sums[indices[i] * width + j] += grad[i * width + j] / (scale ? uses[indices[i]] : 1);
        }
    }
    if (!call->fault) {
        write_reals(out, sums);
    }
    free(grad);
    free(indices);
    free(sums);
    free(uses);
}

OPERATOR(EmbeddingDenseBackward, check_embedding_backward, run_embedding_backward, NULL,
         TRAIT_WORKSPACE, (IN, grad, D_F), (IN, indices, D_INDEX), (UINT64, numWeights, 0),
         (UINT64, paddingIdx, 0), (FLAG, scaleGradByFreq, 0), (OUT, out, D_F))

/* --- scatter ----------------------------------------------------------------------------- */

enum { SCATTER_SET = 0, SCATTER_ADD = 1, SCATTER_MULTIPLY = 2 };

static void combine(Written *written, void *target, const void *source, int64_t how)
{
    aclDataType dtype = written->view->dtype;
    if (how == SCATTER_SET) {
        written_put(written, target, source);
    } else if (class_of(dtype) == CLASS_INTEGER) {
        int64_t a = load_integer(dtype, target), b = load_integer(dtype, source);
        store_integer(dtype, target, how == SCATTER_ADD ? a + b : a * b);
    } else if (class_of(dtype) == CLASS_REAL) {
        double a = load_real(dtype, target), b = load_real(dtype, source);
        store_real(dtype, target, how == SCATTER_ADD ? a + b : a * b);
    } else {
        double complex a = load_complex(dtype, target), b = load_complex(dtype, source);
        store_complex(dtype, target, how == SCATTER_ADD ? a + b : a * b);
    }
}

/* Each row's own: where self is, where the values come from, how they combine. */
typedef struct {
    const char *self; /* NULL: the output is changed in place */
    const char *source;
    bool adds;
    bool has_reduce;
} Scatter;

static aclnnStatus check_scatter(const Call *call)
{
    const Scatter *scatter = call->operator->detail;
    const View *out = output_of(call), *index = view_of(call, "index");
    const Argument *source = argument_of(call, scatter->source);
    int dim;
    if (scatter->self != NULL) {
        TRY(expect_like(out, "out", view_of(call, scatter->self)));
        TRY(expect_dtype(out, "out", view_of(call, scatter->self)->dtype));
    }
    TRY(wrap_dim(integer_of(call, "dim"), out->rank, &dim));
    TRY(expect_rank(index, "index", out->rank, out->rank));
    bool tensor = is_tensor_kind(source->parameter->kind);
    if (tensor) {
        TRY(expect_dtype(&source->view, scatter->source, out->dtype));
        TRY(expect_rank(&source->view, scatter->source, out->rank, out->rank));
    }
    for (int i = 0; i < out->rank; i++) {
        if ((tensor && index->dims[i] > source->view.dims[i]) ||
            (i != dim && index->dims[i] > out->dims[i])) {
            return refuse("operator-shape", "index is too large in dimension %d", i);
        }
    }
    if (scatter->has_reduce && (integer_of(call, "reduce") < SCATTER_SET ||
                                integer_of(call, "reduce") > SCATTER_MULTIPLY)) {
        return refuse("operator-attribute", "reduce is %lld",
                      (long long)integer_of(call, "reduce"));
    }
    return ACL_SUCCESS;
}

static void run_scatter(Call *call)
{
    const Scatter *scatter = call->operator->detail;
    const View *out = output_of(call), *index = view_of(call, "index");
    const Argument *source = argument_of(call, scatter->source);
    bool tensor = is_tensor_kind(source->parameter->kind);
    int64_t how = scatter->adds ? SCATTER_ADD : scatter->has_reduce ? integer_of(call, "reduce") : 0;
    unsigned char value[16];
    const Number *number = &source->number;
    if (!tensor && class_of(number->dtype) == CLASS_INTEGER) {
        store_integer(out->dtype, value, number->integer);
    } else if (!tensor) {
        store_complex(out->dtype, value, CMPLX(number->real, number->imaginary));
    }
    if (scatter->self != NULL) {
        copy_view(out, view_of(call, scatter->self));
    }
    int64_t to[SIM_MOST_DIMS];
    int dim;
    wrap_dim(integer_of(call, "dim"), out->rank, &dim);
    Written written = written_none(out);
    Loop loop = loop_over(index->rank, index->dims);
    loop_add(&loop, index);
    LOOP(loop) {
        memcpy(to, loop.index, sizeof to);
        int64_t given_index = load_integer(index->dtype, loop.at[0]);
        to[dim] = place(call, given_index, out->rank ? out->dims[dim] : 1, false);
        if (call->fault) {
            break;
        }
        const void *from = tensor ? element_at(&source->view, loop.index) : value;
        combine(&written, element_at(out, to), from, how);
    }
    free(written.seen);
}

static const Scatter scatter_out = {"self", "src", false, true};
static const Scatter scatter_in_place = {NULL, "src", false, true};
static const Scatter scatter_value = {"self", "value", false, true};
static const Scatter scatter_value_in_place = {NULL, "value", false, true};
static const Scatter scatter_add = {"self", "src", true, false};
OPERATOR(Scatter, check_scatter, run_scatter, &scatter_out, 0, (IN, self, D_NUMBERS), DIM, INDEX,
         (IN, src, D_NUMBERS), (INT64, reduce, 0), (OUT, out, D_NUMBERS))
OPERATOR(InplaceScatter, check_scatter, run_scatter, &scatter_in_place, 0,
         (REF, selfRef, D_NUMBERS), DIM, INDEX, (IN, src, D_NUMBERS), (INT64, reduce, 0))
OPERATOR(ScatterValue, check_scatter, run_scatter, &scatter_value, 0, (IN, self, D_NUMBERS), DIM,
         INDEX, (FACTOR, value, 0), (INT64, reduce, 0), (OUT, out, D_NUMBERS))
OPERATOR(InplaceScatterValue, check_scatter, run_scatter, &scatter_value_in_place, 0,
         (REF, selfRef, D_NUMBERS), DIM, INDEX, (FACTOR, value, 0), (INT64, reduce, 0))
OPERATOR(ScatterAdd, check_scatter, run_scatter, &scatter_add, 0, (IN, self, D_NUMBERS), DIM,
         INDEX, (IN, src, D_NUMBERS), (OUT, out, D_NUMBERS))

/* --- whole slices: add, copy, fill ------------------------------------------------------- */

static aclnnStatus check_slices(const Call *call)
{
    const View *self = view_of(call, "self"), *source = view_of(call, "source");
    View expected = *self;
    int dim;
    TRY(wrap_dim(integer_of(call, "dim"), self->rank, &dim));
    TRY(expect_rank(view_of(call, "index"), "index", 0, 1));
    if (self->rank > 0) {
        expected.dims[dim] = view_count(view_of(call, "index"));
    }
    TRY(expect_like(source, "source", &expected));
    TRY(expect_dtype(source, "source", self->dtype));
    TRY(expect_dtype(output_of(call), "out", self->dtype));
    return expect_like(output_of(call), "out", self);
}

static void change_slices(Call *call, int64_t how, double factor)
{
    const View *self = view_of(call, "self"), *out = output_of(call);
    const View *source = view_of(call, "source");
    int64_t *indices = read_integers(view_of(call, "index"));
    unsigned char scaled[16];
    int64_t to[SIM_MOST_DIMS];
    int dim;
    wrap_dim(integer_of(call, "dim"), self->rank, &dim);
    copy_view(out, self);
    Written written = written_none(out);
    Loop loop = loop_over(source->rank, source->dims);
    loop_add(&loop, source);
    LOOP(loop) {
        memcpy(to, loop.index, sizeof to);
        to[dim] = place(call, indices[loop.index[dim]], self->rank ? self->dims[dim] : 1, false);
        if (call->fault) {
            break;
        }
        memcpy(scaled, loop.at[0], aclDataTypeSize(source->dtype));
        if (factor != 1) {
            store_real(source->dtype, scaled, factor * load_real(source->dtype, scaled));
        }
        combine(&written, element_at(out, to), scaled, how);
    }
    free(written.seen);
    free(indices);
}

static void run_index_add(Call *call)
{
    change_slices(call, SCATTER_ADD, real_of(call, "alpha"));
}

static void run_index_copy(Call *call)
{
    change_slices(call, SCATTER_SET, 1);
}

OPERATOR(IndexAdd, check_slices, run_index_add, NULL, 0, (IN, self, D_REALS), DIM, INDEX,
         (IN, source, D_REALS), (FACTOR, alpha, 0), (OUT, out, D_REALS))
OPERATOR(IndexCopy, check_slices, run_index_copy, NULL, TRAIT_ALIAS, (IN, self, D_NUMBERS), DIM,
         INDEX, (IN, source, D_NUMBERS), (OUT, outRef, D_NUMBERS))

static aclnnStatus check_index_fill(const Call *call)
{
    const View *self = view_of(call, "self");
    const Argument *index = argument_of(call, "index");
    int dim;
    TRY(wrap_dim(integer_of(call, "dim"), self->rank, &dim));
    for (uint64_t i = 0; i < index->count; i++) {
        int64_t size = self->rank ? self->dims[dim] : 1;
        if (index->integers[i] < -size || index->integers[i] >= size) {
            return refuse("operator-attribute", "index %lld", (long long)index->integers[i]);
        }
    }
    TRY(expect_dtype(view_of(call, "out"), "out", self->dtype));
    return expect_like(view_of(call, "out"), "out", self);
}

static void run_index_fill(Call *call)
{
    const View *out = view_of(call, "out");
    const Argument *index = argument_of(call, "index");
    int dim;
    wrap_dim(integer_of(call, "dim"), out->rank, &dim);
    copy_view(out, view_of(call, "self"));
    for (uint64_t i = 0; i < index->count; i++) {
        int64_t at = index->integers[i];
        at = at < 0 ? at + out->dims[dim] : at;
        View part = out->rank ? view_slice(out, dim, at, 1) : *out;
        Loop loop = loop_over(part.rank, part.dims);
        loop_add(&loop, &part);
        LOOP(loop) {
            store_real(out->dtype, loop.at[0], real_of(call, "value"));
        }
    }
}

OPERATOR(IndexFillTensor, check_index_fill, run_index_fill, NULL, 0,
         (IN, self, D_F | D_B | D_INDEX), DIM, (INTS, index, 0), (FACTOR, value, 0),
         (OUT, out, D_F | D_B | D_INDEX))
