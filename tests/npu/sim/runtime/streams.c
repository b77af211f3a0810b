/* Streams: a queue of tasks each, and a worker thread that runs them in order.
 *
 * A worker may run tasks up to its stream's demand.  In lazy mode a synchronise raises it, and so
 * does a wait in another stream that needs a record here; in eager mode there is no bound, and
 * random delays. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim.h"

SimStream *sim_streams;
static int32_t next_id = 1;
static uint64_t slot_sequences[SIM_STREAM_SLOTS]; /* go on when a slot is used again */
static int next_slot;

double sim_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void sim_sleep_us(int64_t microseconds)
{
    if (microseconds > 0) {
        struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
        nanosleep(&time, NULL);
    }
}

/* The same without rest: the calling thread's processor time passes. */
void sim_work_us(int64_t microseconds)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    int64_t end = now.tv_sec * 1000000000 + now.tv_nsec + microseconds * 1000;
    while (now.tv_sec * 1000000000 + now.tv_nsec < end) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    }
}

/* --- tasks ------------------------------------------------------------------------------- */

SimTask *sim_task_make(SimTaskKind kind, const char *name, int range_count)
{
    SimTask *task = sim_allocate(1, sizeof *task);
    task->kind = kind;
    snprintf(task->name, sizeof task->name, "%s", name);
    task->ranges = sim_allocate((size_t)range_count, sizeof *task->ranges);
    task->range_count = range_count;
    return task;
}

static void task_free(SimTask *task)
{
    for (int i = 0; i < task->range_count; i++) {
        sim_block_unpin(task->ranges[i].block);
    }
    if (task->release != NULL) {
        task->release(task->data);
    }
    if (task->record != NULL) {
        sim_record_release(task->record);
    }
    free(task->ranges);
    free(task);
}

void sim_record_release(SimRecord *record)
{
    if (--record->references == 0) {
        free(record);
    }
}

static bool conflicts(const SimTask *task, const SimBlock *block, size_t begin, size_t end,
                      bool writes)
{
    for (int i = 0; i < task->range_count; i++) {
        const SimRange *range = &task->ranges[i];
        if (range->block == block && range->begin < end && begin < range->end &&
            (writes || range->writes)) {
            return true;
        }
    }
    return false;
}

const SimTask *sim_pending_conflict(const SimBlock *block, size_t begin, size_t end, bool writes,
                                    const SimStream **stream)
{
    for (*stream = sim_streams; *stream != NULL; *stream = (*stream)->next) {
        for (const SimTask *task = (*stream)->head; task != NULL; task = task->next) {
            if (conflicts(task, block, begin, end, writes)) {
                return task;
            }
        }
    }
    return NULL;
}

/* Reports a task that uses what an unfinished task of another stream uses too, with no event
 * between the two. */
static void check_race(const SimStream *stream, const SimTask *task)
{
    for (const SimStream *other = sim_streams; other != NULL; other = other->next) {
        uint64_t ordered = stream->seen[other->slot];
        for (const SimTask *each = other == stream ? NULL : other->head; each != NULL;
             each = each->next) {
            for (int i = 0; each->sequence > ordered && i < task->range_count; i++) {
                const SimRange *range = &task->ranges[i];
                if (conflicts(each, range->block, range->begin, range->end, range->writes)) {
                    sim_violation("stream-race", &range->block->history,
                                  "%s on stream %d and %s on stream %d use the same memory and "
                                  "no event orders them",
                                  each->name, other->id, task->name, stream->id);
                    return;
                }
            }
        }
    }
}

void sim_stream_push(SimStream *stream, SimTask *task)
{
    check_race(stream, task);
    for (int i = 0; i < task->range_count; i++) {
        task->ranges[i].block->pins++;
    }
    task->sequence = ++stream->queued;
    slot_sequences[stream->slot] = stream->queued;
    if (task->record != NULL) {
        if (task->kind == SIM_TASK_RECORD) {
            task->record->stream = stream;
            task->record->stream_id = stream->id;
            task->record->sequence = task->sequence;
            task->record->slot = stream->slot;
            memcpy(task->record->seen, stream->seen, sizeof stream->seen);
        } else {
            for (int i = 0; i < SIM_STREAM_SLOTS; i++) {
                uint64_t seen = task->record->seen[i];
                stream->seen[i] = seen > stream->seen[i] ? seen : stream->seen[i];
            }
            uint64_t *seen = &stream->seen[task->record->slot];
            *seen = task->record->sequence > *seen ? task->record->sequence : *seen;
        }
    }
    if (stream->tail == NULL) {
        stream->head = task;
    } else {
        stream->tail->next = task;
    }
    stream->tail = task;
    pthread_cond_broadcast(&sim_changed);
}

/* --- workers ----------------------------------------------------------------------------- */

static bool may_run(const SimStream *stream)
{
    return stream->head != NULL &&
           (sim_setting(SIM_EAGER) || stream->demand >= stream->head->sequence);
}

static void demand(SimStream *stream, uint64_t sequence)
{
    if (stream->demand < sequence) {
        stream->demand = sequence;
        pthread_cond_broadcast(&sim_changed);
    }
}

static aclError run_task(SimStream *stream, SimTask *task, unsigned *random)
{
    aclError status = ACL_SUCCESS;
    if (task->kind == SIM_TASK_WAIT) {
        while (!task->record->done && !stream->closing) {
            demand(task->record->stream, task->record->sequence);
            pthread_cond_wait(&sim_changed, &sim_mutex);
        }
        return status;
    }
    if (task->kind == SIM_TASK_RECORD) {
        return status;
    }
    sim_counters[SIM_TASKS]++;
    aclError injected = sim_fault_due(SIM_FAIL_TASK)
                            ? (aclError)sim_setting(SIM_FAIL_TASK_STATUS)
                            : ACL_SUCCESS;
    int64_t latest = sim_setting(SIM_EAGER) ? sim_setting(SIM_DELAY_US) : 0;
    int64_t delay = sim_setting(SIM_RUN_US);
    delay += latest > 0 ? rand_r(random) % (latest + 1) : 0;
    pthread_mutex_unlock(&sim_mutex);
    sim_sleep_us(delay);
    status = injected != ACL_SUCCESS ? injected : task->run(task->data);
    pthread_mutex_lock(&sim_mutex);
    return status;
}

static void finish(SimStream *stream, SimTask *task, aclError status)
{
    if (task->kind == SIM_TASK_RECORD) {
        task->record->done = true;
        task->record->stream = NULL;
        task->record->seconds = sim_now();
    }
    stream->head = task->next;
    if (stream->head == NULL) {
        stream->tail = NULL;
    }
    stream->finished = task->sequence;
    if (status != ACL_SUCCESS && stream->error == ACL_SUCCESS) {
        stream->error = status;
    }
    if (status != ACL_SUCCESS && stream->stop_on_failure) {
        ((SimContext *)stream->context->object)->poisoned = status;
    }
    task_free(task);
    pthread_cond_broadcast(&sim_changed);
}

static void *work(void *argument)
{
    SimStream *stream = argument;
    pthread_mutex_lock(&sim_mutex);
    unsigned random = (unsigned)sim_setting(SIM_SEED) * 1000003u + (unsigned)stream->id;
    while (!stream->closing) {
        if (may_run(stream)) {
            SimTask *task = stream->head;
            bool stopped = ((SimContext *)stream->context->object)->poisoned != ACL_SUCCESS;
            aclError status = ACL_SUCCESS;
            if (!stopped) {
                status = run_task(stream, task, &random);
            }
            finish(stream, task, status);
        } else {
            pthread_cond_wait(&sim_changed, &sim_mutex);
        }
    }
    while (stream->head != NULL) { /* closed: what is left is dropped */
        finish(stream, stream->head, ACL_SUCCESS);
    }
    pthread_mutex_unlock(&sim_mutex);
    return NULL;
}

bool sim_stream_wait(SimStream *stream, uint64_t sequence, int32_t milliseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    if (milliseconds > 0) {
        until.tv_sec += milliseconds / 1000;
        until.tv_nsec += milliseconds % 1000 * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
    }
    demand(stream, sequence);
    while (stream->finished < sequence) {
        int status = milliseconds < 0
                         ? pthread_cond_wait(&sim_changed, &sim_mutex)
                         : pthread_cond_timedwait(&sim_changed, &sim_mutex, &until);
        if (status == ETIMEDOUT) {
            return stream->finished >= sequence;
        }
    }
    return true;
}

aclError sim_stream_take_error(SimStream *stream)
{
    SimContext *context = stream->context->object;
    aclError error = context->poisoned != ACL_SUCCESS ? context->poisoned : stream->error;
    stream->error = ACL_SUCCESS;
    return error == ACL_SUCCESS ? error
                                : sim_failure(error, "a task on stream %d failed", stream->id);
}

/* --- making and ending ------------------------------------------------------------------- */

SimStream *sim_stream_make(SimHandle *context)
{
    SimStream *stream = sim_allocate(1, sizeof *stream);
    stream->context = context;
    stream->device = ((SimContext *)context->object)->device;
    stream->id = next_id++;
    stream->slot = next_slot++ % SIM_STREAM_SLOTS;
    stream->queued = stream->finished = stream->demand = slot_sequences[stream->slot];
    stream->next = sim_streams;
    sim_streams = stream;
    if (pthread_create(&stream->thread, NULL, work, stream) != 0) {
        abort();
    }
    return stream;
}

/* Ends the worker, after its tasks or, with `drop`, without them. */
void sim_stream_end(SimStream *stream, bool drop)
{
    if (!drop) {
        sim_stream_wait(stream, stream->queued, -1);
    }
    stream->closing = true;
    pthread_cond_broadcast(&sim_changed);
    pthread_mutex_unlock(&sim_mutex);
    pthread_join(stream->thread, NULL);
    pthread_mutex_lock(&sim_mutex);
    SimStream **link = &sim_streams;
    while (*link != stream) {
        link = &(*link)->next;
    }
    *link = stream->next;
    free(stream);
}

SimStream *sim_stream_of(aclrtStream value, aclError *status)
{
    SimHandle *context = sim_current_context();
    *status = ACL_ERROR_RT_CONTEXT_NULL;
    if (context == NULL) {
        return NULL;
    }
    SimContext *current = context->object;
    if (current->poisoned != ACL_SUCCESS) {
        *status = sim_failure(current->poisoned, "the context stopped after a failure");
        return NULL;
    }
    *status = ACL_SUCCESS;
    if (value == NULL) {
        if (current->default_stream == NULL) {
            current->default_stream = sim_stream_make(context);
        }
        return current->default_stream;
    }
    SimHandle *handle = sim_handle(value, SIM_STREAM);
    if (handle == NULL) {
        *status = ACL_ERROR_INVALID_PARAM;
        return NULL;
    }
    SimStream *stream = handle->object;
    if (stream->context != context) {
        *status = sim_misuse(ACL_ERROR_RT_STREAM_CONTEXT, "stream-context", &handle->history,
                             "stream %d belongs to another context (device %d)", stream->id,
                             stream->device);
        return NULL;
    }
    return stream;
}

/* --- exported ---------------------------------------------------------------------------- */

static aclError create(aclrtStream *stream)
{
    SimHandle *context = sim_current_context();
    if (context == NULL) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    if (stream == NULL) {
        return sim_misuse(ACL_ERROR_INVALID_PARAM, "null-argument", NULL, "the result is NULL");
    }
    SimStream *made = sim_stream_make(context);
    made->handle = sim_handle_make(SIM_STREAM, made, NULL, "");
    *stream = sim_handle_value(made->handle);
    return ACL_SUCCESS;
}

aclError aclrtCreateStream(aclrtStream *stream)
{
    SIM_RUNTIME_CALL();
    return create(stream);
}

aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag)
{
    SIM_RUNTIME_CALL();
    (void)priority;
    (void)flag;
    return create(stream);
}

static aclError destroy(aclrtStream value, bool force)
{
    if (value == NULL) {
        return sim_misuse(ACL_ERROR_INVALID_PARAM, "null-argument", NULL,
                          "the default stream cannot be destroyed");
    }
    SIM_STREAM_OR_RETURN(stream, value);
    aclError status = ACL_SUCCESS;
    SimHandle *handle = stream->handle;
    if (!force && stream->head != NULL) {
        status = sim_undefined("stream-busy", &handle->history,
                               "stream %d is destroyed before it was synchronised", stream->id);
    }
    sim_stream_end(stream, force);
    sim_handle_destroy(handle);
    return status;
}

aclError aclrtDestroyStream(aclrtStream stream)
{
    SIM_RELEASE_CALL();
    return SIM_RELEASED(destroy(stream, false));
}

aclError aclrtDestroyStreamForce(aclrtStream stream)
{
    SIM_RELEASE_CALL();
    return SIM_RELEASED(destroy(stream, true));
}

static aclError synchronize(aclrtStream value, int32_t milliseconds)
{
    if (milliseconds < -1) {
        return sim_misuse(ACL_ERROR_RT_PARAM_INVALID, "invalid-argument", NULL,
                          "a time limit of %d ms", milliseconds);
    }
    SIM_STREAM_OR_RETURN(stream, value);
    if (!sim_stream_wait(stream, stream->queued, milliseconds)) {
        return sim_failure(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "stream %d did not end in %d ms",
                           stream->id, milliseconds);
    }
    return sim_stream_take_error(stream);
}

aclError aclrtSynchronizeStream(aclrtStream stream)
{
    SIM_RELEASE_CALL();
    return SIM_RELEASED(synchronize(stream, -1));
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t milliseconds)
{
    SIM_RELEASE_CALL();
    return SIM_RELEASED(synchronize(stream, milliseconds));
}

/* A stream of the device with work left, asked to do it; or NULL. */
static SimStream *busy_stream(int device)
{
    SimStream *busy = NULL;
    for (SimStream *each = sim_streams; each != NULL; each = each->next) {
        if (each->device == device && each->head != NULL) {
            demand(each, each->queued); /* all at once: one may wait for another */
            busy = each;
        }
    }
    return busy;
}

static aclError synchronize_device(void)
{
    SimHandle *context = sim_current_context();
    if (context == NULL) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    int device = ((SimContext *)context->object)->device;
    while (busy_stream(device) != NULL) {
        pthread_cond_wait(&sim_changed, &sim_mutex);
    }
    aclError first = ACL_SUCCESS;
    for (SimStream *each = sim_streams; each != NULL; each = each->next) {
        aclError error = each->device == device ? sim_stream_take_error(each) : ACL_SUCCESS;
        first = first != ACL_SUCCESS ? first : error;
    }
    return first;
}

aclError aclrtSynchronizeDevice(void)
{
    SIM_RELEASE_CALL();
    return SIM_RELEASED(synchronize_device());
}

/* Also lets one more task run: whoever polls must get to the end in lazy mode too. */
aclError aclrtStreamQuery(aclrtStream value, int *status)
{
    SIM_RUNTIME_CALL();
    SIM_STREAM_OR_RETURN(stream, value);
    *status = stream->head == NULL ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    if (stream->head != NULL) {
        demand(stream, stream->head->sequence);
    }
    return ACL_SUCCESS;
}

aclError aclrtSetStreamFailureMode(aclrtStream value, uint64_t mode)
{
    SIM_RUNTIME_CALL();
    SIM_STREAM_OR_RETURN(stream, value);
    if (value == NULL || mode > ACL_STOP_ON_FAILURE) {
        return sim_misuse(ACL_ERROR_RT_PARAM_INVALID, "invalid-argument", NULL,
                          "failure mode %llu", (unsigned long long)mode);
    }
    stream->stop_on_failure = mode == ACL_STOP_ON_FAILURE;
    return ACL_SUCCESS;
}

aclError aclrtStreamGetId(aclrtStream value, int32_t *id)
{
    SIM_RUNTIME_CALL();
    SIM_STREAM_OR_RETURN(stream, value);
    *id = stream->id;
    return ACL_SUCCESS;
}

typedef struct {
    void (*function)(void *);
    void *data;
} Callback;

static aclError run_callback(void *data)
{
    const Callback *callback = data;
    callback->function(callback->data);
    return ACL_SUCCESS;
}

aclError aclrtLaunchCallback(void (*function)(void *), void *data, int block, aclrtStream value)
{
    SIM_RUNTIME_CALL();
    (void)block;
    SIM_STREAM_OR_RETURN(stream, value);
    Callback *callback = sim_allocate(1, sizeof *callback);
    *callback = (Callback){function, data};
    SimTask *task = sim_task_make(SIM_TASK_WORK, "callback", 0);
    task->run = run_callback;
    task->release = free;
    task->data = callback;
    sim_stream_push(stream, task);
    return ACL_SUCCESS;
}
