"""Which elements a loop over vectors computes, and which it leaves to be computed one by one.

Mirrors ``VectorizedLoop2d`` and ``vectorized_loop`` of ``aten/src/ATen/native/cpu/Loops.h``, for
AVX2.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mindtorch_v2.kernels.elementwise.tensor_iterator import TensorIterator
from mindtorch_v2.tensor.elements import Array

_STEP_BYTES: Final = 64
"""Two vectors at once."""


def in_vectors(iterator: TensorIterator) -> Array:
    """Whether each element is computed in a vector: of what lies without gaps, in all operands,
    all but the last few; of rows with gaps between them, the same of each; of what is spread out,
    none.  One operand may be the same number all the time, or along each row.

    The loop goes through the memory in order, whatever the order of the dimensions is.
    """
    operands, order = iterator.walked()
    shape = iterator.shape
    inner = next((dim for dim in order if shape[dim] != 1), None)
    still = [number for number, each in enumerate(operands) if inner is None or not each[inner]]
    length = 1
    for dim in order:
        strides = [each[dim] for each in operands]
        if len(still) == 1:
            strides[still[0]] = strides[still[0]] or length
        if shape[dim] != 1 and any(stride != length for stride in strides):
            break
        length *= shape[dim]
    step = _STEP_BYTES // iterator.common_dtype.itemsize
    laid = order[::-1]
    sizes = [shape[dim] for dim in laid]
    places = np.arange(int(np.prod(sizes))).reshape(sizes) % max(length, 1)
    return np.asarray((places < length - length % step).transpose(np.argsort(laid)))


def in_vectors_of_one_row(values: Array) -> Array:
    """The same of operands that lie alike, without gaps: ``values`` is one of them."""
    step = _STEP_BYTES // values.itemsize
    return np.arange(values.size).reshape(values.shape) < values.size - values.size % step
