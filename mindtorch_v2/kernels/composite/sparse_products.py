"""Products of sparse matrices, as far as dense ones get.

Mirrors ``smm``, ``sspaddmm`` and ``_sparse_mm`` in
``aten/src/ATen/native/sparse/SparseTensorMath.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NoReturn

from mindtorch_v2.kernels.elementwise.promotion import Number
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.dtype import sparse_compressed, sparse_coo
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_ADDMM: Final = OperatorHandle("aten::addmm")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_REDUCED: Final = OperatorHandle("aten::_sparse_mm_reduce_impl")
_SPARSE_ADDMM: Final = OperatorHandle("aten::_sparse_addmm")
_SPARSE_SPARSE: Final = OperatorHandle("aten::_sparse_sparse_matmul")
_SSPADDMM_OUT: Final = OperatorHandle("aten::sspaddmm.out")
_TRANSPOSE: Final = OperatorHandle("aten::transpose.int")
_ZEROS: Final = OperatorHandle("aten::zeros")


@kernel("aten::sspaddmm.out", key="CPU")
def sspaddmm_out(
    self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number, alpha: Number, out: Tensor
) -> NoReturn:
    raise RuntimeError("tensor.sspaddmm(...) can only be called on sparse tensors")


@kernel("aten::sspaddmm", key=_IMPLICIT)
def sspaddmm(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number, alpha: Number) -> Any:
    return _SSPADDMM_OUT(self, mat1, mat2, beta=beta, alpha=alpha, out=_nothing_like(self))


@kernel("aten::smm", key=_IMPLICIT)
def smm(self: Tensor, mat2: Tensor) -> Any:
    result = _nothing_like(self)
    return _SSPADDMM_OUT(result, self, mat2, beta=0.0, alpha=1.0, out=result)


def _nothing_like(self: Tensor) -> Any:
    return _EMPTY([0], dtype=self._dtype, layout=self._layout, device=self._device)


@kernel("aten::_sparse_addmm", key="CompositeExplicitAutograd")
def sparse_addmm(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number, alpha: Number) -> Any:
    """``addmm``: its gradients alone are others."""
    return _ADDMM(self, mat1, mat2, beta=beta, alpha=alpha)


@kernel("aten::_sparse_mm", key=_IMPLICIT)
def sparse_mm(sparse: Any, dense: Any) -> Any:
    """One of the matrices is sparse: the first, or by transposition the second."""
    if sparse._layout is sparse_coo and dense._layout is sparse_coo:
        return _SPARSE_SPARSE(sparse, dense)
    sizes = [sparse.size(-2), dense.size(-1)]
    if sparse._layout is sparse_coo or sparse._layout in sparse_compressed:
        return _SPARSE_ADDMM(_zeros(sizes, dense), sparse, dense, beta=0, alpha=1)
    turned = [_TRANSPOSE(each, -2, -1) for each in (_zeros(sizes, sparse), dense, sparse)]
    return _TRANSPOSE(_SPARSE_ADDMM(*turned, beta=0, alpha=1), -2, -1)


def _zeros(sizes: Sequence[int], like: Tensor) -> Any:
    return _ZEROS(list(sizes), dtype=like._dtype, layout=like._layout, device=like._device)


@kernel("aten::_sparse_mm.reduce", key=_IMPLICIT)
def sparse_mm_reduce(sparse: Tensor, dense: Tensor, reduce: str) -> Any:
    return _REDUCED(sparse, dense, reduce)[0]
