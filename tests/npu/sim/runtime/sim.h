/* What the three simulated libraries share: calls, handles, blocks, streams, reports.
 *
 * One mutex guards everything.  An exported function takes it for as long as it runs (SIM_CALL),
 * workers let go of it while a kernel computes.  Functions named sim_* expect it held. */

#ifndef SIM_H
#define SIM_H

#include <pthread.h>

#include "../acl.h"

#pragma GCC visibility push(default)

/* --- calls (runtime/call.c) -------------------------------------------------------------- */

/* An exported function that is running: it holds the lock until its scope ends. */
typedef struct {
    aclError injected; /* the status that fault injection wants, or 0 */
} SimCall;

extern pthread_mutex_t sim_mutex;
extern pthread_cond_t sim_changed;

SimCall sim_call_begin(const char *function);
void sim_call_end(SimCall *call);
const char *sim_call_name(void);
uint64_t sim_call_number(void);
int sim_thread_number(void);

#define SIM_SCOPE() \
    __attribute__((cleanup(sim_call_end), unused)) SimCall sim_call = sim_call_begin(__func__)
/* The first line of an exported function that answers a status. */
#define SIM_CALL()                 \
    SIM_SCOPE();                   \
    if (sim_call.injected) {       \
        return sim_call.injected;  \
    }
/* One that frees or waits: an injected failure is answered after it did its work, as a real
 * system's would be, so that injection alone leaks nothing. */
#define SIM_RELEASE_CALL()                                                  \
    SIM_SCOPE();                                                            \
    if (sim_require_initialised() != ACL_SUCCESS) {                         \
        return ACL_ERROR_UNINITIALIZE;                                      \
    }
#define SIM_RELEASED(status) sim_released(&sim_call, status)
aclError sim_released(const SimCall *call, aclError status);
/* One that needs aclInit before. */
#define SIM_RUNTIME_CALL()                             \
    SIM_CALL();                                        \
    if (sim_require_initialised() != ACL_SUCCESS) {    \
        return ACL_ERROR_UNINITIALIZE;                 \
    }

void *sim_allocate(size_t count, size_t size);
char *sim_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* --- reports (runtime/report.c) ---------------------------------------------------------- */

enum { SIM_HISTORY_LENGTH = 6 };

/* The calls that touched a handle or block: the first, which made it, and the last few. */
typedef struct {
    struct {
        uint64_t call;
        const char *function;
        int thread;
    } entries[SIM_HISTORY_LENGTH];
    int length;
} SimHistory;

void sim_history_add(SimHistory *history);
/* Notes a broken rule; `history` (or NULL) is that of what the rule was broken on. */
void sim_violation(const char *rule, const SimHistory *history, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same where a real system answers `code`: the text also becomes the thread's message. */
aclError sim_misuse(aclError code, const char *rule, const SimHistory *history,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* A failure that is nobody's mistake: message and code, no violation. */
aclError sim_failure(aclError code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same where a real system's behaviour is undefined: the answer is an internal error. */
#define sim_undefined(rule, history, ...) \
    sim_misuse(ACL_ERROR_INTERNAL_ERROR, rule, history, __VA_ARGS__)
const char *sim_take_message(void);
aclError sim_last_error(bool clear);

/* --- configuration and faults (runtime/config.c) ----------------------------------------- */

typedef enum {
    SIM_EAGER,            /* 1: workers run at once, with random delays; 0: at a synchronise */
    SIM_SEED,             /* of the random delays */
    SIM_DELAY_US,         /* eager: longest random delay before a task */
    SIM_PLAN_US,          /* what phase 1 takes */
    SIM_RUN_US,           /* what each task takes */
    SIM_DEVICES,          /* how many there are */
    SIM_MEMORY,           /* bytes of each device */
    SIM_SOC,              /* 0 Ascend910B3 (A2), 1 Ascend910A, 2 Ascend950 */
    SIM_ABORT,            /* 1: a violation ends the process */
    SIM_ALWAYS_WORKSPACE, /* 1: every operator asks for workspace */
    SIM_REFUSE_REPEAT,    /* 1: no executor can be made repeatable */
    SIM_PROBING,          /* 1: what phase 1 refuses is no violation */
    SIM_CHOICE,           /* 0, 1, 2: which of the values that documents leave open it makes */
    SIM_FAIL_ALLOCATION,  /* n: the n-th device allocation from now fails with 207001 */
    SIM_FAIL_CALL,        /* n: the n-th call from now fails with SIM_FAIL_CALL_STATUS */
    SIM_FAIL_CALL_STATUS,
    SIM_FAIL_TASK,        /* n: the n-th task from now fails with SIM_FAIL_TASK_STATUS */
    SIM_FAIL_TASK_STATUS,
    SIM_SETTINGS
} SimSetting;

typedef enum {
    SIM_CALLS,       /* exported functions called */
    SIM_ALLOCATIONS, /* device blocks made */
    SIM_TASKS,       /* tasks run */
    SIM_HANDLES,     /* live handles */
    SIM_BLOCKS,      /* live device and host blocks */
    SIM_BYTES,       /* device bytes in use */
    SIM_COUNTERS
} SimCounter;

enum { SIM_SOC_A2 = 0, SIM_SOC_910A = 1, SIM_SOC_950 = 2 };

extern int64_t sim_counters[SIM_COUNTERS];

int64_t sim_setting(SimSetting setting);
/* Counts one down; true at the moment it reaches nothing. */
bool sim_fault_due(SimSetting setting);
void sim_config_reset(void);

/* --- what documents leave to the device (runtime/open.c) --------------------------------- */

typedef enum {
    SIM_OPEN_FAULT,   /* a kernel gave up at a value, an index for one */
    SIM_OPEN_INTEGER, /* a number became an integer that cannot be it */
    SIM_OPEN_NAN,     /* a kernel met NaN of which its page says nothing */
    SIM_OPEN_COMPLEX, /* a part of a complex number was not finite */
    SIM_OPEN_TWICE,   /* two values were written to one place */
    SIM_OPEN_TIE,     /* two alike were put in order */
    SIM_OPEN_REASONS
} SimOpen;

/* What kernels call, without the lock.  `usual` is what a device as others are would make. */
void sim_notice_open(SimOpen reason);
uint64_t sim_choose_bits(SimOpen reason, uint64_t usual);
double sim_choose_real(SimOpen reason, double usual);
/* Of the ways to do it, 0, 1 or 2: the usual one is 0. */
int sim_choose_way(SimOpen reason);

/* --- handles (runtime/handles.c) --------------------------------------------------------- */

typedef enum {
    SIM_CONTEXT,
    SIM_STREAM,
    SIM_EVENT,
    SIM_TENSOR,
    SIM_SCALAR,
    SIM_INT_ARRAY,
    SIM_FLOAT_ARRAY,
    SIM_BOOL_ARRAY,
    SIM_TENSOR_LIST,
    SIM_SCALAR_LIST,
    SIM_EXECUTOR
} SimKind;

/* A live or destroyed object.  Its value is a number, never an address, and is never used again:
 * a stale handle is recognised, and one that is dereferenced faults. */
typedef struct SimHandle {
    uint64_t id;
    SimKind kind;
    bool alive;
    const struct SimHandle *owner; /* the list that destroys it, or NULL */
    void *object;
    void (*release)(void *object);
    char name[48]; /* what the object is about: an executor's operator */
    SimHistory history;
} SimHandle;

SimHandle *sim_handle_make(SimKind kind, void *object, void (*release)(void *), const char *name);
void *sim_handle_value(const SimHandle *handle);
/* The live handle of that kind, or NULL after a violation. */
SimHandle *sim_handle(const void *value, SimKind kind);
/* Dead ones too, without a violation: NULL if there never was such a handle. */
SimHandle *sim_handle_find(const void *value);
void sim_handle_destroy(SimHandle *handle);
const char *sim_kind_name(SimKind kind);
void sim_handles_each(void (*visit)(SimHandle *, void *), void *data);
void sim_handles_reset(void);

/* --- life cycle (runtime/device.c) ------------------------------------------------------- */

typedef struct {
    int device;
    bool is_default;
    aclError poisoned; /* the failure that stopped it (ACL_STOP_ON_FAILURE), or 0 */
    struct SimStream *default_stream;
    int64_t deterministic;
} SimContext;

aclError sim_require_initialised(void);
/* The calling thread's context, or NULL after a violation (answer 107002). */
SimHandle *sim_current_context(void);
bool sim_peer_access(int device, int peer);

/* --- memory (runtime/memory.c) ----------------------------------------------------------- */

enum { SIM_POISON = 0xFF, SIM_HOST = -1 };

/* Device memory lies at an address that nobody can read; workers read its shadow.  Pinned host
 * memory is its own shadow. */
typedef struct {
    uintptr_t address;
    size_t size;     /* as asked */
    size_t capacity; /* rounded up to 32, and 32 bytes of slack */
    int device;      /* or SIM_HOST */
    unsigned char *shadow;
    bool alive;
    int pins; /* queued tasks that refer to it */
    SimHistory history;
} SimBlock;

/* The live block that contains an address, or NULL. */
SimBlock *sim_block_at(const void *address);
/* One that did, and was freed (while it is remembered), or NULL. */
const SimBlock *sim_block_freed(const void *address);
bool sim_is_device_address(const void *address);
void sim_block_unpin(SimBlock *block);
void sim_memory_free_device(int device);
void sim_memory_report_leaks(void);
void sim_memory_reset(void);

/* --- streams (runtime/streams.c) --------------------------------------------------------- */

enum { SIM_STREAM_SLOTS = 64 };

/* A part of a block that a task reads or writes. */
typedef struct {
    SimBlock *block;
    size_t begin, end; /* bytes from the block's start */
    bool writes;
} SimRange;

/* A place in a stream that an event remembers. */
typedef struct {
    int references;
    struct SimStream *stream; /* NULL once it was reached */
    int32_t stream_id;
    uint64_t sequence;
    int slot;
    bool done;
    double seconds;
    uint64_t seen[SIM_STREAM_SLOTS];
} SimRecord;

typedef enum { SIM_TASK_WORK, SIM_TASK_RECORD, SIM_TASK_WAIT } SimTaskKind;

typedef struct SimTask {
    struct SimTask *next;
    SimTaskKind kind;
    uint64_t sequence;
    char name[48];
    SimRange *ranges; /* owned */
    int range_count;
    aclError (*run)(void *data); /* called without the lock */
    void (*release)(void *data);
    void *data;
    SimRecord *record;
} SimTask;

typedef struct SimStream {
    SimHandle *handle; /* NULL for a default stream */
    SimHandle *context;
    int device;
    int slot;
    int32_t id;
    pthread_t thread;
    bool started, closing;
    SimTask *head, *tail;
    uint64_t demand;   /* the worker may run tasks up to this one */
    uint64_t queued;   /* sequence number of the last task queued */
    uint64_t finished; /* of the last task run */
    aclError error;    /* of a task, until the next synchronise */
    bool stop_on_failure;
    uint64_t seen[SIM_STREAM_SLOTS]; /* per slot, what is ordered before this stream's next task */
    struct SimStream *next;
} SimStream;

extern SimStream *sim_streams;

/* The stream a call names (NULL: the default one), or NULL with *status set. */
SimStream *sim_stream_of(aclrtStream stream, aclError *status);
#define SIM_STREAM_OR_RETURN(stream, value)                   \
    aclError stream_status;                                   \
    SimStream *stream = sim_stream_of(value, &stream_status); \
    if (stream == NULL) {                                     \
        return stream_status;                                 \
    }
SimStream *sim_stream_make(SimHandle *context);
void sim_stream_end(SimStream *stream, bool drop);
SimTask *sim_task_make(SimTaskKind kind, const char *name, int range_count);
/* Takes the task over.  Its ranges are pinned, and races with other streams reported. */
void sim_stream_push(SimStream *stream, SimTask *task);
/* Lets the worker run up to a task and waits for it; false when the time is over. */
bool sim_stream_wait(SimStream *stream, uint64_t sequence, int32_t milliseconds);
/* The error that a stream's tasks left, once. */
aclError sim_stream_take_error(SimStream *stream);
/* The queued task that conflicts with an access by the host, or NULL. */
const SimTask *sim_pending_conflict(const SimBlock *block, size_t begin, size_t end, bool writes,
                                    const SimStream **stream);
void sim_record_release(SimRecord *record);
/* Destroys the events of a device (events.c). */
void sim_events_end(int device);
double sim_now(void);
void sim_sleep_us(int64_t microseconds);
void sim_work_us(int64_t microseconds);

#pragma GCC visibility pop

#endif
