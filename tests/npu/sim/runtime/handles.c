/* The registry of handles: what is live, what was, and which calls touched it. */

#include <stdlib.h>
#include <stdio.h>

#include "sim.h"

/* No address of a process: bits 48 and up are neither all 0 nor all 1. */
static const uintptr_t HANDLE_TAG = (uintptr_t)0x0AC1 << 48;
/* Destroyed handles that are remembered with their history. */
enum { REMEMBERED = 4096 };

static SimHandle **handles; /* by id; NULL: forgotten */
static uint64_t handle_count, handle_room;
static uint64_t oldest_kept; /* no dead handle below this id is kept */
static uint64_t dead_count;

static const char *const kind_names[] = {
    [SIM_CONTEXT] = "aclrtContext",       [SIM_STREAM] = "aclrtStream",
    [SIM_EVENT] = "aclrtEvent",           [SIM_TENSOR] = "aclTensor",
    [SIM_SCALAR] = "aclScalar",           [SIM_INT_ARRAY] = "aclIntArray",
    [SIM_FLOAT_ARRAY] = "aclFloatArray",  [SIM_BOOL_ARRAY] = "aclBoolArray",
    [SIM_TENSOR_LIST] = "aclTensorList",  [SIM_SCALAR_LIST] = "aclScalarList",
    [SIM_EXECUTOR] = "aclOpExecutor",
};

const char *sim_kind_name(SimKind kind)
{
    return kind_names[kind];
}

SimHandle *sim_handle_make(SimKind kind, void *object, void (*release)(void *), const char *name)
{
    if (handle_count == handle_room) {
        handle_room = handle_room ? 2 * handle_room : 1024;
        handles = realloc(handles, handle_room * sizeof *handles);
        if (handles == NULL) {
            abort();
        }
    }
    SimHandle *handle = sim_allocate(1, sizeof *handle);
    handle->id = handle_count;
    handle->kind = kind;
    handle->alive = true;
    handle->object = object;
    handle->release = release;
    snprintf(handle->name, sizeof handle->name, "%s", name);
    sim_history_add(&handle->history);
    handles[handle_count++] = handle;
    sim_counters[SIM_HANDLES]++;
    return handle;
}

void *sim_handle_value(const SimHandle *handle)
{
    return (void *)(HANDLE_TAG | (uintptr_t)(handle->id + 1) << 4);
}

/* The id in a value, or handle_count if it is none. */
static uint64_t id_of(const void *value)
{
    uintptr_t number = (uintptr_t)value;
    if ((number & ~(((uintptr_t)1 << 48) - 1)) != HANDLE_TAG || (number & 15) != 0) {
        return handle_count;
    }
    uint64_t id = ((number - HANDLE_TAG) >> 4) - 1;
    return id < handle_count ? id : handle_count;
}

SimHandle *sim_handle_find(const void *value)
{
    uint64_t id = id_of(value);
    return id < handle_count ? handles[id] : NULL;
}

SimHandle *sim_handle(const void *value, SimKind kind)
{
    SimHandle *handle = sim_handle_find(value);
    if (handle == NULL) {
        bool forgotten = id_of(value) < handle_count;
        sim_undefined(forgotten ? "handle-destroyed" : "handle-unknown", NULL,
                      "%p is no %s%s", value, sim_kind_name(kind),
                      forgotten ? ": it was destroyed long ago" : " that was ever made");
    } else if (!handle->alive) {
        sim_undefined("handle-destroyed", &handle->history, "%s %llu (%s) is used after it died",
                      sim_kind_name(handle->kind), (unsigned long long)handle->id, handle->name);
        handle = NULL;
    } else if (handle->kind != kind) {
        sim_undefined("handle-kind", &handle->history, "a %s is given where a %s belongs",
                      sim_kind_name(handle->kind), sim_kind_name(kind));
        handle = NULL;
    } else {
        sim_history_add(&handle->history);
    }
    return handle;
}

static void forget_oldest(void)
{
    while (dead_count > REMEMBERED && oldest_kept < handle_count) {
        SimHandle *handle = handles[oldest_kept];
        if (handle != NULL && !handle->alive) {
            free(handle);
            handles[oldest_kept] = NULL;
            dead_count--;
        }
        oldest_kept++;
    }
    if (oldest_kept == handle_count) {
        oldest_kept = 0;
    }
}

void sim_handle_destroy(SimHandle *handle)
{
    handle->alive = false;
    if (handle->release != NULL) {
        handle->release(handle->object);
    }
    handle->object = NULL;
    sim_counters[SIM_HANDLES]--;
    dead_count++;
    forget_oldest();
}

/* Visits the live ones; the visitor may destroy the one it is at. */
void sim_handles_each(void (*visit)(SimHandle *, void *), void *data)
{
    for (uint64_t i = 0; i < handle_count; i++) {
        if (handles[i] != NULL && handles[i]->alive) {
            visit(handles[i], data);
        }
    }
}

/* Ends all; numbers go on, so that handles from before are still recognised as dead. */
void sim_handles_reset(void)
{
    for (uint64_t i = 0; i < handle_count; i++) {
        if (handles[i] != NULL && handles[i]->alive) {
            sim_handle_destroy(handles[i]);
        }
    }
}
