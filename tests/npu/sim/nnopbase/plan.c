/* Phase 1: arguments resolved, checked, and copied into an executor.  Nothing is launched, no
 * device memory is read. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nnop.h"

bool is_tensor_kind(ParameterKind kind)
{
    return kind <= PARAMETER_OPTIONAL_OUT;
}

bool is_written_kind(ParameterKind kind)
{
    return (kind >= PARAMETER_REF && kind <= PARAMETER_OPTIONAL_OUT) ||
           kind == PARAMETER_LIST_OUT;
}

static bool is_optional_kind(ParameterKind kind)
{
    return kind == PARAMETER_OPTIONAL_IN || kind == PARAMETER_OPTIONAL_OUT ||
           kind == PARAMETER_OPTIONAL_REF || kind == PARAMETER_LOWER_IN || kind == PARAMETER_UPPER_IN || kind == PARAMETER_LOWER ||
           kind == PARAMETER_UPPER || kind == PARAMETER_OPTIONAL_INTS;
}

/* --- refusals ---------------------------------------------------------------------------- */

aclnnStatus refuse_code(aclnnStatus code, const char *rule, const char *format, ...)
{
    char text[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return sim_setting(SIM_PROBING) ? sim_failure(code, "%s", text)
                                    : sim_misuse(code, rule, NULL, "%s", text);
}

aclnnStatus refuse(const char *rule, const char *format, ...)
{
    char text[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return refuse_code(ACLNN_ERR_PARAM_INVALID, rule, "%s", text);
}

/* --- tensors ----------------------------------------------------------------------------- */

static aclnnStatus check_dtype(aclDataType dtype, const Parameter *parameter)
{
    if (parameter->dtypes != 0 && (parameter->dtypes & DTYPE_BIT(dtype)) == 0) {
        return refuse("operator-dtype", "%s of %s is not in the list of what is supported",
                      parameter->name, dtype_name(dtype));
    }
    if (dtype == ACL_BF16 && sim_setting(SIM_SOC) == SIM_SOC_910A) {
        return refuse("operator-dtype", "%s: this chip has no BFLOAT16", parameter->name);
    }
    return ACL_SUCCESS;
}

static aclnnStatus check_memory(const View *view, const char *name, const SimHandle *context)
{
    if (view_count(view) == 0) {
        return ACL_SUCCESS;
    }
    int64_t lowest, end;
    view_extent(view, &lowest, &end);
    /* One element counts as contiguous, and the storage rule is about what is not. */
    if (!view_contiguous(view) && (lowest < 0 || end > view->storage_count)) {
        return refuse_code(ACLNN_ERR_INNER_NULLPTR, "tensor-view",
                           "%s: ViewShape overlap: elements %lld to %lld of a storage of %lld",
                           name, (long long)lowest, (long long)end - 1,
                           (long long)view->storage_count);
    }
    SimBlock *block = view->address == NULL ? NULL : sim_block_at(view->address);
    if (block == NULL) {
        const SimBlock *gone = sim_block_freed(view->address);
        sim_undefined("use-after-free", gone ? &gone->history : NULL,
                      "%s: the memory %p is not allocated", name, view->address);
        return ACLNN_ERR_INNER;
    }
    size_t begin = (uintptr_t)view->address - block->address;
    if (begin + (size_t)end * aclDataTypeSize(view->dtype) > block->size) {
        sim_undefined("tensor-storage", &block->history, "%s leaves its block of %zu bytes", name,
                      block->size);
        return ACLNN_ERR_INNER;
    }
    int device = ((SimContext *)context->object)->device;
    if (!sim_peer_access(device, block->device)) {
        sim_undefined("device-mismatch", &block->history,
                      "%s lies on device %d and the context is of device %d", name, block->device,
                      device);
        return ACLNN_ERR_INNER;
    }
    return ACL_SUCCESS;
}

static aclnnStatus check_written(const View *view, const char *name)
{
    for (int i = 0; i < view->rank && view_count(view) > 0; i++) {
        if (view->dims[i] > 1 && view->strides[i] == 0) {
            sim_undefined("output-stride", &view->handle->history,
                          "%s is written and has stride 0 in dimension %d", name, i);
            return ACLNN_ERR_INNER;
        }
    }
    return ACL_SUCCESS;
}

static aclnnStatus resolve_tensor(SimHandle *handle, const Parameter *parameter,
                                  const SimHandle *context, View *view)
{
    *view = ((Tensor *)handle->object)->view;
    aclnnStatus status = check_dtype(view->dtype, parameter);
    if (status == ACL_SUCCESS && view->rank > SIM_MOST_RANK) {
        status = refuse("operator-rank", "%s has %d dimensions, 8 are possible", parameter->name,
                        view->rank);
    }
    if (status == ACL_SUCCESS) {
        status = check_memory(view, parameter->name, context);
    }
    if (status == ACL_SUCCESS && is_written_kind(parameter->kind)) {
        status = check_written(view, parameter->name);
    }
    return status;
}

static aclnnStatus resolve_list(Argument *argument, const SimHandle *context)
{
    const List *list = argument->handle->object;
    argument->list = sim_allocate(list->count, sizeof *argument->list);
    argument->count = list->count;
    aclnnStatus status = ACL_SUCCESS;
    for (uint64_t i = 0; i < list->count && status == ACL_SUCCESS; i++) {
        if (list->members[i] == NULL) {
            status = refuse_code(ACLNN_ERR_PARAM_NULLPTR, "null-argument", "%s[%llu] is NULL",
                                 argument->parameter->name, (unsigned long long)i);
        } else {
            status = resolve_tensor(list->members[i], argument->parameter, context,
                                    &argument->list[i]);
        }
    }
    return status;
}

/* --- arguments --------------------------------------------------------------------------- */

/* The kind of handle that an argument is, or -1 for plain values. */
static int handle_kind(ParameterKind kind)
{
    switch (kind) {
    case PARAMETER_LIST_IN:
    case PARAMETER_LIST_OUT:
        return SIM_TENSOR_LIST;
    case PARAMETER_SCALAR:
    case PARAMETER_FACTOR:
    case PARAMETER_LOWER:
    case PARAMETER_UPPER:
        return SIM_SCALAR;
    case PARAMETER_INTS:
    case PARAMETER_OPTIONAL_INTS:
        return SIM_INT_ARRAY;
    case PARAMETER_BOOLS:
        return SIM_BOOL_ARRAY;
    default:
        return is_tensor_kind(kind) ? SIM_TENSOR : -1;
    }
}

static void resolve_plain(Argument *argument, Given given)
{
    bool is_real = argument->parameter->kind == PARAMETER_FLOAT ||
                   argument->parameter->kind == PARAMETER_DOUBLE;
    argument->present = true;
    argument->number.dtype = is_real ? ACL_DOUBLE : ACL_INT64;
    argument->number.integer = is_real ? 0 : given.integer;
    argument->number.real = is_real ? given.real : (double)given.integer;
    if (argument->parameter->kind == PARAMETER_TEXT) {
        argument->text = given.pointer == NULL ? NULL : strdup(given.pointer);
    }
}

static aclnnStatus resolve(Argument *argument, Given given, const SimHandle *context)
{
    const Parameter *parameter = argument->parameter;
    int kind = handle_kind(parameter->kind);
    if (kind < 0) {
        resolve_plain(argument, given);
        return ACL_SUCCESS;
    }
    if (given.pointer == NULL) {
        return is_optional_kind(parameter->kind)
                   ? ACL_SUCCESS
                   : refuse_code(ACLNN_ERR_PARAM_NULLPTR, "null-argument",
                                 "expected a proper %s but got null for argument %s",
                                 sim_kind_name((SimKind)kind), parameter->name);
    }
    argument->present = true;
    argument->handle = sim_handle(given.pointer, (SimKind)kind);
    if (argument->handle == NULL) {
        return ACLNN_ERR_INNER;
    }
    if (kind == SIM_TENSOR) {
        return resolve_tensor(argument->handle, parameter, context, &argument->view);
    }
    if (kind == SIM_TENSOR_LIST) {
        return resolve_list(argument, context);
    }
    if (kind == SIM_SCALAR) {
        argument->number = *(Number *)argument->handle->object;
        return check_dtype(argument->number.dtype, parameter);
    }
    const Array *array = argument->handle->object;
    argument->count = array->count;
    argument->integers = sim_allocate(array->count, sizeof *argument->integers);
    memcpy(argument->integers, array->integers, array->count * sizeof *array->integers);
    return ACL_SUCCESS;
}

/* --- overlap ----------------------------------------------------------------------------- */

/* Bytes from the start of the address space: [begin, end) that a view spans. */
static void byte_span(const View *view, uintptr_t *begin, uintptr_t *end)
{
    int64_t lowest, past;
    view_extent(view, &lowest, &past);
    size_t size = aclDataTypeSize(view->dtype);
    *begin = (uintptr_t)view->address + (uintptr_t)lowest * size;
    *end = (uintptr_t)view->address + (uintptr_t)past * size;
}

/* Marks the bytes of a view in `map`, which starts at `base`; true if one was marked before. */
static bool mark(const View *view, unsigned char *map, uintptr_t base, size_t length, bool set)
{
    int64_t index[SIM_MOST_DIMS] = {0};
    size_t size = aclDataTypeSize(view->dtype);
    bool met = false;
    for (int64_t left = view_count(view); left > 0; left--) {
        int64_t element = view->offset;
        for (int i = 0; i < view->rank; i++) {
            element += index[i] * view->strides[i];
        }
        uintptr_t place = (uintptr_t)view->address + (uintptr_t)element * size - base;
        for (size_t i = 0; i < size; i++) {
            if (place + i < length) {
                met = met || map[place + i];
                map[place + i] |= set;
            }
        }
        for (int i = view->rank - 1; i >= 0 && ++index[i] == view->dims[i]; i--) {
            index[i] = 0;
        }
    }
    return met;
}

/* Whether two different descriptions touch the same bytes. */
static bool views_overlap(const View *a, const View *b)
{
    uintptr_t a_begin, a_end, b_begin, b_end;
    byte_span(a, &a_begin, &a_end);
    byte_span(b, &b_begin, &b_end);
    if (a_begin >= b_end || b_begin >= a_end) {
        return false;
    }
    unsigned char *map = sim_allocate(a_end - a_begin, 1);
    mark(a, map, a_begin, a_end - a_begin, true);
    bool met = mark(b, map, a_begin, a_end - a_begin, false);
    free(map);
    return met;
}

static bool views_identical(const View *a, const View *b)
{
    bool same = a->address == b->address && a->offset == b->offset && a->dtype == b->dtype &&
                a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++) {
        same = a->dims[i] == b->dims[i] && (a->dims[i] == 1 || a->strides[i] == b->strides[i]);
    }
    return same;
}

static aclnnStatus check_overlap(const Call *call, const Argument *written, const View *view)
{
    for (int i = 0; i < call->operator->parameter_count; i++) {
        const Argument *other = &call->arguments[i];
        ParameterKind kind = other->parameter->kind;
        bool single = is_tensor_kind(kind) && other->present && other != written;
        uint64_t count = single ? 1 : kind == PARAMETER_LIST_IN ? other->count : 0;
        for (uint64_t j = 0; j < count; j++) {
            const View *each = single ? &other->view : &other->list[j];
            bool alias = (call->operator->traits & TRAIT_ALIAS) != 0 && views_identical(view, each);
            if (!alias && views_overlap(view, each)) {
                sim_undefined("output-overlap", &view->handle->history,
                              "aclnn%s: %s is written and shares memory with %s",
                              call->operator->name, written->parameter->name,
                              other->parameter->name);
                return ACLNN_ERR_INNER;
            }
        }
    }
    return ACL_SUCCESS;
}

static aclnnStatus check_overlaps(const Call *call)
{
    aclnnStatus status = ACL_SUCCESS;
    for (int i = 0; i < call->operator->parameter_count && status == ACL_SUCCESS; i++) {
        const Argument *argument = &call->arguments[i];
        if (!is_written_kind(argument->parameter->kind) || !argument->present) {
            continue;
        }
        if (is_tensor_kind(argument->parameter->kind)) {
            status = check_overlap(call, argument, &argument->view);
        }
        for (uint64_t j = 0; j < argument->count && status == ACL_SUCCESS; j++) {
            status = check_overlap(call, argument, &argument->list[j]);
        }
    }
    return status;
}

/* --- planning ---------------------------------------------------------------------------- */

static uint64_t workspace_size(const Call *call)
{
    bool wanted = (call->operator->traits & TRAIT_WORKSPACE) != 0 ||
                  sim_setting(SIM_ALWAYS_WORKSPACE) != 0;
    uint64_t tensors = 0;
    for (int i = 0; i < call->operator->parameter_count; i++) {
        const Argument *argument = &call->arguments[i];
        if (is_tensor_kind(argument->parameter->kind) && argument->present) {
            tensors++;
            wanted = wanted || !view_contiguous(&argument->view);
        }
    }
    return wanted ? 512 + 32 * tensors : 0;
}

static void release_executor(void *object)
{
    Executor *executor = object;
    call_release(&executor->call);
    free(executor);
}

aclnnStatus operator_plan(const Operator *operator, const Given *given, uint64_t *workspaceSize,
                          aclOpExecutor **executor)
{
    if (sim_require_initialised() != ACL_SUCCESS) {
        return ACL_ERROR_UNINITIALIZE;
    }
    SimHandle *context = sim_current_context();
    if (context == NULL) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    if (workspaceSize == NULL || executor == NULL) {
        return refuse_code(ACLNN_ERR_PARAM_NULLPTR, "null-argument", "a result is NULL");
    }
    Executor *made = sim_allocate(1, sizeof *made);
    made->operator = operator;
    made->call.operator = operator;
    made->context = context;
    aclnnStatus status = ACL_SUCCESS;
    for (int i = 0; i < operator->parameter_count; i++) {
        made->call.arguments[i].parameter = &operator->parameters[i];
        aclnnStatus found = status == ACL_SUCCESS
                                ? resolve(&made->call.arguments[i], given[i], context)
                                : ACL_SUCCESS;
        status = status != ACL_SUCCESS ? status : found;
    }
    if (status == ACL_SUCCESS && operator->check != NULL) {
        status = operator->check(&made->call);
    }
    if (status == ACL_SUCCESS) {
        status = check_overlaps(&made->call);
    }
    if (status != ACL_SUCCESS) {
        release_executor(made);
        return status;
    }
    made->workspace = *workspaceSize = workspace_size(&made->call);
    SimHandle *handle = sim_handle_make(SIM_EXECUTOR, made, release_executor, operator->name);
    *executor = sim_handle_value(handle);
    int64_t latency = sim_setting(SIM_PLAN_US);
    if (latency > 0) { /* workers go on meanwhile */
        pthread_mutex_unlock(&sim_mutex);
        sim_work_us(latency);
        pthread_mutex_lock(&sim_mutex);
    }
    return ACL_SUCCESS;
}
