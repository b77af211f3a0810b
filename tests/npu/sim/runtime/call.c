/* A call of an exported function: the lock, the count, the failure that a test injects. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

pthread_mutex_t sim_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t sim_changed = PTHREAD_COND_INITIALIZER;

static __thread const char *current_name = "(no call)";
static __thread uint64_t current_number;
static __thread int thread_number;
static int threads;

SimCall sim_call_begin(const char *function)
{
    pthread_mutex_lock(&sim_mutex);
    current_name = function;
    current_number = (uint64_t)++sim_counters[SIM_CALLS];
    SimCall call = {ACL_SUCCESS};
    if (sim_fault_due(SIM_FAIL_CALL)) {
        call.injected = sim_failure((aclError)sim_setting(SIM_FAIL_CALL_STATUS),
                                    "injected: call %llu fails",
                                    (unsigned long long)current_number);
    }
    return call;
}

void sim_call_end(SimCall *call)
{
    (void)call;
    pthread_mutex_unlock(&sim_mutex);
}

aclError sim_released(const SimCall *call, aclError status)
{
    return call->injected != ACL_SUCCESS ? call->injected : status;
}

const char *sim_call_name(void)
{
    return current_name;
}

uint64_t sim_call_number(void)
{
    return current_number;
}

/* Threads are numbered as they come: 1 is the first that called. */
int sim_thread_number(void)
{
    if (thread_number == 0) {
        thread_number = ++threads;
    }
    return thread_number;
}

/* Zeroed memory of the simulator's own; running out of it ends the process. */
void *sim_allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (memory == NULL) {
        fputs("simulated Ascend runtime: out of host memory\n", stderr);
        abort();
    }
    return memory;
}

char *sim_format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0) {
        abort();
    }
    va_end(arguments);
    return text;
}
