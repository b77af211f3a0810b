"""Mean and variance of rows, by Welford's algorithm in as many lanes as a vector of AVX2 has.

Mirrors ``aten/src/ATen/native/cpu/moments_utils.h``.  A number close to the mean is all rounding of
the mean, so that has to be torch's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.kernels.elementwise.promotion import to_opmath
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array

_VECTOR_BYTES: Final = 32
_CHUNK: Final = 16
_BEGINS_WITH_A_VECTOR: Final = HABITS["moments of rows begin with a vector of them"]


def row_moments(values: Array, dtype: DType) -> tuple[Array, Array]:
    """Of each row the mean and the variance, in the precision in which ``dtype`` is computed."""
    return _rowwise_moments(values, 1 if to_opmath(dtype) is dtype else 2)


def means_of_products(one: Array, two: Array) -> Array:
    """Of each row, with no array made of the products."""
    sums = np.einsum("ij,ij->i", one, two)
    return np.asarray(sums.reshape(-1, 1) / one.shape[1])


@dataclass
class _Moments:
    """How many numbers, their mean and the sum of their squared distances from it."""

    count: int
    mean: Array
    squares: Array

    @classmethod
    def of(cls, columns: Array) -> _Moments:
        """Of those along the first axis."""
        moments = cls.none(columns[0] if len(columns) else columns.sum(axis=0))
        for count, column in enumerate(columns, 1):
            delta = column - moments.mean
            share = column.dtype.type(1 / count)
            moments.mean = fused(delta, share, moments.mean)
            moments.squares = fused(delta, column - moments.mean, moments.squares)
        moments.count = len(columns)
        return moments

    @classmethod
    def none(cls, like: Array) -> _Moments:
        return cls(0, np.zeros_like(like), np.zeros_like(like))

    def add_vectors(self, count: int, mean: Array, squares: Array) -> None:
        """``AddMomentsVec``, which compilers make another thing of: where a vector of them is the
        first, the distance from no numbers is infinity times none, or is not asked for."""
        is_first = not self.count and _BEGINS_WITH_A_VECTOR
        delta, share = mean - self.mean, mean.dtype.type(self._grown(count))
        self.mean = self.mean + share * delta
        self.squares = self.squares + squares
        if not is_first:
            self.squares += delta * delta * share * mean.dtype.type(self.count - count)

    def add(self, count: int, mean: Array, squares: Array) -> None:
        """``AddMoments``, whose products the compiler fuses with the sums."""
        delta, share = mean - self.mean, mean.dtype.type(self._grown(count))
        self.mean = fused(share, delta, self.mean)
        rest = delta * delta * share
        self.squares = self.squares + fused(rest, mean.dtype.type(self.count - count), squares)

    def _grown(self, count: int) -> float:
        """The share of ``count`` more numbers."""
        self.count += count
        return count / self.count if self.count else 0.0


def _rowwise_moments(values: Array, parts: int) -> tuple[Array, Array]:
    """``RowwiseMoments``; a vector of halves is ``parts`` vectors of floats."""
    rows, width = values.shape
    in_vector = _VECTOR_BYTES // values.itemsize
    whole = width // (in_vector * parts)
    vectors = values[:, : whole * in_vector * parts].reshape(rows, whole, parts, in_vector)
    lanes = _of_lanes(vectors.transpose(1, 2, 0, 3))
    moments = _tail(values[:, whole * in_vector * parts :])
    # Lanes of nothing are added as well: infinity times none of them is NaN.  Once is enough.
    for lane in range(in_vector if whole else 1):
        moments.add(whole * parts, lanes.mean[:, lane], lanes.squares[:, lane])
    variance = moments.squares / values.dtype.type(width)
    return moments.mean.reshape(-1, 1), variance.reshape(-1, 1)


def _of_lanes(vectors: Array) -> _Moments:
    """Chunks of vectors, those of a level twice as many as of the one below."""
    chunks = -(-len(vectors) // _CHUNK)
    like = np.zeros(vectors.shape[2:], vectors.dtype)
    levels = [_Moments.none(like) for _ in range(max(1, (chunks - 1).bit_length()))]
    for chunk in range(chunks):
        taken = vectors[chunk * _CHUNK : (chunk + 1) * _CHUNK]
        for part in range(vectors.shape[1]):
            found = _Moments.of(taken[:, part])
            levels[0].add_vectors(found.count, found.mean, found.squares)
        level = 1
        while level < len(levels) and not (chunk + 1) >> (level - 1) & 1:
            below = levels[level - 1]
            levels[level].add_vectors(below.count, below.mean, below.squares)
            levels[level - 1] = _Moments.none(like)
            level += 1
    for each in levels[1:]:
        levels[0].add_vectors(each.count, each.mean, each.squares)
    return levels[0]


def _tail(values: Array) -> _Moments:
    """Of the numbers that fill no vector, in which nothing is fused."""
    mean, squares = np.zeros((2, values.shape[0]), values.dtype)
    for count, column in enumerate(values.T, 1):
        delta = column - mean
        mean = mean + delta / values.dtype.type(count)
        squares = squares + delta * (column - mean)
    return _Moments(values.shape[1], mean, squares)
