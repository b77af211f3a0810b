/* How operators are written: one row each.
 *
 *     OPERATOR(ReduceSum, check_reduce, run_sum, &detail, TRAIT_WORKSPACE,
 *              (IN, self, D_NUMBERS), (INTS, dims, 0), (FLAG, keepDims, 0), ...)
 *
 * makes the two exported functions with the C prototype that the parameters spell.  A parameter is
 * (kind, name, set of dtypes): the set is for tensors and scalars, 0 means any. */

#ifndef SIM_OPERATOR_H
#define SIM_OPERATOR_H

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../nnopbase/nnop.h"

/* Sets of dtypes: floats (f32, f16, bf16), f64, integers, bool, complex, wide unsigned. */
#define D_F (DTYPE_BIT(ACL_FLOAT) | DTYPE_BIT(ACL_FLOAT16) | DTYPE_BIT(ACL_BF16))
#define D_F64 DTYPE_BIT(ACL_DOUBLE)
#define D_I8 DTYPE_BIT(ACL_INT8)
#define D_U8 DTYPE_BIT(ACL_UINT8)
#define D_I16 DTYPE_BIT(ACL_INT16)
#define D_I32 DTYPE_BIT(ACL_INT32)
#define D_I64 DTYPE_BIT(ACL_INT64)
#define D_INDEX (D_I32 | D_I64)
#define D_I (D_I8 | D_I16 | D_I32 | D_I64 | D_U8)
#define D_B DTYPE_BIT(ACL_BOOL)
#define D_C64 DTYPE_BIT(ACL_COMPLEX64)
#define D_C (D_C64 | DTYPE_BIT(ACL_COMPLEX128))
#define D_U (DTYPE_BIT(ACL_UINT16) | DTYPE_BIT(ACL_UINT32) | DTYPE_BIT(ACL_UINT64))
#define D_FLOATS (D_F | D_F64)
#define D_REALS (D_FLOATS | D_I | D_B)
#define D_NUMBERS (D_REALS | D_C)
#define D_ALL (D_NUMBERS | D_U)

/* --- the row ----------------------------------------------------------------------------- */

#define DECLARE_TENSOR(name) const aclTensor *name,
#define DECLARE_IN(name) DECLARE_TENSOR(name)
#define DECLARE_OPTIONAL_IN(name) DECLARE_TENSOR(name)
#define DECLARE_LOWER_IN(name) DECLARE_TENSOR(name)
#define DECLARE_UPPER_IN(name) DECLARE_TENSOR(name)
#define DECLARE_REF(name) aclTensor *name,
#define DECLARE_OPTIONAL_REF(name) aclTensor *name,
#define DECLARE_OUT(name) aclTensor *name,
#define DECLARE_PENDING_OUT(name) aclTensor *name,
#define DECLARE_OPTIONAL_OUT(name) aclTensor *name,
#define DECLARE_LIST_IN(name) const aclTensorList *name,
#define DECLARE_LIST_OUT(name) aclTensorList *name,
#define DECLARE_SCALAR(name) const aclScalar *name,
#define DECLARE_FACTOR(name) const aclScalar *name,
#define DECLARE_LOWER(name) const aclScalar *name,
#define DECLARE_UPPER(name) const aclScalar *name,
#define DECLARE_INTS(name) const aclIntArray *name,
#define DECLARE_OPTIONAL_INTS(name) const aclIntArray *name,
#define DECLARE_BOOLS(name) const aclBoolArray *name,
#define DECLARE_TEXT(name) const char *name,
#define DECLARE_INT64(name) int64_t name,
#define DECLARE_UINT64(name) uint64_t name,
#define DECLARE_INT(name) int name,
#define DECLARE_INT8(name) int8_t name,
#define DECLARE_FLAG(name) bool name,
#define DECLARE_DTYPE(name) aclDataType name,
#define DECLARE_FLOAT(name) float name,
#define DECLARE_DOUBLE(name) double name,

#define GIVE_POINTER(name) {.pointer = name},
#define GIVE_INTEGER(name) {.integer = (int64_t)name},
#define GIVE_REAL(name) {.real = (double)name},
#define GIVE_IN(name) GIVE_POINTER(name)
#define GIVE_OPTIONAL_IN(name) GIVE_POINTER(name)
#define GIVE_LOWER_IN(name) GIVE_POINTER(name)
#define GIVE_UPPER_IN(name) GIVE_POINTER(name)
#define GIVE_REF(name) GIVE_POINTER(name)
#define GIVE_OPTIONAL_REF(name) GIVE_POINTER(name)
#define GIVE_OUT(name) GIVE_POINTER(name)
#define GIVE_PENDING_OUT(name) GIVE_POINTER(name)
#define GIVE_OPTIONAL_OUT(name) GIVE_POINTER(name)
#define GIVE_LIST_IN(name) GIVE_POINTER(name)
#define GIVE_LIST_OUT(name) GIVE_POINTER(name)
#define GIVE_SCALAR(name) GIVE_POINTER(name)
#define GIVE_FACTOR(name) GIVE_POINTER(name)
#define GIVE_LOWER(name) GIVE_POINTER(name)
#define GIVE_UPPER(name) GIVE_POINTER(name)
#define GIVE_INTS(name) GIVE_POINTER(name)
#define GIVE_OPTIONAL_INTS(name) GIVE_POINTER(name)
#define GIVE_BOOLS(name) GIVE_POINTER(name)
#define GIVE_TEXT(name) GIVE_POINTER(name)
#define GIVE_INT64(name) GIVE_INTEGER(name)
#define GIVE_UINT64(name) GIVE_INTEGER(name)
#define GIVE_INT(name) GIVE_INTEGER(name)
#define GIVE_INT8(name) GIVE_INTEGER(name)
#define GIVE_FLAG(name) GIVE_INTEGER(name)
#define GIVE_DTYPE(name) GIVE_INTEGER(name)
#define GIVE_FLOAT(name) GIVE_REAL(name)
#define GIVE_DOUBLE(name) GIVE_REAL(name)

#define DESCRIBE(kind, name, dtypes) {PARAMETER_##kind, #name, dtypes},
#define DECLARE(kind, name, dtypes) DECLARE_##kind(name)
#define GIVE(kind, name, dtypes) GIVE_##kind(name)

/* EACH(macro, a, b, ...) is `macro a macro b ...`, for up to sixteen tuples. */
#define EACH_1(m, a) m a
#define EACH_2(m, a, ...) m a EACH_1(m, __VA_ARGS__)
#define EACH_3(m, a, ...) m a EACH_2(m, __VA_ARGS__)
#define EACH_4(m, a, ...) m a EACH_3(m, __VA_ARGS__)
#define EACH_5(m, a, ...) m a EACH_4(m, __VA_ARGS__)
#define EACH_6(m, a, ...) m a EACH_5(m, __VA_ARGS__)
#define EACH_7(m, a, ...) m a EACH_6(m, __VA_ARGS__)
#define EACH_8(m, a, ...) m a EACH_7(m, __VA_ARGS__)
#define EACH_9(m, a, ...) m a EACH_8(m, __VA_ARGS__)
#define EACH_10(m, a, ...) m a EACH_9(m, __VA_ARGS__)
#define EACH_11(m, a, ...) m a EACH_10(m, __VA_ARGS__)
#define EACH_12(m, a, ...) m a EACH_11(m, __VA_ARGS__)
#define EACH_13(m, a, ...) m a EACH_12(m, __VA_ARGS__)
#define EACH_14(m, a, ...) m a EACH_13(m, __VA_ARGS__)
#define EACH_15(m, a, ...) m a EACH_14(m, __VA_ARGS__)
#define EACH_16(m, a, ...) m a EACH_15(m, __VA_ARGS__)
#define EACH_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, chosen, \
                  ...)                                                                           \
    chosen
#define EACH(m, ...)                                                                           \
    EACH_PICK(__VA_ARGS__, EACH_16, EACH_15, EACH_14, EACH_13, EACH_12, EACH_11, EACH_10, EACH_9, \
              EACH_8, EACH_7, EACH_6, EACH_5, EACH_4, EACH_3, EACH_2, EACH_1, )                \
    (m, __VA_ARGS__)

#define EXPORTED __attribute__((visibility("default")))

#define OPERATOR(Name, check, run, detail, traits, ...)                                         \
    static const Parameter parameters_##Name[] = {EACH(DESCRIBE, __VA_ARGS__)};                 \
    static const Operator operator_##Name = {                                                   \
        #Name, parameters_##Name, sizeof parameters_##Name / sizeof *parameters_##Name,         \
        check, run, detail, traits};                                                            \
    EXPORTED aclnnStatus aclnn##Name##GetWorkspaceSize(                                         \
        EACH(DECLARE, __VA_ARGS__) uint64_t *workspaceSize, aclOpExecutor **executor)           \
    {                                                                                           \
        SIM_CALL();                                                                             \
        const Given given[] = {EACH(GIVE, __VA_ARGS__)};                                        \
        return operator_plan(&operator_##Name, given, workspaceSize, executor);                 \
    }                                                                                           \
    EXPORTED aclnnStatus aclnn##Name(void *workspace, uint64_t workspaceSize,                   \
                                     aclOpExecutor *executor, aclrtStream stream)               \
    {                                                                                           \
        SIM_SCOPE();                                                                            \
        if (sim_call.injected != ACL_SUCCESS) {                                                 \
            operator_drop(executor);                                                            \
            return sim_call.injected;                                                           \
        }                                                                                       \
        return operator_run(&operator_##Name, workspace, workspaceSize, executor, stream);      \
    }

/* --- arguments (arguments.c) ------------------------------------------------------------- */

const Argument *argument_of(const Call *call, const char *name);
const View *view_of(const Call *call, const char *name);
bool given(const Call *call, const char *name);
int64_t integer_of(const Call *call, const char *name);
double real_of(const Call *call, const char *name);
/* The one tensor that is written, of an operator that has one. */
const View *output_of(const Call *call);

/* Shapes: 0, or a refusal that names the argument. */
aclnnStatus expect_dims(const View *view, const char *name, int rank, const int64_t *dims);
aclnnStatus expect_like(const View *view, const char *name, const View *model);
aclnnStatus expect_dtype(const View *view, const char *name, aclDataType dtype);
aclnnStatus expect_rank(const View *view, const char *name, int low, int high);
/* A dim argument made non-negative, checked against a rank (0 counts as 1). */
aclnnStatus wrap_dim(int64_t dim, int rank, int *wrapped);

/* The argument cubeMathType, against the chip and the widest dtype of the matrices. */
aclnnStatus check_cube(const Call *call, aclDataType dtype);

/* Stops at the first refusal. */
#define TRY(expression)                       \
    do {                                      \
        aclnnStatus tried_ = (expression);    \
        if (tried_ != ACL_SUCCESS) {          \
            return tried_;                    \
        }                                     \
    } while (0)

/* --- dtypes and values (values.c, promotion.c) ------------------------------------------- */

typedef enum { CLASS_INTEGER, CLASS_REAL, CLASS_COMPLEX } Class; /* bool is an integer */

Class class_of(aclDataType dtype);
int64_t load_integer(aclDataType dtype, const void *place);
double load_real(aclDataType dtype, const void *place);
double complex load_complex(aclDataType dtype, const void *place);
void store_integer(aclDataType dtype, void *place, int64_t value);
void store_real(aclDataType dtype, void *place, double value);
void store_complex(aclDataType dtype, void *place, double complex value);
/* To the nearest that the dtype can hold, ties to even. */
double round_real(aclDataType dtype, double value);
int64_t wrap_integer(aclDataType dtype, int64_t value);
/* From one dtype to another as aclnnCast does: integers wrap, and what becomes of a number that no
 * integer can be is the device's (runtime/open.c). */
void convert(aclDataType to, void *target, aclDataType from, const void *source);

enum { NO_DTYPE = -1 };
aclDataType promote(aclDataType a, aclDataType b);
bool can_cast(aclDataType from, aclDataType to);

/* --- loops (loops.c) --------------------------------------------------------------------- */

enum { MOST_OPERANDS = 8 };

/* Walks the elements of several views at once, in row-major order of `dims`. */
typedef struct {
    int rank, operands;
    int64_t dims[SIM_MOST_DIMS];
    int64_t strides[MOST_OPERANDS][SIM_MOST_DIMS]; /* bytes */
    int64_t index[SIM_MOST_DIMS];
    unsigned char *at[MOST_OPERANDS]; /* the current elements */
    int64_t left;                     /* elements not yet visited, the current one included */
} Loop;

Loop loop_over(int rank, const int64_t *dims);
/* Adds a view that broadcasts to the loop's dims. */
void loop_add(Loop *loop, const View *view);
/* Adds plain memory with given strides in bytes. */
void loop_add_plain(Loop *loop, void *data, const int64_t *strides);
void loop_next(Loop *loop);
#define LOOP(loop) for (; (loop).left > 0; loop_next(&(loop)))

/* Whole tensors as plain row-major arrays; free() them. */
double *read_reals(const View *view);
int64_t *read_integers(const View *view);
void write_reals(const View *view, const double *values);
void write_integers(const View *view, const int64_t *values);
/* Bytes from one view to another of the same shape, converting the dtype. */
void copy_view(const View *to, const View *from);
/* A view of part of another. */
View view_slice(const View *view, int dim, int64_t start, int64_t length);
unsigned char *element_at(const View *view, const int64_t *index);

/* Which elements of a view were written, by kernels that write where indices say. */
typedef struct {
    const View *view;
    int64_t lowest;
    unsigned char *seen; /* free() it */
} Written;

Written written_none(const View *view);
/* Puts an element there; which of two different ones stays is open. */
void written_put(Written *written, unsigned char *place, const void *source);

#endif
