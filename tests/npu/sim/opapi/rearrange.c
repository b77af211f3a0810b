/* Operators each of whose results is one element of self: slices, flips, repeats, padding. */

#include "operator.h"

/* Which element of self an element of the output is. */
typedef struct {
    void (*source)(const Call *call, const View *self, const int64_t *out, int64_t *from);
} Mapping;

static void run_mapping(Call *call)
{
    const Mapping *mapping = call->operator->detail;
    const View *self = view_of(call, "self"), *out = output_of(call);
    int64_t from[SIM_MOST_DIMS] = {0};
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    LOOP(loop) {
        mapping->source(call, self, loop.index, from);
        memcpy(loop.at[0], element_at(self, from), aclDataTypeSize(out->dtype));
    }
}

/* The output has self's dtype and these dims. */
static aclnnStatus expect_result(const Call *call, int rank, const int64_t *dims)
{
    TRY(expect_dtype(output_of(call), "out", view_of(call, "self")->dtype));
    return expect_dims(output_of(call), "out", rank, dims);
}

static aclnnStatus expect_length(const Argument *array, uint64_t count)
{
    return array->count == count
               ? ACL_SUCCESS
               : refuse("operator-attribute", "%s has %llu values, %llu are expected",
                        array->parameter->name, (unsigned long long)array->count,
                        (unsigned long long)count);
}

#define SELF(dtypes) (IN, self, dtypes)
#define OUT_OF(dtypes) (OUT, out, dtypes)

/* --- permute, expand, repeat ------------------------------------------------------------- */

static aclnnStatus check_permute(const Call *call)
{
    const View *self = view_of(call, "self");
    const Argument *order = argument_of(call, "dims");
    int64_t dims[SIM_MOST_DIMS];
    unsigned seen = 0;
    TRY(expect_length(order, (uint64_t)self->rank));
    for (int i = 0; i < self->rank; i++) {
        int dim;
        TRY(wrap_dim(order->integers[i], self->rank, &dim));
        dims[i] = self->dims[dim];
        seen |= 1u << dim;
    }
    if (seen != (1u << self->rank) - 1) {
        return refuse("operator-dim", "dims is no permutation");
    }
    return expect_result(call, self->rank, dims);
}

static void permute_source(const Call *call, const View *self, const int64_t *out, int64_t *from)
{
    const Argument *order = argument_of(call, "dims");
    for (int i = 0; i < self->rank; i++) {
        int64_t dim = order->integers[i];
        from[dim < 0 ? dim + self->rank : dim] = out[i];
    }
}

static aclnnStatus check_expand(const Call *call)
{
    const View *self = view_of(call, "self");
    const Argument *size = argument_of(call, "size");
    int64_t dims[SIM_MOST_DIMS];
    int lead = (int)size->count - self->rank;
    if (lead < 0 || size->count > SIM_MOST_RANK) {
        return refuse("operator-attribute", "size has %llu values", (unsigned long long)size->count);
    }
    for (int i = 0; i < (int)size->count; i++) {
        int64_t is = i < lead ? 1 : self->dims[i - lead];
        dims[i] = size->integers[i] == -1 ? is : size->integers[i];
        if (is != 1 && dims[i] != is) {
            return refuse("operator-shape", "dimension %d of %lld does not expand", i,
                          (long long)is);
        }
    }
    return expect_result(call, (int)size->count, dims);
}

/* Expand and Repeat: each dimension of self modulo its size. */
static void repeat_source(const Call *call, const View *self, const int64_t *out, int64_t *from)
{
    int lead = output_of(call)->rank - self->rank;
    for (int i = 0; i < self->rank; i++) {
        from[i] = out[lead + i] % self->dims[i];
    }
}

static aclnnStatus check_repeat(const Call *call)
{
    const View *self = view_of(call, "self");
    const Argument *repeats = argument_of(call, "repeats");
    int64_t dims[SIM_MOST_DIMS];
    int lead = (int)repeats->count - self->rank;
    if (lead < 0 || repeats->count > SIM_MOST_RANK) {
        return refuse("operator-attribute", "repeats has %llu values",
                      (unsigned long long)repeats->count);
    }
    int repeated = 0;
    for (int i = 0; i < (int)repeats->count; i++) {
        dims[i] = repeats->integers[i] * (i < lead ? 1 : self->dims[i - lead]);
        repeated += repeats->integers[i] != 1;
    }
    if (repeated > 4 && repeats->integers[0] != 1) {
        return refuse("operator-attribute", "%d axes are repeated, the first too", repeated);
    }
    return expect_result(call, (int)repeats->count, dims);
}

static const Mapping permute = {permute_source}, repeat = {repeat_source};
OPERATOR(Permute, check_permute, run_mapping, &permute, 0, SELF(D_ALL), (INTS, dims, 0),
         OUT_OF(D_ALL))
OPERATOR(Expand, check_expand, run_mapping, &repeat, 0, SELF(D_F | (D_I & ~D_I16) | D_B),
         (INTS, size, 0), OUT_OF(D_F | (D_I & ~D_I16) | D_B))
OPERATOR(Repeat, check_repeat, run_mapping, &repeat, 0, SELF(D_ALL), (INTS, repeats, 0),
         OUT_OF(D_ALL))

static aclnnStatus check_repeat_interleave(const Call *call)
{
    View expected = *view_of(call, "self");
    int dim;
    TRY(wrap_dim(integer_of(call, "dim"), expected.rank, &dim));
    expected.dims[dim] *= integer_of(call, "repeats");
    if (expected.rank == 0 || expected.dims[dim] != integer_of(call, "outputSize")) {
        return refuse("operator-attribute", "outputSize is %lld",
                      (long long)integer_of(call, "outputSize"));
    }
    return expect_result(call, expected.rank, expected.dims);
}

static void repeat_interleave_source(const Call *call, const View *self, const int64_t *out,
                                     int64_t *from)
{
    int dim;
    wrap_dim(integer_of(call, "dim"), self->rank, &dim);
    memcpy(from, out, (size_t)self->rank * sizeof *from);
    from[dim] /= integer_of(call, "repeats");
}

static const Mapping repeat_interleave = {repeat_interleave_source};
OPERATOR(RepeatInterleaveIntWithDim, check_repeat_interleave, run_mapping, &repeat_interleave, 0,
         SELF(D_F | D_I | D_B), (INT64, repeats, 0), (INT64, dim, 0), (INT64, outputSize, 0),
         OUT_OF(D_F | D_I | D_B))

/* --- slice, flip, roll ------------------------------------------------------------------- */

/* Bounds as Python has them. */
static int64_t clip(int64_t place, int64_t size)
{
    place = place < 0 ? place + size : place;
    return place < 0 ? 0 : place > size ? size : place;
}

static aclnnStatus slice_dim(const View *self, int64_t given_dim, int64_t start, int64_t end,
                             int64_t step, int64_t *dims)
{
    int dim;
    TRY(wrap_dim(given_dim, self->rank, &dim));
    if (step <= 0 || self->rank == 0) {
        return refuse("operator-attribute", "step is %lld", (long long)step);
    }
    int64_t first = clip(start, self->dims[dim]), last = clip(end, self->dims[dim]);
    dims[dim] = last > first ? (last - first + step - 1) / step : 0;
    return ACL_SUCCESS;
}

static aclnnStatus check_slice(const Call *call)
{
    View expected = *view_of(call, "self");
    TRY(slice_dim(view_of(call, "self"), integer_of(call, "dim"), integer_of(call, "start"),
                  integer_of(call, "end"), integer_of(call, "step"), expected.dims));
    return expect_result(call, expected.rank, expected.dims);
}

static void slice_source(const Call *call, const View *self, const int64_t *out, int64_t *from)
{
    int dim;
    wrap_dim(integer_of(call, "dim"), self->rank, &dim);
    memcpy(from, out, (size_t)self->rank * sizeof *from);
    from[dim] = clip(integer_of(call, "start"), self->dims[dim]) +
                out[dim] * integer_of(call, "step");
}

static aclnnStatus check_slice_v2(const Call *call)
{
    View expected = *view_of(call, "self");
    const Argument *axes = argument_of(call, "axes"), *starts = argument_of(call, "starts");
    const Argument *ends = argument_of(call, "ends"), *steps = argument_of(call, "steps");
    TRY(expect_length(starts, axes->count));
    TRY(expect_length(ends, axes->count));
    TRY(expect_length(steps, axes->count));
    for (uint64_t i = 0; i < axes->count; i++) {
        TRY(slice_dim(view_of(call, "self"), axes->integers[i], starts->integers[i],
                      ends->integers[i], steps->integers[i], expected.dims));
    }
    return expect_result(call, expected.rank, expected.dims);
}

static void slice_v2_source(const Call *call, const View *self, const int64_t *out, int64_t *from)
{
    const Argument *axes = argument_of(call, "axes");
    memcpy(from, out, (size_t)self->rank * sizeof *from);
    for (uint64_t i = 0; i < axes->count; i++) {
        int dim;
        wrap_dim(axes->integers[i], self->rank, &dim);
        from[dim] = clip(argument_of(call, "starts")->integers[i], self->dims[dim]) +
                    out[dim] * argument_of(call, "steps")->integers[i];
    }
}

static aclnnStatus check_flip(const Call *call)
{
    const View *self = view_of(call, "self");
    const Argument *dims = argument_of(call, "dims");
    for (uint64_t i = 0; i < dims->count; i++) {
        int dim;
        TRY(wrap_dim(dims->integers[i], self->rank, &dim));
    }
    return expect_result(call, self->rank, self->dims);
}

static void flip_source(const Call *call, const View *self, const int64_t *out, int64_t *from)
{
    const Argument *dims = argument_of(call, "dims");
    memcpy(from, out, (size_t)self->rank * sizeof *from);
    for (uint64_t i = 0; i < dims->count && self->rank > 0; i++) {
        int dim;
        wrap_dim(dims->integers[i], self->rank, &dim);
        from[dim] = self->dims[dim] - 1 - out[dim];
    }
}

static aclnnStatus check_roll(const Call *call)
{
    const View *x = view_of(call, "self");
    const Argument *shifts = argument_of(call, "shifts"), *dims = argument_of(call, "dims");
    TRY(expect_length(shifts, dims->count == 0 ? 1 : dims->count));
    for (uint64_t i = 0; i < dims->count; i++) {
        int dim;
        TRY(wrap_dim(dims->integers[i], x->rank, &dim));
    }
    return expect_result(call, x->rank, x->dims);
}

static int64_t modulo(int64_t a, int64_t n)
{
    int64_t rest = a % n;
    return rest < 0 ? rest + n : rest;
}

static void roll_source(const Call *call, const View *self, const int64_t *out, int64_t *from)
{
    const Argument *shifts = argument_of(call, "shifts"), *dims = argument_of(call, "dims");
    memcpy(from, out, (size_t)self->rank * sizeof *from);
    for (uint64_t i = 0; i < dims->count && self->rank > 0; i++) {
        int dim;
        wrap_dim(dims->integers[i], self->rank, &dim);
        from[dim] = modulo(from[dim] - shifts->integers[i], self->dims[dim]);
    }
    if (dims->count == 0) { /* as if it were flat */
        int64_t flat = 0;
        for (int i = 0; i < self->rank; i++) {
            flat = flat * self->dims[i] + out[i];
        }
        flat = modulo(flat - shifts->integers[0], view_count(self));
        for (int i = self->rank - 1; i >= 0; i--) {
            from[i] = flat % self->dims[i];
            flat /= self->dims[i];
        }
    }
}

static const Mapping slice = {slice_source}, slice_v2 = {slice_v2_source};
static const Mapping flip = {flip_source}, roll = {roll_source};
#define D_SLICE (D_F | (D_I & ~D_I16) | D_B)
OPERATOR(Slice, check_slice, run_mapping, &slice, 0, SELF(D_SLICE), (INT64, dim, 0),
         (INT64, start, 0), (INT64, end, 0), (INT64, step, 0), OUT_OF(D_SLICE))
OPERATOR(SliceV2, check_slice_v2, run_mapping, &slice_v2, 0, SELF(D_SLICE), (INTS, starts, 0),
         (INTS, ends, 0), (INTS, axes, 0), (INTS, steps, 0), OUT_OF(D_SLICE))
OPERATOR(Flip, check_flip, run_mapping, &flip, 0, SELF(D_NUMBERS), (INTS, dims, 0),
         OUT_OF(D_NUMBERS))
OPERATOR(Roll, check_roll, run_mapping, &roll, 0, SELF(D_F | D_I | D_B), (INTS, shifts, 0),
         (INTS, dims, 0), OUT_OF(D_F | D_I | D_B))

/* --- triangles --------------------------------------------------------------------------- */

static aclnnStatus check_triangle(const Call *call)
{
    const View *self = view_of(call, "self");
    TRY(expect_rank(self, "self", 2, SIM_MOST_RANK));
    return expect_result(call, self->rank, self->dims);
}

typedef struct {
    bool upper, in_place;
} Triangle;

static void run_triangle(Call *call)
{
    const Triangle *triangle = call->operator->detail;
    int64_t diagonal = integer_of(call, "diagonal");
    const View *self = triangle->in_place ? output_of(call) : view_of(call, "self");
    const View *out = output_of(call);
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    loop_add(&loop, self);
    LOOP(loop) {
        int64_t distance = loop.index[loop.rank - 1] - loop.index[loop.rank - 2];
        if (triangle->upper ? distance >= diagonal : distance <= diagonal) {
            memmove(loop.at[0], loop.at[1], aclDataTypeSize(out->dtype));
        } else {
            memset(loop.at[0], 0, aclDataTypeSize(out->dtype));
        }
    }
}

static aclnnStatus check_triangle_in_place(const Call *call)
{
    return expect_rank(output_of(call), "selfRef", 2, SIM_MOST_RANK);
}

static const Triangle lower = {false, false}, upper = {true, false};
static const Triangle lower_in_place = {false, true}, upper_in_place = {true, true};
#define D_TRIANGLE (D_REALS | D_U)
OPERATOR(Tril, check_triangle, run_triangle, &lower, TRAIT_ALIAS, SELF(D_TRIANGLE),
         (INT64, diagonal, 0), OUT_OF(D_TRIANGLE))
OPERATOR(Triu, check_triangle, run_triangle, &upper, TRAIT_ALIAS, SELF(D_TRIANGLE),
         (INT64, diagonal, 0), OUT_OF(D_TRIANGLE))
OPERATOR(InplaceTril, check_triangle_in_place, run_triangle, &lower_in_place, 0,
         (REF, selfRef, D_TRIANGLE), (INT64, diagonal, 0))
OPERATOR(InplaceTriu, check_triangle_in_place, run_triangle, &upper_in_place, 0,
         (REF, selfRef, D_TRIANGLE), (INT64, diagonal, 0))

/* --- padding: pairs of (before, after), the last axis first ------------------------------ */

static aclnnStatus padded_dims(const View *self, const Argument *pad, int64_t *dims)
{
    if (pad->count % 2 != 0 || (int)pad->count > 2 * self->rank) {
        return refuse("operator-attribute", "%llu paddings", (unsigned long long)pad->count);
    }
    memcpy(dims, self->dims, sizeof self->dims);
    for (int i = 0; i < (int)pad->count / 2; i++) {
        int64_t *dim = &dims[self->rank - 1 - i];
        *dim += pad->integers[2 * i] + pad->integers[2 * i + 1];
        if (*dim < 0) {
            return refuse("operator-shape", "a padded dimension is negative");
        }
    }
    return ACL_SUCCESS;
}

/* The place before clipping or reflecting; `pads` counts pairs. */
static void unpad(const View *self, const Argument *pad, const int64_t *out, int64_t *from)
{
    memcpy(from, out, (size_t)self->rank * sizeof *from);
    for (int i = 0; i < (int)pad->count / 2; i++) {
        from[self->rank - 1 - i] -= pad->integers[2 * i];
    }
}

static aclnnStatus check_constant_pad(const Call *call)
{
    int64_t dims[SIM_MOST_DIMS];
    const View *self = view_of(call, "self");
    TRY(padded_dims(self, argument_of(call, "pad"), dims));
    aclDataType value = argument_of(call, "value")->number.dtype;
    bool fits = self->dtype == ACL_BOOL ? class_of(value) == CLASS_INTEGER
                                        : can_cast(value, self->dtype);
    if (!fits) {
        return refuse("operator-cast", "value of %s for %s", dtype_name(value),
                      dtype_name(self->dtype));
    }
    return expect_result(call, self->rank, dims);
}

static void run_constant_pad(Call *call)
{
    const View *self = view_of(call, "self"), *out = view_of(call, "out");
    const Number *value = &argument_of(call, "value")->number;
    int64_t from[SIM_MOST_DIMS];
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    LOOP(loop) {
        unpad(self, argument_of(call, "pad"), loop.index, from);
        bool inside = true;
        for (int i = 0; i < self->rank; i++) {
            inside = inside && from[i] >= 0 && from[i] < self->dims[i];
        }
        if (inside) {
            memcpy(loop.at[0], element_at(self, from), aclDataTypeSize(out->dtype));
        } else if (class_of(value->dtype) == CLASS_INTEGER) {
            store_integer(out->dtype, loop.at[0], value->integer);
        } else {
            store_complex(out->dtype, loop.at[0], CMPLX(value->real, value->imaginary));
        }
    }
}

OPERATOR(ConstantPadNd, check_constant_pad, run_constant_pad, NULL, 0, SELF(D_ALL),
         (INTS, pad, 0), (FACTOR, value, 0), OUT_OF(D_ALL))

static aclnnStatus check_pad2d(const Call *call)
{
    int64_t dims[SIM_MOST_DIMS];
    const View *self = view_of(call, "self");
    const Argument *pad = argument_of(call, "padding");
    TRY(expect_rank(self, "self", 3, 4));
    TRY(expect_length(pad, 4));
    TRY(padded_dims(self, pad, dims));
    return expect_result(call, self->rank, dims);
}

static aclnnStatus check_reflection(const Call *call)
{
    const View *self = view_of(call, "self");
    const Argument *pad = argument_of(call, "padding");
    TRY(expect_rank(self, "self", 3, 4));
    TRY(expect_length(pad, 4));
    for (int i = 0; i < 4; i++) {
        if (pad->integers[i] >= self->dims[self->rank - 1 - i / 2]) {
            return refuse("operator-attribute", "a padding is not smaller than the size");
        }
    }
    return check_pad2d(call);
}

static void reflection_source(const Call *call, const View *self, const int64_t *out,
                              int64_t *from)
{
    unpad(self, argument_of(call, "padding"), out, from);
    for (int i = self->rank - 2; i < self->rank; i++) {
        from[i] = from[i] < 0 ? -from[i] : from[i];
        from[i] = from[i] >= self->dims[i] ? 2 * (self->dims[i] - 1) - from[i] : from[i];
    }
}

static void replication_source(const Call *call, const View *self, const int64_t *out,
                               int64_t *from)
{
    unpad(self, argument_of(call, "padding"), out, from);
    for (int i = self->rank - 2; i < self->rank; i++) {
        from[i] = from[i] < 0 ? 0 : from[i] >= self->dims[i] ? self->dims[i] - 1 : from[i];
    }
}

static const Mapping reflection = {reflection_source}, replication = {replication_source};
OPERATOR(ReflectionPad2d, check_reflection, run_mapping, &reflection, 0, SELF(D_NUMBERS),
         (INTS, padding, 0), OUT_OF(D_NUMBERS))
OPERATOR(ReplicationPad2d, check_pad2d, run_mapping, &replication, 0,
         SELF(D_FLOATS | D_I | D_C), (INTS, padding, 0), OUT_OF(D_FLOATS | D_I | D_C))
