"""Products of many numbers in torch's own order, in which they are rounded.

Mirrors ``binary_kernel_reduce_vec`` of ``aten/src/ATen/native/cpu/Reduce.h``, which is compiled for
AVX2.  Left out are threads, and the columns of several loops: see there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from mindtorch_v2.kernels.elementwise.pointwise import rounded
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import dense_strides_like, innermost_first
from mindtorch_v2.tensor.tensor import Tensor

_VECTOR_BYTES: Final = 32
_VECTORS: Final = 4
"""That are multiplied side by side."""


@dataclass(frozen=True)
class RunningProduct:
    """What :mod:`~mindtorch_v2.kernels.cpu.reduce` computes: values of ``dtype`` after each step.

    ``strides`` are those that the values have in memory.
    """

    dtype: DType
    strides: tuple[int, ...]

    @classmethod
    def of(cls, self: Tensor, dtype: DType) -> RunningProduct:
        """Of another dtype it is a copy that is reduced."""
        strides = tuple(self._strides)
        if self._dtype is not dtype:
            strides = dense_strides_like(self._sizes, strides)
        return cls(dtype, strides)

    def __call__(self, values: Array, dims: tuple[int, ...]) -> Array:
        kind = values.dtype.kind
        if kind == "b":
            return np.asarray(np.all(values, axis=dims))
        if kind in "iu" or not values.size or values.ndim != len(self.strides):
            return self._in_any_order(values, dims)
        strides = [self.strides[dim] for dim in dims]
        inner = innermost_first([values.shape[dim] for dim in dims], strides)
        order = [dims[place] for place in reversed(inner)]
        laid = np.moveaxis(values, order, range(len(order)))
        kept = laid.shape[len(order) :]
        length = self._length_of_row(values.shape, order)
        found = np.ones(kept, values.dtype)
        for row in laid.reshape(-1, length, *kept):
            found = self._times_row(found, row)
        return found

    def _in_any_order(self, values: Array, dims: tuple[int, ...]) -> Array:
        return np.asarray(np.prod(values, axis=dims, dtype=values.dtype))

    def _length_of_row(self, sizes: Sequence[int], order: Sequence[int]) -> int:
        """How many elements lie side by side: 1 if none do."""
        length = 1
        for dim in reversed(order):
            if sizes[dim] != 1 and self.strides[dim] != length:
                break
            length *= sizes[dim]
        return length

    def _times_row(self, found: Array, row: Array) -> Array:
        """``vectorized_inner_reduction``."""
        lanes = _VECTOR_BYTES // self.dtype.itemsize
        whole = len(row) - len(row) % (_VECTORS * lanes)
        if whole:
            chunks = row[:whole].reshape(-1, _VECTORS, lanes, *row.shape[1:])
            one, two, three, four = self._running(chunks)
            vector = self._times(self._times(one, two), self._times(three, four))
            found = self._times(found, self._running(vector))
        for factor in row[whole:]:
            found = self._times(found, factor)
        return found

    def _running(self, factors: Array) -> Array:
        found: Array = factors[0]
        for factor in factors[1:]:
            found = self._times(found, factor)
        return found

    def _times(self, one: Array, two: Array) -> Array:
        return rounded(np.asarray(one * two), self.dtype)
