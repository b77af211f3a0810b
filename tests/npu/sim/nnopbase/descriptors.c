/* Descriptors: tensors, scalars, arrays, lists.  They describe device memory and never own it. */

#include <stdlib.h>
#include <string.h>

#include "nnop.h"

/* --- views ------------------------------------------------------------------------------- */

int64_t view_count(const View *view)
{
    int64_t count = 1;
    for (int i = 0; i < view->rank; i++) {
        count *= view->dims[i];
    }
    return count;
}

/* Dimensions of size 1 do not matter; nor do any where there is one element or none. */
bool view_contiguous(const View *view)
{
    int64_t expected = 1;
    if (view_count(view) <= 1) {
        return true;
    }
    for (int i = view->rank - 1; i >= 0; i--) {
        if (view->dims[i] != 1 && view->strides[i] != expected) {
            return false;
        }
        expected *= view->dims[i];
    }
    return true;
}

void view_extent(const View *view, int64_t *lowest, int64_t *end)
{
    *lowest = view->offset;
    *end = view->offset + 1;
    for (int i = 0; i < view->rank; i++) {
        int64_t reach = (view->dims[i] - 1) * view->strides[i];
        *(reach < 0 ? lowest : end) += reach;
    }
    if (view_count(view) == 0) {
        *end = *lowest = 0;
    }
}

const char *dtype_name(aclDataType dtype)
{
    static const char *const names[] = {
        [ACL_FLOAT] = "FLOAT",         [ACL_FLOAT16] = "FLOAT16",
        [ACL_INT8] = "INT8",           [ACL_INT32] = "INT32",
        [ACL_UINT8] = "UINT8",         [ACL_INT16] = "INT16",
        [ACL_UINT16] = "UINT16",       [ACL_UINT32] = "UINT32",
        [ACL_INT64] = "INT64",         [ACL_UINT64] = "UINT64",
        [ACL_DOUBLE] = "DOUBLE",       [ACL_BOOL] = "BOOL",
        [ACL_COMPLEX64] = "COMPLEX64", [ACL_COMPLEX128] = "COMPLEX128",
        [ACL_BF16] = "BFLOAT16",
    };
    return aclDataTypeSize(dtype) == 0 ? "UNKNOWN" : names[dtype];
}

/* --- tensors ----------------------------------------------------------------------------- */

static void release_tensor(void *object)
{
    Tensor *tensor = object;
    free(tensor->shown);
    free(tensor);
}

/* The storage must be device memory, its start aligned, and all of it inside one block. */
static bool check_storage(const View *view)
{
    if (view->address == NULL) {
        return true; /* allowed where there are no elements; phase 1 looks */
    }
    SimBlock *block = sim_block_at(view->address);
    if (block == NULL || block->device == SIM_HOST) {
        const SimBlock *gone = sim_block_freed(view->address);
        sim_undefined(gone ? "use-after-free" : "tensor-address", gone ? &gone->history : NULL,
                      "%p is no live device memory", view->address);
        return false;
    }
    size_t begin = (uintptr_t)view->address - block->address;
    size_t bytes = (size_t)view->storage_count * aclDataTypeSize(view->dtype);
    if (begin % 32 != 0) {
        sim_undefined("tensor-alignment", &block->history,
                      "a tensor's memory starts %zu bytes into a block, which is not a multiple "
                      "of 32: give the storage's start, and an offset", begin);
        return false;
    }
    if (begin + bytes > block->size) {
        sim_undefined("tensor-storage", &block->history,
                      "a storage of %zu bytes from %zu on leaves a block of %zu", bytes, begin,
                      block->size);
        return false;
    }
    return true;
}

static bool copy_dims(int64_t *target, const int64_t *given, uint64_t count, const char *what)
{
    for (uint64_t i = 0; i < count; i++) {
        target[i] = given[i];
        if (given[i] < 0) {
            sim_misuse(ACLNN_ERR_PARAM_INVALID, "tensor-negative", NULL, "%s[%llu] is %lld", what,
                       (unsigned long long)i, (long long)given[i]);
            return false;
        }
    }
    return true;
}

/* Fills a tensor in; false after a report. */
static bool describe(Tensor *tensor, const int64_t *viewDims, uint64_t viewDimsNum,
                     aclDataType dtype, const int64_t *stride, int64_t offset, aclFormat format,
                     const int64_t *storageDims, uint64_t storageDimsNum, void *data)
{
    View *view = &tensor->view;
    if ((viewDims == NULL && viewDimsNum > 0) || (storageDims == NULL && storageDimsNum > 0)) {
        sim_misuse(ACLNN_ERR_PARAM_NULLPTR, "null-argument", NULL, "dims are NULL");
        return false;
    }
    if (viewDimsNum > SIM_MOST_DIMS || storageDimsNum > SIM_MOST_DIMS) {
        sim_misuse(ACLNN_ERR_PARAM_INVALID, "tensor-rank", NULL, "too many dimensions");
        return false;
    }
    if (aclDataTypeSize(dtype) == 0) {
        sim_misuse(ACLNN_ERR_PARAM_INVALID, "tensor-dtype", NULL, "dtype %d", dtype);
        return false;
    }
    view->dtype = dtype;
    view->format = format;
    view->rank = (int)viewDimsNum;
    view->offset = offset;
    view->address = data;
    if (!copy_dims(view->dims, viewDims, viewDimsNum, "viewDims") ||
        !copy_dims(tensor->storage_dims, storageDims, storageDimsNum, "storageDims") ||
        (stride != NULL && !copy_dims(view->strides, stride, viewDimsNum, "stride"))) {
        return false;
    }
    int64_t contiguous = 1;
    for (int i = view->rank - 1; stride == NULL && i >= 0; i--) {
        view->strides[i] = contiguous;
        contiguous *= view->dims[i];
    }
    tensor->storage_rank = (int)storageDimsNum;
    view->storage_count = 1;
    for (int i = 0; i < tensor->storage_rank; i++) {
        view->storage_count *= tensor->storage_dims[i];
    }
    return check_storage(view);
}

aclTensor *aclCreateTensor(const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dtype,
                           const int64_t *stride, int64_t offset, aclFormat format,
                           const int64_t *storageDims, uint64_t storageDimsNum, void *tensorData)
{
    SIM_SCOPE();
    Tensor *tensor = sim_allocate(1, sizeof *tensor);
    if (sim_call.injected != ACL_SUCCESS ||
        !describe(tensor, viewDims, viewDimsNum, dtype, stride, offset, format, storageDims,
                  storageDimsNum, tensorData)) {
        release_tensor(tensor);
        return NULL;
    }
    SimHandle *handle = sim_handle_make(SIM_TENSOR, tensor, release_tensor, dtype_name(dtype));
    tensor->view.handle = handle;
    return sim_handle_value(handle);
}

/* The object of a live handle; else returns from the function. */
#define OBJECT_OR_RETURN(Type, name, value, kind)                                         \
    if ((value) == NULL) {                                                                \
        return sim_misuse(ACLNN_ERR_PARAM_NULLPTR, "null-argument", NULL, "%s is NULL",   \
                          sim_kind_name(kind));                                           \
    }                                                                                     \
    SimHandle *name##_handle = sim_handle(value, kind);                                   \
    if (name##_handle == NULL) {                                                          \
        return ACLNN_ERR_INNER;                                                           \
    }                                                                                     \
    Type *name = name##_handle->object

aclnnStatus aclInitTensor(aclTensor *value, const int64_t *viewDims, uint64_t viewDimsNum,
                          aclDataType dtype, const int64_t *stride, int64_t offset,
                          aclFormat format, const int64_t *storageDims, uint64_t storageDimsNum,
                          void *tensorData)
{
    SIM_CALL();
    OBJECT_OR_RETURN(Tensor, tensor, value, SIM_TENSOR);
    Tensor described = {0};
    if (!describe(&described, viewDims, viewDimsNum, dtype, stride, offset, format, storageDims,
                  storageDimsNum, tensorData)) {
        return ACLNN_ERR_PARAM_INVALID;
    }
    described.shown = tensor->shown;
    described.view.handle = tensor_handle;
    *tensor = described;
    return ACL_SUCCESS;
}

/* --- scalars and arrays ------------------------------------------------------------------ */

aclScalar *aclCreateScalar(const void *value, aclDataType dtype)
{
    SIM_SCOPE();
    if (sim_call.injected != ACL_SUCCESS) {
        return NULL;
    }
    if (value == NULL) {
        sim_misuse(ACLNN_ERR_PARAM_NULLPTR, "null-argument", NULL, "the value is NULL");
        return NULL;
    }
    Number *number = sim_allocate(1, sizeof *number);
    number->dtype = dtype;
    double parts[2] = {0, 0};
    bool flag = false;
    switch (dtype) {
    case ACL_DOUBLE:
    case ACL_COMPLEX128:
        memcpy(parts, value, aclDataTypeSize(dtype));
        number->real = parts[0];
        number->imaginary = parts[1];
        break;
    case ACL_INT64:
        memcpy(&number->integer, value, sizeof number->integer);
        number->real = (double)number->integer;
        break;
    case ACL_BOOL:
        memcpy(&flag, value, sizeof flag);
        number->integer = flag;
        number->real = flag;
        break;
    case ACL_FLOAT: {
        float single;
        memcpy(&single, value, sizeof single);
        number->real = (double)single;
        break;
    }
    case ACL_INT32: {
        int32_t narrow;
        memcpy(&narrow, value, sizeof narrow);
        number->integer = narrow;
        number->real = narrow;
        break;
    }
    default:
        sim_misuse(ACLNN_ERR_PARAM_INVALID, "scalar-kind", NULL, "no scalars of %s here",
                   dtype_name(dtype));
        free(number);
        return NULL;
    }
    if (dtype == ACL_FLOAT || dtype == ACL_INT32) { /* possible; torch_npu never does */
        sim_violation("scalar-kind", NULL,
                      "a scalar of %s: use DOUBLE, INT64, BOOL or COMPLEX128", dtype_name(dtype));
    }
    return sim_handle_value(sim_handle_make(SIM_SCALAR, number, free, dtype_name(dtype)));
}

static void release_array(void *object)
{
    Array *array = object;
    free(array->integers);
    free(array->floats);
    free(array);
}

/* An array with room for its values, or NULL after a report. */
static Array *make_array(const void *values, uint64_t count)
{
    if (values == NULL && count > 0) {
        sim_misuse(ACLNN_ERR_PARAM_NULLPTR, "null-argument", NULL, "the values are NULL");
        return NULL;
    }
    Array *array = sim_allocate(1, sizeof *array);
    array->count = count;
    array->integers = sim_allocate(count, sizeof *array->integers);
    array->floats = sim_allocate(count, sizeof *array->floats);
    return array;
}

#define CREATE_ARRAY(Type, element, kind)                                               \
    acl##Type *aclCreate##Type(const element *values, uint64_t count)                   \
    {                                                                                   \
        SIM_SCOPE();                                                                    \
        Array *array = sim_call.injected ? NULL : make_array(values, count);            \
        for (uint64_t i = 0; array != NULL && i < count; i++) {                         \
            array->integers[i] = (int64_t)values[i];                                    \
            array->floats[i] = (float)values[i];                                        \
        }                                                                               \
        return array == NULL                                                            \
                   ? NULL                                                               \
                   : sim_handle_value(sim_handle_make(kind, array, release_array, "")); \
    }

CREATE_ARRAY(IntArray, int64_t, SIM_INT_ARRAY)
CREATE_ARRAY(FloatArray, float, SIM_FLOAT_ARRAY)
CREATE_ARRAY(BoolArray, bool, SIM_BOOL_ARRAY)

/* --- lists ------------------------------------------------------------------------------- */

static void release_list(void *object)
{
    List *list = object;
    for (uint64_t i = 0; i < list->count; i++) {
        if (list->members[i] != NULL && list->members[i]->alive) {
            sim_handle_destroy(list->members[i]);
        }
    }
    free(list->members);
    free(list);
}

/* A list that owns its members from now on, or NULL after a report. */
static void *make_list(const void *const *values, uint64_t count, SimKind kind, SimKind member)
{
    if (values == NULL && count > 0) {
        sim_misuse(ACLNN_ERR_PARAM_NULLPTR, "null-argument", NULL, "the members are NULL");
        return NULL;
    }
    List *list = sim_allocate(1, sizeof *list);
    list->members = sim_allocate(count, sizeof(SimHandle *));
    for (uint64_t i = 0; i < count; i++) {
        SimHandle *handle = values[i] == NULL ? NULL : sim_handle(values[i], member);
        bool good = values[i] == NULL ? member == SIM_TENSOR : handle != NULL;
        if (good && handle != NULL && handle->owner != NULL) {
            sim_undefined("list-owner", &handle->history, "a member belongs to another list");
            good = false;
        }
        if (!good) {
            free(list->members);
            free(list);
            return NULL;
        }
        list->members[i] = handle;
    }
    list->count = count;
    SimHandle *made = sim_handle_make(kind, list, release_list, "");
    for (uint64_t i = 0; i < count; i++) {
        if (list->members[i] != NULL) {
            list->members[i]->owner = made;
        }
    }
    return sim_handle_value(made);
}

aclTensorList *aclCreateTensorList(const aclTensor *const *tensors, uint64_t count)
{
    SIM_SCOPE();
    return sim_call.injected ? NULL
                             : make_list((const void *const *)tensors, count, SIM_TENSOR_LIST,
                                         SIM_TENSOR);
}

aclScalarList *aclCreateScalarList(const aclScalar *const *scalars, uint64_t count)
{
    SIM_SCOPE();
    return sim_call.injected ? NULL
                             : make_list((const void *const *)scalars, count, SIM_SCALAR_LIST,
                                         SIM_SCALAR);
}

/* --- destroying -------------------------------------------------------------------------- */

static aclnnStatus destroy(const void *value, SimKind kind)
{
    if (value == NULL) {
        return ACL_SUCCESS;
    }
    SimHandle *handle = sim_handle(value, kind);
    if (handle == NULL) {
        return ACLNN_ERR_INNER;
    }
    if (handle->owner != NULL) {
        return sim_misuse(ACLNN_ERR_INNER, "list-owner", &handle->history,
                          "a member of a list is destroyed by itself: the list does that");
    }
    aclnnStatus status = ACL_SUCCESS;
    if (kind == SIM_TENSOR && ((Tensor *)handle->object)->shape_pending) {
        status = sim_misuse(ACLNN_ERR_INNER, "shape-not-read", &handle->history,
                            "an output whose shape the operator decides is destroyed before "
                            "aclGetViewShape");
    }
    sim_handle_destroy(handle);
    return status;
}

#define DESTROY(Type, kind)                           \
    aclnnStatus aclDestroy##Type(const acl##Type *value) \
    {                                                 \
        SIM_SCOPE();                                  \
        return SIM_RELEASED(destroy(value, kind));    \
    }

DESTROY(Tensor, SIM_TENSOR)
DESTROY(Scalar, SIM_SCALAR)
DESTROY(IntArray, SIM_INT_ARRAY)
DESTROY(FloatArray, SIM_FLOAT_ARRAY)
DESTROY(BoolArray, SIM_BOOL_ARRAY)
DESTROY(TensorList, SIM_TENSOR_LIST)
DESTROY(ScalarList, SIM_SCALAR_LIST)

/* --- asking ------------------------------------------------------------------------------ */

/* Hands out a copy.  It belongs to the descriptor, since ctypes cannot free it portably. */
static aclnnStatus show(Tensor *tensor, const int64_t *values, int rank, int64_t **out,
                        uint64_t *count)
{
    if (out == NULL || count == NULL) {
        return sim_misuse(ACLNN_ERR_PARAM_NULLPTR, "null-argument", NULL, "a result is NULL");
    }
    free(tensor->shown);
    tensor->shown = sim_allocate((size_t)rank, sizeof *tensor->shown);
    memcpy(tensor->shown, values, (size_t)rank * sizeof *values);
    *out = tensor->shown;
    *count = (uint64_t)rank;
    return ACL_SUCCESS;
}

/* A queued task that writes a tensor's memory, or NULL. */
static const SimTask *pending_writer(const View *view, const SimStream **stream)
{
    SimBlock *block = view->address == NULL ? NULL : sim_block_at(view->address);
    if (block == NULL) {
        return NULL;
    }
    size_t begin = (uintptr_t)view->address - block->address;
    return sim_pending_conflict(block, begin, begin + 1, false, stream);
}

aclnnStatus aclGetViewShape(const aclTensor *value, int64_t **dims, uint64_t *count)
{
    SIM_CALL();
    OBJECT_OR_RETURN(Tensor, tensor, value, SIM_TENSOR);
    const SimStream *stream = NULL;
    if (tensor->shape_pending && pending_writer(&tensor->view, &stream) != NULL) {
        return sim_misuse(ACLNN_ERR_INNER, "unsynchronised", &tensor_handle->history,
                          "the shape of an output is read before its operator ran");
    }
    tensor->shape_pending = false;
    return show(tensor, tensor->view.dims, tensor->view.rank, dims, count);
}

aclnnStatus aclGetStorageShape(const aclTensor *value, int64_t **dims, uint64_t *count)
{
    SIM_CALL();
    OBJECT_OR_RETURN(Tensor, tensor, value, SIM_TENSOR);
    return show(tensor, tensor->storage_dims, tensor->storage_rank, dims, count);
}

aclnnStatus aclGetViewStrides(const aclTensor *value, int64_t **strides, uint64_t *count)
{
    SIM_CALL();
    OBJECT_OR_RETURN(Tensor, tensor, value, SIM_TENSOR);
    return show(tensor, tensor->view.strides, tensor->view.rank, strides, count);
}

#define GETTER(Name, Object, Type, kind, Result, expression)                                   \
    aclnnStatus Name(const Type *value, Result *result)                                        \
    {                                                                                          \
        SIM_CALL();                                                                            \
        OBJECT_OR_RETURN(Object, object, value, kind);                                         \
        if (result == NULL) {                                                                  \
            return sim_misuse(ACLNN_ERR_PARAM_NULLPTR, "null-argument", NULL, "no result");    \
        }                                                                                      \
        *result = (expression);                                                                \
        return ACL_SUCCESS;                                                                    \
    }

GETTER(aclGetViewOffset, Tensor, aclTensor, SIM_TENSOR, int64_t, object->view.offset)
GETTER(aclGetFormat, Tensor, aclTensor, SIM_TENSOR, aclFormat, object->view.format)
GETTER(aclGetDataType, Tensor, aclTensor, SIM_TENSOR, aclDataType, object->view.dtype)
GETTER(aclGetRawTensorAddr, Tensor, aclTensor, SIM_TENSOR, void *, object->view.address)
GETTER(aclGetIntArraySize, Array, aclIntArray, SIM_INT_ARRAY, uint64_t, object->count)
GETTER(aclGetFloatArraySize, Array, aclFloatArray, SIM_FLOAT_ARRAY, uint64_t, object->count)
GETTER(aclGetBoolArraySize, Array, aclBoolArray, SIM_BOOL_ARRAY, uint64_t, object->count)
GETTER(aclGetTensorListSize, List, aclTensorList, SIM_TENSOR_LIST, uint64_t, object->count)
GETTER(aclGetScalarListSize, List, aclScalarList, SIM_SCALAR_LIST, uint64_t, object->count)

aclnnStatus aclSetRawTensorAddr(aclTensor *value, void *address)
{
    SIM_CALL();
    OBJECT_OR_RETURN(Tensor, tensor, value, SIM_TENSOR);
    tensor->view.address = address;
    return check_storage(&tensor->view) ? ACL_SUCCESS : ACLNN_ERR_INNER;
}
