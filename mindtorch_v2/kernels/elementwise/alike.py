"""Operands that lie alike: of one dtype and one shape, row-major in the CPU's memory.

What a TensorIterator finds of such operands is known beforehand (``FastSetupType::CONTIGUOUS`` in
``aten/src/ATen/TensorIterator.cpp``): the shape, the strides and the common dtype are theirs, and
nothing has to be converted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, Final

import numpy as np

from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import functionality_bit
from mindtorch_v2.kernels.elementwise.promotion import Operand, to_opmath
from mindtorch_v2.kernels.elementwise.tensor_iterator import Config
from mindtorch_v2.tensor.device import NO_INDEX, Device
from mindtorch_v2.tensor.dtype import DType, strided
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.geometry import contiguous_strides
from mindtorch_v2.tensor.options import dense_keys
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.version import VersionCounter

_CPU: Final = Device("cpu")
_new: Final[Any] = object.__new__
_BYTES: Final = np.dtype(np.uint8)
_row_major: Final = lru_cache(contiguous_strides)
_LAZY: Final = functionality_bit(DispatchKey.Conjugate) | functionality_bit(DispatchKey.Negative)


def common_dtype(
    config: Config, outputs: Sequence[Tensor | None], operands: Sequence[Operand]
) -> DType | None:
    """The dtype of operands that lie alike, if results are computed in it and kept in it.

    None for other operands, and for an output that is neither new nor the first of them.
    """
    first = operands[0]
    if (
        config.static_dtype is not None
        or not isinstance(first, Tensor)
        or first._custom is not None
    ):
        return None
    dtype, sizes, strides = first._dtype, first._sizes, first._strides
    if strides != _row_major(sizes) or 0 in sizes or _raw(dtype) is None:
        return None
    if config.promote_integer_inputs_to_float and is_integral(dtype):
        return None
    for each in operands:
        if (
            not isinstance(each, Tensor)
            or each._custom is not None
            or each._dtype is not dtype
            or each._sizes != sizes
            or each._strides != strides
            or each._layout is not strided
            or each._keys & _LAZY
            or each._functional is not None
            or each._device.type != "cpu"
            or each._device._index != NO_INDEX
        ):
            return None
    (output,) = outputs
    if output is None:
        return dtype
    is_free = all(each is first or each._storage is not first._storage for each in operands)  # type: ignore[union-attr]
    return dtype if output is first and is_free else None


def is_computed_as_stored(dtype: DType) -> bool:
    """Whether NumPy computes in this dtype, and its bits are the values."""
    return _raw(dtype) is not None


@cache
def _raw(dtype: DType) -> np.dtype[Any] | None:
    """NumPy's dtype of the elements, if kernels compute in that."""
    elements = elements_of(dtype)
    same = elements.raw == elements.computed and to_opmath(dtype) is dtype
    return elements.raw if same else None


def array_of(tensor: Tensor) -> Array:
    """The values of such an operand; writing to them changes it."""
    raw, offset, storage = _raw(tensor._dtype), tensor._storage_offset, tensor._storage
    start = offset * raw.itemsize if offset else 0  # type: ignore[union-attr]
    return np.ndarray(tensor._sizes, raw, storage._bytes, start)  # type: ignore[union-attr, arg-type]


def tensor_of(values: Array, like: Tensor) -> Tensor:
    """A new tensor that lies like an operand; of an array of its own it takes the memory."""
    raw = _raw(like._dtype)
    if type(values) is not np.ndarray or values.base is not None or values.dtype != raw:
        values = np.array(values, raw, order="C")
    elif not values.flags.c_contiguous:
        values = values.copy(order="C")
    flat = values if values.ndim == 1 else values.reshape(-1)
    return _remade(like, UntypedStorage._owning(flat.view(_BYTES), _CPU))


def _remade(tensor: Tensor, storage: UntypedStorage) -> Tensor:
    """A new dense tensor with the geometry, dtype and device of another one."""
    twin: Tensor = _new(Tensor)
    twin._dtype, twin._layout, twin._device = tensor._dtype, strided, tensor._device
    twin._sizes, twin._strides, twin._storage_offset = tensor._sizes, tensor._strides, 0
    twin._raw_storage, mode = storage, tls.thread_local.raw.inference_mode
    twin._keys = dense_keys(tensor._dtype, tensor._device._type, mode)
    twin._raw_versions = VersionCounter(None if mode else 0)
    twin._raw_autograd = twin._pending = twin._array = None
    twin._content = twin._functional = twin._custom = None
    return twin
