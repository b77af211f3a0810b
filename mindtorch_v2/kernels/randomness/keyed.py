"""Operators that draw by a key, a seed and an offset, instead of from a generator.

Mirrors ``aten/src/ATen/native/PhiloxStatelessRNG.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from mindtorch_v2.kernels.cpu.samples import philox
from mindtorch_v2.kernels.elementwise.broadcasting import is_expandable_to
from mindtorch_v2.kernels.elementwise.pointwise import as_array
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HALVES, dispatch_over
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import is_contiguous, numel
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_UINT64: Final = DTYPES["uint64"]

Sample = Callable[[philox.Words, int, DType, float, float], Array]


# --- checks -----------------------------------------------------------------------------------


class Manner(NamedTuple):
    """How messages show sizes and dtypes: C++'s do it otherwise than Python's."""

    sizes: Callable[[Sequence[int]], object]
    dtype: Callable[[DType], object]


_OF_CPP: Final = Manner(list, CPP_NAMES.__getitem__)


def check_key(name: str, key: Tensor, manner: Manner) -> None:
    if key._sizes[-1:] != (2,):
        raise RuntimeError(
            f"{name}: key must have shape (*batch, 2), got shape {manner.sizes(key._sizes)}"
        )
    if key._dtype is not _UINT64:
        raise RuntimeError(f"{name}: key must have dtype uint64, got {manner.dtype(key._dtype)}")


def check_splits(name: str, num_splits: int) -> None:
    if num_splits <= 0:
        raise RuntimeError(f"{name}: num_splits must be positive, got {num_splits}")


def check_filled_by(name: str, self: Tensor, key: Tensor, manner: Manner) -> None:
    """What is asked of a tensor and of the key, or keys, that it is to be filled by."""
    if not self._dtype.is_floating_point:
        shown = manner.dtype(self._dtype)
        raise RuntimeError(f"{name}: self must be a floating point tensor, got {shown}")
    if key._dtype is not _UINT64:
        raise RuntimeError(f"{name}: key must have dtype uint64, got {manner.dtype(key._dtype)}")
    if self._device != key._device:
        raise RuntimeError(
            f"{name}: self and key must be on the same device, got {self._device} and {key._device}"
        )
    sizes, rank = tuple(key._sizes), len(self._sizes)
    shown = manner.sizes(self._sizes)
    if sizes[-1:] != (2,):
        raise RuntimeError(
            f"{name}: key must have shape (2,) or (*batch, 2), got shape {manner.sizes(key._sizes)}"
        )
    if len(sizes) == 1:
        return
    if len(sizes) != rank + 1:
        raise RuntimeError(
            f"{name}: batched key must have ndim == output ndim + 1, got key shape "
            f"{manner.sizes(key._sizes)} with output shape {shown}"
        )
    if not is_expandable_to(sizes[:-1], self._sizes):
        raise RuntimeError(
            f"{name}: key batch shape {list(sizes[:-1])} is not broadcastable with output shape "
            f"{shown}"
        )


# --- keys -------------------------------------------------------------------------------------


@kernel("aten::_philox_key_split")
def philox_key_split(key: Tensor, num_splits: int) -> Tensor:
    name = "_philox_key_split"
    check_key(name, key, _OF_CPP)
    check_splits(name, num_splits)
    output = new_tensor((num_splits, *key._sizes), key._dtype, key._device)
    steps = np.arange(num_splits, dtype=np.uint64)
    keys = as_array(key, _UINT64)
    store(output, philox.derived(keys, steps.reshape(-1, *(1,) * (keys.ndim - 1))))
    return output


@kernel("aten::_philox_key_fold_in")
def philox_key_fold_in(key: Tensor, data: int) -> Tensor:
    check_key("_philox_key_fold_in", key, _OF_CPP)
    output = new_tensor(tuple(key._sizes), key._dtype, key._device)
    store(output, philox.derived(as_array(key, _UINT64), np.array(data, np.int64).view(np.uint64)))
    return output


# --- samples ----------------------------------------------------------------------------------


def _filled(name: str, self: Tensor, key: Tensor, sample: Sample, *numbers: float) -> Tensor:
    """Sizes of one behind all others of a key are those that one key fills, and not one of each."""
    dispatch_over(FLOATING_TYPES | HALVES, name, self._dtype)
    check_filled_by(name, self, key, _OF_CPP)
    if not numel(self._sizes):
        return self
    if not is_contiguous(self._sizes, self._strides):  # and something is copied to it
        assert_no_internal_overlap(self)
    sizes, batch = tuple(self._sizes), list(key._sizes[:-1])
    while batch and batch[-1] == 1:
        batch.pop()
    own = sizes[: len(batch)]
    keys = as_array(key, _UINT64)
    keys = keys.reshape(*batch, 2) if batch else keys.reshape(1, 2)
    rows = np.broadcast_to(keys, (*own, 2)).reshape(-1, 2) if batch else keys
    found = sample(rows, numel(sizes[len(batch) :]), self._dtype, *numbers)
    store(self, found.reshape(sizes))
    return self


@kernel("aten::_philox_uniform_")
def philox_uniform_(self: Tensor, key: Tensor, low: float = 0.0, high: float = 1.0) -> Tensor:
    return _filled("_philox_uniform_", self, key, philox.uniform, low, high)


@kernel("aten::_philox_normal_")
def philox_normal_(self: Tensor, key: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    return _filled("_philox_normal_", self, key, philox.normal, mean, std)
