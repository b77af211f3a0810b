"""Which elements of an array a loop over vectors computes, and which it leaves to be computed one
by one.

Mirrors ``vectorized_loop`` of ``aten/src/ATen/native/cpu/Loops.h``, for AVX2.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mindtorch_v2.tensor.elements import Array

_STEP_BYTES: Final = 64
"""Two vectors at once."""


def in_vectors(values: Array, itemsize: int) -> Array:
    """Whether each element is computed in a vector: of what lies without gaps, all but the last
    few; of rows with gaps between them, the same of each; of what is spread out, none.

    The loop goes through the memory in order, whatever the order of the dimensions is.  Elements
    have ``itemsize`` bytes there, and may have more in ``values``, in which is computed.
    """
    order = sorted(range(values.ndim), key=lambda dim: (-abs(values.strides[dim]), dim))
    laid = values.transpose(order)
    length = 1
    for size, stride in zip(reversed(laid.shape), reversed(laid.strides), strict=True):
        if size != 1 and stride != length * values.itemsize:
            break
        length *= size
    step = _STEP_BYTES // itemsize
    places = np.arange(values.size).reshape(laid.shape) % max(length, 1)
    return np.asarray((places < length - length % step).transpose(np.argsort(order)))
