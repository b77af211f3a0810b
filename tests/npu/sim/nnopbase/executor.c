/* Phase 2: an executor's call becomes a task of a stream; and executors that run repeatedly. */

#include <stdlib.h>
#include <string.h>

#include "nnop.h"

/* --- calls ------------------------------------------------------------------------------- */

void call_release(Call *call)
{
    for (int i = 0; i < MOST_ARGUMENTS; i++) {
        free(call->arguments[i].list);
        free(call->arguments[i].integers);
        free(call->arguments[i].text);
    }
}

static void *duplicate(const void *from, size_t bytes)
{
    return from == NULL ? NULL : memcpy(sim_allocate(bytes, 1), from, bytes);
}

Call *call_copy(const Call *call)
{
    Call *copy = duplicate(call, sizeof *call);
    for (int i = 0; i < MOST_ARGUMENTS; i++) {
        const Argument *from = &call->arguments[i];
        Argument *to = &copy->arguments[i];
        to->list = duplicate(from->list, from->count * sizeof *from->list);
        to->integers = duplicate(from->integers, from->count * sizeof *from->integers);
        to->text = from->text == NULL ? NULL : strdup(from->text);
    }
    return copy;
}

typedef struct {
    Call *call;
    unsigned char *workspace;
    size_t workspace_size;
} Launch;

static void release_launch(void *data)
{
    Launch *launch = data;
    call_release(launch->call);
    free(launch->call);
    free(launch);
}

/* --- running ----------------------------------------------------------------------------- */

static bool shares_bytes(const Call *call, const View *out)
{
    const unsigned char *address = out->address;
    for (int i = 0; i < call->operator->parameter_count; i++) {
        const Argument *argument = &call->arguments[i];
        if (is_tensor_kind(argument->parameter->kind) && argument->present &&
            argument->parameter->kind != PARAMETER_OUT && argument->view.address == address) {
            return true;
        }
    }
    return false;
}

/* Whatever an output held is gone, unless an input lies there. */
static void poison(const Call *call, const View *view)
{
    int64_t index[SIM_MOST_DIMS] = {0};
    size_t size = aclDataTypeSize(view->dtype);
    for (int64_t left = shares_bytes(call, view) ? 0 : view_count(view); left > 0; left--) {
        int64_t element = 0;
        for (int i = 0; i < view->rank; i++) {
            element += index[i] * view->strides[i];
        }
        memset(view->data + element * (int64_t)size, SIM_POISON, size);
        for (int i = view->rank - 1; i >= 0 && ++index[i] == view->dims[i]; i--) {
            index[i] = 0;
        }
    }
}

static bool decides_shapes(const Call *call)
{
    for (int i = 0; i < call->operator->parameter_count; i++) {
        if (call->operator->parameters[i].kind == PARAMETER_PENDING_OUT) {
            return true;
        }
    }
    return false;
}

/* Writes the dims that the run found out into the descriptors that are still alive. */
static void tell_shapes(const Call *call)
{
    pthread_mutex_lock(&sim_mutex);
    for (int i = 0; i < call->operator->parameter_count; i++) {
        const Argument *argument = &call->arguments[i];
        ParameterKind kind = argument->parameter->kind;
        bool out = kind == PARAMETER_OUT || kind == PARAMETER_PENDING_OUT;
        if (out && argument->view.handle->alive) {
            Tensor *tensor = argument->view.handle->object;
            memcpy(tensor->view.dims, argument->view.dims, sizeof tensor->view.dims);
        }
    }
    pthread_mutex_unlock(&sim_mutex);
}

static aclError run_launch(void *data)
{
    Launch *launch = data;
    Call *call = launch->call;
    if (launch->workspace != NULL) {
        memset(launch->workspace, 0xA5, launch->workspace_size);
    }
    for (int i = 0; i < call->operator->parameter_count; i++) {
        const Argument *argument = &call->arguments[i];
        ParameterKind kind = argument->parameter->kind;
        if (is_tensor_kind(kind) && kind >= PARAMETER_OUT && argument->present) {
            poison(call, &argument->view);
        }
    }
    call->operator->run(call);
    if (decides_shapes(call)) {
        tell_shapes(call);
    }
    if (call->fault != ACL_SUCCESS) {
        sim_notice_open(SIM_OPEN_FAULT);
    }
    return call->fault;
}

/* Binds a view to its memory and adds that to the task's ranges. */
static aclnnStatus bind_view(View *view, bool writes, SimTask *task)
{
    int64_t lowest, end;
    view_extent(view, &lowest, &end);
    if (end == lowest) {
        return ACL_SUCCESS;
    }
    SimBlock *block = sim_block_at(view->address);
    if (block == NULL) {
        const SimBlock *gone = sim_block_freed(view->address);
        sim_undefined("use-after-free", gone ? &gone->history : NULL,
                      "%s: memory was freed between the phases", task->name);
        return ACLNN_ERR_INNER;
    }
    int64_t size = (int64_t)aclDataTypeSize(view->dtype);
    size_t begin = (uintptr_t)view->address - block->address;
    view->data = block->shadow + begin + view->offset * size;
    task->ranges[task->range_count++] =
        (SimRange){block, begin + (size_t)(lowest * size), begin + (size_t)(end * size), writes};
    sim_history_add(&block->history);
    return ACL_SUCCESS;
}

static int count_views(const Call *call)
{
    uint64_t count = 1; /* the workspace */
    for (int i = 0; i < call->operator->parameter_count; i++) {
        count += 1 + (call->arguments[i].list == NULL ? 0 : call->arguments[i].count);
    }
    return (int)count;
}

static aclnnStatus bind_all(Call *call, SimTask *task)
{
    aclnnStatus status = ACL_SUCCESS;
    for (int i = 0; i < call->operator->parameter_count && status == ACL_SUCCESS; i++) {
        Argument *argument = &call->arguments[i];
        bool writes = is_written_kind(argument->parameter->kind);
        if (argument->list != NULL) {
            for (uint64_t j = 0; j < argument->count && status == ACL_SUCCESS; j++) {
                status = bind_view(&argument->list[j], writes, task);
            }
        } else if (is_tensor_kind(argument->parameter->kind) && argument->present) {
            status = bind_view(&argument->view, writes, task);
        }
    }
    return status;
}

/* --- phase 2 ----------------------------------------------------------------------------- */

static aclnnStatus check_workspace(const Executor *executor, void *workspace, uint64_t size,
                                   SimTask *task, Launch *launch)
{
    if (executor->workspace == 0) {
        return ACL_SUCCESS;
    }
    if (workspace == NULL) {
        return refuse_code(ACLNN_ERR_PARAM_NULLPTR, "workspace-null",
                           "aclnn%s needs %llu bytes of workspace and got NULL",
                           executor->operator->name, (unsigned long long)executor->workspace);
    }
    SimBlock *block = sim_block_at(workspace);
    size_t begin = block == NULL ? 0 : (uintptr_t)workspace - block->address;
    if (block == NULL || block->device == SIM_HOST) {
        sim_undefined("workspace-address", NULL, "the workspace %p is no device memory", workspace);
        return ACLNN_ERR_INNER;
    }
    if (size < executor->workspace || begin + executor->workspace > block->size) {
        sim_undefined("workspace-small", &block->history,
                      "aclnn%s needs %llu bytes of workspace, %llu are given and %zu are there",
                      executor->operator->name, (unsigned long long)executor->workspace,
                      (unsigned long long)size, block->size - begin);
        return ACLNN_ERR_INNER;
    }
    if ((uintptr_t)workspace % 64 != 0) {
        sim_undefined("workspace-alignment", &block->history,
                      "the workspace %p is not aligned to 64 bytes", workspace);
        return ACLNN_ERR_INNER;
    }
    launch->workspace = block->shadow + begin;
    launch->workspace_size = executor->workspace;
    task->ranges[task->range_count++] =
        (SimRange){block, begin, begin + executor->workspace, true};
    return ACL_SUCCESS;
}

/* Every descriptor of phase 1 must still be there. */
static aclnnStatus check_descriptors(const Call *call)
{
    for (int i = 0; i < call->operator->parameter_count; i++) {
        const SimHandle *handle = call->arguments[i].handle;
        if (handle != NULL && !handle->alive) {
            sim_undefined("descriptor-destroyed", &handle->history,
                          "aclnn%s: the %s given as %s was destroyed between the phases",
                          call->operator->name, sim_kind_name(handle->kind),
                          call->arguments[i].parameter->name);
            return ACLNN_ERR_INNER;
        }
    }
    return ACL_SUCCESS;
}

static aclnnStatus launch(Executor *executor, void *workspace, uint64_t size, SimStream *stream)
{
    aclnnStatus status = check_descriptors(&executor->call);
    if (status != ACL_SUCCESS) {
        return status;
    }
    SimTask *task = sim_task_make(SIM_TASK_WORK, executor->operator->name,
                                  count_views(&executor->call));
    task->range_count = 0;
    Launch *made = sim_allocate(1, sizeof *made);
    made->call = call_copy(&executor->call);
    status = check_workspace(executor, workspace, size, task, made);
    if (status == ACL_SUCCESS) {
        status = bind_all(made->call, task);
    }
    if (status != ACL_SUCCESS) {
        release_launch(made);
        free(task->ranges);
        free(task);
        return status;
    }
    for (int i = 0; i < executor->operator->parameter_count; i++) {
        const Argument *argument = &executor->call.arguments[i];
        if (argument->parameter->kind == PARAMETER_PENDING_OUT) {
            ((Tensor *)argument->handle->object)->shape_pending = true;
        }
    }
    task->run = run_launch;
    task->release = release_launch;
    task->data = made;
    sim_stream_push(stream, task);
    return ACL_SUCCESS;
}

aclnnStatus operator_run(const Operator *operator, void *workspace, uint64_t workspaceSize,
                         aclOpExecutor *value, aclrtStream stream_value)
{
    if (value == NULL) {
        return sim_misuse(ACLNN_ERR_PARAM_NULLPTR, "null-argument", NULL, "the executor is NULL");
    }
    SimHandle *known = sim_handle_find(value);
    if (known != NULL && !known->alive && known->kind == SIM_EXECUTOR) {
        sim_undefined("executor-reused", &known->history,
                      "the executor of aclnn%s was used up or destroyed", known->name);
        return ACLNN_ERR_INNER;
    }
    SimHandle *handle = sim_handle(value, SIM_EXECUTOR);
    if (handle == NULL) {
        return ACLNN_ERR_INNER;
    }
    Executor *executor = handle->object;
    aclError status;
    SimStream *stream = sim_stream_of(stream_value, &status);
    if (stream != NULL && executor->operator != operator) {
        status = sim_misuse(ACLNN_ERR_INNER, "executor-operator", &handle->history,
                            "the executor of aclnn%s is run by aclnn%s", executor->operator->name,
                            operator->name);
    } else if (stream != NULL && executor->context != stream->context) {
        status = sim_misuse(ACLNN_ERR_INNER, "executor-context", &handle->history,
                            "planned in one context and run in another");
    } else if (stream != NULL) {
        status = launch(executor, workspace, workspaceSize, stream);
    }
    executor->runs++;
    if (!executor->repeatable) {
        sim_handle_destroy(handle);
    }
    return status;
}

void operator_drop(aclOpExecutor *value)
{
    SimHandle *handle = sim_handle_find(value);
    if (handle != NULL && handle->alive && handle->kind == SIM_EXECUTOR &&
        !((Executor *)handle->object)->repeatable) {
        sim_handle_destroy(handle);
    }
}

/* --- exported ---------------------------------------------------------------------------- */

aclnnStatus aclnnInit(const char *configPath)
{
    SIM_CALL();
    (void)configPath;
    return ACL_SUCCESS;
}

aclnnStatus aclnnFinalize(void)
{
    SIM_CALL();
    return ACL_SUCCESS;
}

static Executor *executor_of(aclOpExecutor *value, SimHandle **handle, aclnnStatus *status)
{
    *status = ACLNN_ERR_INNER_NULLPTR;
    if (value == NULL) {
        sim_misuse(*status, "null-argument", NULL, "the executor is NULL");
        return NULL;
    }
    *status = ACLNN_ERR_INNER;
    *handle = sim_handle(value, SIM_EXECUTOR);
    return *handle == NULL ? NULL : (*handle)->object;
}

/* Types that run on the AI-CPU, whose executors cannot be made repeatable. */
static bool runs_on_aicpu(const Call *call)
{
    const DtypeSet slow = DTYPE_BIT(ACL_DOUBLE) | DTYPE_BIT(ACL_INT16) |
                          DTYPE_BIT(ACL_COMPLEX64) | DTYPE_BIT(ACL_COMPLEX128);
    for (int i = 0; i < call->operator->parameter_count; i++) {
        const Argument *argument = &call->arguments[i];
        if (is_tensor_kind(argument->parameter->kind) && argument->present &&
            (slow & DTYPE_BIT(argument->view.dtype)) != 0) {
            return true;
        }
    }
    return false;
}

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *value)
{
    SIM_CALL();
    SimHandle *handle;
    aclnnStatus status;
    Executor *executor = executor_of(value, &handle, &status);
    if (executor == NULL) {
        return status;
    }
    if (executor->runs > 0) {
        return sim_misuse(ACLNN_ERR_INNER, "executor-repeatable", &handle->history,
                          "an executor is made repeatable directly after phase 1");
    }
    if (sim_setting(SIM_REFUSE_REPEAT) || runs_on_aicpu(&executor->call)) {
        return sim_failure(ACLNN_ERR_INNER, "aclnn%s cannot be repeated", handle->name);
    }
    executor->repeatable = true;
    return ACL_SUCCESS;
}

static aclnnStatus destroy_executor(aclOpExecutor *value)
{
    SimHandle *known = sim_handle_find(value);
    if (known != NULL && !known->alive && known->kind == SIM_EXECUTOR) {
        sim_undefined("executor-reused", &known->history,
                      "the executor of aclnn%s was used up or destroyed", known->name);
        return ACLNN_ERR_INNER;
    }
    SimHandle *handle;
    aclnnStatus status;
    if (executor_of(value, &handle, &status) == NULL) {
        return status;
    }
    sim_handle_destroy(handle);
    return ACL_SUCCESS;
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor)
{
    SIM_SCOPE();
    return SIM_RELEASED(destroy_executor(executor));
}

/* --- addresses of repeatable executors --------------------------------------------------- */

typedef enum { ANY_TENSOR, INPUT_TENSOR, OUTPUT_TENSOR } Side;

static bool on_side(const Argument *argument, Side side)
{
    bool written = is_written_kind(argument->parameter->kind);
    return side == ANY_TENSOR || written == (side == OUTPUT_TENSOR);
}

static aclnnStatus set_address(View *view, void *address)
{
    SimBlock *block = sim_block_at(address);
    int64_t lowest, end;
    view_extent(view, &lowest, &end);
    size_t begin = block == NULL ? 0 : (uintptr_t)address - block->address;
    if (block == NULL || block->device == SIM_HOST ||
        begin + (size_t)end * aclDataTypeSize(view->dtype) > block->size) {
        sim_undefined("tensor-address", block ? &block->history : NULL,
                      "%p has no room for the tensor", address);
        return ACLNN_ERR_INNER;
    }
    view->address = address;
    return ACL_SUCCESS;
}

static aclnnStatus replace(aclOpExecutor *value, size_t index, aclTensor *tensor, void *address,
                           Side side)
{
    SimHandle *handle;
    aclnnStatus status;
    Executor *executor = executor_of(value, &handle, &status);
    if (executor == NULL) {
        return status;
    }
    if (tensor == NULL || sim_handle(tensor, SIM_TENSOR) == NULL) {
        return sim_misuse(ACLNN_ERR_PARAM_NULLPTR, "null-argument", NULL, "no tensor");
    }
    size_t met = 0;
    for (int i = 0; i < executor->operator->parameter_count; i++) {
        Argument *argument = &executor->call.arguments[i];
        if (is_tensor_kind(argument->parameter->kind) && argument->present &&
            on_side(argument, side) && met++ == index) {
            return set_address(&argument->view, address);
        }
    }
    return sim_misuse(ACLNN_ERR_PARAM_INVALID, "executor-index", &handle->history,
                      "aclnn%s has no tensor %zu", handle->name, index);
}

static aclnnStatus replace_in_list(aclOpExecutor *value, size_t irIndex, size_t relativeIndex,
                                   aclTensorList *list, void *address, Side side)
{
    SimHandle *handle;
    aclnnStatus status;
    Executor *executor = executor_of(value, &handle, &status);
    if (executor == NULL) {
        return status;
    }
    if (list == NULL || sim_handle(list, SIM_TENSOR_LIST) == NULL) {
        return sim_misuse(ACLNN_ERR_PARAM_NULLPTR, "null-argument", NULL, "no list");
    }
    size_t met = 0;
    for (int i = 0; i < executor->operator->parameter_count; i++) {
        Argument *argument = &executor->call.arguments[i];
        bool tensor = is_tensor_kind(argument->parameter->kind) && argument->present;
        if ((tensor || argument->list != NULL) && on_side(argument, side) && met++ == irIndex &&
            relativeIndex < argument->count) {
            return set_address(&argument->list[relativeIndex], address);
        }
    }
    return sim_misuse(ACLNN_ERR_PARAM_INVALID, "executor-index", &handle->history,
                      "aclnn%s has no list %zu with a tensor %zu", handle->name, irIndex,
                      relativeIndex);
}

#define SET_ADDRESS(Name, side)                                                                 \
    aclnnStatus aclSet##Name##TensorAddr(aclOpExecutor *executor, size_t index,                 \
                                         aclTensor *tensor, void *addr)                         \
    {                                                                                           \
        SIM_CALL();                                                                             \
        return replace(executor, index, tensor, addr, side);                                    \
    }                                                                                           \
    aclnnStatus aclSetDynamic##Name##TensorAddr(aclOpExecutor *executor, size_t irIndex,        \
                                                size_t relativeIndex, aclTensorList *list,      \
                                                void *addr)                                     \
    {                                                                                           \
        SIM_CALL();                                                                             \
        return replace_in_list(executor, irIndex, relativeIndex, list, addr, side);             \
    }

SET_ADDRESS(, ANY_TENSOR)
SET_ADDRESS(Input, INPUT_TENSOR)
SET_ADDRESS(Output, OUTPUT_TENSOR)
