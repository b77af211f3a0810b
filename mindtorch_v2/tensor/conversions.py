"""One-element tensors as Python numbers, and whole tensors as nested lists.

Mirrors ``Tensor.item`` (``aten/src/ATen/native/Scalar.cpp``), ``torch/csrc/utils/tensor_list.cpp``
and the number protocol of ``tools/autograd/templates/python_variable_methods.cpp``.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from mindtorch_v2.tensor.copying import value_array
from mindtorch_v2.tensor.dtype import strided
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.plain import array_of
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.support import check_dtype
from mindtorch_v2.tensor.zeros import is_zero_tensor

if TYPE_CHECKING:
    from mindtorch_v2.tensor.tensor import Tensor

Read = Callable[["Tensor"], Any]
"""Reads the one element of a tensor."""


def item(tensor: Tensor) -> Any:
    """The one element as a Python number."""
    array = array_of(tensor)
    if array is not None and array.size == 1:
        check_dtype("item", tensor._dtype)
        return array.item()
    count = numel(tensor._sizes)
    if count != 1:
        raise RuntimeError(f"a Tensor with {count} elements cannot be converted to Scalar")
    if tensor.is_meta:
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")
    check_dtype("item", tensor.dtype)
    return value_array(tensor).reshape(()).item()


_LONGEST: Final = 1 << 60
"""No list is longer, since its pointers would not fit into memory that has an address."""


def to_list(tensor: Tensor) -> Any:
    """Nested lists of Python numbers; a number for a tensor without dimensions."""
    array = array_of(tensor)
    if array is not None:
        check_dtype("tolist", tensor._dtype)
        return array.tolist()
    if tensor.is_meta:
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    if tensor.layout is not strided:
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
    is_stored = not is_zero_tensor(tensor)
    if is_stored:
        tensor = tensor._resolved()
    if not numel(tensor._sizes) or min(tensor._sizes, default=0) < 0:
        return _lists_of_nothing(tensor._sizes)
    if not is_stored:
        raise RuntimeError("tolist() shouldn't be called on a tensor with unallocated storage")
    check_dtype("tolist", tensor.dtype)
    return value_array(tensor).tolist()


def _lists_of_nothing(sizes: Sequence[int]) -> list[Any]:
    """Without NumPy, which has no arrays of some sizes beside a 0.

    SystemError for a negative size, which ``as_strided`` can make, MemoryError for a large one:
    no list has that length.  CPython names the line of its own source, so it is asked.
    """
    size = sizes[0]
    if not 0 <= size < _LONGEST:
        ctypes.pythonapi.PyList_New(ctypes.c_ssize_t(size))
    return [_lists_of_nothing(sizes[1:]) for _ in range(size)]


def truth(tensor: Tensor, read: Read = item) -> bool:
    """``bool()``: whether the one element is nonzero."""
    count = tensor._numel()
    if count != 1:
        what = "no values" if count == 0 else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
    number = read(tensor)
    return bool((_as_int64(number) if is_integral(tensor.dtype) else number) != 0)


def integer(tensor: Tensor, read: Read = item) -> int:
    """``int()``: the one element, cut to an integer."""
    number = _one_number(tensor, read)
    if isinstance(number, complex):
        return int(_real_part(number, "int64_t"))
    return int(number) if isinstance(number, float) else _as_int64(number)


def floating(tensor: Tensor, read: Read = item) -> float:
    """``float()``."""
    number = _one_number(tensor, read)
    return float(_real_part(number, "double") if isinstance(number, complex) else number)


def complex_number(tensor: Tensor, read: Read = item) -> complex:
    """``complex()``."""
    return complex(_one_number(tensor, read))


def index(tensor: Tensor, read: Read = item) -> int:
    """``__index__``: of one element of an integer type, bool included."""
    if numel(tensor._sizes) != 1 or not is_integral(tensor.dtype):
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return _as_int64(read(tensor))


def _one_number(tensor: Tensor, read: Read) -> Any:
    if numel(tensor._sizes) != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return read(tensor)


def _as_int64(number: int) -> int:
    if number >= 1 << 63:
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    return int(number)


def _real_part(number: complex, type_name: str) -> float:
    if number.imag:
        raise RuntimeError(f"value cannot be converted to type {type_name} without overflow")
    return number.real
