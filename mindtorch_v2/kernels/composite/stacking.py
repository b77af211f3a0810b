"""Tensors beside, below and behind each other, once they have the dimensions for it.

Mirrors ``hstack`` and its relatives, ``block_diag`` and ``_chunk_cat``, in
``aten/src/ATen/native/TensorShape.cpp``, and ``atleast_1d`` and its relatives in
``TensorTransformations.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from mindtorch_v2.kernels.elementwise.promotion import result_type
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"

_CAT: Final = OperatorHandle("aten::cat")
_CAT_OUT: Final = OperatorHandle("aten::cat.out")
_COPY_: Final = OperatorHandle("aten::copy_")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_EXPAND: Final = OperatorHandle("aten::expand")
_FLIP: Final = OperatorHandle("aten::flip")
_HSTACK: Final = OperatorHandle("aten::hstack")
_HSTACK_OUT: Final = OperatorHandle("aten::hstack.out")
_NARROW: Final = OperatorHandle("aten::narrow")
_NEW_ZEROS: Final = OperatorHandle("aten::new_zeros")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_SLICE: Final = OperatorHandle("aten::slice.Tensor")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_VIEW: Final = OperatorHandle("aten::view")
_IN_CHUNKS: Final = (
    OperatorHandle("aten::reshape") if HABITS["chunks of any strides are joined"] else _VIEW
)
_ZEROS: Final = OperatorHandle("aten::zeros")


# --- dimensions that are missing --------------------------------------------------------------


@kernel("aten::atleast_1d", key=_IMPLICIT)
def atleast_1d(self: Tensor) -> Any:
    return self if self._sizes else _RESHAPE(self, [1])


@kernel("aten::atleast_2d", key=_IMPLICIT)
def atleast_2d(self: Tensor) -> Any:
    rank = len(self._sizes)
    if rank == 0:
        return _RESHAPE(self, [1, 1])
    return _UNSQUEEZE(self, 0) if rank == 1 else self


@kernel("aten::atleast_3d", key=_IMPLICIT)
def atleast_3d(self: Tensor) -> Any:
    rank = len(self._sizes)
    if rank == 0:
        return _RESHAPE(self, [1, 1, 1])
    if rank == 1:
        return _UNSQUEEZE(_UNSQUEEZE(self, 0), -1)
    return _UNSQUEEZE(self, -1) if rank == 2 else self


def _of_each(name: str, function: Callable[[Tensor], Any]) -> None:
    """The overload for a list of tensors."""

    @kernel(f"aten::{name}.Sequence", key=_IMPLICIT)
    def run(tensors: Sequence[Tensor]) -> list[Any]:
        return [function(tensor) for tensor in tensors]


_of_each("atleast_1d", atleast_1d)
_of_each("atleast_2d", atleast_2d)
_of_each("atleast_3d", atleast_3d)


# --- stacks -----------------------------------------------------------------------------------


def _stack(
    name: str, function: Callable[[Tensor], Any], dim: Callable[[Tensor], int], *aliases: str
) -> None:
    """An operator that joins what ``function`` makes of its tensors, along a dimension that is
    chosen by the first."""

    def prepared(tensors: Sequence[Tensor]) -> tuple[list[Any], int]:
        if not tensors:
            raise RuntimeError(f"{name} expects a non-empty TensorList")
        found = [function(tensor) for tensor in tensors]
        return found, dim(found[0])

    @kernel(*(f"aten::{each}" for each in (name, *aliases)), key=_IMPLICIT)
    def run(tensors: Sequence[Tensor]) -> Any:
        return _CAT(*prepared(tensors))

    @kernel(*(f"aten::{each}.out" for each in (name, *aliases)), key=_IMPLICIT)
    def run_out(tensors: Sequence[Tensor], out: Tensor) -> Any:
        return _CAT_OUT(*prepared(tensors), out=out)


_stack("hstack", atleast_1d, lambda first: min(len(first._sizes) - 1, 1))
_stack("vstack", atleast_2d, lambda first: 0, "row_stack")
_stack("dstack", atleast_3d, lambda first: 2)


def _columns(tensors: Sequence[Tensor]) -> list[Any]:
    if not tensors:
        raise RuntimeError("column_stack expects a non-empty TensorList")
    return [
        _RESHAPE(tensor, [numel(tensor._sizes), 1]) if len(tensor._sizes) < 2 else tensor
        for tensor in tensors
    ]


@kernel("aten::column_stack", key=_IMPLICIT)
def column_stack(tensors: Sequence[Tensor]) -> Any:
    return _HSTACK(_columns(tensors))


@kernel("aten::column_stack.out", key=_IMPLICIT)
def column_stack_out(tensors: Sequence[Tensor], out: Tensor) -> Any:
    return _HSTACK_OUT(_columns(tensors), out=out)


# --- blocks -----------------------------------------------------------------------------------


@kernel("aten::block_diag", key="CompositeExplicitAutograd")
def block_diag(tensors: Sequence[Tensor]) -> Any:
    if not tensors:
        return _EMPTY([1, 0])
    first = tensors[0]
    for place, tensor in enumerate(tensors):
        if tensor._device != first._device:
            raise RuntimeError(
                "torch.block_diag: input tensors must all be on the same device. Input 0 is on "
                f"device {first._device} and input {place} is on device {tensor._device}"
            )
    dtype = result_type(tensors)
    blocks = [_block(place, tensor) for place, tensor in enumerate(tensors)]
    sizes = [sum(block._sizes[dim] for block in blocks) for dim in (0, 1)]
    made = _ZEROS(sizes, dtype=dtype, layout=first._layout, device=first._device)
    row = column = 0
    for block in blocks:
        rows, columns = block._sizes
        part = _SLICE(_SLICE(made, 0, row, row + rows), 1, column, column + columns)
        _COPY_(part, block)
        row, column = row + rows, column + columns
    return made


def _block(place: int, tensor: Tensor) -> Any:
    """A row of what has fewer dimensions; RuntimeError for what has more."""
    rank = len(tensor._sizes)
    if rank > 2:
        raise RuntimeError(
            "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
            f"{place} has {rank} dimensions"
        )
    return tensor if rank == 2 else _EXPAND(tensor, [1, numel(tensor._sizes)])


@kernel("aten::block_diag", key="Meta")
def block_diag_on_meta(tensors: Sequence[Tensor]) -> Any:
    """``torch._refs._block_diag_iterable``, which puts each block between zeros."""
    blocks = [each if len(each._sizes) > 1 else _VIEW(each, [1, -1]) for each in tensors]
    width, device = sum(block._sizes[1] for block in blocks), blocks[0]._device
    rows, start = [], 0
    for place, block in enumerate(blocks):
        if len(block._sizes) != 2:
            raise RuntimeError(
                "Input tensors must have 2 or fewer dimensions. Input "
                f"{place} has {len(block._sizes)} dimensions"
            )
        if block._device != device:
            raise RuntimeError(
                "Input tensors must all be on the same device. Input 0 is on device "
                f"{device} and input {place} is on device {block._device}."
            )
        height, size = block._sizes
        left = _ZEROS([height, start], dtype=block._dtype, device=device)
        right = _ZEROS([height, width - start - size], dtype=block._dtype, device=device)
        rows.append(_CAT([left, block, right], 1))
        start += size
    return _CAT(rows, 0)


# --- flips ------------------------------------------------------------------------------------


@kernel("aten::fliplr", key=_IMPLICIT)
def fliplr(self: Tensor) -> Any:
    if len(self._sizes) < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return _FLIP(self, [1])


@kernel("aten::flipud", key=_IMPLICIT)
def flipud(self: Tensor) -> Any:
    if not self._sizes:
        raise RuntimeError("Input must be >= 1-d.")
    return _FLIP(self, [0])


# --- chunks of several tensors side by side ---------------------------------------------------


@kernel("aten::_chunk_cat", key="CompositeExplicitAutograd")
def _chunk_cat(tensors: Sequence[Tensor], dim: int, num_chunks: int) -> Any:
    dim = preprocess_chunk_cat_inputs(tensors, dim, num_chunks)
    return _CAT(_pad_chunk(tensors, dim, num_chunks), dim + 1)


@kernel("aten::_chunk_cat.out", key="CompositeExplicitAutograd")
def _chunk_cat_out(tensors: Sequence[Tensor], dim: int, num_chunks: int, out: Tensor) -> Any:
    dim = preprocess_chunk_cat_inputs(tensors, dim, num_chunks)
    _CAT_OUT(_pad_chunk(tensors, dim, num_chunks), dim + 1, out=out)
    return out


def preprocess_chunk_cat_inputs(tensors: Sequence[Tensor], dim: int, num_chunks: int) -> int:
    """The dimension counted from the first one; RuntimeError for what does not fit together."""
    if num_chunks < 1:
        raise RuntimeError("_chunk_cat expects positive num_chunks")
    if not tensors:
        raise RuntimeError("_chunk_cat expects a non-empty input tensor list")
    first = tensors[0]
    for each in tensors:
        if not numel(each._sizes):
            raise RuntimeError("_chunk_cat expects non-empty tensor")
        if each._dtype is not first._dtype:
            raise RuntimeError("_chunk_cat expects all input tensors with the same dtype")
        if each._device != first._device:
            raise RuntimeError("_chunk_cat expects all inputs tensors on the same device")
    if len({len(each._sizes) for each in tensors}) == 1:
        dim = wrap_dim(dim, len(first._sizes))
    elif dim < 0:
        raise RuntimeError(
            "_chunk_cat expects non-negative dim when input tensors have different ndims"
        )
    elif any(dim >= len(each._sizes) for each in tensors):
        raise RuntimeError("_chunk_cat expects dim < ndim for all input tensors")
    if any(each._sizes[:dim] != first._sizes[:dim] for each in tensors):
        raise RuntimeError(
            "_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors"
        )
    return dim


def _pad_chunk(tensors: Sequence[Tensor], dim: int, num_chunks: int) -> list[Any]:
    """Each with zeros behind, and one more dimension, for the chunks."""
    found = []
    for each in tensors:
        padded, sizes = each, list(each._sizes)
        sizes[dim] += -sizes[dim] % num_chunks
        if sizes != list(each._sizes):
            padded = _NEW_ZEROS(each, sizes)
            _COPY_(_NARROW(padded, dim, 0, each._sizes[dim]), each)
        found.append(_IN_CHUNKS(padded, [*sizes[:dim], num_chunks, -1]))
    return found
