/* Sorting and the k largest. */

#include "reduction.h"

typedef struct {
    double real;
    int64_t integer;
    int64_t place;
} Entry;

/* Ascending, NaN last, equal ones as they came. */
static int compare(const void *a, const void *b)
{
    const Entry *x = a, *y = b;
    if (isnan(x->real) || isnan(y->real)) {
        int order = (isnan(x->real) != 0) - (isnan(y->real) != 0);
        return order != 0 ? order : (x->place > y->place) - (x->place < y->place);
    }
    int by_real = (x->real > y->real) - (x->real < y->real);
    int by_integer = (x->integer > y->integer) - (x->integer < y->integer);
    int order = by_real != 0 ? by_real : by_integer;
    return order != 0 ? order : (x->place > y->place) - (x->place < y->place);
}

static bool are_alike(const Entry *x, const Entry *y)
{
    return (x->real == y->real && x->integer == y->integer) || (isnan(x->real) && isnan(y->real));
}

/* Descending, NaN first. */
static int compare_descending(const void *a, const void *b)
{
    int order = compare(a, b);
    return are_alike(a, b) ? order : -order;
}

/* The other ways in which `count` alike may come: backwards, or the second first and the first
 * last.  Together they have another one at every place. */
static void reorder(Entry *alike, int64_t count, int way)
{
    for (int64_t i = 0; way == 1 && i < count / 2; i++) {
        Entry kept = alike[i];
        alike[i] = alike[count - 1 - i];
        alike[count - 1 - i] = kept;
    }
    if (way == 2) {
        Entry first = alike[0];
        memmove(alike, alike + 1, (size_t)(count - 1) * sizeof *alike);
        alike[count - 1] = first;
    }
}

/* In which order those alike come is open, if one of them is among the `kept`. */
static void settle_ties(Entry *line, int64_t n, int64_t kept)
{
    for (int64_t begin = 0, end; begin < kept; begin = end) {
        for (end = begin + 1; end < n && are_alike(&line[begin], &line[end]);) {
            end++;
        }
        if (end > begin + 1) {
            reorder(&line[begin], end - begin, sim_choose_way(SIM_OPEN_TIE));
        }
    }
}

/* Writes the first `kept` of each sorted line; those alike of a `stable` order as they came. */
static void sort(const View *self, unsigned axis, bool descending, bool stable, int64_t kept,
                 const View *values_out, const View *indices_out)
{
    Reduction reduction = reduction_of(self, axis);
    int64_t n = reduction.length;
    bool is_real = class_of(self->dtype) == CLASS_REAL;
    double *reals = is_real ? reduction_reals(self, &reduction) : NULL;
    int64_t *integers = is_real ? NULL : reduction_integers(self, &reduction);
    Entry *line = sim_allocate((size_t)n, sizeof *line);
    size_t count = (size_t)(kept * reduction.results);
    double *values = sim_allocate(count, sizeof *values);
    int64_t *whole = sim_allocate(count, sizeof *whole);
    int64_t *places = sim_allocate(count, sizeof *places);
    for (int64_t i = 0; i < reduction.results; i++) {
        for (int64_t j = 0; j < n; j++) {
            line[j] = (Entry){is_real ? reals[i * n + j] : 0, is_real ? 0 : integers[i * n + j], j};
        }
        qsort(line, (size_t)n, sizeof *line, descending ? compare_descending : compare);
        if (!stable) {
            settle_ties(line, n, kept);
        }
        for (int64_t j = 0; j < kept; j++) {
            values[i * kept + j] = line[j].real;
            whole[i * kept + j] = line[j].integer;
            places[i * kept + j] = line[j].place;
        }
    }
    if (values_out != NULL && is_real) {
        reduction_write_reals(values_out, axis, values);
    } else if (values_out != NULL) {
        reduction_write_integers(values_out, axis, whole);
    }
    reduction_write_integers(indices_out, axis, places);
    free(reals);
    free(integers);
    free(line);
    free(values);
    free(whole);
    free(places);
}

static aclnnStatus check_sort(const Call *call)
{
    const View *self = view_of(call, "self");
    TRY(check_one_axis(call, self));
    if (self->dtype == ACL_BF16 && one_axis(call, self) == 1u << 1) {
        return refuse("operator-dim", "BFLOAT16 cannot be sorted along axis 1");
    }
    TRY(expect_like(view_of(call, "valuesOut"), "valuesOut", self));
    TRY(expect_dtype(view_of(call, "valuesOut"), "valuesOut", self->dtype));
    return expect_like(view_of(call, "indicesOut"), "indicesOut", self);
}

static void run_sort(Call *call)
{
    const View *self = view_of(call, "self");
    unsigned axis = one_axis(call, self);
    sort(self, axis, integer_of(call, "descending") != 0, true, reduction_of(self, axis).length,
         view_of(call, "valuesOut"), view_of(call, "indicesOut"));
}

static aclnnStatus check_argsort(const Call *call)
{
    const View *self = view_of(call, "self");
    TRY(check_one_axis(call, self));
    return expect_like(view_of(call, "out"), "out", self);
}

static void run_argsort(Call *call)
{
    const View *self = view_of(call, "self");
    unsigned axis = one_axis(call, self);
    sort(self, axis, integer_of(call, "descending") != 0, true, reduction_of(self, axis).length,
         NULL, view_of(call, "out"));
}

static aclnnStatus check_topk(const Call *call)
{
    const View *self = view_of(call, "self");
    int64_t k = integer_of(call, "k");
    int dim;
    TRY(wrap_dim(integer_of(call, "dim"), self->rank, &dim));
    if (integer_of(call, "sorted") == 0) {
        return refuse("operator-attribute", "sorted must be true");
    }
    if (k < 0 || k > (self->rank == 0 ? 1 : self->dims[dim])) {
        return refuse("operator-attribute", "k is %lld", (long long)k);
    }
    View kept = *self;
    if (self->rank > 0) {
        kept.dims[dim] = k;
    }
    TRY(expect_like(view_of(call, "valuesOut"), "valuesOut", &kept));
    TRY(expect_dtype(view_of(call, "valuesOut"), "valuesOut", self->dtype));
    return expect_like(view_of(call, "indicesOut"), "indicesOut", &kept);
}

static void run_topk(Call *call)
{
    const View *self = view_of(call, "self");
    sort(self, one_axis(call, self), integer_of(call, "largest") != 0, false,
         integer_of(call, "k"), view_of(call, "valuesOut"), view_of(call, "indicesOut"));
}

#define DIM (INT64, dim, 0)
OPERATOR(Sort, check_sort, run_sort, NULL, TRAIT_WORKSPACE, (IN, self, D_F | D_I | D_B),
         (FLAG, stable, 0), DIM, (FLAG, descending, 0), (OUT, valuesOut, D_REALS),
         (OUT, indicesOut, D_I64))
OPERATOR(Argsort, check_argsort, run_argsort, NULL, TRAIT_WORKSPACE, (IN, self, D_F | D_I), DIM,
         (FLAG, descending, 0), (OUT, out, D_I64))
OPERATOR(Topk, check_topk, run_topk, NULL, TRAIT_WORKSPACE, (IN, self, D_FLOATS | D_I),
         (INT64, k, 0), DIM, (FLAG, largest, 0), (FLAG, sorted, 0),
         (OUT, valuesOut, D_FLOATS | D_I), (OUT, indicesOut, D_I64))
