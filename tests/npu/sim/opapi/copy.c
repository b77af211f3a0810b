/* Copies, fills, casts, and tensors made from numbers. */

#include "operator.h"

/* --- copies ------------------------------------------------------------------------------ */

static aclnnStatus broadcasts_to(const View *from, const char *name, const View *to)
{
    bool good = from->rank <= to->rank;
    for (int i = 0; good && i < from->rank; i++) {
        int64_t dim = from->dims[i];
        good = dim == 1 || dim == to->dims[to->rank - from->rank + i];
    }
    return good ? ACL_SUCCESS : refuse("operator-shape", "%s does not broadcast to the output", name);
}

static aclnnStatus check_copy(const Call *call)
{
    const View *self = view_of(call, "selfRef"), *src = view_of(call, "src");
    if (class_of(self->dtype) == CLASS_COMPLEX && !view_contiguous(self)) {
        return refuse("operator-layout", "complex numbers are copied into contiguous tensors only");
    }
    return broadcasts_to(src, "src", self);
}

static void run_copy(Call *call)
{
    copy_view(view_of(call, "selfRef"), view_of(call, "src"));
}

OPERATOR(InplaceCopy, check_copy, run_copy, NULL, 0, (REF, selfRef, D_ALL), (IN, src, D_ALL))

static aclnnStatus check_cast(const Call *call)
{
    const View *out = view_of(call, "out");
    TRY(expect_dtype(out, "out", (aclDataType)integer_of(call, "dtype")));
    return expect_like(out, "out", view_of(call, "self"));
}

static void run_cast(Call *call)
{
    copy_view(view_of(call, "out"), view_of(call, "self"));
}

OPERATOR(Cast, check_cast, run_cast, NULL, 0, (IN, self, D_ALL), (DTYPE, dtype, 0),
         (OUT, out, D_ALL))

/* --- fills ------------------------------------------------------------------------------- */

static void fill(const View *view, Number value)
{
    Loop loop = loop_over(view->rank, view->dims);
    loop_add(&loop, view);
    LOOP(loop) {
        if (class_of(value.dtype) == CLASS_INTEGER) {
            store_integer(view->dtype, loop.at[0], value.integer);
        } else {
            store_complex(view->dtype, loop.at[0], CMPLX(value.real, value.imaginary));
        }
    }
}

static void run_fill_scalar(Call *call)
{
    fill(view_of(call, "selfRef"), argument_of(call, "value")->number);
}

static aclnnStatus check_fill_tensor(const Call *call)
{
    const View *value = view_of(call, "value");
    return view_count(value) == 1 && value->rank <= 1
               ? ACL_SUCCESS
               : refuse("operator-shape", "value must be of shape [] or [1]");
}

static void run_fill_tensor(Call *call)
{
    copy_view(view_of(call, "selfRef"), view_of(call, "value"));
}

static void run_zero(Call *call)
{
    fill(view_of(call, "selfRef"), (Number){.dtype = ACL_INT64});
}

static void run_one(Call *call)
{
    fill(view_of(call, "selfRef"), (Number){.dtype = ACL_INT64, .integer = 1, .real = 1});
}

OPERATOR(InplaceFillScalar, NULL, run_fill_scalar, NULL, 0, (REF, selfRef, D_ALL),
         (FACTOR, value, 0))
OPERATOR(InplaceFillTensor, check_fill_tensor, run_fill_tensor, NULL, 0,
         (REF, selfRef, D_F | D_I | D_B | D_U), (IN, value, D_F | D_I | D_B | D_U))
OPERATOR(InplaceZero, NULL, run_zero, NULL, 0,
         (REF, selfRef, D_NUMBERS | DTYPE_BIT(ACL_UINT16)))
OPERATOR(InplaceOne, NULL, run_one, NULL, 0, (REF, selfRef, D_REALS))

/* --- from numbers ------------------------------------------------------------------------ */

static aclnnStatus check_steps(const Call *call, bool end_included)
{
    double start = real_of(call, "start"), end = real_of(call, "end"), step = real_of(call, "step");
    if (step == 0 || (end - start) / step < 0) {
        return refuse("operator-attribute", "from %g to %g by %g", start, end, step);
    }
    double steps = (end - start) / step;
    int64_t count = end_included ? (int64_t)floor(steps) + 1 : (int64_t)ceil(steps);
    return expect_dims(view_of(call, "out"), "out", 1, &count);
}

static aclnnStatus check_arange(const Call *call)
{
    return check_steps(call, false);
}

static aclnnStatus check_range(const Call *call)
{
    return check_steps(call, true);
}

static void run_steps(Call *call)
{
    const View *out = view_of(call, "out");
    const Number *start = &argument_of(call, "start")->number;
    const Number *step = &argument_of(call, "step")->number;
    bool exact = class_of(start->dtype) == CLASS_INTEGER && class_of(step->dtype) == CLASS_INTEGER;
    int64_t i = 0;
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    LOOP(loop) {
        if (exact) {
            store_integer(out->dtype, loop.at[0], start->integer + i * step->integer);
        } else {
            store_real(out->dtype, loop.at[0], start->real + (double)i * step->real);
        }
        i++;
    }
}

#define STEPS (SCALAR, start, 0), (SCALAR, end, 0), (SCALAR, step, 0)
OPERATOR(Arange, check_arange, run_steps, NULL, 0, STEPS, (OUT, out, D_FLOATS | D_INDEX))
OPERATOR(Range, check_range, run_steps, NULL, 0, STEPS, (OUT, out, D_FLOATS | D_INDEX))

static aclnnStatus check_linspace(const Call *call)
{
    int64_t steps = integer_of(call, "steps");
    return steps < 0 ? refuse("operator-attribute", "%lld steps", (long long)steps)
                     : expect_dims(view_of(call, "out"), "out", 1, &steps);
}

static void run_linspace(Call *call)
{
    const View *out = view_of(call, "out");
    int64_t steps = integer_of(call, "steps"), i = 0;
    double start = real_of(call, "start"), end = real_of(call, "end");
    double step = steps > 1 ? (end - start) / (double)(steps - 1) : 0;
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    LOOP(loop) {
        bool early = i < steps / 2 || steps == 1;
        store_real(out->dtype, loop.at[0],
                   early ? start + (double)i * step : end - (double)(steps - 1 - i) * step);
        i++;
    }
}

OPERATOR(Linspace, check_linspace, run_linspace, NULL, 0, (SCALAR, start, 0), (SCALAR, end, 0),
         (INT64, steps, 0), (OUT, out, D_FLOATS | (D_I & ~D_I64)))

static aclnnStatus check_eye(const Call *call)
{
    int64_t dims[2] = {integer_of(call, "n"), integer_of(call, "m")};
    return expect_dims(view_of(call, "out"), "out", 2, dims);
}

static void run_eye(Call *call)
{
    const View *out = view_of(call, "out");
    Loop loop = loop_over(out->rank, out->dims);
    loop_add(&loop, out);
    LOOP(loop) {
        store_integer(out->dtype, loop.at[0], loop.index[0] == loop.index[1]);
    }
}

OPERATOR(Eye, check_eye, run_eye, NULL, 0, (INT64, n, 0), (INT64, m, 0),
         (OUT, out, D_F | D_I | D_B))
