/* The one loop of all element-wise operators, and the one check. */

#include "elementwise.h"

/* --- shapes ------------------------------------------------------------------------------ */

aclnnStatus broadcast_with(int *rank, int64_t *dims, const View *view, const char *name)
{
    while (*rank < view->rank) {
        memmove(dims + 1, dims, (size_t)*rank * sizeof *dims);
        dims[0] = 1;
        ++*rank;
    }
    for (int i = 0; i < view->rank; i++) {
        int64_t *dim = &dims[*rank - view->rank + i];
        if (view->dims[i] != 1 && *dim != 1 && *dim != view->dims[i]) {
            return refuse("operator-shape", "%s does not broadcast: %lld against %lld", name,
                          (long long)view->dims[i], (long long)*dim);
        }
        *dim = *dim == 1 ? view->dims[i] : *dim;
    }
    return ACL_SUCCESS;
}

static bool is_read_tensor(const Argument *argument)
{
    ParameterKind kind = argument->parameter->kind;
    return argument->present && is_tensor_kind(kind) && kind != PARAMETER_OUT &&
           kind != PARAMETER_OPTIONAL_OUT;
}

aclnnStatus broadcast_inputs(const Call *call, int *rank, int64_t *dims)
{
    *rank = 0;
    for (int i = 0; i < call->operator->parameter_count; i++) {
        if (is_read_tensor(&call->arguments[i])) {
            TRY(broadcast_with(rank, dims, &call->arguments[i].view,
                               call->arguments[i].parameter->name));
        }
    }
    return ACL_SUCCESS;
}

/* --- types ------------------------------------------------------------------------------- */

static bool is_scalar(const Argument *argument)
{
    ParameterKind kind = argument->parameter->kind;
    return argument->present && (kind == PARAMETER_SCALAR || kind == PARAMETER_LOWER ||
                                 kind == PARAMETER_UPPER);
}

/* Scalars against tensors (A2 and A3): floating point keeps its dtype; integers with a DOUBLE
 * compute in f32 where the output is f32, else in f64; bool takes the scalar's. */
static aclDataType promote_scalar(aclDataType tensor, aclDataType scalar, aclDataType out)
{
    if (class_of(scalar) == CLASS_COMPLEX || class_of(tensor) == CLASS_COMPLEX) {
        return class_of(tensor) == CLASS_COMPLEX ? tensor : promote(tensor, scalar);
    }
    if (class_of(tensor) == CLASS_REAL) {
        return tensor;
    }
    if (class_of(scalar) == CLASS_REAL) {
        return out == ACL_FLOAT ? ACL_FLOAT : promote(tensor, scalar);
    }
    return tensor == ACL_BOOL ? scalar : tensor;
}

/* The dtype in which tensors and scalars meet, or NO_DTYPE. */
static aclDataType promoted_dtype(const Call *call)
{
    aclDataType dtype = NO_DTYPE;
    for (int i = 0; i < call->operator->parameter_count; i++) {
        const Argument *argument = &call->arguments[i];
        if (is_read_tensor(argument)) {
            dtype = dtype == NO_DTYPE ? argument->view.dtype
                                      : promote(dtype, argument->view.dtype);
            if (dtype == NO_DTYPE) {
                return NO_DTYPE;
            }
        }
    }
    for (int i = 0; i < call->operator->parameter_count; i++) {
        const Argument *argument = &call->arguments[i];
        if (is_scalar(argument)) {
            dtype = promote_scalar(dtype, argument->number.dtype, output_of(call)->dtype);
        }
    }
    return dtype;
}

static aclDataType compute_dtype(ComputeMode mode, aclDataType promoted)
{
    bool in_f32 = (mode == FLOATING || mode == PREDICATE) && class_of(promoted) == CLASS_INTEGER;
    return in_f32 ? ACL_FLOAT : promoted;
}

static bool gives_bool(ComputeMode mode)
{
    return mode == BOOLEAN || mode == PREDICATE;
}

static aclDataType result_dtype(ComputeMode mode, aclDataType promoted)
{
    if (mode == MODULUS && class_of(promoted) == CLASS_COMPLEX) {
        return ACL_FLOAT;
    }
    return gives_bool(mode) ? ACL_BOOL : promoted;
}

static aclnnStatus check_factor(const Argument *argument, aclDataType dtype)
{
    aclDataType scalar = argument->number.dtype;
    bool fits = dtype == ACL_BOOL ? class_of(scalar) == CLASS_INTEGER : can_cast(scalar, dtype);
    return fits ? ACL_SUCCESS
                : refuse("operator-cast", "%s of %s cannot be cast to %s",
                         argument->parameter->name, dtype_name(scalar), dtype_name(dtype));
}

static aclnnStatus check_same(const Call *call)
{
    aclDataType dtype = NO_DTYPE;
    for (int i = 0; i < call->operator->parameter_count; i++) {
        const Argument *argument = &call->arguments[i];
        if (is_tensor_kind(argument->parameter->kind) && argument->present) {
            dtype = dtype == NO_DTYPE ? argument->view.dtype : dtype;
            TRY(expect_dtype(&argument->view, argument->parameter->name, dtype));
        }
    }
    return ACL_SUCCESS;
}

static bool has_function(const Elementwise *detail, Class class)
{
    return class == CLASS_INTEGER ? detail->integers != NULL
           : class == CLASS_REAL  ? detail->reals != NULL
                                  : detail->complexes != NULL;
}

aclnnStatus elementwise_check(const Call *call)
{
    const Elementwise *detail = call->operator->detail;
    const View *out = output_of(call);
    int rank;
    int64_t dims[SIM_MOST_DIMS];
    TRY(broadcast_inputs(call, &rank, dims));
    TRY(expect_dims(out, "the output", rank, dims));
    if (detail->mode == SAME) {
        TRY(check_same(call));
    }
    aclDataType promoted = promoted_dtype(call);
    if (promoted == NO_DTYPE) {
        return refuse("operator-dtype", "the tensors' dtypes do not promote");
    }
    aclDataType dtype = compute_dtype(detail->mode, promoted);
    if (!has_function(detail, class_of(dtype))) {
        return refuse("operator-dtype", "nothing is computed in %s", dtype_name(dtype));
    }
    for (int i = 0; i < call->operator->parameter_count; i++) {
        if (call->arguments[i].parameter->kind == PARAMETER_FACTOR) {
            TRY(check_factor(&call->arguments[i], dtype));
        }
    }
    /* The promoted type counts: integers that compute in f32 may be cast to integers. */
    aclDataType result = result_dtype(detail->mode, promoted);
    if (!can_cast(result, out->dtype)) {
        return refuse("operator-cast", "the result is %s and cannot be cast to %s",
                      dtype_name(result), dtype_name(out->dtype));
    }
    return ACL_SUCCESS;
}

/* --- numbers that are none ---------------------------------------------------------------- */

static bool is_finite(double complex number)
{
    return isfinite(creal(number)) && isfinite(cimag(number));
}

double complex settled(const double complex *x, int count, double complex value)
{
    bool finite = is_finite(value);
    for (int i = 0; i < count; i++) {
        finite = finite && is_finite(x[i]);
    }
    return finite ? value
                  : CMPLX(sim_choose_real(SIM_OPEN_COMPLEX, creal(value)),
                          sim_choose_real(SIM_OPEN_COMPLEX, cimag(value)));
}

/* --- computing --------------------------------------------------------------------------- */

/* Where each of a function's arguments comes from. */
typedef struct {
    int operand; /* of the loop, or -1: the same for all elements */
    aclDataType dtype;
    Number number;
} Source;

typedef struct {
    int count;
    Source sources[MOST_ARGUMENTS];
    Loop loop;
    aclDataType compute, result, out;
} Plan;

/* An absent bound is one that bounds nothing. */
static Number no_bound(bool lower)
{
    return lower ? (Number){ACL_DOUBLE, -INFINITY, 0, INT64_MIN}
                 : (Number){ACL_DOUBLE, INFINITY, 0, INT64_MAX};
}

static Plan make_plan(const Call *call)
{
    const View *out = output_of(call);
    Plan plan = {.loop = loop_over(out->rank, out->dims)};
    loop_add(&plan.loop, out);
    ComputeMode mode = ((const Elementwise *)call->operator->detail)->mode;
    plan.compute = compute_dtype(mode, promoted_dtype(call));
    plan.result = gives_bool(mode) ? ACL_BOOL : plan.compute;
    plan.out = out->dtype;
    for (int i = 0; i < call->operator->parameter_count; i++) {
        const Argument *argument = &call->arguments[i];
        ParameterKind kind = argument->parameter->kind;
        if (kind == PARAMETER_OUT) {
            continue;
        }
        Source *source = &plan.sources[plan.count++];
        *source = (Source){-1, argument->view.dtype, argument->number};
        bool lower = kind == PARAMETER_LOWER || kind == PARAMETER_LOWER_IN;
        if (!argument->present) {
            source->number = no_bound(lower);
        } else if (is_tensor_kind(kind)) {
            source->operand = plan.loop.operands;
            loop_add(&plan.loop, &argument->view);
        } else if (class_of(source->number.dtype) == CLASS_REAL && plan.compute != ACL_DOUBLE &&
                   plan.compute != ACL_COMPLEX128) {
            source->number.real = (double)(float)source->number.real; /* scalars are f32 there */
        }
    }
    return plan;
}

static void run_real(Plan *plan, RealFunction function)
{
    double x[MOST_ARGUMENTS];
    LOOP(plan->loop) {
        for (int i = 0; i < plan->count; i++) {
            const Source *source = &plan->sources[i];
            x[i] = source->operand < 0
                       ? source->number.real
                       : round_real(plan->compute,
                                    load_real(source->dtype, plan->loop.at[source->operand]));
        }
        store_real(plan->out, plan->loop.at[0], round_real(plan->result, function(x)));
    }
}

static void run_integer(Plan *plan, IntegerFunction function)
{
    int64_t x[MOST_ARGUMENTS];
    LOOP(plan->loop) {
        for (int i = 0; i < plan->count; i++) {
            const Source *source = &plan->sources[i];
            x[i] = source->operand < 0
                       ? source->number.integer
                       : load_integer(source->dtype, plan->loop.at[source->operand]);
        }
        store_integer(plan->out, plan->loop.at[0], wrap_integer(plan->result, function(x)));
    }
}

static void run_complex(Plan *plan, ComplexFunction function)
{
    double complex x[MOST_ARGUMENTS];
    LOOP(plan->loop) {
        for (int i = 0; i < plan->count; i++) {
            const Source *source = &plan->sources[i];
            x[i] = source->operand < 0
                       ? CMPLX(source->number.real, source->number.imaginary)
                       : load_complex(source->dtype, plan->loop.at[source->operand]);
        }
        store_complex(plan->out, plan->loop.at[0], function(x));
    }
}

void elementwise_run(Call *call)
{
    elementwise_run_as(call, call->operator->detail);
}

void elementwise_run_as(const Call *call, const Elementwise *detail)
{
    Plan plan = make_plan(call);
    switch (class_of(plan.compute)) {
    case CLASS_INTEGER:
        run_integer(&plan, detail->integers);
        break;
    case CLASS_REAL:
        run_real(&plan, detail->reals);
        break;
    case CLASS_COMPLEX:
        run_complex(&plan, detail->complexes);
        break;
    }
}
