/* What libnnopbase and libopapi share: descriptors seen from inside, operators, executors. */

#ifndef SIM_NNOP_H
#define SIM_NNOP_H

#include "../runtime/sim.h"

#pragma GCC visibility push(default)

enum { SIM_MOST_DIMS = 16, SIM_MOST_RANK = 8 };

/* --- descriptors (descriptors.c) --------------------------------------------------------- */

/* A tensor as an operator sees it.  Strides, offset and counts are in elements. */
typedef struct {
    aclDataType dtype;
    aclFormat format;
    int rank;
    int64_t dims[SIM_MOST_DIMS];
    int64_t strides[SIM_MOST_DIMS];
    int64_t offset;
    int64_t storage_count; /* product of the storage's dims */
    void *address;         /* of the storage; NULL only where there are no elements */
    const SimHandle *handle;
    unsigned char *data; /* the first element's bytes, known only while a task runs */
} View;

typedef struct {
    View view;
    int storage_rank;
    int64_t storage_dims[SIM_MOST_DIMS];
    int64_t *shown;        /* what aclGetViewShape handed out */
    bool shape_pending;    /* a queued task will say what the dims are */
} Tensor;

/* A number in the widest form of its class. */
typedef struct {
    aclDataType dtype;
    double real, imaginary;
    int64_t integer; /* exact where the dtype is an integer or bool */
} Number;

/* The values of an aclIntArray, aclFloatArray or aclBoolArray. */
typedef struct {
    uint64_t count;
    int64_t *integers;
    float *floats;
} Array;

typedef struct {
    uint64_t count;
    SimHandle **members; /* NULL entries are allowed in a list of tensors */
} List;

int64_t view_count(const View *view);
bool view_contiguous(const View *view);
/* Lowest and one past the highest element of the storage that the view touches. */
void view_extent(const View *view, int64_t *lowest, int64_t *end);
const char *dtype_name(aclDataType dtype);

/* --- operators (plan.c) ------------------------------------------------------------------ */

typedef uint32_t DtypeSet;
#define DTYPE_BIT(dtype) ((DtypeSet)1 << (dtype))

/* Kinds of arguments; a tensor is read, written, or both. */
typedef enum {
    PARAMETER_IN,
    PARAMETER_OPTIONAL_IN,
    PARAMETER_LOWER_IN, /* optional: stands for no lower bound */
    PARAMETER_UPPER_IN,
    PARAMETER_REF, /* read and written */
    PARAMETER_OPTIONAL_REF,
    PARAMETER_OUT,
    PARAMETER_PENDING_OUT, /* the run decides its dims */
    PARAMETER_OPTIONAL_OUT,
    PARAMETER_LIST_IN,
    PARAMETER_LIST_OUT,
    PARAMETER_SCALAR, /* takes part in promotion */
    PARAMETER_FACTOR, /* must be castable to the promoted type */
    PARAMETER_LOWER,  /* optional scalars, as above */
    PARAMETER_UPPER,
    PARAMETER_INTS,
    PARAMETER_OPTIONAL_INTS,
    PARAMETER_BOOLS,
    PARAMETER_TEXT,
    PARAMETER_INT64,
    PARAMETER_UINT64,
    PARAMETER_INT,
    PARAMETER_INT8,
    PARAMETER_FLAG,
    PARAMETER_DTYPE,
    PARAMETER_FLOAT,
    PARAMETER_DOUBLE
} ParameterKind;

typedef struct {
    ParameterKind kind;
    const char *name;
    DtypeSet dtypes; /* of tensors and scalars; 0: any */
} Parameter;

/* An argument as the caller gave it. */
typedef union {
    const void *pointer;
    int64_t integer;
    double real;
} Given;

/* An argument as an operator uses it: a copy, so that descriptors may die after phase 2. */
typedef struct {
    const Parameter *parameter;
    bool present;
    View view;
    View *list;
    Number number; /* scalars, and plain numbers */
    int64_t *integers;
    uint64_t count; /* of list or integers */
    char *text;
    SimHandle *handle;
} Argument;

enum { MOST_ARGUMENTS = 16 };

struct Operator;

/* One planned use of an operator. */
typedef struct {
    const struct Operator *operator;
    Argument arguments[MOST_ARGUMENTS];
    aclError fault; /* what a kernel that meets bad data sets */
} Call;

typedef struct Operator {
    const char *name; /* without "aclnn" */
    const Parameter *parameters;
    int parameter_count;
    /* Shapes, attributes, types beyond each argument's own: 0 or the refusal's code. */
    aclnnStatus (*check)(const Call *call);
    /* Computes.  Runs in a worker; may set call->fault. */
    void (*run)(Call *call);
    const void *detail; /* a family's own facts about this member */
    unsigned traits;
} Operator;

enum {
    TRAIT_WORKSPACE = 1, /* asks for workspace whatever the layout */
    TRAIT_ALIAS = 2      /* an output may be one of the inputs exactly */
};

aclnnStatus operator_plan(const Operator *operator, const Given *given, uint64_t *workspaceSize,
                          aclOpExecutor **executor);
aclnnStatus operator_run(const Operator *operator, void *workspace, uint64_t workspaceSize,
                         aclOpExecutor *executor, aclrtStream stream);

/* What is left of an executor after a phase 2 that never began. */
void operator_drop(aclOpExecutor *executor);

/* Refusals of phase 1: code 161002, or what is given. */
aclnnStatus refuse(const char *rule, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
aclnnStatus refuse_code(aclnnStatus code, const char *rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

bool is_tensor_kind(ParameterKind kind);
bool is_written_kind(ParameterKind kind);

/* --- executors (executor.c) -------------------------------------------------------------- */

typedef struct {
    const Operator *operator;
    Call call;
    uint64_t workspace;
    const SimHandle *context;
    int runs;
    bool repeatable;
} Executor;

void call_release(Call *call);
Call *call_copy(const Call *call);

#pragma GCC visibility pop

#endif
