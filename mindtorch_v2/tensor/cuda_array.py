"""What an object says of its memory on a CUDA device: ``__cuda_array_interface__``.

Mirrors ``tensor_from_cuda_array_interface`` in ``torch/csrc/utils/tensor_numpy.cpp`` up to the
memory itself, which a build without CUDA cannot reach.
"""

from __future__ import annotations

import operator
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.numpy_later import np
from mindtorch_v2.overloaded import has_attribute
from mindtorch_v2.tensor.numpy_bridge import dtype_of

_NO_ACCELERATOR: Final[str] = profile.active().argument_parser["no_accelerator"]
_POINTERS: Final = range(-(1 << 63), 1 << 64)
_INTS: Final = range(-(1 << 63), 1 << 63)


def refuse_cuda_array(data: Any, pin_memory: bool) -> None:
    """Raise for an object with the interface: what is wrong with it, or that there is no device.

    :raises TypeError: for a part that is missing or of a wrong type.
    :raises ValueError: for a dtype or strides that no tensor has.
    :raises RuntimeError: for memory that shall be pinned, and where nothing is wrong.
    """
    if not has_attribute(data, "__cuda_array_interface__"):
        return
    if pin_memory:
        raise RuntimeError("Can't pin tensor constructed from __cuda_array_interface__")
    interface = data.__cuda_array_interface__
    if not isinstance(interface, dict):
        raise TypeError("`__cuda_array_interface__` must be a dict")
    if "shape" not in interface:
        raise TypeError("attribute `shape` must exist")
    sizes = _integers(interface["shape"])
    if "typestr" not in interface:
        raise TypeError("attribute `typestr` must exist")
    itemsize = _itemsize(interface["typestr"])
    if "data" not in interface:
        raise TypeError("attribute `shape` data exist")  # torch's own slip
    _check_data(interface["data"])
    if interface.get("strides") is not None:
        _check_strides(interface["strides"], len(sizes), itemsize)
    raise RuntimeError(_NO_ACCELERATOR)


def _integers(values: Any) -> list[int]:
    length = _length(values)
    if length is None:
        raise TypeError("shape and strides must be sequences")
    found = [operator.index(values[place]) for place in range(length)]
    if any(number not in _INTS for number in found):
        raise OverflowError("int too big to convert")
    return found


def _length(values: Any) -> int | None:
    """``PySequence_Length``, which a dict does not have."""
    try:
        return None if isinstance(values, dict) else len(values)
    except Exception:
        return None


def _itemsize(typestr: Any) -> int:
    try:
        described = np.dtype(typestr)
    except Exception:
        raise ValueError("cannot parse `typestr`") from None
    return dtype_of(np.empty(0, described)).itemsize


def _check_data(data: Any) -> None:
    if not isinstance(data, tuple) or len(data) != 2:
        raise TypeError("`data` must be a 2-tuple of (int, bool)")
    pointer, is_read_only = data
    if not isinstance(pointer, int):
        raise TypeError("an integer is required")
    if pointer not in _POINTERS:
        wide = "unsigned long" if pointer > 0 else "long"
        raise OverflowError(f"Python int too large to convert to C {wide}")
    if is_read_only:
        raise TypeError("the read only flag is not supported, should always be False")


def _check_strides(strides: Any, count: int, itemsize: int) -> None:
    """Strides are in bytes, those of tensors in elements."""
    if _length(strides) != count:
        raise TypeError("strides must be a sequence of the same length as shape")
    if any(stride % itemsize for stride in _integers(strides)):
        raise ValueError(
            "given array strides not a multiple of the element byte size. "
            "Make a copy of the array to reallocate the memory."
        )
