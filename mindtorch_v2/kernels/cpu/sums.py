"""Sums of floats in torch's own order, in which they are rounded.

Mirrors ``cascade_sum`` of ``aten/src/ATen/native/cpu/SumKernel.cpp``, which is compiled for AVX2 at
the most, and what ``TensorIterator`` makes of the dimensions.  Left out are threads: what is
divided among them is added up in NumPy's order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.lib.stride_tricks import as_strided

from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import innermost_first

_GRAIN_SIZE: Final = 32768
_VECTOR_BYTES: Final = 32
_ROWS: Final = 4
"""How many sums are made side by side (``ilp_factor`` and ``nrows``)."""

Loops = list[tuple[int, int]]
"""Sizes and strides, from the innermost loop to the outermost."""

Load = Callable[[Array], Array]


def sum_in_order(values: Array, dims: tuple[int, ...], load: Load = np.asarray) -> Array:
    """The sum over ``dims`` of an array whose strides are those of a tensor.

    ``load`` makes of the numbers those that are added.
    """
    if not 0 < values.size < _GRAIN_SIZE:
        return np.asarray(np.sum(load(values), axis=dims, dtype=values.dtype))
    rank = values.ndim
    if len(dims) == rank and values.flags.c_contiguous:
        return np.asarray(_row_of_vectors(load(values.reshape(-1))) + values.dtype.type(0))
    kept = [dim for dim in range(rank) if dim not in dims]
    over, rest = _loops(values, _ordered(values, dims)), _loops(values, kept[::-1])
    sizes, strides = zip(*over, *rest[::-1], strict=True) if over or rest else ((), ())
    found = np.ascontiguousarray(load(_strided(values, sizes, strides)))
    if len(over) == 1:
        second = rest[0][1] if rest else 0
        found = _sums(found if rest else found[:, None], over[0][1], second)
    elif over:  # each of several sums is added to the output
        found = _sums(np.moveaxis(found, 1, -1), over[0][1], over[1][1])
        outer, last = len(over) - 2, found.ndim - 1
        found = found.transpose(*range(outer - 1, -1, -1), last, *range(outer, last))
        found = _running(found.reshape(-1, *found.shape[outer + 1 :]))
    found = found.reshape([values.shape[dim] for dim in kept])
    return np.asarray(found + values.dtype.type(0))


def _strided(values: Array, sizes: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    """``as_strided``, which takes ten times as long as NumPy needs for an array over another."""
    if values.flags.c_contiguous:
        return np.ndarray(sizes, values.dtype, values, 0, strides)
    return as_strided(values, sizes, strides, writeable=False)


def _ordered(values: Array, dims: Sequence[int]) -> list[int]:
    """``reorder_dimensions``: those that are reduced, the innermost first."""
    shape, strides = ([each[dim] for dim in dims] for each in (values.shape, values.strides))
    return [dims[place] for place in innermost_first(shape, strides)]


def _loops(values: Array, dims: Sequence[int]) -> Loops:
    """``coalesce_dimensions``."""
    loops: Loops = []
    for dim in dims:
        size, stride = values.shape[dim], values.strides[dim]
        if size == 1:
            continue
        if loops and loops[-1][0] * loops[-1][1] == stride:
            loops[-1] = loops[-1][0] * size, loops[-1][1]
        else:
            loops.append((size, stride))
    return loops


def _sums(values: Array, inner: int, outer: int) -> Array:
    """Over the first axis; ``inner`` is its stride and ``outer`` that of the last."""
    item = values.dtype.itemsize
    width = _VECTOR_BYTES // item
    if inner == item and len(values) >= width:
        return _row_of_vectors(values)
    if outer == item and values.shape[-1] >= width:
        return _sums_of_columns(values, _ROWS * width)
    return _row_sum(values) if inner < outer else _sums_of_columns(values, _ROWS)


def _row_of_vectors(values: Array) -> Array:
    """``vectorized_inner_sum``."""
    width = _VECTOR_BYTES // values.dtype.itemsize
    if len(values) < width:
        return _row_sum(values)
    whole = len(values) // width * width
    lanes = _row_sum(values[:whole].reshape(-1, width, *values.shape[1:]))
    return _running(np.concatenate((_running(values[whole:])[None], lanes)))


def _sums_of_columns(values: Array, block: int) -> Array:
    """``vectorized_outer_sum`` and ``scalar_outer_sum``: columns in blocks, and those left over."""
    whole = values.shape[-1] // block * block
    if not whole:
        return _row_sum(values)
    blocks = _multi_row_sum(values[..., :whole])
    if whole == values.shape[-1]:
        return blocks
    return np.concatenate((blocks, _row_sum(values[..., whole:])), axis=-1)


def _row_sum(values: Array) -> Array:
    """``row_sum``: four sums side by side."""
    whole = len(values) // _ROWS * _ROWS
    if not whole:
        return _running(values)
    partial = _multi_row_sum(values[:whole].reshape(-1, _ROWS, *values.shape[1:]))
    first = _running(np.concatenate((partial[:1], values[whole:])))
    return _running(np.concatenate((first[None], partial[1:])))


def _multi_row_sum(values: Array) -> Array:
    """``multi_row_sum``: chunks of a power of two, and chunks of the sums of those."""
    step = 1 << max(4, (len(values) - 1).bit_length() // 4)
    if len(values) < step:
        return _running(values)
    levels: list[Any] = []
    for _ in range(3):
        whole = len(values) // step * step
        levels.append(_running(values[whole:]))
        chunks = values[:whole].reshape(-1, step, *values.shape[1:])
        values = _running(chunks, 1) if whole else chunks[:, 0]
    total = levels[0] + levels[1] + levels[2]
    return np.asarray(total + _running(values))


def _running(values: Array, axis: int = 0) -> Array:
    """The sum over an axis, one after the other."""
    if not len(values):
        return np.zeros(values.shape[1:], values.dtype)
    if values.flags.c_contiguous and values.shape[-1] > 1 and axis < values.ndim - 1:
        return np.asarray(np.add.reduce(values, axis=axis))  # rows, which NumPy adds one by one
    return np.asarray(np.add.accumulate(values, axis=axis).take(-1, axis=axis))
