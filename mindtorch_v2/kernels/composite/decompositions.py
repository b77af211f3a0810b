"""Decompositions of matrices by the names that users call them by.

Mirrors the composite functions of ``aten/src/ATen/native/BatchLinearAlgebra.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import resize_output
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like
from mindtorch_v2.warn import warn_once

_IMPLICIT: Final = "CompositeImplicitAutograd"

_CONJ_PHYSICAL_: Final = OperatorHandle("aten::conj_physical_")
_EIG: Final = OperatorHandle("aten::linalg_eig")
_EIGH: Final = OperatorHandle("aten::_linalg_eigh")
_EIGH_OUT: Final = OperatorHandle("aten::_linalg_eigh.eigenvalues")
_EIGVALS: Final = OperatorHandle("aten::_linalg_eigvals")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_HOUSEHOLDER: Final = OperatorHandle("aten::linalg_householder_product")
_HOUSEHOLDER_OUT: Final = OperatorHandle("aten::linalg_householder_product.out")
_LINALG_SVD: Final = OperatorHandle("aten::linalg_svd")
_LINALG_SVD_OUT: Final = OperatorHandle("aten::linalg_svd.U")
_MH: Final = OperatorHandle("aten::mH")
_QR: Final = OperatorHandle("aten::linalg_qr")
_QR_OUT: Final = OperatorHandle("aten::linalg_qr.out")
_SVD: Final = OperatorHandle("aten::_linalg_svd")
_SVD_OUT: Final = OperatorHandle("aten::_linalg_svd.U")
_SVDVALS: Final = OperatorHandle("aten::linalg_svdvals")
_SVDVALS_OUT: Final = OperatorHandle("aten::linalg_svdvals.out")
_TRANSPOSE_: Final = OperatorHandle("aten::transpose_")
_ZERO_: Final = OperatorHandle("aten::zero_")
_ZEROS: Final = OperatorHandle("aten::zeros")


def _may_require_grad(input: Tensor) -> bool:
    """``_may_require_fw_or_bw_grad``: gradients of values need the vectors."""
    return (tls.is_grad_enabled() and input.requires_grad) or is_tensor_subclass_like(input)


def _empty(like: Tensor) -> Any:
    return _EMPTY([0], dtype=like._dtype, layout=like._layout, device=like._device)


# --- QR -----------------------------------------------------------------------------------------

_QR_DEPRECATED: Final = (
    "torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future PyTorch "
    "release.\nThe boolean parameter 'some' has been replaced with a string parameter 'mode'.\n"
    "Q, R = torch.qr(A, some)\nshould be replaced with\n"
    "Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')"
)


def _mode(some: bool) -> str:
    return "reduced" if some else "complete"


@kernel("aten::qr", key=_IMPLICIT)
def qr(self: Tensor, some: bool) -> Any:
    warn_once("qr", _QR_DEPRECATED)
    return _QR(self, _mode(some))


@kernel("aten::qr.Q", key=_IMPLICIT)
def qr_out(self: Tensor, some: bool, q: Tensor, r: Tensor) -> Any:
    warn_once("qr_out", _QR_DEPRECATED)
    return _QR_OUT(self, _mode(some), Q=q, R=r)


@kernel("aten::orgqr", key=_IMPLICIT)
def orgqr(self: Tensor, input2: Tensor) -> Any:
    return _HOUSEHOLDER(self, input2)


@kernel("aten::orgqr.out", key=_IMPLICIT)
def orgqr_out(self: Tensor, input2: Tensor, out: Tensor) -> Any:
    return _HOUSEHOLDER_OUT(self, input2, out=out)


# --- singular values ----------------------------------------------------------------------------


@kernel("aten::linalg_svd", key=_IMPLICIT)
def linalg_svd(self: Tensor, full_matrices: bool, driver: str | None) -> Any:
    return _SVD(self, full_matrices, True, driver=driver)


@kernel("aten::linalg_svd.U", key=_IMPLICIT)
def linalg_svd_out(
    self: Tensor, full_matrices: bool, driver: str | None, u: Tensor, s: Tensor, vh: Tensor
) -> Any:
    return _SVD_OUT(self, full_matrices, True, driver=driver, U=u, S=s, Vh=vh)


@kernel("aten::linalg_svdvals", key=_IMPLICIT)
def linalg_svdvals(self: Tensor, driver: str | None) -> Any:
    return _SVD(self, False, _may_require_grad(self), driver=driver)[1]


@kernel("aten::linalg_svdvals.out", key=_IMPLICIT)
def linalg_svdvals_out(self: Tensor, driver: str | None, out: Tensor) -> Any:
    _SVD_OUT(self, False, False, driver=driver, U=_empty(self), S=out, Vh=_empty(self))
    return out


@kernel("aten::svd", key=_IMPLICIT)
def svd(self: Tensor, some: bool, compute_uv: bool) -> Any:
    """Without vectors they are zeros."""
    if len(self._sizes) < 2:
        raise RuntimeError(
            "linalg.svd: input should have at least 2 dimensions, but has "
            f"{len(self._sizes)} dimensions instead"
        )
    if compute_uv:
        u, s, vh = _LINALG_SVD(self, not some)
        return u, s, _MH(vh)
    s = _SVDVALS(self)
    options = {"dtype": self._dtype, "layout": self._layout, "device": self._device}
    u, vh = (_ZEROS(sizes, **options) for sizes in _full_sizes(self))
    return u, s, _MH(vh)


def _full_sizes(self: Tensor) -> tuple[list[int], list[int]]:
    *batch, rows, columns = self._sizes
    return [*batch, rows, rows], [*batch, columns, columns]


@kernel("aten::svd.U", key=_IMPLICIT)
def svd_out(self: Tensor, some: bool, compute_uv: bool, u: Tensor, s: Tensor, v: Tensor) -> Any:
    if compute_uv:
        if len(v._sizes) >= 2:
            _TRANSPOSE_(v, -2, -1)
        _LINALG_SVD_OUT(self, not some, U=u, S=s, Vh=v)
        _TRANSPOSE_(v, -2, -1)
        if v._dtype.is_complex:
            _CONJ_PHYSICAL_(v)
        return u, s, v
    for out in (u, v):
        if out._dtype is not self._dtype:
            raise RuntimeError(
                f"torch.svd: Expected out tensor to have dtype {CPP_NAMES[self._dtype]} but got "
                f"{CPP_NAMES[out._dtype]} instead"
            )
    _SVDVALS_OUT(self, out=s)
    for out, sizes in zip((u, v), _full_sizes(self), strict=True):
        resize_output(out, sizes)
        _ZERO_(out)
    return u, s, v


# --- eigenvalues --------------------------------------------------------------------------------


@kernel("aten::linalg_eigh", key=_IMPLICIT)
def linalg_eigh(self: Tensor, uplo: str) -> Any:
    return _EIGH(self, uplo, True)


@kernel("aten::linalg_eigh.eigvals", key=_IMPLICIT)
def linalg_eigh_out(self: Tensor, uplo: str, eigvals: Tensor, eigvecs: Tensor) -> Any:
    return _EIGH_OUT(self, uplo, True, eigenvalues=eigvals, eigenvectors=eigvecs)


@kernel("aten::linalg_eigvalsh", key=_IMPLICIT)
def linalg_eigvalsh(self: Tensor, uplo: str) -> Any:
    return _EIGH(self, uplo, _may_require_grad(self))[0]


@kernel("aten::linalg_eigvalsh.out", key=_IMPLICIT)
def linalg_eigvalsh_out(self: Tensor, uplo: str, out: Tensor) -> Any:
    _EIGH_OUT(self, uplo, False, eigenvalues=out, eigenvectors=_empty(self))
    return out


@kernel("aten::linalg_eigvals", key=_IMPLICIT)
def linalg_eigvals(self: Tensor) -> Any:
    return _EIG(self)[0] if _may_require_grad(self) else _EIGVALS(self)
