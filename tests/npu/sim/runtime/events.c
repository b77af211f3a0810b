/* Events: the place in a stream that was recorded last. */

#include <stdlib.h>

#include "sim.h"

typedef struct {
    int device;
    uint32_t flags;
    bool ex; /* made by aclrtCreateEventExWithFlag: recorded again without a reset */
    SimRecord *latest;
    SimRecord *waited; /* the record of the last wait made on this event */
} Event;

static void release(void *object)
{
    Event *event = object;
    if (event->latest != NULL) {
        sim_record_release(event->latest);
    }
    if (event->waited != NULL) {
        sim_record_release(event->waited);
    }
    free(event);
}

static aclError create(aclrtEvent *result, uint32_t flags, bool ex)
{
    SimHandle *context = sim_current_context();
    if (context == NULL) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    if (result == NULL) {
        return sim_misuse(ACL_ERROR_INVALID_PARAM, "null-argument", NULL, "the result is NULL");
    }
    Event *event = sim_allocate(1, sizeof *event);
    event->device = ((SimContext *)context->object)->device;
    event->flags = flags;
    event->ex = ex;
    *result = sim_handle_value(sim_handle_make(SIM_EVENT, event, release, ""));
    return ACL_SUCCESS;
}

static void end_if_of(SimHandle *handle, void *device)
{
    if (handle->kind == SIM_EVENT && ((Event *)handle->object)->device == *(int *)device) {
        sim_handle_destroy(handle);
    }
}

void sim_events_end(int device)
{
    sim_handles_each(end_if_of, &device);
}

/* The event a call names, or NULL with *status set. */
static Event *event_of(aclrtEvent value, SimHandle **handle, aclError *status)
{
    *handle = NULL;
    *status = ACL_ERROR_RT_CONTEXT_NULL;
    if (sim_current_context() == NULL) {
        return NULL;
    }
    *status = ACL_ERROR_INVALID_PARAM;
    if (value == NULL) {
        sim_misuse(*status, "null-argument", NULL, "the event is NULL");
        return NULL;
    }
    *handle = sim_handle(value, SIM_EVENT);
    return *handle == NULL ? NULL : (*handle)->object;
}

#define EVENT_OR_RETURN(event, value)                                     \
    SimHandle *event##_handle;                                            \
    aclError event##_status;                                              \
    Event *event = event_of(value, &event##_handle, &event##_status);     \
    if (event == NULL) {                                                  \
        return event##_status;                                            \
    }

/* --- exported ---------------------------------------------------------------------------- */

aclError aclrtCreateEvent(aclrtEvent *event)
{
    SIM_RUNTIME_CALL();
    return create(event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE, false);
}

aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag)
{
    SIM_RUNTIME_CALL();
    return create(event, flag, false);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag)
{
    SIM_RUNTIME_CALL();
    return create(event, flag, true);
}

static aclError destroy(aclrtEvent value)
{
    EVENT_OR_RETURN(event, value);
    sim_handle_destroy(event_handle);
    return ACL_SUCCESS;
}

aclError aclrtDestroyEvent(aclrtEvent event)
{
    SIM_RELEASE_CALL();
    return SIM_RELEASED(destroy(event));
}

aclError aclrtRecordEvent(aclrtEvent value, aclrtStream stream_value)
{
    SIM_RUNTIME_CALL();
    EVENT_OR_RETURN(event, value);
    SIM_STREAM_OR_RETURN(stream, stream_value);
    if (event->latest != NULL) {
        if (!event->ex) {
            return sim_misuse(ACL_ERROR_RT_PARAM_INVALID, "event-record", &event_handle->history,
                              "an event that is not of the Ex kind is recorded again without "
                              "aclrtResetEvent");
        }
        sim_record_release(event->latest);
    }
    SimTask *task = sim_task_make(SIM_TASK_RECORD, "event record", 0);
    task->record = event->latest = sim_allocate(1, sizeof *event->latest);
    event->latest->references = 2;
    sim_stream_push(stream, task);
    return ACL_SUCCESS;
}

aclError aclrtStreamWaitEvent(aclrtStream stream_value, aclrtEvent value)
{
    SIM_RUNTIME_CALL();
    EVENT_OR_RETURN(event, value);
    SIM_STREAM_OR_RETURN(stream, stream_value);
    if ((event->flags & ACL_EVENT_SYNC) == 0) {
        return sim_misuse(ACL_ERROR_RT_PARAM_INVALID, "event-flags", &event_handle->history,
                          "a wait on an event without ACL_EVENT_SYNC");
    }
    if (event->latest == NULL) {
        sim_violation("event-unrecorded", &event_handle->history,
                      "a wait on an event that was never recorded");
        return ACL_SUCCESS;
    }
    SimTask *task = sim_task_make(SIM_TASK_WAIT, "event wait", 0);
    task->record = event->latest;
    if (event->waited != NULL) {
        sim_record_release(event->waited);
    }
    event->waited = event->latest;
    event->latest->references += 2;
    sim_stream_push(stream, task);
    return ACL_SUCCESS;
}

aclError aclrtResetEvent(aclrtEvent value, aclrtStream stream_value)
{
    SIM_RUNTIME_CALL();
    EVENT_OR_RETURN(event, value);
    SIM_STREAM_OR_RETURN(stream, stream_value);
    if (event->ex) {
        return sim_misuse(ACL_ERROR_RT_PARAM_INVALID, "event-ex", &event_handle->history,
                          "aclrtResetEvent is not for events of the Ex kind");
    }
    if (event->latest != NULL) {
        sim_record_release(event->latest);
        event->latest = NULL;
    }
    return ACL_SUCCESS;
}

/* In lazy mode a poll lets the stream take one more step: who polls must get to the end. */
static void step(const SimRecord *record)
{
    SimStream *stream = record->stream;
    if (stream != NULL && stream->head != NULL && stream->demand < stream->head->sequence) {
        stream->demand = stream->head->sequence;
        pthread_cond_broadcast(&sim_changed);
    }
}

aclError aclrtQueryEventStatus(aclrtEvent value, int *status)
{
    SIM_RUNTIME_CALL();
    EVENT_OR_RETURN(event, value);
    bool complete = event->latest == NULL ? event->ex : event->latest->done;
    if (event->latest != NULL) {
        step(event->latest);
    }
    *status = complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

aclError aclrtQueryEventWaitStatus(aclrtEvent value, int *status)
{
    SIM_RUNTIME_CALL();
    EVENT_OR_RETURN(event, value);
    if (event->ex) {
        return sim_misuse(ACL_ERROR_RT_PARAM_INVALID, "event-ex", &event_handle->history,
                          "aclrtQueryEventWaitStatus is not for events of the Ex kind");
    }
    bool complete = event->waited == NULL || event->waited->done;
    if (event->waited != NULL) {
        step(event->waited);
    }
    *status = complete ? ACL_EVENT_WAIT_STATUS_COMPLETE : ACL_EVENT_WAIT_STATUS_NOT_READY;
    return ACL_SUCCESS;
}

static aclError synchronize(aclrtEvent value, int32_t milliseconds)
{
    if (milliseconds < -1) {
        return sim_misuse(ACL_ERROR_RT_PARAM_INVALID, "invalid-argument", NULL,
                          "a time limit of %d ms", milliseconds);
    }
    EVENT_OR_RETURN(event, value);
    if (event->latest == NULL) {
        return ACL_SUCCESS;
    }
    SimRecord *record = event->latest;
    record->references++; /* another thread may record the event again meanwhile */
    aclError status = ACL_SUCCESS;
    if (!record->done && !sim_stream_wait(record->stream, record->sequence, milliseconds)) {
        status = sim_failure(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "the event did not come in %d ms",
                             milliseconds);
    }
    for (SimStream *each = sim_streams; each != NULL && status == ACL_SUCCESS; each = each->next) {
        status = each->id == record->stream_id ? sim_stream_take_error(each) : status;
    }
    sim_record_release(record);
    return status;
}

aclError aclrtSynchronizeEvent(aclrtEvent event)
{
    SIM_RELEASE_CALL();
    return SIM_RELEASED(synchronize(event, -1));
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t milliseconds)
{
    SIM_RELEASE_CALL();
    return SIM_RELEASED(synchronize(event, milliseconds));
}

aclError aclrtEventElapsedTime(float *milliseconds, aclrtEvent start_value, aclrtEvent end_value)
{
    SIM_RUNTIME_CALL();
    EVENT_OR_RETURN(start, start_value);
    EVENT_OR_RETURN(end, end_value);
    if ((start->flags & end->flags & ACL_EVENT_TIME_LINE) == 0) {
        return sim_misuse(ACL_ERROR_RT_PARAM_INVALID, "event-flags", &start_handle->history,
                          "elapsed time between events without ACL_EVENT_TIME_LINE");
    }
    if (start->latest == NULL || end->latest == NULL) {
        return sim_misuse(ACL_ERROR_RT_INTERNAL_ERROR, "event-unrecorded", &end_handle->history,
                          "elapsed time of an event that was never recorded");
    }
    if (!start->latest->done || !end->latest->done) {
        return sim_misuse(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "event-unfinished",
                          &end_handle->history, "elapsed time before the events were reached");
    }
    *milliseconds = (float)(1e3 * (end->latest->seconds - start->latest->seconds));
    return ACL_SUCCESS;
}
