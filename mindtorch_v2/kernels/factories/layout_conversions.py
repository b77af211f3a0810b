"""Conversions to sparse layouts and that of mkldnn, and what they refuse.

Mirrors ``to_sparse`` and its siblings of ``aten/src/ATen/native/TensorConversions.cpp``, and
``dense_to_mkldnn`` of ``aten/src/ATen/native/mkldnn/MKLDNNConversions.cpp``.  Dense
dimensions, blocks and batches have no place in this package's sparse tensors: what would need them
is refused after all that torch refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from mindtorch_v2.binding.values import dtype_of_value, layout_of_value
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.tensor.device import EXTENSION_DEVICE
from mindtorch_v2.tensor.dtype import (
    CPP_LAYOUTS,
    DTYPES,
    Layout,
    mkldnn,
    sparse_compressed,
    sparse_coo,
    strided,
)
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_KEYS: Final = ("CPU", "SparseCPU", "SparseCsrCPU")
_TO_SPARSE: Final = OperatorHandle("aten::_to_sparse")
_TO_SPARSE_DIM: Final = OperatorHandle("aten::_to_sparse.sparse_dim")
_NONZERO: Final = OperatorHandle("aten::nonzero")
_SELECT: Final = OperatorHandle("aten::select.int")
_TO_CSR: Final = OperatorHandle("aten::to_sparse_csr")
_TO_CSC: Final = OperatorHandle("aten::to_sparse_csc")

_CSR, _CSC, *_BLOCKED = sparse_compressed
_COMPRESSING: Final = {_CSR: _TO_CSR, _CSC: _TO_CSC}
_CONVERTED: Final = (strided, sparse_coo, *sparse_compressed)


# --- what is refused --------------------------------------------------------------------------


def _check_layouts(name: str, self: Tensor, to: Layout) -> None:
    """RuntimeError, which names the source, for a source or a target of another kind."""
    if self._layout not in _CONVERTED or to not in _CONVERTED:
        raise RuntimeError(f"{name}: unexpected source layout {CPP_LAYOUTS[self._layout]}")


def _check_sparse_dim(name: str, self: Tensor, sparse_dim: int) -> None:
    """RuntimeError unless so many dimensions can have indices."""
    _check_layouts(name, self, sparse_coo)
    rank = len(self._sizes)
    if self._layout is strided:
        if sparse_dim == 0 and rank > 0:
            raise RuntimeError(f"{name}: sparse_dim argument must be in >0 when self.dim()>0")
        if not 0 <= sparse_dim <= rank:
            raise RuntimeError(
                f"{name}: sparse_dim argument must be in [0,{rank}] range, "
                f"but {sparse_dim} is given"
            )
        return
    is_coo = self._layout is sparse_coo
    if sparse_dim != (rank if is_coo else 2):
        wanted = "self.sparse_dim()" if is_coo else "2"
        raise RuntimeError(
            f"{name}: conversion from {CPP_LAYOUTS[self._layout]} to Sparse with sparse_dim "
            f"argument !={wanted} is not supported"
        )


def _check_arguments(
    name: str, self: Tensor, to: Layout, blocksize: Sequence[int] | None, dense_dim: int | None
) -> None:
    """RuntimeError for a layout, blocks or dense dimensions that a conversion cannot have."""
    _check_layouts(name, self, to)
    rank = len(self._sizes)
    conversion = f"{name}: conversion from {CPP_LAYOUTS[self._layout]} to {CPP_LAYOUTS[to]}"
    if self._layout is sparse_coo and to is not sparse_coo and rank != 2:
        raise RuntimeError(f"{conversion} for input tensors with sparse_dim()!=2 is not supported")
    if blocksize is None:
        if to in _BLOCKED:
            raise RuntimeError(f"{conversion} without blocksize argument given is not supported")
    else:
        _check_blocks(name, conversion, self, to, blocksize)
    if dense_dim is None:
        return
    if self._layout is not strided:
        raise RuntimeError(f"{conversion} with dense_dim argument given is not supported")
    if to is sparse_coo and dense_dim == rank > 0:
        raise RuntimeError(f"{name}: dense_dim argument must be !=self.dim() when self.dim()>0")
    most = rank if to is sparse_coo else rank - 2
    if not 0 <= dense_dim <= most:
        raise RuntimeError(
            f"{name}: dense_dim argument must be in [0,{most}] range, but {dense_dim} is given"
        )


def _check_blocks(
    name: str, conversion: str, self: Tensor, to: Layout, blocksize: Sequence[int]
) -> None:
    if len(blocksize) != 2:
        raise RuntimeError(
            f"{name}: blocksize needs to be a tuple of size 2, but got {len(blocksize)}"
        )
    if min(blocksize) <= 0:
        raise RuntimeError(f"{name}: blocksize needs to be positive, but got {list(blocksize)}")
    if to not in _BLOCKED:
        raise RuntimeError(f"{conversion} with blocksize argument given is not supported")


# --- conversions ------------------------------------------------------------------------------


def _is_on_extension(self: Tensor) -> bool:
    """Whether its backend has no kernels of these: it needs none, and what the CPU would answer in
    its place had to stay there."""
    return self._device.type == EXTENSION_DEVICE


@kernel("aten::to_sparse.sparse_dim", key=_IMPLICIT)
def to_sparse_dim(self: Tensor, sparse_dim: int) -> Any:
    if self._layout is sparse_coo:
        _check_sparse_dim("to_sparse", self, sparse_dim)
        return self
    convert = _to_sparse_dim if _is_on_extension(self) else _TO_SPARSE_DIM
    return convert(self, sparse_dim)


@kernel("aten::to_sparse", key=_IMPLICIT)
def to_sparse(
    self: Tensor, layout: int | None, blocksize: Sequence[int] | None, dense_dim: int | None
) -> Any:
    to = sparse_coo if layout is None else layout_of_value(layout)
    if self._layout is to:
        _check_arguments("to_sparse", self, to, blocksize, dense_dim)
        return self
    convert = _to_sparse if _is_on_extension(self) else _TO_SPARSE
    return convert(self, layout, blocksize, dense_dim)


def _to_compressed(name: str, to: Layout) -> Callable[[Tensor, int | None], Any]:
    below = OperatorHandle(f"aten::_{name}")
    compress = _compressing(name, to)

    def convert(self: Tensor, dense_dim: int | None) -> Any:
        if self._layout is to:
            _check_arguments(name, self, to, None, dense_dim)
            return self
        return (compress if _is_on_extension(self) else below)(self, dense_dim)

    return convert


def _compressing(name: str, to: Layout) -> Callable[[Tensor, int | None], Any]:
    def convert(self: Tensor, dense_dim: int | None) -> Any:
        source = {strided: "dense", sparse_coo: "coo"}.get(self._layout, "sparse_compressed")
        _check_arguments(f"{source}_{name}", self, to, None, dense_dim)
        if self._layout is strided and len(self._sizes) < 2:
            _refuse_few_dimensions(self, to)
        if len(self._sizes) != 2:
            raise NotImplementedError("mindtorch_v2 has no batches of compressed tensors yet")
        return self._fresh(layout=to)

    return convert


def _refuse_few_dimensions(self: Tensor, to: Layout) -> None:
    """IndexError for a tensor that has no rows and columns, from where torch looks for them."""
    if to is _CSC:
        wrap_dim(1, len(self._sizes))
    _SELECT(_NONZERO(self), 1, 1)


for _name, _layout in (("to_sparse_csr", _CSR), ("to_sparse_csc", _CSC)):
    kernel(f"aten::{_name}", key=_IMPLICIT)(_to_compressed(_name, _layout))
    kernel(f"aten::_{_name}", keys=_KEYS)(_compressing(_name, _layout))


_SPARSE_NAMES: Final = {strided: "dense_to_sparse", sparse_coo: "sparse_coo_to_sparse"}


def _of_source(self: Tensor) -> str:
    return _SPARSE_NAMES.get(self._layout, "sparse_compressed_to_sparse")


@kernel("aten::_to_sparse.sparse_dim", keys=_KEYS)
def _to_sparse_dim(self: Tensor, sparse_dim: int) -> Any:
    _check_sparse_dim(_of_source(self), self, sparse_dim)
    if sparse_dim < len(self._sizes):
        raise NotImplementedError("mindtorch_v2 has no sparse tensors with dense dimensions yet")
    return self._fresh(layout=sparse_coo)


@kernel("aten::_to_sparse", keys=_KEYS)
def _to_sparse(
    self: Tensor, layout: int | None, blocksize: Sequence[int] | None, dense_dim: int | None
) -> Any:
    to = sparse_coo if layout is None else layout_of_value(layout)
    if self._layout is strided and to is strided:
        condition = internal_assert("self.layout() != layout_to", "dense_to_sparse")
        raise RuntimeError(f"{condition}dense_to_sparse: unexpected same input and output layout")
    _check_arguments(_of_source(self), self, to, blocksize, dense_dim)
    if to in _COMPRESSING:
        return _COMPRESSING[to](self, dense_dim)
    if to in _BLOCKED or dense_dim:
        raise NotImplementedError(
            "mindtorch_v2 has no sparse tensors with blocks or dense dimensions yet"
        )
    return self._fresh(layout=to)


_TO_MKLDNN: Final = frozenset(
    DTYPES[name] for name in ("float32", "bfloat16", "float16", "uint8", "int8")
)


@kernel("aten::to_mkldnn", key="CPU")
def to_mkldnn(self: Tensor, dtype: int | None) -> Any:
    wanted = self._dtype if dtype is None else dtype_of_value(dtype)
    dtypes = "float, bfloat16, half, uint8, int8"
    if self._dtype not in _TO_MKLDNN:
        raise RuntimeError(f"dense_to_mkldnn expects {dtypes} tensor input")
    if wanted not in _TO_MKLDNN:
        raise RuntimeError(f"cpu tensor only can be converted to be a {dtypes} mkldnn tensor")
    return self._fresh(layout=mkldnn, dtype=wanted)
