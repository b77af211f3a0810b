/* Index and IndexPutImpl: a tensor per dimension, boolean masks, or an empty tensor for all of a
 * dimension. */

#include "elementwise.h"

/* One index tensor of the list, and the dimensions of self that it stands for. */
typedef struct {
    const View *view; /* NULL: the whole dimension */
    int first, dims;  /* of self */
    int64_t *places;  /* of a mask: [count][dims] of what it selects */
    int64_t count;
} Entry;

typedef struct {
    int count;
    Entry entries[SIM_MOST_DIMS];
    int rank;                    /* of the tensors' common shape */
    int64_t dims[SIM_MOST_DIMS]; /* and it */
    int at;                      /* where in the result that shape stands */
} Indexing;

static bool is_mask(const View *view)
{
    return view->dtype == ACL_BOOL;
}

/* An empty tensor of shape [0] means all, unless self has an axis of size 0 to match a mask. */
static bool is_whole(const View *view)
{
    return view->rank == 1 && view->dims[0] == 0;
}

static int64_t *selected(const View *mask, int64_t *count)
{
    int64_t *places = sim_allocate((size_t)(view_count(mask) * mask->rank + 1), sizeof *places);
    *count = 0;
    Loop loop = loop_over(mask->rank, mask->dims);
    loop_add(&loop, mask);
    LOOP(loop) {
        if (load_integer(mask->dtype, loop.at[0]) != 0) {
            memcpy(places + *count * mask->rank, loop.index,
                   (size_t)mask->rank * sizeof *places);
            ++*count;
        }
    }
    return places;
}

static aclnnStatus lay_out(const View *self, const Argument *indices, Indexing *indexing)
{
    *indexing = (Indexing){.at = -1};
    int next = 0, last_tensor = -1;
    bool apart = false;
    for (uint64_t i = 0; i < indices->count; i++) {
        const View *view = &indices->list[i];
        bool whole = is_whole(view);
        int dims = !whole && is_mask(view) ? view->rank : 1;
        if (next + dims > self->rank) {
            return refuse("operator-rank", "too many indices for %d dimensions", self->rank);
        }
        for (int j = 0; !whole && is_mask(view) && j < dims; j++) {
            if (view->dims[j] != self->dims[next + j]) {
                return refuse("operator-shape", "a mask does not match dimension %d", next + j);
            }
        }
        Entry *entry = &indexing->entries[indexing->count];
        *entry = (Entry){whole ? NULL : view, next, dims, NULL, 0};
        if (!whole) {
            apart = apart || (last_tensor >= 0 && indexing->count != last_tensor + 1);
            indexing->at = indexing->at < 0 ? next : indexing->at;
            last_tensor = indexing->count;
        }
        if (!whole && !is_mask(view)) {
            TRY(broadcast_with(&indexing->rank, indexing->dims, view, "indices"));
        }
        indexing->count++;
        next += dims;
    }
    for (; next < self->rank; next++) {
        indexing->entries[indexing->count++] = (Entry){NULL, next, 1, NULL, 0};
    }
    indexing->at = apart || indexing->at < 0 ? 0 : indexing->at;
    return ACL_SUCCESS;
}

/* At run time: what masks select joins the common shape. */
static void resolve_masks(Indexing *indexing)
{
    for (int i = 0; i < indexing->count; i++) {
        Entry *entry = &indexing->entries[i];
        if (entry->view != NULL && is_mask(entry->view)) {
            entry->places = selected(entry->view, &entry->count);
            View line = {.rank = 1, .dims = {entry->count}};
            broadcast_with(&indexing->rank, indexing->dims, &line, "indices");
        }
    }
}

/* Where in self the element of the result at `index` lies; false: out of range. */
static bool locate(const Indexing *indexing, const View *self, const int64_t *index, int64_t *from)
{
    int next = 0; /* among the whole dimensions of the result */
    for (int i = 0; i < indexing->count; i++) {
        const Entry *entry = &indexing->entries[i];
        if (entry->view == NULL) {
            int place = next < indexing->at ? next : next + indexing->rank;
            from[entry->first] = index[place];
            next++;
            continue;
        }
        const int64_t *common = index + indexing->at;
        if (entry->places != NULL) {
            int64_t row = entry->count == 1 ? 0 : common[indexing->rank - 1];
            memcpy(from + entry->first, entry->places + row * entry->dims,
                   (size_t)entry->dims * sizeof *from);
            continue;
        }
        int64_t at[SIM_MOST_DIMS];
        for (int j = 0; j < entry->view->rank; j++) {
            at[j] = entry->view->dims[j] == 1 ? 0 : common[indexing->rank - entry->view->rank + j];
        }
        int64_t value = load_integer(entry->view->dtype, element_at(entry->view, at));
        int64_t size = self->dims[entry->first];
        value = value < 0 ? value + size : value;
        if (value < 0 || value >= size) {
            return false;
        }
        from[entry->first] = value;
    }
    return true;
}

static void result_dims(const Indexing *indexing, const View *self, int *rank, int64_t *dims)
{
    *rank = 0;
    for (int i = 0; i <= indexing->count; i++) {
        if (*rank == indexing->at) {
            memcpy(dims + *rank, indexing->dims, (size_t)indexing->rank * sizeof *dims);
            *rank += indexing->rank;
            if (indexing->rank == 0) { /* nothing to insert, once */
                for (; i < indexing->count; i++) {
                    if (indexing->entries[i].view == NULL) {
                        dims[(*rank)++] = self->dims[indexing->entries[i].first];
                    }
                }
                return;
            }
        }
        if (i < indexing->count && indexing->entries[i].view == NULL) {
            dims[(*rank)++] = self->dims[indexing->entries[i].first];
        }
    }
}

static void release(Indexing *indexing)
{
    for (int i = 0; i < indexing->count; i++) {
        free(indexing->entries[i].places);
    }
}

static bool has_mask(const Argument *indices)
{
    for (uint64_t i = 0; i < indices->count; i++) {
        if (is_mask(&indices->list[i])) {
            return true;
        }
    }
    return false;
}

static aclnnStatus check_index(const Call *call)
{
    Indexing indexing;
    int rank;
    int64_t dims[SIM_MOST_DIMS];
    const View *self = view_of(call, "self"), *out = view_of(call, "out");
    TRY(lay_out(self, argument_of(call, "indices"), &indexing));
    TRY(expect_dtype(out, "out", self->dtype));
    if (has_mask(argument_of(call, "indices"))) {
        return ACL_SUCCESS; /* the shape is data */
    }
    result_dims(&indexing, self, &rank, dims);
    return expect_dims(out, "out", rank, dims);
}

static void run_index(Call *call)
{
    Indexing indexing;
    const View *self = view_of(call, "self"), *out = view_of(call, "out");
    int64_t from[SIM_MOST_DIMS];
    int rank;
    int64_t dims[SIM_MOST_DIMS];
    lay_out(self, argument_of(call, "indices"), &indexing);
    resolve_masks(&indexing);
    result_dims(&indexing, self, &rank, dims);
    bool fits = rank == out->rank && memcmp(dims, out->dims, (size_t)rank * sizeof *dims) == 0;
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    LOOP(loop) {
        if (!fits || !locate(&indexing, self, loop.index, from)) {
            call->fault = ACL_ERROR_RT_AICORE_EXCEPTION;
            break;
        }
        memcpy(loop.at[0], element_at(self, from), aclDataTypeSize(out->dtype));
    }
    release(&indexing);
}

#define INDICES (LIST_IN, indices, 0)
OPERATOR(Index, check_index, run_index, NULL, TRAIT_WORKSPACE, (IN, self, D_REALS), INDICES,
         (OUT, out, D_REALS))

static aclnnStatus check_put(const Call *call)
{
    Indexing indexing;
    View result = {0};
    const View *self = view_of(call, "selfRef"), *values = view_of(call, "values");
    TRY(lay_out(self, argument_of(call, "indices"), &indexing));
    TRY(expect_dtype(values, "values", self->dtype));
    if (has_mask(argument_of(call, "indices"))) {
        return ACL_SUCCESS;
    }
    result_dims(&indexing, self, &result.rank, result.dims);
    View both = result;
    TRY(broadcast_with(&both.rank, both.dims, values, "values"));
    return expect_like(&both, "values", &result);
}

static void add_to(aclDataType dtype, void *target, const void *source)
{
    if (class_of(dtype) == CLASS_REAL) {
        store_real(dtype, target, load_real(dtype, target) + load_real(dtype, source));
    } else {
        store_integer(dtype, target, load_integer(dtype, target) + load_integer(dtype, source));
    }
}

static void run_put(Call *call)
{
    Indexing indexing;
    const View *self = view_of(call, "selfRef"), *values = view_of(call, "values");
    bool accumulate = integer_of(call, "accumulate") != 0;
    int64_t to[SIM_MOST_DIMS], dims[SIM_MOST_DIMS];
    int rank;
    lay_out(self, argument_of(call, "indices"), &indexing);
    resolve_masks(&indexing);
    result_dims(&indexing, self, &rank, dims);
    Written written = written_none(self);
    Loop loop = loop_over(rank, dims);
    loop_add(&loop, values);
    LOOP(loop) {
        if (!locate(&indexing, self, loop.index, to)) {
            call->fault = ACL_ERROR_RT_AICORE_EXCEPTION;
            break;
        }
        if (accumulate) {
            add_to(self->dtype, element_at(self, to), loop.at[0]);
        } else {
            written_put(&written, element_at(self, to), loop.at[0]);
        }
    }
    free(written.seen);
    release(&indexing);
}

OPERATOR(IndexPutImpl, check_put, run_put, NULL, TRAIT_WORKSPACE, (REF, selfRef, D_REALS), INDICES,
         (IN, values, D_REALS), (FLAG, accumulate, 0), (FLAG, unsafe, 0))
