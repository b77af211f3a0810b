"""Copies: values into a storage, converted to its dtype.

Mirrors ``aten/src/ATen/native/Copy.cpp``, ``Fill.cpp`` and ``cpu/CopyKernel.cpp``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.scalars import scalar_to
from mindtorch_v2.tensor.support import check_dtype

if TYPE_CHECKING:
    from mindtorch_v2.tensor.tensor import Tensor


def raw_array(tensor: Tensor) -> Array:
    """The bits of a tensor as a NumPy view of its storage: writing to it changes the tensor."""
    raw = elements_of(tensor.dtype).raw
    if numel(tensor._sizes) == 0:
        return np.empty([max(size, 0) for size in tensor._sizes], raw)
    memory = tensor._bytes()
    return np.ndarray(
        tensor._sizes,
        raw,
        buffer=memory,
        offset=tensor._storage_offset * raw.itemsize,
        strides=[stride * raw.itemsize for stride in tensor._strides],
    )


def value_array(tensor: Tensor) -> Array:
    """The values of a tensor, its lazy conjugation and negation done; perhaps a view."""
    values = elements_of(tensor.dtype).decode(raw_array(tensor))
    if tensor._is_conj():
        values = np.conj(values)
    if tensor._is_neg():
        values = np.negative(values)
    return values


def store(tensor: Tensor, values: Array) -> None:
    """Put values, which broadcast to its shape, into a tensor, in the dtype that it has."""
    if tensor._is_neg():
        values = np.negative(values)
    if tensor._is_conj():
        values = np.conj(values)
    if numel(tensor._sizes):
        raw_array(tensor)[...] = elements_of(tensor.dtype).encode(np.asarray(values))


def store_bits(tensor: Tensor, bits: Array) -> None:
    if numel(tensor._sizes):
        raw_array(tensor)[...] = bits


def copy_values(target: Tensor, source: Tensor) -> None:
    """The values of ``source``, converted; on meta there is nothing to do."""
    if target.is_meta or numel(target._sizes) == 0:
        return
    if source.is_meta:
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    same = target.dtype is source.dtype
    if same and target._lazy_bits() == source._lazy_bits():
        check_dtype("clone", source.dtype)
        store_bits(target, raw_array(source))
        return
    if not same:
        check_conversion(source.dtype, target.dtype)
    store(target, value_array(source))


def check_conversion(source: DType, target: DType) -> None:
    """What the copy kernel of the target's dtype refuses, and then that of the source's."""
    check_dtype("convert_to", target)
    check_dtype("convert_from", source)


def fill(tensor: Tensor, value: Any) -> None:
    """One number everywhere, converted to the tensor's dtype."""
    count = numel(tensor._sizes)
    if tensor.is_meta:
        return
    check_dtype("fill_one" if count == 1 else "fill_", tensor.dtype)
    store(tensor, np.asarray(scalar_to(value, tensor.dtype)))


def zero(tensor: Tensor) -> None:
    """All bits zero, in whatever dtype; without memory of their own they are filled."""
    if tensor.is_meta:
        return
    if not numel(tensor._sizes):
        fill(tensor, 0)
    else:
        store_bits(tensor, np.zeros((), elements_of(tensor.dtype).raw))
