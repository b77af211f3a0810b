"""Python values as the arguments of an ACLNN operator.

A tensor is described by its storage's address and length, and its own offset and strides, as
torch_npu does: views are passed as they are.  Numbers are scalars of four kinds: bool, int64,
double and complex128.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from mindtorch_v2.kernels.npu.allocator import Memory
from mindtorch_v2.kernels.npu.handles import Handles
from mindtorch_v2.kernels.npu.prototypes import (
    ACL_DTYPES,
    FORMAT_BY_RANK,
    FORMAT_ND,
    Aclnn,
    Argument,
)
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

MAX_RANK: Final = 8
_TENSORS: Final = frozenset(("tensor", "out"))


class UnsupportedError(Exception):
    """A call that ACLNN does not take, by its dtypes, ranks or values; the text says why."""


def memory_of(tensor: Tensor) -> Memory:
    """The device memory of a tensor; UnsupportedError for one that has none."""
    storage = tensor._storage
    memory = None if storage is None else storage._bytes
    if not isinstance(memory, Memory):
        raise UnsupportedError(f"a tensor is on {tensor._device}")
    return memory


class Slot(NamedTuple):
    """A tensor's place among the inputs or the outputs of an operator, and its descriptor."""

    is_output: bool
    place: int
    descriptor: int


class Marshalled(NamedTuple):
    """The arguments of a call in C; ``handles`` owns what they point to."""

    values: list[Any]
    handles: Handles
    slots: list[Slot]
    tensors: list[Tensor]


def check(operator: Aclnn, values: Sequence[Any]) -> None:
    """UnsupportedError for a tensor that the operator's table does not allow."""
    for argument, tensor in _tensors(operator, values):
        if len(tensor._sizes) > MAX_RANK:
            raise UnsupportedError(f"{argument.name} has more than {MAX_RANK} dimensions")
        if tensor._lazy_bits():
            raise UnsupportedError(f"{argument.name} is to be conjugated or negated")
        if argument.dtypes is not None and tensor._dtype not in argument.dtypes:
            raise UnsupportedError(f"{operator.symbol} takes no {tensor._dtype} {argument.name}")


def _tensors(operator: Aclnn, values: Sequence[Any]) -> Iterator[tuple[Argument, Tensor]]:
    for argument, value in zip(operator.arguments, values, strict=True):
        if isinstance(value, Tensor):
            yield argument, value
        elif argument.kind == "tensors":  # one without elements stands for a whole dimension
            yield from ((argument, each) for each in value if numel(each._sizes))


def key_of(operator: Aclnn, values: Sequence[Any]) -> tuple[Any, ...] | None:
    """What tells executors apart that may stand for each other once addresses are changed.

    None for calls of which none may: with lists of tensors or without an optional one, and with
    tensors that are read and written, whose place ACL does not define.
    """
    parts: list[Any] = [operator.name]
    for argument, value in zip(operator.arguments, values, strict=True):
        if argument.kind in _TENSORS:
            if value is None or argument.name == "selfRef":
                return None
            storage = value._storage
            parts.append((value._dtype, value._sizes, value._strides, value._storage_offset))
            parts.append(storage._nbytes)
        elif argument.kind == "tensors":
            return None
        else:
            parts.append(tuple(value) if isinstance(value, (list, tuple)) else (type(value), value))
            if isinstance(value, float):
                parts.append(value.hex())  # -0.0 and 0.0 are equal
    return tuple(parts)


def marshal(operator: Aclnn, values: Sequence[Any]) -> Marshalled:
    """The call in C.  RuntimeError if a descriptor cannot be made."""
    handles = Handles()
    made: list[Any] = []
    slots: list[Slot] = []
    counts = {"tensor": 0, "out": 0}
    for argument, value in zip(operator.arguments, values, strict=True):
        made.append(_argument(handles, argument.kind, value))
        if argument.kind in counts and value is not None:
            slots.append(Slot(argument.kind == "out", counts[argument.kind], made[-1]))
            counts[argument.kind] += 1
    tensors = [each for _, each in _tensors(operator, values)]
    return Marshalled(made, handles, slots, tensors)


def _argument(handles: Handles, kind: str, value: Any) -> Any:
    if value is None:
        return None
    if kind in _TENSORS:
        return _tensor(handles, value)
    if kind == "scalar":
        return _scalar(handles, value)
    if kind == "ints":
        return handles.make("aclCreateIntArray", _int64s(value), len(value))
    if kind == "bools":
        array = (ctypes.c_bool * len(value))(*value)
        return handles.make("aclCreateBoolArray", array, len(value))
    if kind == "tensors":
        return handles.make_tensor_list([_tensor(handles, each) for each in value])
    if kind == "dtype":
        return ACL_DTYPES[value]
    if kind == "u64":
        return ctypes.c_uint64(value)
    return value.encode() if kind == "text" else value


def _int64s(values: Sequence[int]) -> Any:
    return (ctypes.c_int64 * len(values))(*values) if values else None


def _tensor(handles: Handles, tensor: Tensor) -> int:
    memory, rank = memory_of(tensor), len(tensor._sizes)
    acl_dtype = _acl_dtype(tensor._dtype)
    length = memory.nbytes // tensor._dtype.itemsize
    return handles.make(
        "aclCreateTensor",
        _int64s(tensor._sizes),
        rank,
        acl_dtype,
        _int64s(tensor._strides),
        tensor._storage_offset,
        FORMAT_BY_RANK.get(rank, FORMAT_ND),
        _int64s((length,)),
        1,
        memory.address or None,
    )


def _acl_dtype(dtype: DType) -> int:
    if dtype not in ACL_DTYPES:
        raise UnsupportedError(f"ACL has no {dtype}")
    return ACL_DTYPES[dtype]


_INT64: Final = range(-(1 << 63), 1 << 63)


def _scalar(handles: Handles, number: bool | int | float | complex) -> int:
    """A scalar of the kind that torch_npu makes of a Python number."""
    if isinstance(number, bool):
        return _made(handles, ctypes.c_bool(number), "bool")
    if isinstance(number, int):
        if number not in _INT64:
            raise UnsupportedError("a number has more than 64 bits")
        return _made(handles, ctypes.c_int64(number), "int64")
    if isinstance(number, float):
        return _made(handles, ctypes.c_double(number), "float64")
    return _made(handles, (ctypes.c_double * 2)(number.real, number.imag), "complex128")


def _made(handles: Handles, value: Any, name: str) -> int:
    return handles.make("aclCreateScalar", ctypes.byref(value), ACL_DTYPES[DTYPES[name]])
