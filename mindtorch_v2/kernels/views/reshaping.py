"""The same elements in another shape.

Mirrors ``view``, ``reshape`` and their like in ``aten/src/ATen/native/TensorShape.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.autograd.functions_manual.shapes import sum_to
from mindtorch_v2.kernels.elementwise.broadcasting import is_expandable_to
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views.plain import geometric
from mindtorch_v2.kernels.views.strided import BACKENDS, alias, called, check_strided, size_at
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS, sparse_coo
from mindtorch_v2.tensor.geometry import check_dimensionality, is_contiguous, numel, wrap_dim
from mindtorch_v2.tensor.support import HABITS
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.views import infer_size, view_geometry, view_strides
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like

_IMPLICIT: Final = "CompositeImplicitAutograd"

_CLONE: Final = OperatorHandle("aten::clone")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_RESHAPE_ALIAS: Final = OperatorHandle("aten::_reshape_alias")
_UNSAFE_VIEW: Final = OperatorHandle("aten::_unsafe_view")
_VIEW: Final = OperatorHandle("aten::view")

_KEEPS_ERROR: Final = HABITS["a shape with a negative size does not unflatten"]


@kernel("aten::view", keys=(*BACKENDS, "QuantizedCPU", "ZeroTensor"))
@geometric()
def view(self: Tensor, size: Sequence[int]) -> Tensor:
    return alias(self, *view_geometry(self, size), self._storage_offset)


@kernel("aten::_unsafe_view", keys=("CPU", "CompositeExplicitAutograd"))
def unsafe_view(self: Tensor, size: Sequence[int]) -> Tensor:
    """For a tensor that nobody else has: what becomes of it is counted from here on."""
    return view(self, size)


@kernel("aten::_unsafe_view", key="Meta")
def unsafe_view_on_meta(self: Tensor, size: Sequence[int]) -> Tensor:
    return called(_VIEW, view, self, size)


@kernel("aten::_reshape_alias", keys=(*BACKENDS, "ZeroTensor"))
def reshape_alias(self: Tensor, size: Sequence[int], stride: Sequence[int]) -> Tensor:
    """Who calls it has computed both.  Torch looks at nothing else, and reads what is not there."""
    check_dimensionality(size, stride)
    if not self.is_meta:
        check_strided(self, size, stride, self._storage_offset)
    return alias(self, size, stride, self._storage_offset)


@kernel("aten::reshape", key=_IMPLICIT)
def reshape(self: Tensor, shape: Sequence[int]) -> Tensor:
    reshaped: Tensor
    if self._layout is sparse_coo:
        raise RuntimeError("reshape is not implemented for sparse tensors")
    if is_contiguous(self._sizes, self._strides):
        reshaped = _VIEW(self, shape)
        return reshaped
    sizes = infer_size(shape, self._sym_numel())
    strides = view_strides(self._sizes, self._strides, sizes)
    if strides is not None and is_tensor_subclass_like(self):  # which need not know of an alias
        reshaped = _VIEW(self, sizes)
    elif strides is not None:
        reshaped = _RESHAPE_ALIAS(self, sizes, strides)
    else:
        contiguous = _CLONE(self, memory_format=MEMORY_FORMATS["contiguous_format"])
        reshaped = _UNSAFE_VIEW(contiguous, sizes)
    return reshaped


@kernel("aten::reshape_as", key=_IMPLICIT)
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    reshaped: Tensor = _RESHAPE(self, other._sizes)
    return reshaped


@kernel("aten::sum_to_size", key=_IMPLICIT)
def sum_to_size(self: Tensor, size: Sequence[int]) -> Any:
    if not is_expandable_to(size, self._sizes):
        raise RuntimeError(
            f"size {{{list(size)}}} is not expandable to size {{{list(self._sizes)}}}."
        )
    return sum_to(self, size)


@kernel("aten::view_as", key=_IMPLICIT)
def view_as(self: Tensor, other: Tensor) -> Tensor:
    viewed: Tensor = _VIEW(self, other._sizes)
    return viewed


@kernel("aten::flatten.using_ints", key=_IMPLICIT)
def flatten(self: Tensor, start_dim: int, end_dim: int) -> Tensor:
    rank = len(self._sizes)
    start, end = wrap_dim(start_dim, rank), wrap_dim(end_dim, rank)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not rank:
        reshaped: Tensor = _RESHAPE(self, (1,))
        return reshaped
    if start == end:
        return self
    sizes = self._sizes
    return reshape(self, (*sizes[:start], numel(sizes[start : end + 1]), *sizes[end + 1 :]))


@kernel("aten::unflatten.int", key=_IMPLICIT)
def unflatten(self: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    dim = wrap_dim(dim, len(self._sizes))
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    try:
        inferred = infer_size(sizes, size_at(self, dim))
    except (RuntimeError, IndexError) as error:
        if "is invalid for input of size" not in str(error):
            if _KEEPS_ERROR and "can be inferred" not in str(error):
                raise
            raise RuntimeError(f"unflatten got an unexpected error:\n{error}") from None
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} "
            f"({self._sizes[dim]}) in the input tensor"
        ) from None
    viewed: Tensor = _VIEW(self, (*self._sizes[:dim], *inferred, *self._sizes[dim + 1 :]))
    return viewed
