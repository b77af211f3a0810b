"""Kernels that go along one dimension, row by row.

Mirrors ``compare_base_kernel`` of ``aten/src/ATen/native/cpu/TensorCompareKernel.cpp``, and the
loops of ``Sorting.cpp`` over a shape in which one dimension is squashed.

A row is read whole before its results are written.  In what order the rows come is seen only if
outputs are memory of what is read, or of each other; see Note [Outputs that are inputs].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from mindtorch_v2.kernels.cpu.reduce import places_in_order, shares_storage
from mindtorch_v2.kernels.outputs import resize_output, set_sizes
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap, assert_no_partial_overlap
from mindtorch_v2.tensor.copying import raw_array, store, store_bits
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

Run = Callable[[Sequence[Tensor], Tensor, int], None]
"""Writes to outputs, which keep the dimension, what it makes of the rows along it."""


def compare_base_kernel(
    run: Run, outputs: Sequence[Tensor], self: Tensor, dim: int, *, keepdim: bool
) -> None:
    """Outputs get the dimension, are resized and written, and lose the dimension again.

    How long a row is, is asked first: an output that is ``self`` changes it.
    """
    dim = wrap_dim(dim, len(self._sizes))
    row = (self._sizes[dim], self._strides[dim]) if self._sizes else (1, 1)
    keep_dim(outputs, self, dim, keepdim=keepdim)
    check_overlaps(outputs, self)
    for_each_row(run, outputs, self, dim, row)
    drop_dim(outputs, dim, keepdim=keepdim)


def keep_dim(outputs: Sequence[Tensor], self: Tensor, dim: int, *, keepdim: bool) -> None:
    """Gives outputs the shape in which a dimension is kept."""
    kept = list(self._sizes) or [1]
    kept[dim] = 1
    for output in () if keepdim else outputs:
        if len(output._sizes) >= dim:
            unsqueeze(output, dim)
    for output in outputs:
        resize_output(output, kept)


def drop_dim(outputs: Sequence[Tensor], dim: int, *, keepdim: bool) -> None:
    for output in () if keepdim else outputs:
        _squeeze(output, wrap_dim(dim, len(output._sizes)))


def unsqueeze(tensor: Tensor, dim: int) -> None:
    """``unsqueeze_``."""
    sizes, strides = list(tensor._sizes), list(tensor._strides)
    step = sizes[dim] * strides[dim] if dim < len(sizes) else 1
    sizes.insert(dim, 1)
    strides.insert(dim, step)
    set_sizes(tensor, sizes, tuple(strides))


def _squeeze(tensor: Tensor, dim: int) -> None:
    """``squeeze_``."""
    sizes, strides = list(tensor._sizes), list(tensor._strides)
    if sizes and sizes[dim] == 1:
        del sizes[dim], strides[dim]
        set_sizes(tensor, sizes, tuple(strides))


def check_overlaps(outputs: Sequence[Tensor], self: Tensor) -> None:
    """RuntimeError if outputs overlap with themselves or with what is read."""
    for output in outputs:
        assert_no_internal_overlap(output)
        if output is not self:
            assert_no_partial_overlap(output, self)


def for_each_row(
    run: Run,
    outputs: Sequence[Tensor],
    self: Tensor,
    dim: int,
    row: tuple[int, int] | None = None,
) -> None:
    """Go through the rows along a dimension; ``row`` is how long they are, and their stride."""
    size, stride = row or (self._sizes[dim], self._strides[dim])
    if size == self._sizes[dim] and _are_apart((*outputs, self)):
        run(outputs, self, dim)
        return
    squashed = [1 if each == dim else count for each, count in enumerate(self._sizes)]
    for place in places_in_order(squashed, outputs[0]._strides):
        rows = [_row(each, place, each._sizes[dim], each._strides[dim]) for each in outputs]
        run(rows, _row(self, place, size, stride), 0)


def _are_apart(tensors: Sequence[Tensor]) -> bool:
    return not any(shares_storage(one, two) for one, two in combinations(tensors, 2))


def _row(tensor: Tensor, place: Sequence[int], size: int, stride: int) -> Tensor:
    steps = (at * step for at, step in zip(place, tensor._strides, strict=True))
    return tensor._as_view((size,), (stride,), tensor._storage_offset + sum(steps))


def write_chosen(outputs: Sequence[Tensor], self: Tensor, dim: int, places: Array) -> None:
    """The elements at ``places`` along a dimension, and then the places themselves."""
    values, indices = outputs
    store_bits(values, np.take_along_axis(raw_array(self), places, axis=dim))
    store(indices, places)
