/* Broken rules, kept until a test asks, and each thread's error text.
 *
 * A violation is one JSON object: the rule, the message, the call in which it happened, and the
 * calls that touched the handle or block before. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

typedef struct Violation {
    struct Violation *next;
    char *json;
} Violation;

static Violation *first_violation;
static Violation **last_violation = &first_violation;
static int violation_count;
static char *shown;

static __thread char message[512];
static __thread bool message_pending;
static __thread aclError last_error;

/* --- histories --------------------------------------------------------------------------- */

void sim_history_add(SimHistory *history)
{
    if (history->length == SIM_HISTORY_LENGTH) {
        /* The call that made the object stays, the oldest of the others goes. */
        memmove(&history->entries[1], &history->entries[2],
                (SIM_HISTORY_LENGTH - 2) * sizeof history->entries[0]);
        history->length--;
    }
    history->entries[history->length].call = sim_call_number();
    history->entries[history->length].function = sim_call_name();
    history->entries[history->length].thread = sim_thread_number();
    history->length++;
}

static void write_history(FILE *out, const SimHistory *history)
{
    for (int i = 0; history != NULL && i < history->length; i++) {
        fprintf(out, "%s\"call %llu: %s on thread %d\"", i ? ", " : "",
                (unsigned long long)history->entries[i].call, history->entries[i].function,
                history->entries[i].thread);
    }
}

/* --- violations -------------------------------------------------------------------------- */

static void write_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            fprintf(out, "\\%c", c);
        } else if (c < 0x20) {
            fprintf(out, "\\u%04x", c);
        } else {
            fputc(c, out);
        }
    }
}

static void note(const char *rule, const SimHistory *history, const char *text)
{
    Violation *violation = sim_allocate(1, sizeof *violation);
    size_t length = 0;
    FILE *out = open_memstream(&violation->json, &length);
    fprintf(out, "{\"rule\": \"%s\", \"message\": \"", rule);
    write_escaped(out, text);
    fprintf(out, "\", \"call\": \"call %llu: %s on thread %d\", \"before\": [",
            (unsigned long long)sim_call_number(), sim_call_name(), sim_thread_number());
    write_history(out, history);
    fputs("]}", out);
    fclose(out);
    *last_violation = violation;
    last_violation = &violation->next;
    violation_count++;
    if (sim_setting(SIM_ABORT)) {
        fprintf(stderr, "simulated Ascend runtime: %s\n", violation->json);
        abort();
    }
}

static void set_message(aclError code, const char *text)
{
    bool of_operator = strncmp(sim_call_name(), "aclnn", 5) == 0;
    const char *class = code / 1000 == 161 ? "EZ1001"
                        : of_operator      ? "EZ9999: Inner Error!"
                                           : "EE1001";
    snprintf(message, sizeof message, "%s: %s: %s", class, sim_call_name(), text);
    message_pending = true;
    last_error = code;
}

#define TEXT_OF(text, format)                      \
    char text[400];                                \
    va_list arguments;                             \
    va_start(arguments, format);                   \
    vsnprintf(text, sizeof text, format, arguments); \
    va_end(arguments)

void sim_violation(const char *rule, const SimHistory *history, const char *format, ...)
{
    TEXT_OF(text, format);
    note(rule, history, text);
}

aclError sim_misuse(aclError code, const char *rule, const SimHistory *history,
                    const char *format, ...)
{
    TEXT_OF(text, format);
    set_message(code, text);
    note(rule, history, text);
    return code;
}

aclError sim_failure(aclError code, const char *format, ...)
{
    TEXT_OF(text, format);
    set_message(code, text);
    return code;
}

/* The pending text, which this clears: NULL at the second time. */
const char *sim_take_message(void)
{
    bool pending = message_pending;
    message_pending = false;
    return pending ? message : NULL;
}

aclError sim_last_error(bool clear)
{
    aclError error = last_error;
    if (clear) {
        last_error = ACL_SUCCESS;
    }
    return error;
}

/* --- what tests call --------------------------------------------------------------------- */

/* All violations as a JSON array; the text is valid until the next call. */
const char *sim_violations(void)
{
    pthread_mutex_lock(&sim_mutex);
    free(shown);
    size_t length = 0;
    FILE *out = open_memstream(&shown, &length);
    fputc('[', out);
    for (Violation *each = first_violation; each != NULL; each = each->next) {
        fprintf(out, "%s%s", each == first_violation ? "" : ",\n ", each->json);
    }
    fputc(']', out);
    fclose(out);
    pthread_mutex_unlock(&sim_mutex);
    return shown;
}

int sim_violation_count(void)
{
    pthread_mutex_lock(&sim_mutex);
    int count = violation_count;
    pthread_mutex_unlock(&sim_mutex);
    return count;
}

void sim_clear_violations(void)
{
    pthread_mutex_lock(&sim_mutex);
    while (first_violation != NULL) {
        Violation *gone = first_violation;
        first_violation = gone->next;
        free(gone->json);
        free(gone);
    }
    last_violation = &first_violation;
    violation_count = 0;
    pthread_mutex_unlock(&sim_mutex);
}
