"""The elements of a tensor elsewhere in a new one: triangles, flips, rolls, repetitions.

Mirrors ``aten/src/ATen/native/TriangularOps.cpp`` and ``TensorTransformations.cpp``, and
``repeat`` in ``TensorShape.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, set_output
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs, Structured, add, changed_in_place
from mindtorch_v2.kernels.switches import HABITS, dispatch
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import raw_array, store, store_bits, value_array
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.geometry import (
    dense_strides_like,
    dim_list,
    is_contiguous,
    numel,
    wrap_dim,
)
from mindtorch_v2.tensor.tensor import Tensor

_CAT: Final = OperatorHandle("aten::cat")
_CLONE: Final = OperatorHandle("aten::clone")
_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_FLIP: Final = OperatorHandle("aten::flip")
_TRANSPOSE_: Final = OperatorHandle("aten::transpose_")
_NARROW: Final = OperatorHandle("aten::narrow")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_ROLL: Final = OperatorHandle("aten::roll")
_TILED: Final = ("CPU", "Meta", "CompositeExplicitAutograd")


def check_has_matrices(name: str, self: Tensor) -> None:
    if len(self._sizes) < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")


def _triangle(name: str) -> Structured:
    function = getattr(np, name)

    def compute(outputs: Outputs, self: Tensor, diagonal: int) -> tuple[Tensor, ...]:
        check_has_matrices(name, self)
        inplace = changed_in_place(outputs)
        output = set_output(outputs[0], self._sizes, self._dtype, self._device, self=inplace)
        if output.is_meta or not numel(output._sizes):
            return (output,)
        dispatch(name, self._dtype)
        diagonal = max(diagonal, -self._sizes[-2])  # NumPy counts in 64 bits too, and refuses
        if output is not self:
            store(output, function(value_array(self), diagonal))
        elif _is_batch_contiguous(self):
            outside = ~function(np.ones(self._sizes[-2:], np.bool_), diagonal)
            raw_array(self)[..., outside] = 0
        else:  # a copy is computed, which is copied back
            assert_no_internal_overlap(self)
            store(output, function(value_array(self), diagonal))
        return (output,)

    return compute


def _is_batch_contiguous(tensor: Tensor) -> bool:
    """``checkTrilTriuBatchContiguous``: whether one step leads from each matrix to the next, so
    that only what is outside of the triangle is written, in place.

    It matters where several elements are one place in memory: what is kept is not written again.
    """
    sizes, strides = tensor._sizes, tensor._strides
    if len(sizes) < 4 or is_contiguous(sizes, strides):
        return True
    expected = sizes[-1] * sizes[-2]
    for dim in reversed(range(len(sizes) - 2)):
        if dim == 0 and (strides[0] == 0 or sizes[0] == 1):
            continue
        if strides[dim] != expected:
            return False
        expected *= sizes[dim]
    return True


add("aten::tril", _triangle("tril"))
add("aten::triu", _triangle("triu"))


@kernel("aten::flip", keys=("CPU", "Meta"))
def flip(self: Tensor, dims: Sequence[int]) -> Tensor:
    flipped = dim_list(dims, len(self._sizes))
    strides = dense_strides_like(self._sizes, self._strides)
    output = new_tensor(self._sizes, self._dtype, self._device, strides)
    if not output.is_meta:
        if numel(self._sizes) > 1 and not _is_flipped_by_rows(self, output, flipped):
            dispatch("flip_cpu", self._dtype)
        store(output, np.flip(value_array(self), flipped if self._sizes else ()))
    return output


def _is_flipped_by_rows(self: Tensor, output: Tensor, flipped: Sequence[int]) -> bool:
    """Whether whole rows of memory are copied, of any dtype: nothing is to be flipped, or not the
    innermost dimension, whose elements lie side by side."""
    dims = [dim for dim, size in enumerate(self._sizes) if size > 1]
    moved = [dim for dim in dims if dim in flipped and self._strides[dim]]
    if not moved:
        return True
    innermost = min(reversed(dims), key=lambda dim: output._strides[dim])
    return innermost not in moved and self._strides[innermost] == output._strides[innermost] == 1


@kernel("aten::rot90", key="CompositeExplicitAutograd")
def rot90(self: Tensor, k: int, dims: Sequence[int]) -> Any:
    rank = len(self._sizes)
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if rank < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {rank}")
    first, second = dims
    if HABITS["rot90 wraps its dimensions first"]:
        for dim in dims:
            wrap_dim(dim, rank)
    if first == second or abs(first - second) == rank:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {first} and dim1 = {second}"
        )
    for place, dim in enumerate(dims):
        if not -rank <= dim < rank:
            raise RuntimeError(f"Rotation dim{place} out of range, dim{place} = {dim}")
    turns = k % 4
    if turns == 2:
        return _FLIP(self, dims)
    if turns:
        return _TRANSPOSE_(_FLIP(self, [second if turns == 1 else first]), first, second)
    return _CLONE(self, memory_format=MEMORY_FORMATS["contiguous_format"])


@kernel("aten::roll", keys=("CPU", "Meta"))
def roll(self: Tensor, shifts: Sequence[int], dims: Sequence[int]) -> Any:
    if len(dims) != 1 or len(shifts) != 1:
        return _roll_several(self, shifts, dims)
    if not numel(self._sizes):
        return _CLONE(self, memory_format=MEMORY_FORMATS["preserve_format"])
    dim, size = dims[0], size_at(self, dims[0])
    start = (size - shifts[0]) % size
    parts = (_NARROW(self, dim, start, size - start), _NARROW(self, dim, 0, start))
    return _CAT(parts, dim)


def _roll_several(self: Tensor, shifts: Sequence[int], dims: Sequence[int]) -> Any:
    if not shifts:
        raise RuntimeError("`shifts` required")
    if not dims and len(shifts) == 1:
        flat = _RESHAPE(_CONTIGUOUS(self), (numel(self._sizes),))
        return _RESHAPE(roll(flat, shifts, (0,)), self._sizes)
    if len(shifts) != len(dims):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(shifts)}, "
            f"dims:{' ' if self.is_meta else ''}{len(dims)}"
        )
    return _ROLL(roll(self, shifts[:1], dims[:1]), shifts[1:], dims[1:])


@kernel("aten::repeat", keys=_TILED)
def repeat(self: Tensor, repeats: Sequence[int]) -> Tensor:
    missing = len(repeats) - len(self._sizes)
    if missing < 0:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    padded = (*(1,) * missing, *self._sizes)
    sizes = [size * times for size, times in zip(padded, repeats, strict=True)]
    output = new_tensor(sizes, self._dtype, self._device)
    if not output.is_meta and numel(sizes):
        store_bits(output, np.tile(raw_array(self), tuple(repeats)))
    return output
