/* Copies and memory sets, at once or in a stream.
 *
 * A synchronous copy waits for nothing: what it races with is reported.  An asynchronous one reads
 * pinned host memory when it runs, not when it is queued. */

#include <stdlib.h>
#include <string.h>

#include "sim.h"

/* One side of a copy, checked. */
typedef struct {
    unsigned char *data; /* where the bytes really are */
    SimBlock *block;     /* NULL: pageable host memory */
    size_t begin;
} Side;

static aclError locate(const void *address, size_t count, bool on_device, bool writes, Side *side)
{
    *side = (Side){(unsigned char *)(uintptr_t)address, NULL, 0};
    SimBlock *block = sim_block_at(address);
    const SimBlock *gone = block == NULL ? sim_block_freed(address) : NULL;
    const char *what = writes ? "destination" : "source";
    if (block == NULL && gone != NULL && (on_device || gone->device != SIM_HOST)) {
        return sim_undefined("use-after-free", &gone->history, "the %s %p was freed", what,
                             address);
    }
    bool device = block != NULL ? block->device != SIM_HOST : sim_is_device_address(address);
    if (device != on_device) {
        return sim_undefined("copy-kind", block ? &block->history : NULL,
                             "the %s %p is %s memory, which the kind contradicts", what, address,
                             device ? "device" : "host");
    }
    if (block == NULL) {
        return device ? sim_undefined("address-unknown", NULL, "the %s %p is no allocated address",
                                      what, address)
                      : ACL_SUCCESS;
    }
    side->block = block;
    side->begin = (uintptr_t)address - block->address;
    side->data = block->shadow + side->begin;
    sim_history_add(&block->history);
    if (side->begin + count > block->size) {
        return sim_undefined("copy-range", &block->history,
                             "%zu bytes from %zu on leave a block of %zu", count, side->begin,
                             block->size);
    }
    return ACL_SUCCESS;
}

static aclError check_counts(const void *dst, size_t room, const void *src, size_t count)
{
    if (dst == NULL || src == NULL) {
        return sim_misuse(ACL_ERROR_INVALID_PARAM, "null-argument", NULL, "an address is NULL");
    }
    if (count > room) {
        return sim_misuse(ACL_ERROR_RT_PARAM_INVALID, "copy-range", NULL,
                          "%zu bytes do not fit into %zu", count, room);
    }
    return ACL_SUCCESS;
}

static aclError check_copy(void *dst, size_t destMax, const void *src, size_t count, int kind,
                           Side *to, Side *from)
{
    aclError status = check_counts(dst, destMax, src, count);
    if (status == ACL_SUCCESS && (kind < 0 || kind > ACL_MEMCPY_DEVICE_TO_DEVICE)) {
        status = sim_misuse(ACL_ERROR_INVALID_PARAM, "copy-kind", NULL, "kind %d", kind);
    }
    if (status == ACL_SUCCESS) {
        bool to_device = kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
        status = locate(dst, count, to_device, true, to);
    }
    if (status == ACL_SUCCESS) {
        status = locate(src, count, kind >= ACL_MEMCPY_DEVICE_TO_HOST, false, from);
    }
    if (status == ACL_SUCCESS && kind == ACL_MEMCPY_DEVICE_TO_DEVICE &&
        !sim_peer_access(to->block->device, from->block->device)) {
        status = sim_undefined("device-mismatch", &from->block->history,
                               "a copy from device %d to device %d without peer access",
                               from->block->device, to->block->device);
    }
    return status;
}

/* A queued task that the host does not wait for and whose memory it uses now. */
static aclError check_pending(const Side *side, size_t count, bool writes)
{
    const SimStream *stream = NULL;
    const SimTask *task =
        side->block == NULL ? NULL
                            : sim_pending_conflict(side->block, side->begin, side->begin + count,
                                                   writes, &stream);
    return task == NULL
               ? ACL_SUCCESS
               : sim_undefined("unsynchronised", &side->block->history,
                               "the host %s memory while %s waits on stream %d",
                               writes ? "writes" : "reads", task->name, stream->id);
}

/* --- at once ----------------------------------------------------------------------------- */

aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, int kind)
{
    SIM_RUNTIME_CALL();
    if (sim_current_context() == NULL) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    Side to, from;
    aclError status = count == 0 ? check_counts(dst, destMax, src, count)
                                 : check_copy(dst, destMax, src, count, kind, &to, &from);
    if (status != ACL_SUCCESS || count == 0) {
        return status;
    }
    status = check_pending(&from, count, false);
    if (status == ACL_SUCCESS) {
        status = check_pending(&to, count, true);
    }
    memmove(to.data, from.data, count);
    return status;
}

aclError aclrtMemset(void *address, size_t maxCount, int32_t value, size_t count)
{
    SIM_RUNTIME_CALL();
    if (sim_current_context() == NULL) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    Side to;
    aclError status = check_counts(address, maxCount, address, count);
    if (status == ACL_SUCCESS) {
        status = locate(address, count, sim_is_device_address(address), true, &to);
    }
    if (status != ACL_SUCCESS) {
        return status;
    }
    status = check_pending(&to, count, true);
    memset(to.data, value, count);
    return status;
}

/* --- in a stream ------------------------------------------------------------------------- */

typedef struct {
    unsigned char *to;
    const unsigned char *from; /* NULL: set to value */
    int32_t value;
    size_t count;
} Transfer;

static aclError run(void *data)
{
    const Transfer *transfer = data;
    if (transfer->from == NULL) {
        memset(transfer->to, transfer->value, transfer->count);
    } else {
        memmove(transfer->to, transfer->from, transfer->count);
    }
    return ACL_SUCCESS;
}

static void queue(SimStream *stream, const char *name, Transfer given, const Side *to,
                  const Side *from)
{
    SimTask *task = sim_task_make(SIM_TASK_WORK, name, 2);
    task->range_count = 0;
    if (to->block != NULL) {
        task->ranges[task->range_count++] =
            (SimRange){to->block, to->begin, to->begin + given.count, true};
    }
    if (from != NULL && from->block != NULL) {
        task->ranges[task->range_count++] =
            (SimRange){from->block, from->begin, from->begin + given.count, false};
    }
    Transfer *transfer = sim_allocate(1, sizeof *transfer);
    *transfer = given;
    task->run = run;
    task->release = free;
    task->data = transfer;
    sim_stream_push(stream, task);
}

aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, int kind,
                          aclrtStream stream_value)
{
    SIM_RUNTIME_CALL();
    SIM_STREAM_OR_RETURN(stream, stream_value);
    if (kind == ACL_MEMCPY_HOST_TO_HOST) {
        return sim_misuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "copy-kind", NULL,
                          "no asynchronous copy from host to host");
    }
    Side to, from;
    aclError status = count == 0 ? check_counts(dst, destMax, src, count)
                                 : check_copy(dst, destMax, src, count, kind, &to, &from);
    if (status != ACL_SUCCESS || count == 0) {
        return status;
    }
    const SimStream *other = NULL;
    if (to.block != NULL && to.block->device == SIM_HOST &&
        sim_pending_conflict(to.block, to.begin, to.begin + count, true, &other) == NULL) {
        memset(to.data, SIM_POISON, count); /* what a host sees that does not wait */
    }
    queue(stream, "aclrtMemcpyAsync", (Transfer){to.data, from.data, 0, count}, &to, &from);
    if (to.block == NULL || from.block == NULL) {
        /* Pageable memory: in stream order, and done when the call returns. */
        sim_stream_wait(stream, stream->queued, -1);
    }
    return ACL_SUCCESS;
}

aclError aclrtMemsetAsync(void *address, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream_value)
{
    SIM_RUNTIME_CALL();
    SIM_STREAM_OR_RETURN(stream, stream_value);
    Side to;
    aclError status = check_counts(address, maxCount, address, count);
    if (status == ACL_SUCCESS) {
        status = locate(address, count, sim_is_device_address(address), true, &to);
    }
    if (status != ACL_SUCCESS) {
        return status;
    }
    queue(stream, "aclrtMemsetAsync", (Transfer){to.data, NULL, value, count}, &to, NULL);
    return ACL_SUCCESS;
}
