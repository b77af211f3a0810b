/* The ABI that the simulated runtime exports: types, enumerations, codes, prototypes.
 *
 * Names and values are those of the CANN toolkit (8.1).  `const` stands where the library only
 * reads; it changes no call.  The operators' own prototypes are made where their rows are
 * (opapi/operator.h). */

#ifndef SIM_ACL_H
#define SIM_ACL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

typedef int aclError;
typedef int32_t aclnnStatus;
typedef int aclDataType;
typedef int aclFormat;
typedef void *aclrtContext;
typedef void *aclrtStream;
typedef void *aclrtEvent;
typedef struct aclTensor aclTensor;
typedef struct aclScalar aclScalar;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclTensorList aclTensorList;
typedef struct aclScalarList aclScalarList;
typedef struct aclOpExecutor aclOpExecutor;

enum {
    ACL_FLOAT = 0,
    ACL_FLOAT16 = 1,
    ACL_INT8 = 2,
    ACL_INT32 = 3,
    ACL_UINT8 = 4,
    ACL_INT16 = 6,
    ACL_UINT16 = 7,
    ACL_UINT32 = 8,
    ACL_INT64 = 9,
    ACL_UINT64 = 10,
    ACL_DOUBLE = 11,
    ACL_BOOL = 12,
    ACL_COMPLEX64 = 16,
    ACL_COMPLEX128 = 17,
    ACL_BF16 = 27
};

enum {
    ACL_MEMCPY_HOST_TO_HOST = 0,
    ACL_MEMCPY_HOST_TO_DEVICE = 1,
    ACL_MEMCPY_DEVICE_TO_HOST = 2,
    ACL_MEMCPY_DEVICE_TO_DEVICE = 3
};

/* Two conventions that contradict each other, as on a real system. */
enum { ACL_STREAM_STATUS_COMPLETE = 0, ACL_STREAM_STATUS_NOT_READY = 1 };
enum { ACL_EVENT_WAIT_STATUS_COMPLETE = 0, ACL_EVENT_WAIT_STATUS_NOT_READY = 1 };
enum { ACL_EVENT_RECORDED_STATUS_NOT_READY = 0, ACL_EVENT_RECORDED_STATUS_COMPLETE = 1 };

enum { ACL_EVENT_SYNC = 0x1, ACL_EVENT_CAPTURE_STREAM_PROGRESS = 0x2, ACL_EVENT_TIME_LINE = 0x8 };
enum { ACL_CONTINUE_ON_FAILURE = 0, ACL_STOP_ON_FAILURE = 1 };

enum {
    ACL_SUCCESS = 0,
    ACL_ERROR_INVALID_PARAM = 100000,
    ACL_ERROR_UNINITIALIZE = 100001,
    ACL_ERROR_REPEAT_INITIALIZE = 100002,
    ACL_ERROR_REPEAT_FINALIZE = 100037,
    ACL_ERROR_RT_PARAM_INVALID = 107000,
    ACL_ERROR_RT_INVALID_DEVICEID = 107001,
    ACL_ERROR_RT_CONTEXT_NULL = 107002,
    ACL_ERROR_RT_STREAM_CONTEXT = 107003,
    ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID = 107006,
    ACL_ERROR_RT_FEATURE_NOT_SUPPORT = 207000,
    ACL_ERROR_RT_MEMORY_ALLOCATION = 207001,
    ACL_ERROR_INTERNAL_ERROR = 500000,
    ACL_ERROR_RT_INTERNAL_ERROR = 507000,
    ACL_ERROR_RT_AICORE_EXCEPTION = 507015,
    ACL_ERROR_RT_STREAM_SYNC_TIMEOUT = 507046,
    ACL_ERROR_RT_EVENT_SYNC_TIMEOUT = 507047,
    ACLNN_ERR_PARAM_NULLPTR = 161001,
    ACLNN_ERR_PARAM_INVALID = 161002,
    ACLNN_ERR_INNER = 561000,
    ACLNN_ERR_INNER_NULLPTR = 561103
};

/* libascendcl: life cycle, devices, contexts (runtime/device.c). */
aclError aclInit(const char *configPath);
aclError aclFinalize(void);
const char *aclGetRecentErrMsg(void);
const char *aclrtGetSocName(void);
aclError aclrtGetVersion(int32_t *major, int32_t *minor, int32_t *patch);
aclError aclrtGetDeviceCount(uint32_t *count);
aclError aclrtSetDevice(int32_t device);
aclError aclrtResetDevice(int32_t device);
aclError aclrtResetDeviceForce(int32_t device);
aclError aclrtGetDevice(int32_t *device);
aclError aclrtGetRunMode(int *mode);
aclError aclrtCreateContext(aclrtContext *context, int32_t device);
aclError aclrtDestroyContext(aclrtContext context);
aclError aclrtSetCurrentContext(aclrtContext context);
aclError aclrtGetCurrentContext(aclrtContext *context);
aclError aclrtCtxSetSysParamOpt(int option, int64_t value);
aclError aclrtCtxGetSysParamOpt(int option, int64_t *value);
aclError aclrtSetSysParamOpt(int option, int64_t value);
aclError aclrtGetSysParamOpt(int option, int64_t *value);
aclError aclrtDeviceCanAccessPeer(int32_t *can, int32_t device, int32_t peer);
aclError aclrtDeviceEnablePeerAccess(int32_t peer, uint32_t flags);
aclError aclrtSetDeviceSatMode(int mode);
aclError aclrtSetOpExecuteTimeOut(uint32_t seconds);
aclError aclrtPeekAtLastError(int level);
aclError aclrtGetLastError(int level);
size_t aclDataTypeSize(aclDataType dtype);

/* libascendcl: streams (runtime/streams.c). */
aclError aclrtCreateStream(aclrtStream *stream);
aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag);
aclError aclrtDestroyStream(aclrtStream stream);
aclError aclrtDestroyStreamForce(aclrtStream stream);
aclError aclrtSynchronizeStream(aclrtStream stream);
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t milliseconds);
aclError aclrtSynchronizeDevice(void);
aclError aclrtStreamQuery(aclrtStream stream, int *status);
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);
aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode);
aclError aclrtStreamGetId(aclrtStream stream, int32_t *id);
aclError aclrtLaunchCallback(void (*function)(void *), void *data, int block, aclrtStream stream);

/* libascendcl: events (runtime/events.c). */
aclError aclrtCreateEvent(aclrtEvent *event);
aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag);
aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag);
aclError aclrtDestroyEvent(aclrtEvent event);
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);
aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);
aclError aclrtQueryEventStatus(aclrtEvent event, int *status);
aclError aclrtQueryEventWaitStatus(aclrtEvent event, int *status);
aclError aclrtSynchronizeEvent(aclrtEvent event);
aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t milliseconds);
aclError aclrtEventElapsedTime(float *milliseconds, aclrtEvent start, aclrtEvent end);

/* libascendcl: memory (runtime/memory.c) and copies (runtime/copies.c). */
aclError aclrtMalloc(void **address, size_t size, int policy);
aclError aclrtMallocAlign32(void **address, size_t size, int policy);
aclError aclrtMallocCached(void **address, size_t size, int policy);
aclError aclrtFree(void *address);
aclError aclrtMallocHost(void **address, size_t size);
aclError aclrtFreeHost(void *address);
aclError aclrtGetMemInfo(int attribute, size_t *free, size_t *total);
aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count, int kind);
aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count, int kind,
                          aclrtStream stream);
aclError aclrtMemset(void *address, size_t maxCount, int32_t value, size_t count);
aclError aclrtMemsetAsync(void *address, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream);

/* libnnopbase: descriptors (nnopbase/descriptors.c). */
aclTensor *aclCreateTensor(const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dtype,
                           const int64_t *stride, int64_t offset, aclFormat format,
                           const int64_t *storageDims, uint64_t storageDimsNum, void *tensorData);
aclnnStatus aclInitTensor(aclTensor *tensor, const int64_t *viewDims, uint64_t viewDimsNum,
                          aclDataType dtype, const int64_t *stride, int64_t offset,
                          aclFormat format, const int64_t *storageDims, uint64_t storageDimsNum,
                          void *tensorData);
aclScalar *aclCreateScalar(const void *value, aclDataType dtype);
aclIntArray *aclCreateIntArray(const int64_t *values, uint64_t count);
aclFloatArray *aclCreateFloatArray(const float *values, uint64_t count);
aclBoolArray *aclCreateBoolArray(const bool *values, uint64_t count);
aclTensorList *aclCreateTensorList(const aclTensor *const *tensors, uint64_t count);
aclScalarList *aclCreateScalarList(const aclScalar *const *scalars, uint64_t count);
aclnnStatus aclDestroyTensor(const aclTensor *tensor);
aclnnStatus aclDestroyScalar(const aclScalar *scalar);
aclnnStatus aclDestroyIntArray(const aclIntArray *array);
aclnnStatus aclDestroyFloatArray(const aclFloatArray *array);
aclnnStatus aclDestroyBoolArray(const aclBoolArray *array);
aclnnStatus aclDestroyTensorList(const aclTensorList *list);
aclnnStatus aclDestroyScalarList(const aclScalarList *list);
aclnnStatus aclGetViewShape(const aclTensor *tensor, int64_t **dims, uint64_t *count);
aclnnStatus aclGetStorageShape(const aclTensor *tensor, int64_t **dims, uint64_t *count);
aclnnStatus aclGetViewStrides(const aclTensor *tensor, int64_t **strides, uint64_t *count);
aclnnStatus aclGetViewOffset(const aclTensor *tensor, int64_t *offset);
aclnnStatus aclGetFormat(const aclTensor *tensor, aclFormat *format);
aclnnStatus aclGetDataType(const aclTensor *tensor, aclDataType *dtype);
aclnnStatus aclGetIntArraySize(const aclIntArray *array, uint64_t *size);
aclnnStatus aclGetFloatArraySize(const aclFloatArray *array, uint64_t *size);
aclnnStatus aclGetBoolArraySize(const aclBoolArray *array, uint64_t *size);
aclnnStatus aclGetTensorListSize(const aclTensorList *list, uint64_t *size);
aclnnStatus aclGetScalarListSize(const aclScalarList *list, uint64_t *size);
aclnnStatus aclSetRawTensorAddr(aclTensor *tensor, void *address);
aclnnStatus aclGetRawTensorAddr(const aclTensor *tensor, void **address);

/* libnnopbase: executors (nnopbase/executor.c). */
aclnnStatus aclnnInit(const char *configPath);
aclnnStatus aclnnFinalize(void);
aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor);
aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor);
aclnnStatus aclSetTensorAddr(aclOpExecutor *executor, size_t index, aclTensor *tensor, void *addr);
aclnnStatus aclSetInputTensorAddr(aclOpExecutor *executor, size_t index, aclTensor *tensor,
                                  void *addr);
aclnnStatus aclSetOutputTensorAddr(aclOpExecutor *executor, size_t index, aclTensor *tensor,
                                   void *addr);
aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor *executor, size_t irIndex, size_t relativeIndex,
                                    aclTensorList *list, void *addr);
aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor *executor, size_t irIndex,
                                         size_t relativeIndex, aclTensorList *list, void *addr);
aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor *executor, size_t irIndex,
                                          size_t relativeIndex, aclTensorList *list, void *addr);

/* The simulator's own: what a test asks and sets (runtime/report.c, config.c, device.c). */
const char *sim_violations(void);
const char *sim_take_open(void);
int sim_violation_count(void);
void sim_clear_violations(void);
void sim_reset(void);
int sim_config(const char *key, int64_t value);
int64_t sim_count(const char *name);

#pragma GCC visibility pop

#endif
