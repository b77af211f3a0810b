"""The C functions and constants of ACL, declared once.

Types are those of the ABI: handles are ``c_void_p``, enumerations ``c_int``.  The operators stand
in :mod:`~mindtorch_v2.kernels.npu.aclnn_table`, and are parsed here.
"""

from __future__ import annotations

import re
from ctypes import (
    POINTER,
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_int8,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from ctypes import c_bool as _c_bool
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from mindtorch_v2.kernels.npu.aclnn_table import TABLE
from mindtorch_v2.tensor.dtype import DTYPES, DType

CType: TypeAlias = Any
"""A class of ctypes."""


class Prototype(NamedTuple):
    """What a C function answers and takes."""

    restype: CType
    argtypes: tuple[CType, ...]


_INT64S: Final = POINTER(c_int64)
_HANDLES: Final = POINTER(c_void_p)


def _status(*argtypes: CType) -> Prototype:
    return Prototype(c_int, argtypes)


def _handle(*argtypes: CType) -> Prototype:
    return Prototype(c_void_p, argtypes)


FUNCTIONS: Final = {
    "aclInit": _status(c_char_p),
    "aclFinalize": _status(),
    "aclGetRecentErrMsg": Prototype(c_char_p, ()),
    "aclrtGetSocName": Prototype(c_char_p, ()),
    "aclrtGetDeviceCount": _status(POINTER(c_uint32)),
    "aclrtSetDevice": _status(c_int32),
    "aclrtResetDevice": _status(c_int32),
    "aclrtGetCurrentContext": _status(_HANDLES),
    "aclrtSetCurrentContext": _status(c_void_p),
    "aclrtSynchronizeDevice": _status(),
    "aclrtGetMemInfo": _status(c_int, POINTER(c_size_t), POINTER(c_size_t)),
    "aclrtCreateStreamWithConfig": _status(_HANDLES, c_uint32, c_uint32),
    "aclrtDestroyStream": _status(c_void_p),
    "aclrtSynchronizeStream": _status(c_void_p),
    "aclrtStreamQuery": _status(c_void_p, POINTER(c_int)),
    "aclrtStreamWaitEvent": _status(c_void_p, c_void_p),
    "aclrtCreateEventExWithFlag": _status(_HANDLES, c_uint32),
    "aclrtCreateEventWithFlag": _status(_HANDLES, c_uint32),
    "aclrtDestroyEvent": _status(c_void_p),
    "aclrtRecordEvent": _status(c_void_p, c_void_p),
    "aclrtQueryEventStatus": _status(c_void_p, POINTER(c_int)),
    "aclrtSynchronizeEvent": _status(c_void_p),
    "aclrtEventElapsedTime": _status(POINTER(c_float), c_void_p, c_void_p),
    "aclrtMalloc": _status(_HANDLES, c_size_t, c_int),
    "aclrtFree": _status(c_void_p),
    "aclrtMallocHost": _status(_HANDLES, c_size_t),
    "aclrtFreeHost": _status(c_void_p),
    "aclrtMemcpyAsync": _status(c_void_p, c_size_t, c_void_p, c_size_t, c_int, c_void_p),
    "aclCreateTensor": _handle(
        *(_INT64S, c_uint64, c_int, _INT64S, c_int64, c_int, _INT64S, c_uint64, c_void_p)
    ),
    "aclCreateScalar": _handle(c_void_p, c_int),
    "aclCreateIntArray": _handle(_INT64S, c_uint64),
    "aclCreateBoolArray": _handle(POINTER(_c_bool), c_uint64),
    "aclCreateTensorList": _handle(_HANDLES, c_uint64),
    "aclDestroyTensor": _status(c_void_p),
    "aclDestroyScalar": _status(c_void_p),
    "aclDestroyIntArray": _status(c_void_p),
    "aclDestroyBoolArray": _status(c_void_p),
    "aclDestroyTensorList": _status(c_void_p),
    "aclGetViewShape": _status(c_void_p, POINTER(_INT64S), POINTER(c_uint64)),
    "aclSetAclOpExecutorRepeatable": _status(c_void_p),
    "aclDestroyAclOpExecutor": _status(c_void_p),
    "aclSetInputTensorAddr": _status(c_void_p, c_size_t, c_void_p, c_void_p),
    "aclSetOutputTensorAddr": _status(c_void_p, c_size_t, c_void_p, c_void_p),
}
"""By name, all functions that are not operators."""

# --- constants ------------------------------------------------------------------------------------

HOST_TO_DEVICE: Final = 1
DEVICE_TO_HOST: Final = 2
HUGE_FIRST: Final = 0
HBM: Final = 1
STREAM_COMPLETE: Final = 0
EVENT_RECORDED: Final = 1
"""``ACL_EVENT_RECORDED_STATUS_COMPLETE``: the opposite of a stream's status."""
EVENT_SYNC: Final = 0x1
EVENT_TIME_LINE: Final = 0x8
STREAM_FAST_LAUNCH_AND_SYNC: Final = 0x3

FORMAT_ND: Final = 2
FORMAT_BY_RANK: Final = {3: 47, 4: 0, 5: 30}
"""NCL, NCHW and NCDHW, which convolution and pooling need; any other tensor is ND."""

ACL_DTYPES: Final = {
    DTYPES[name]: number
    for name, number in {
        "float32": 0,
        "float16": 1,
        "int8": 2,
        "int32": 3,
        "uint8": 4,
        "int16": 6,
        "uint16": 7,
        "uint32": 8,
        "int64": 9,
        "uint64": 10,
        "float64": 11,
        "bool": 12,
        "complex64": 16,
        "complex128": 17,
        "bfloat16": 27,
        "complex32": 33,
    }.items()
    if name in DTYPES
}
"""``aclDataType`` by dtype."""

# --- operators ------------------------------------------------------------------------------------

KINDS: Final = {
    **dict.fromkeys(("tensor", "out", "scalar", "ints", "bools", "tensors"), c_void_p),
    "i64": c_int64,
    "u64": c_uint64,
    "i32": c_int,
    "i8": c_int8,
    "bool": _c_bool,
    "f64": c_double,
    "f32": c_float,
    "dtype": c_int,
    "text": c_char_p,
}
"""By kind of argument the C type that it is passed as."""

_ENTRY: Final = re.compile(r"(\w+)\(([^)]*)\):\s+([^\n]*(?:\n  [^\n]*)*)")
_LETTERS: Final = {
    "F": "float32 float16 bfloat16",
    "I": "int8 int16 int32 int64 uint8",
    "I-i16": "int8 int32 int64 uint8",
    "I-i64": "int8 int16 int32 uint8",
    "C": "complex64 complex128",
    "U": "uint16 uint32 uint64",
    "b": "bool",
    "c64": "complex64",
}
_SHORT: Final = {"f": "float", "i": "int", "u": "uint"}

Dtypes: TypeAlias = frozenset[DType]


class Argument(NamedTuple):
    """An argument of an operator; ``dtypes`` are those that a tensor may have, None if unknown."""

    kind: str
    name: str
    dtypes: Dtypes | None


class Aclnn(NamedTuple):
    """An operator of ACLNN."""

    name: str
    arguments: tuple[Argument, ...]

    @property
    def symbol(self) -> str:
        return f"aclnn{self.name}"

    @property
    def planning(self) -> Prototype:
        """Of ``aclnn…GetWorkspaceSize``, which also answers a size and an executor."""
        own = (KINDS[argument.kind] for argument in self.arguments)
        return _status(*own, POINTER(c_uint64), _HANDLES)


RUNNING: Final = _status(c_void_p, c_uint64, c_void_p, c_void_p)
"""Of every operator's second function: workspace, its size, executor, stream."""


def _dtypes(letters: str) -> Dtypes:
    names: list[str] = []
    for letter in letters.split():
        known = _LETTERS.get(letter)
        names += known.split() if known else [_SHORT[letter[0]] + letter[1:]]
    return frozenset(DTYPES[name] for name in names if name in DTYPES)


def _dtypes_by_name(text: str) -> dict[str, Dtypes]:
    """From ``F b`` or ``self, out: F; index: i64``; what holds for all stands under ``""``."""
    found: dict[str, Dtypes] = {}
    for clause in text.split("; "):
        names, separator, letters = clause.rpartition(": ")
        for name in names.split(", ") if separator else [""]:
            found[name] = _dtypes(letters)
    return found


@cache
def _operators() -> dict[str, Aclnn]:
    entries = (map(_unfolded, entry.groups()) for entry in _ENTRY.finditer(TABLE))
    parsed = (_parsed(*entry) for entry in entries)
    return {operator.name: operator for operator in parsed}


def _unfolded(text: str) -> str:
    """An entry may go over several lines."""
    return " ".join(text.split())


def _parsed(name: str, arguments: str, dtypes: str) -> Aclnn:
    known = _dtypes_by_name(dtypes)
    pairs = (pair.split() for pair in arguments.split(", "))
    return Aclnn(
        name, tuple(Argument(kind, own, known.get(own, known.get(""))) for kind, own in pairs)
    )


def aclnn(name: str) -> Aclnn:
    """The operator of a name without prefix; KeyError if the table has none."""
    return _operators()[name]
