/* Life cycle: initialising, devices, contexts. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

enum { MOST_DEVICES = 16 };

static bool initialised, finalised;
static struct {
    int references;
    SimHandle *context; /* the default one */
} devices[MOST_DEVICES];
static bool peers[MOST_DEVICES][MOST_DEVICES];
static int64_t system_parameters[2];

/* A thread's context counts only while the epoch is the one in which it was set. */
static uint64_t epoch = 1;
static __thread SimHandle *current;
static __thread uint64_t current_epoch;

aclError sim_require_initialised(void)
{
    return initialised ? ACL_SUCCESS
                       : sim_misuse(ACL_ERROR_UNINITIALIZE, "not-initialised", NULL,
                                    "%s before aclInit", sim_call_name());
}

static SimHandle *context_or_null(void)
{
    return current_epoch == epoch && current != NULL && current->alive ? current : NULL;
}

SimHandle *sim_current_context(void)
{
    SimHandle *context = context_or_null();
    if (context == NULL) {
        sim_misuse(ACL_ERROR_RT_CONTEXT_NULL, "no-context", NULL,
                   "thread %d has no device: aclrtSetDevice was not called on it",
                   sim_thread_number());
    }
    return context;
}

static void set_current(SimHandle *context)
{
    current = context;
    current_epoch = epoch;
}

bool sim_peer_access(int device, int peer)
{
    return device == peer || peers[device][peer];
}

/* --- contexts ---------------------------------------------------------------------------- */

static SimHandle *make_context(int device, bool is_default)
{
    SimContext *context = sim_allocate(1, sizeof *context);
    context->device = device;
    context->is_default = is_default;
    return sim_handle_make(SIM_CONTEXT, context, free, is_default ? "default" : "explicit");
}

/* Ends the streams of a context, the work in them done or dropped. */
static void end_streams(const SimHandle *context, bool drop)
{
    for (SimStream *each = sim_streams; each != NULL;) {
        if (each->context == context) {
            SimHandle *handle = each->handle;
            sim_stream_end(each, drop);
            if (handle != NULL) {
                sim_handle_destroy(handle);
            }
            each = sim_streams;
        } else {
            each = each->next;
        }
    }
}

static void end_context(SimHandle *handle, bool drop)
{
    end_streams(handle, drop);
    sim_handle_destroy(handle);
}

typedef struct {
    int device;
    bool drop;
} Ending;

static void end_context_of_device(SimHandle *handle, void *data)
{
    const Ending *ending = data;
    if (handle->kind == SIM_CONTEXT &&
        ((SimContext *)handle->object)->device == ending->device) {
        end_context(handle, ending->drop);
    }
}

static void end_device(int device, bool drop)
{
    Ending ending = {device, drop};
    sim_handles_each(end_context_of_device, &ending);
    sim_events_end(device);
    sim_memory_free_device(device);
    devices[device].references = 0;
    devices[device].context = NULL;
}

/* --- leaks ------------------------------------------------------------------------------- */

static void report_handle(SimHandle *handle, void *data)
{
    (void)data;
    if (handle->kind != SIM_CONTEXT || !((SimContext *)handle->object)->is_default) {
        sim_violation("leak", &handle->history, "%s %s was never destroyed",
                      sim_kind_name(handle->kind), handle->name);
    }
}

static void end_everything(bool drop)
{
    for (int i = 0; i < MOST_DEVICES; i++) {
        end_device(i, drop);
    }
    sim_handles_reset();
    sim_memory_reset();
    memset(peers, 0, sizeof peers);
    epoch++;
}

/* A forked child has no workers: it starts without a runtime, and may initialise its own. */
static void before_fork(void)
{
    pthread_mutex_lock(&sim_mutex);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&sim_mutex);
}

static void after_fork_in_child(void)
{
    sim_streams = NULL;
    end_everything(true);
    initialised = finalised = false;
    pthread_cond_init(&sim_changed, NULL);
    pthread_mutex_unlock(&sim_mutex);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

__attribute__((destructor)) static void report_at_exit(void)
{
    if (initialised && (sim_counters[SIM_HANDLES] > 0 || sim_counters[SIM_BLOCKS] > 0)) {
        fprintf(stderr,
                "simulated Ascend runtime: the process ends without aclFinalize, with %lld handles "
                "and %lld blocks\n",
                (long long)sim_counters[SIM_HANDLES], (long long)sim_counters[SIM_BLOCKS]);
    }
}

/* --- exported: initialising -------------------------------------------------------------- */

aclError aclInit(const char *configPath)
{
    SIM_CALL();
    (void)configPath;
    if (initialised) {
        return sim_failure(ACL_ERROR_REPEAT_INITIALIZE, "aclInit was called before");
    }
    initialised = true;
    finalised = false;
    return ACL_SUCCESS;
}

aclError aclFinalize(void)
{
    SIM_SCOPE();
    if (finalised) {
        return sim_failure(ACL_ERROR_REPEAT_FINALIZE, "aclFinalize was called before");
    }
    if (sim_require_initialised() != ACL_SUCCESS) {
        return ACL_ERROR_UNINITIALIZE;
    }
    sim_handles_each(report_handle, NULL);
    sim_memory_report_leaks();
    end_everything(true);
    initialised = false;
    finalised = true;
    return SIM_RELEASED(ACL_SUCCESS);
}

/* Back to the beginning, configuration and counters too; nothing is reported. */
void sim_reset(void)
{
    pthread_mutex_lock(&sim_mutex);
    end_everything(true);
    initialised = finalised = false;
    sim_config_reset();
    memset(sim_counters, 0, sizeof sim_counters);
    memset(system_parameters, 0, sizeof system_parameters);
    sim_take_message();
    sim_last_error(true);
    sim_take_open();
    pthread_mutex_unlock(&sim_mutex);
    sim_clear_violations();
}

const char *aclGetRecentErrMsg(void)
{
    pthread_mutex_lock(&sim_mutex);
    const char *text = sim_take_message();
    pthread_mutex_unlock(&sim_mutex);
    return text;
}

const char *aclrtGetSocName(void)
{
    static const char *const names[] = {"Ascend910B3", "Ascend910A", "Ascend950"};
    SIM_SCOPE();
    int64_t soc = sim_setting(SIM_SOC);
    bool known = soc >= 0 && soc <= SIM_SOC_950;
    return known && sim_call.injected == ACL_SUCCESS ? names[soc] : NULL;
}

aclError aclrtGetVersion(int32_t *major, int32_t *minor, int32_t *patch)
{
    SIM_RUNTIME_CALL();
    *major = 1;
    *minor = 14;
    *patch = 0;
    return ACL_SUCCESS;
}

/* --- exported: devices ------------------------------------------------------------------- */

aclError aclrtGetDeviceCount(uint32_t *count)
{
    SIM_CALL();
    *count = (uint32_t)sim_setting(SIM_DEVICES);
    return ACL_SUCCESS;
}

static bool device_exists(int32_t device)
{
    return device >= 0 && device < MOST_DEVICES && device < sim_setting(SIM_DEVICES);
}

static aclError no_such_device(int32_t device)
{
    return sim_misuse(ACL_ERROR_RT_INVALID_DEVICEID, "device-id", NULL, "there is no device %d",
                      device);
}

aclError aclrtSetDevice(int32_t device)
{
    SIM_RUNTIME_CALL();
    if (!device_exists(device)) {
        return no_such_device(device);
    }
    if (devices[device].context == NULL) {
        devices[device].context = make_context(device, true);
    }
    devices[device].references++;
    set_current(devices[device].context);
    return ACL_SUCCESS;
}

static aclError reset_device(int32_t device, bool force)
{
    if (!device_exists(device)) {
        return no_such_device(device);
    }
    if (devices[device].references == 0) {
        return sim_misuse(ACL_ERROR_RT_CONTEXT_NULL, "device-not-set", NULL,
                          "device %d is reset more often than it was set", device);
    }
    devices[device].references -= force ? devices[device].references : 1;
    if (devices[device].references == 0) {
        end_device(device, force);
    }
    return ACL_SUCCESS;
}

aclError aclrtResetDevice(int32_t device)
{
    SIM_RELEASE_CALL();
    return SIM_RELEASED(reset_device(device, false));
}

aclError aclrtResetDeviceForce(int32_t device)
{
    SIM_RELEASE_CALL();
    return SIM_RELEASED(reset_device(device, true));
}

aclError aclrtGetDevice(int32_t *device)
{
    SIM_RUNTIME_CALL();
    /* Asking is no mistake: it is how a program finds out whether it must set one. */
    SimHandle *context = context_or_null();
    if (context == NULL) {
        return sim_failure(ACL_ERROR_RT_CONTEXT_NULL, "no device is set on this thread");
    }
    *device = ((SimContext *)context->object)->device;
    return ACL_SUCCESS;
}

aclError aclrtGetRunMode(int *mode)
{
    SIM_RUNTIME_CALL();
    *mode = 1; /* host */
    return ACL_SUCCESS;
}

aclError aclrtDeviceCanAccessPeer(int32_t *can, int32_t device, int32_t peer)
{
    SIM_RUNTIME_CALL();
    if (!device_exists(device) || !device_exists(peer)) {
        return no_such_device(device_exists(device) ? peer : device);
    }
    *can = device != peer;
    return ACL_SUCCESS;
}

aclError aclrtDeviceEnablePeerAccess(int32_t peer, uint32_t flags)
{
    SIM_RUNTIME_CALL();
    (void)flags;
    SimHandle *context = sim_current_context();
    if (context == NULL) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    if (!device_exists(peer)) {
        return no_such_device(peer);
    }
    peers[((SimContext *)context->object)->device][peer] = true;
    return ACL_SUCCESS;
}

/* --- exported: contexts ------------------------------------------------------------------ */

aclError aclrtCreateContext(aclrtContext *context, int32_t device)
{
    SIM_RUNTIME_CALL();
    if (!device_exists(device)) {
        return no_such_device(device);
    }
    SimHandle *made = make_context(device, false);
    set_current(made);
    *context = sim_handle_value(made);
    return ACL_SUCCESS;
}

static aclError destroy_context(aclrtContext value)
{
    SimHandle *handle = value == NULL ? NULL : sim_handle(value, SIM_CONTEXT);
    if (value == NULL) {
        return sim_misuse(ACL_ERROR_INVALID_PARAM, "null-argument", NULL, "the context is NULL");
    }
    if (handle == NULL) {
        return ACL_ERROR_INVALID_PARAM;
    }
    if (((SimContext *)handle->object)->is_default) {
        return sim_misuse(ACL_ERROR_RT_CONTEXT_NULL, "default-context", &handle->history,
                          "a default context cannot be destroyed");
    }
    end_context(handle, false);
    return ACL_SUCCESS;
}

aclError aclrtDestroyContext(aclrtContext context)
{
    SIM_RELEASE_CALL();
    return SIM_RELEASED(destroy_context(context));
}

aclError aclrtSetCurrentContext(aclrtContext value)
{
    SIM_RUNTIME_CALL();
    if (value == NULL) {
        return sim_misuse(ACL_ERROR_INVALID_PARAM, "null-argument", NULL, "the context is NULL");
    }
    SimHandle *handle = sim_handle(value, SIM_CONTEXT);
    if (handle == NULL) {
        return ACL_ERROR_INVALID_PARAM;
    }
    set_current(handle);
    return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext *context)
{
    SIM_RUNTIME_CALL();
    SimHandle *handle = context_or_null();
    if (handle == NULL) {
        return sim_failure(ACL_ERROR_RT_CONTEXT_NULL, "this thread has no context");
    }
    *context = sim_handle_value(handle);
    return ACL_SUCCESS;
}

/* --- exported: parameters ---------------------------------------------------------------- */

static aclError parameter(int option, int64_t **place, int64_t *of_context)
{
    if (option != 0 && option != 1) {
        return sim_misuse(ACL_ERROR_INVALID_PARAM, "invalid-argument", NULL,
                          "system parameter %d", option);
    }
    *place = of_context != NULL && option == 0 ? of_context : &system_parameters[option];
    return ACL_SUCCESS;
}

static aclError context_parameter(int option, int64_t **place)
{
    SimHandle *context = sim_current_context();
    return context == NULL
               ? ACL_ERROR_RT_CONTEXT_NULL
               : parameter(option, place, &((SimContext *)context->object)->deterministic);
}

aclError aclrtCtxSetSysParamOpt(int option, int64_t value)
{
    SIM_RUNTIME_CALL();
    int64_t *place = NULL;
    aclError status = context_parameter(option, &place);
    if (status == ACL_SUCCESS) {
        *place = value;
    }
    return status;
}

aclError aclrtCtxGetSysParamOpt(int option, int64_t *value)
{
    SIM_RUNTIME_CALL();
    int64_t *place = NULL;
    aclError status = context_parameter(option, &place);
    if (status == ACL_SUCCESS) {
        *value = *place;
    }
    return status;
}

aclError aclrtSetSysParamOpt(int option, int64_t value)
{
    SIM_RUNTIME_CALL();
    int64_t *place = NULL;
    aclError status = parameter(option, &place, NULL);
    if (status == ACL_SUCCESS) {
        *place = value;
    }
    return status;
}

aclError aclrtGetSysParamOpt(int option, int64_t *value)
{
    SIM_RUNTIME_CALL();
    int64_t *place = NULL;
    aclError status = parameter(option, &place, NULL);
    if (status == ACL_SUCCESS) {
        *value = *place;
    }
    return status;
}

aclError aclrtSetDeviceSatMode(int mode)
{
    SIM_RUNTIME_CALL();
    return mode == 0 || mode == 1 ? ACL_SUCCESS
                                  : sim_misuse(ACL_ERROR_INVALID_PARAM, "invalid-argument", NULL,
                                               "saturation mode %d", mode);
}

aclError aclrtSetOpExecuteTimeOut(uint32_t seconds)
{
    SIM_RUNTIME_CALL();
    (void)seconds;
    return ACL_SUCCESS;
}

aclError aclrtPeekAtLastError(int level)
{
    (void)level;
    return sim_last_error(false);
}

aclError aclrtGetLastError(int level)
{
    (void)level;
    return sim_last_error(true);
}

/* Bytes of one element; 0 for what the simulator does not know. */
size_t aclDataTypeSize(aclDataType dtype)
{
    switch (dtype) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
        return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
        return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
        return 4;
    case ACL_DOUBLE:
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_COMPLEX64:
        return 8;
    case ACL_COMPLEX128:
        return 16;
    default:
        return 0;
    }
}
