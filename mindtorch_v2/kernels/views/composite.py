"""View operators that are made of others.

Mirrors the composite functions of ``aten/src/ATen/native/TensorShape.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import value_array
from mindtorch_v2.tensor.dtype import DTYPES, int64
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.tensor.support import CPP_NAMES, worded
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn_once

_IMPLICIT: Final = "CompositeImplicitAutograd"

_ALIAS: Final = OperatorHandle("aten::alias")
_CONJ: Final = OperatorHandle("aten::_conj")
_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_EXPAND: Final = OperatorHandle("aten::expand")
_NARROW: Final = OperatorHandle("aten::narrow")
_NEG_VIEW: Final = OperatorHandle("aten::_neg_view")
_PERMUTE: Final = OperatorHandle("aten::permute")
_SELECT: Final = OperatorHandle("aten::select.int")
_SLICE: Final = OperatorHandle("aten::slice.Tensor")
_SPLIT: Final = OperatorHandle("aten::split.Tensor")
_SPLIT_WITH_SIZES: Final = OperatorHandle("aten::split_with_sizes")
_TENSOR_SPLIT_INDICES: Final = OperatorHandle("aten::tensor_split.indices")
_TENSOR_SPLIT_SECTIONS: Final = OperatorHandle("aten::tensor_split.sections")
_TRANSPOSE: Final = OperatorHandle("aten::transpose.int")
_VIEW: Final = OperatorHandle("aten::view")
_VIEW_AS_REAL: Final = OperatorHandle("aten::view_as_real")


@kernel("aten::expand_as", key=_IMPLICIT)
def expand_as(self: Tensor, other: Tensor) -> Any:
    return _EXPAND(self, other._sizes)


@kernel("aten::broadcast_to", key=_IMPLICIT)
def broadcast_to(self: Tensor, size: Sequence[int]) -> Any:
    return _EXPAND(self, size)


@kernel("aten::swapaxes", "aten::swapdims", key=_IMPLICIT)
def swapaxes(self: Tensor, axis0: int, axis1: int) -> Any:
    return _TRANSPOSE(self, axis0, axis1)


@kernel("aten::narrow", key=_IMPLICIT)
def narrow(self: Tensor, dim: int, start: int, length: int) -> Any:
    if not self._sizes:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    size = size_at(self, dim)
    if not -size <= start <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    first = start + size if start < 0 else start
    if first > size - length:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({size}).")
    return _SLICE(self, dim, first, first + length, 1)


@kernel("aten::narrow.Tensor", key=_IMPLICIT)
def narrow_tensor(self: Tensor, dim: int, start: Tensor, length: int) -> Any:
    dtype = start._dtype
    if start._sizes or dtype.is_floating_point or dtype.is_complex or dtype is DTYPES["bool"]:
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    return _NARROW(self, dim, int(start.item()), length)


@kernel("aten::split.sizes", key=_IMPLICIT)
def split_sizes(self: Tensor, split_size: Sequence[int], dim: int) -> Any:
    return _SPLIT_WITH_SIZES(self, split_size, dim)


@kernel("aten::chunk", key=_IMPLICIT)
def chunk(self: Tensor, chunks: int, dim: int) -> Any:
    return chunked(_SPLIT, _SPLIT_WITH_SIZES, self, chunks, dim)


def chunked(
    split: OperatorHandle, split_with_sizes: OperatorHandle, self: Tensor, chunks: int, dim: int
) -> Any:
    """So many parts, by operators that split."""
    if not self._sizes:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = size_at(self, dim)
    each = -(-size // chunks)
    if each == 0 and size == 0:
        return split_with_sizes(self, (0,) * chunks, dim)
    return split(self, each, dim)


@kernel("aten::ravel", key=_IMPLICIT)
def ravel(self: Tensor) -> Any:
    return _VIEW(_CONTIGUOUS(self), [-1])


# --- dimensions in another order --------------------------------------------------------------


@kernel("aten::movedim.intlist", key=_IMPLICIT)
def movedim(self: Tensor, source: Sequence[int], destination: Sequence[int]) -> Any:
    if len(source) != len(destination):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({list(source)} dims) should "
            f"contain the same number of dims as destination ({list(destination)} dims)"
        )
    rank = len(self._sizes)
    origins = [wrap_dim(dim, rank) for dim in source]
    targets = [wrap_dim(dim, rank) for dim in destination]
    for name, given, wrapped in (
        ("source", source, origins),
        ("destination", destination, targets),
    ):
        if len(set(wrapped)) != len(wrapped):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(given)})")
    if not rank:
        return _ALIAS(self)
    rest = iter([dim for dim in range(rank) if dim not in origins])
    moved = dict(zip(targets, origins, strict=True))
    return _PERMUTE(self, [moved[dim] if dim in moved else next(rest) for dim in range(rank)])


@kernel("aten::movedim.int", "aten::moveaxis.int", key=_IMPLICIT)
def movedim_int(self: Tensor, source: int, destination: int) -> Any:
    return movedim(self, (source,), (destination,))


@kernel("aten::moveaxis.intlist", key=_IMPLICIT)
def moveaxis(self: Tensor, source: Sequence[int], destination: Sequence[int]) -> Any:
    return movedim(self, source, destination)


@kernel("aten::numpy_T", key=_IMPLICIT)
def numpy_transposed(self: Tensor) -> Any:
    rank = self._dim()
    if rank == 0:
        warn_once("numpy_T", f"Tensor.T {_IDENTITY}")
    elif rank != 2:
        warn_once(
            "numpy_T(dim)",
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
            "deprecated and it will throw an error in a future release. Consider `x.mT` to "
            "transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to "
            "reverse the dimensions of a tensor.",
        )
    return _PERMUTE(self, list(range(rank - 1, -1, -1)))


@kernel("aten::matrix_H", key=_IMPLICIT)
def matrix_conjugate_transposed(self: Tensor) -> Any:
    rank = self._dim()
    if rank == 0:
        warn_once("matrix_H", f"Tensor.H {_CONJUGATED}")
    elif rank != 2:
        advice = " For batches of matrices, consider using tensor.mH" if rank > 2 else ""
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {rank}-D tensor.{advice}"
        )
    return conj(_transposed(self))


@kernel("aten::mT", key=_IMPLICIT)
def matrix_transposed(self: Tensor) -> Any:
    if not self._sizes:
        warn_once("mT", f"Tensor.mT {_IDENTITY}")
    _check_matrix(self, "mT")
    return _transposed(self)


@kernel("aten::mH", key=_IMPLICIT)
def conjugate_transposed(self: Tensor) -> Any:
    if not self._sizes:
        warn_once("mH", f"Tensor.mH {_CONJUGATED}")
    return _adjoint(self, "mH")


@kernel("aten::adjoint", key=_IMPLICIT)
def adjoint(self: Tensor) -> Any:
    if not self._sizes:
        warn_once("adjoint", f"adjoint() {_CONJUGATED}")
    return _adjoint(self, "adjoint()")


_IDENTITY: Final = "is deprecated on 0-D tensors. This function is the identity in these cases."
_CONJUGATED: Final = "is deprecated on 0-D tensors. Consider using x.conj()."


def _adjoint(self: Tensor, name: str) -> Any:
    _check_matrix(self, name)
    return conj(_transposed(self))


def _transposed(self: Tensor) -> Any:
    return _TRANSPOSE(self, -2, -1) if self._sizes else self


def _check_matrix(self: Tensor, name: str) -> None:
    if len(self._sizes) == 1:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor."
        )


# --- conjugation and its parts ----------------------------------------------------------------


@kernel("aten::conj", key=_IMPLICIT)
def conj(self: Tensor) -> Any:
    return _CONJ(self) if self._dtype.is_complex else self


@kernel("aten::real", key=_IMPLICIT)
def real(self: Tensor) -> Any:
    if not self._dtype.is_complex:
        return self
    source = _CONJ(self) if self._is_conj() else self
    return _SELECT(_VIEW_AS_REAL(source), len(self._sizes), 0)


@kernel("aten::imag", key=_IMPLICIT)
def imag(self: Tensor) -> Any:
    if not self._dtype.is_complex:
        raise worded("imag of what is real")
    if self._is_conj():
        return _SELECT(_NEG_VIEW(_VIEW_AS_REAL(_CONJ(self))), len(self._sizes), 1)
    return _SELECT(_VIEW_AS_REAL(self), len(self._sizes), 1)


# --- tensor_split -----------------------------------------------------------------------------


@kernel("aten::tensor_split.sections", key=_IMPLICIT)
def tensor_split_sections(self: Tensor, sections: int, dim: int) -> list[Any]:
    _check_split(self)
    dim = wrap_dim(dim, len(self._sizes))
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    size = self._sizes[dim]
    each, longer = divmod(size, sections)
    parts, start = [], 0
    for place in range(sections):
        stop = start + each + (place < longer)
        parts.append(_SLICE(self, dim, start, stop, 1))
        start = stop
    return parts


@kernel("aten::tensor_split.indices", key=_IMPLICIT)
def tensor_split_indices(self: Tensor, indices: Sequence[int], dim: int) -> list[Any]:
    _check_split(self)
    dim = wrap_dim(dim, len(self._sizes))
    starts = (0, *indices)
    stops = (*indices, self._sizes[dim])
    return [_SLICE(self, dim, start, stop, 1) for start, stop in zip(starts, stops, strict=True)]


@kernel("aten::tensor_split.tensor_indices_or_sections", key=_IMPLICIT)
def tensor_split_tensor(self: Tensor, tensor_indices_or_sections: Tensor, dim: int) -> Any:
    _check_split(self)
    given = tensor_indices_or_sections
    named = "tensor_split expected tensor_indices_or_sections to"
    if given._device.type != "cpu":
        raise RuntimeError(f"{named} be on cpu, but it's on {given._device}")
    if given._dtype is not int64:
        raise RuntimeError(f"{named} have dtype of long, but got {CPP_NAMES[given._dtype]}")
    if len(given._sizes) > 1:
        raise RuntimeError(
            f"{named} be a zero-dimensional or one-dimensional tensor, but got a tensor with "
            f"{len(given._sizes)} dims"
        )
    if not given._sizes:
        return _TENSOR_SPLIT_SECTIONS(self, int(given.item()), dim)
    return _TENSOR_SPLIT_INDICES(self, value_array(given).tolist(), dim)


def _check_split(self: Tensor) -> None:
    if not self._sizes:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with "
            f"{len(self._sizes)} dims"
        )


# --- hsplit, vsplit, dsplit -------------------------------------------------------------------


def _split_along(name: str, dim: int, least: int) -> None:
    """``tensor_split`` along one dimension into equal parts, or at given places.

    ``least`` is the rank that a tensor must have; of a vector it is the only dimension.
    """

    def dim_of(self: Tensor) -> int:
        rank = len(self._sizes)
        if rank < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a "
                f"tensor with {rank} dimensions!"
            )
        return min(dim, rank - 1)

    def sections(self: Tensor, sections: int) -> Any:
        along = dim_of(self)
        size = self._sizes[along]
        if not sections or size % sections:
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {along}, but the size of the "
                f"dimension {size} is not divisible by the split_size {sections}!"
            )
        return _TENSOR_SPLIT_SECTIONS(self, sections, along)

    def indices(self: Tensor, indices: Sequence[int]) -> Any:
        return _TENSOR_SPLIT_INDICES(self, indices, dim_of(self))

    kernel(f"aten::{name}.int", key=_IMPLICIT)(sections)
    kernel(f"aten::{name}.array", key=_IMPLICIT)(indices)


_split_along("hsplit", 1, least=1)
_split_along("vsplit", 0, least=2)
_split_along("dsplit", 2, least=3)
