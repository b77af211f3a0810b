"""The reference functions of decompositions of matrices.

Mirrors functions of ``torch/_meta_registrations.py``; what they check they say as Python shows it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mindtorch_v2.kernels.cpu.linalg.eigenvectors import check_uplo
from mindtorch_v2.kernels.cpu.linalg.orthogonal import (
    check_product,
    check_reflections,
    parse_qr_mode,
)
from mindtorch_v2.kernels.cpu.moments import real_value_type
from mindtorch_v2.kernels.linear_algebra import (
    check_is_matrix,
    check_same_device,
    column_major_strides,
)
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import corresponding_complex_dtype
from mindtorch_v2.kernels.refs.linear_algebra import check_floating, check_square
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."


def _columns(sizes: Sequence[int], like: Tensor, dtype: DType | None = None) -> Tensor:
    return new_tensor(sizes, dtype or like._dtype, like._device, column_major_strides(sizes))


@body(_META + "linalg_qr_meta")
def linalg_qr_meta(a: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    check_is_matrix(a, "linalg.qr")
    check_floating(a, "linalg.qr")
    computes_q, is_reduced = parse_qr_mode(mode)
    *batch, rows, columns = a._sizes
    count = min(rows, columns)
    q = _columns((*batch, rows, count if is_reduced else rows) if computes_q else (0,), a)
    return q, _columns((*batch, count if is_reduced else rows, columns), a)


@body(_META + "_linalg_svd_meta")
def linalg_svd_meta(
    a: Tensor, full_matrices: bool = False, compute_uv: bool = True, driver: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    check_is_matrix(a, "linalg.svd")
    check_floating(a, "linalg.svd")
    *batch, rows, columns = a._sizes
    count = min(rows, columns)
    u = _columns((*batch, rows, rows if full_matrices else count) if compute_uv else (0,), a)
    sizes = (*batch, columns if full_matrices else count, columns) if compute_uv else (0,)
    vh = new_tensor(sizes, a._dtype, a._device)  # as on CUDA, for which it is taken
    return u, new_tensor((*batch, count), real_value_type(a._dtype), a._device), vh


@body(_META + "meta__linalg_eigh")
def meta_linalg_eigh(a: Tensor, uplo: str = "L", compute_v: bool = True) -> tuple[Tensor, Tensor]:
    check_square(a, "linalg.eigh")
    check_uplo(uplo)
    vectors = _columns(a._sizes if compute_v else (0,), a)
    return new_tensor(a._sizes[:-1], real_value_type(a._dtype), a._device), vectors


def _complex_dtype(input: Tensor) -> DType:
    dtype = input._dtype
    return dtype if dtype.is_complex else corresponding_complex_dtype(dtype)


@body(_META + "meta_linalg_eig")
def meta_linalg_eig(input: Tensor) -> tuple[Tensor, Tensor]:
    check_square(input, "linalg.eig")
    dtype = _complex_dtype(input)
    values = new_tensor(input._sizes[:-1], dtype, input._device)
    return values, new_tensor(input._sizes, dtype, input._device)


@body(_META + "meta__linalg_eigvals")
def meta_linalg_eigvals(input: Tensor) -> Tensor:
    check_square(input, "linalg.eigvals")
    return new_tensor(input._sizes[:-1], _complex_dtype(input), input._device)


@body(_META + "linalg_matrix_exp")
def linalg_matrix_exp(self: Tensor) -> Tensor:
    check_square(self, "linalg.matrix_exp")
    check_floating(self, "linalg.matrix_exp")
    return new_tensor(self._sizes, self._dtype, self._device)


@body(_META + "linalg_householder_product")
def linalg_householder_product(input: Tensor, tau: Tensor) -> Tensor:
    check_reflections(input, tau, python=True)
    check_same_device("torch.linalg.householder_product", tau, input, "tau")
    return _columns(input._sizes, input)


@body(_META + "ormqr")
def ormqr(
    input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    check_product(input, tau, other, left, python=True)
    for name, each in (("tau", tau), ("other", other)):
        if each._dtype is not input._dtype:
            raise RuntimeError(
                f"torch.ormqr: Expected input and {name} to have the same dtype, but input has "
                f"dtype {input._dtype} and {name} has dtype {each._dtype}"
            )
    for name, each in (("tau", tau), ("other", other)):
        check_same_device("torch.ormqr", each, input, name)
    return _columns(other._sizes, other)
