/* Settings, faults to inject, counters.
 *
 * Each setting starts from the environment variable ACL_SIM_<NAME>, else from its default here. */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

static const struct {
    const char *name;
    int64_t start;
} settings[SIM_SETTINGS] = {
    [SIM_EAGER] = {"eager", 0},
    [SIM_SEED] = {"seed", 1},
    [SIM_DELAY_US] = {"delay_us", 50},
    [SIM_PLAN_US] = {"plan_us", 0},
    [SIM_RUN_US] = {"run_us", 0},
    [SIM_DEVICES] = {"devices", 2},
    [SIM_MEMORY] = {"memory", (int64_t)1 << 30},
    [SIM_SOC] = {"soc", SIM_SOC_A2},
    [SIM_ABORT] = {"abort", 0},
    [SIM_ALWAYS_WORKSPACE] = {"always_workspace", 0},
    [SIM_REFUSE_REPEAT] = {"refuse_repeat", 0},
    [SIM_PROBING] = {"probing", 0},
    [SIM_CHOICE] = {"choice", 0},
    [SIM_FAIL_ALLOCATION] = {"fail_allocation", 0},
    [SIM_FAIL_CALL] = {"fail_call", 0},
    [SIM_FAIL_CALL_STATUS] = {"fail_call_status", ACL_ERROR_RT_INTERNAL_ERROR},
    [SIM_FAIL_TASK] = {"fail_task", 0},
    [SIM_FAIL_TASK_STATUS] = {"fail_task_status", ACL_ERROR_RT_AICORE_EXCEPTION},
};

static const char *const counter_names[SIM_COUNTERS] = {
    [SIM_CALLS] = "calls",     [SIM_ALLOCATIONS] = "allocations", [SIM_TASKS] = "tasks",
    [SIM_HANDLES] = "handles", [SIM_BLOCKS] = "blocks",           [SIM_BYTES] = "bytes",
};

static int64_t values[SIM_SETTINGS];
int64_t sim_counters[SIM_COUNTERS];

__attribute__((constructor)) void sim_config_reset(void)
{
    for (int i = 0; i < SIM_SETTINGS; i++) {
        char variable[64];
        int length = snprintf(variable, sizeof variable, "ACL_SIM_%s", settings[i].name);
        for (int j = 0; j < length; j++) {
            variable[j] = (char)toupper((unsigned char)variable[j]);
        }
        const char *given = getenv(variable);
        values[i] = given != NULL ? strtoll(given, NULL, 0) : settings[i].start;
    }
}

int64_t sim_setting(SimSetting setting)
{
    return values[setting];
}

bool sim_fault_due(SimSetting setting)
{
    return values[setting] > 0 && --values[setting] == 0;
}

/* Sets one; 0, or -1 if there is no such setting. */
int sim_config(const char *key, int64_t value)
{
    for (int i = 0; i < SIM_SETTINGS; i++) {
        if (strcmp(settings[i].name, key) == 0) {
            pthread_mutex_lock(&sim_mutex);
            values[i] = value;
            pthread_cond_broadcast(&sim_changed);
            pthread_mutex_unlock(&sim_mutex);
            return 0;
        }
    }
    return -1;
}

/* A counter, or a setting's present value (a fault that struck is back at 0); else -1. */
int64_t sim_count(const char *name)
{
    int64_t value = -1;
    pthread_mutex_lock(&sim_mutex);
    for (int i = 0; i < SIM_COUNTERS; i++) {
        value = strcmp(counter_names[i], name) == 0 ? sim_counters[i] : value;
    }
    for (int i = 0; i < SIM_SETTINGS; i++) {
        value = strcmp(settings[i].name, name) == 0 ? values[i] : value;
    }
    pthread_mutex_unlock(&sim_mutex);
    return value;
}
