"""Operators that give a tensor itself another geometry.

Mirrors the in-place view functions of ``aten/src/ATen/native/TensorShape.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import set_sizes_and_strides
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views.strided import (
    BACKENDS,
    check_strided,
    check_t,
    squeezed_geometry,
    unsqueezed_geometry,
)
from mindtorch_v2.tensor.geometry import dim_list, symbolic_nbytes, wrap_dim
from mindtorch_v2.tensor.plain import forget
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.support import HABITS
from mindtorch_v2.tensor.tensor import Tensor

_TRANSPOSE_: Final = OperatorHandle("aten::transpose_")
_KEYS: Final = (*BACKENDS, "CompositeExplicitAutogradNonFunctional")
_ASSERTS: Final = HABITS["in-place views on meta assert their dimensions"]


def _set_geometry(self: Tensor, sizes: Sequence[int], strides: Sequence[int]) -> Tensor:
    forget(self)._sizes, self._strides = Size._of(sizes), tuple(strides)
    return self


def _wrapped(self: Tensor, dim: int, rank: int) -> int:
    """``wrap_dim``, or on meta what Python's kernels of the release have in its place."""
    bound = max(rank, 1)
    if self.is_meta and _ASSERTS and not -bound <= dim < bound:
        raise AssertionError(f"dim {dim} out of bounds ({-bound}, {bound - 1})")
    return wrap_dim(dim, rank)


@kernel("aten::as_strided_", keys=_KEYS)
def as_strided_(
    self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None
) -> Tensor:
    offset = self._storage_offset if storage_offset is None else storage_offset
    check_strided(self, size, stride, offset, nbytes=symbolic_nbytes)
    set_sizes_and_strides(self, size, stride, offset)
    return self


@kernel("aten::transpose_", keys=_KEYS)
def transpose_(self: Tensor, dim0: int, dim1: int) -> Tensor:
    rank = len(self._sizes)
    dim0, dim1 = _wrapped(self, dim0, rank), _wrapped(self, dim1, rank)
    if dim0 == dim1:
        return self
    sizes, strides = list(self._sizes), list(self._strides)
    sizes[dim0], sizes[dim1] = sizes[dim1], sizes[dim0]
    strides[dim0], strides[dim1] = strides[dim1], strides[dim0]
    return _set_geometry(self, sizes, strides)


@kernel("aten::swapaxes_", "aten::swapdims_", key="CompositeImplicitAutograd")
def swapaxes_(self: Tensor, axis0: int, axis1: int) -> Any:
    return _TRANSPOSE_(self, axis0, axis1)


@kernel("aten::t_", keys=_KEYS)
def t_(self: Tensor) -> Tensor:
    if self.is_meta and len(self._sizes) > 2:
        rank = len(self._sizes)
        raise AssertionError(f"t_ expects a tensor with <= 2 dimensions, but self is {rank}D")
    check_t(self, "t_()")
    return transpose_(self, 0, 0 if len(self._sizes) < 2 else 1)


@kernel("aten::squeeze_", keys=_KEYS)
def squeeze_(self: Tensor) -> Tensor:
    return _set_geometry(self, *squeezed_geometry(self, range(len(self._sizes))))


@kernel("aten::squeeze_.dim", keys=_KEYS)
def squeeze_dim_(self: Tensor, dim: int) -> Tensor:
    dim = wrap_dim(dim, len(self._sizes))
    return _set_geometry(self, *squeezed_geometry(self, (dim,) if self._sizes else ()))


@kernel("aten::squeeze_.dims", keys=_KEYS)
def squeeze_dims_(self: Tensor, dims: Sequence[int]) -> Tensor:
    return _set_geometry(self, *squeezed_geometry(self, dim_list(dims, len(self._sizes))))


@kernel("aten::unsqueeze_", keys=_KEYS)
def unsqueeze_(self: Tensor, dim: int) -> Tensor:
    dim = _wrapped(self, dim, len(self._sizes) + 1)
    return _set_geometry(self, *unsqueezed_geometry(self, dim))
