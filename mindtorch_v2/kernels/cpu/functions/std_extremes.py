"""The larger and the smaller of numbers, as functions of C++'s library choose of two zeros.

NumPy answers one zero or the other, by the length of an array and the processor it runs on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.support import HABITS

Choice: TypeAlias = Callable[[Array, Array], Array]

_BFLOAT16: Final = DTYPES["bfloat16"]
_IS_FIRST_OF_ZEROS: Final = HABITS["fmax answers the first of two zeros"]


def std_max(self: Array, other: Array) -> Array:
    """The first of equals.  Of long tensors vectors answer the second, as many as they hold."""
    return _with_zeros(np.maximum, self, other, self)


def std_min(self: Array, other: Array) -> Array:
    """The first of equals, as above."""
    return _with_zeros(np.minimum, self, other, self)


def std_fmax(self: Array, other: Array, is_first: bool) -> Array:
    return _with_zeros(np.fmax, self, other, self if is_first else other)


def std_fmin(self: Array, other: Array, is_first: bool) -> Array:
    return _with_zeros(np.fmin, self, other, self if is_first else other)


def is_first_of_zeros(dtype: DType) -> tuple[bool]:
    """Whether ``std::fmax`` and ``std::fmin`` answer the first: as a release's compiler has it."""
    return (_IS_FIRST_OF_ZEROS and dtype is not _BFLOAT16,)


def _with_zeros(choose: Choice, self: Array, other: Array, zeros: Array) -> Array:
    found = choose(self, other)
    is_zero = found == 0
    if found.dtype.kind != "f" or not is_zero.any():
        return found
    return np.where(is_zero & (self == other), zeros, found)


def first_zeros(found: Array, values: Array, dims: tuple[int, ...]) -> Array:
    """What a reduction over ``dims`` has found; where that is zero, the first of its zeros."""
    if values.dtype.kind != "f" or np.all(found):
        return found
    count = len(dims)
    rows = np.moveaxis(values, dims, range(-count, 0))
    rows = rows.reshape(*rows.shape[: rows.ndim - count], -1)
    place = np.expand_dims(np.argmax(rows == 0, axis=-1), -1)
    return np.where(found == 0, np.take_along_axis(rows, place, -1)[..., 0], found)
