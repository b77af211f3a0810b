"""Eigenvalues and eigenvectors, of any square matrix and of Hermitian ones.

Mirrors ``_linalg_eigh``, ``linalg_eig`` and ``linalg_eigvals`` of
``aten/src/ATen/native/BatchLinearAlgebra.cpp``, which call LAPACK's ``syevd`` and ``geev``, as
NumPy does.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.linalg.lapack_outputs import give_sizes, is_written_directly, write
from mindtorch_v2.kernels.cpu.moments import real_value_type
from mindtorch_v2.kernels.elementwise.promotion import to_complex
from mindtorch_v2.kernels.linear_algebra import (
    COMPUTED,
    check_castable,
    check_same_device,
    check_square,
    column_major_strides,
)
from mindtorch_v2.kernels.outputs import as_it_was, new_tensor, set_output
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import dispatch_over
from mindtorch_v2.tensor.copying import value_array
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import contiguous_strides, numel
from mindtorch_v2.tensor.tensor import Tensor

# --- of Hermitian matrices ----------------------------------------------------------------------


def check_uplo(uplo: str) -> None:
    """``checkUplo``: which triangle is read."""
    if uplo.upper() not in ("U", "L"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {uplo}")


@structured.structured("aten::_linalg_eigh", outputs=2)
def linalg_eigh(outputs: Outputs, self: Tensor, uplo: str, compute_v: bool) -> tuple[Tensor, ...]:
    self = as_it_was(self, outputs)
    check_square(self, "linalg.eigh")
    check_uplo(uplo)
    shape: tuple[int, ...] = tuple(self._sizes) if compute_v else (0,)
    strides = column_major_strides(shape)
    vectors = set_output(outputs[1], shape, self._dtype, self._device, strides)
    shape, real = tuple(self._sizes[:-1]), real_value_type(self._dtype)
    values = set_output(outputs[0], shape, real, self._device, contiguous_strides(shape))
    if values.is_meta or not numel(self._sizes):
        return values, vectors
    dispatch_over(COMPUTED, "linalg_eigh_cpu", self._dtype)
    matrices, finite = _finite(value_array(self))
    triangle: Literal["U", "L"] = "U" if uplo.upper() == "U" else "L"
    if compute_v:
        found, columns = np.linalg.eigh(matrices, triangle)
        write(vectors, np.where(finite, columns, np.nan))
    else:
        found = np.linalg.eigvalsh(matrices, triangle)
    write(values, np.where(finite[..., 0], found, np.nan))
    return values, vectors


def _finite(matrices: Array) -> tuple[Array, Array]:
    """The matrices, and which are finite: of others nothing is a number, nor has NumPy any."""
    finite = np.asarray(np.isfinite(matrices).all(axis=(-2, -1), keepdims=True))
    return np.where(finite, matrices, 0).astype(matrices.dtype), finite


# --- of any square matrix -----------------------------------------------------------------------


def _complex_dtype(self: Tensor) -> DType:
    """``toComplexType``."""
    return self._dtype if self._dtype.is_complex else to_complex(self._dtype)


@kernel("aten::linalg_eig")
def linalg_eig(self: Tensor) -> tuple[Tensor, Tensor]:
    dtype = _complex_dtype(self)
    made = (new_tensor((0,), dtype, self._device) for _ in range(2))
    return linalg_eig_out(self, *made)


@kernel("aten::linalg_eig.out")
def linalg_eig_out(
    self: Tensor, eigenvalues: Tensor, eigenvectors: Tensor
) -> tuple[Tensor, Tensor]:
    if not np.isfinite(value_array(self)).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    check_square(self, "linalg.eig")
    dtype = _complex_dtype(self)
    for name, out in (("eigenvalues", eigenvalues), ("eigenvectors", eigenvectors)):
        check_castable("torch.linalg.eig", out, dtype, name)
    for name, out in (("eigenvalues", eigenvalues), ("eigenvectors", eigenvectors)):
        check_same_device("torch.linalg.eig", out, self, name)
    sizes = tuple(self._sizes)
    of_values = is_written_directly(eigenvalues, sizes[:-1], dtype)
    of_vectors = is_written_directly(eigenvectors, sizes, dtype, columns=True)
    dispatch_over(COMPUTED, "linalg_eig_out_cpu", self._dtype)
    matrices = value_array(self)
    values, vectors = np.linalg.eig(matrices) if matrices.size else (_no_values(matrices), matrices)
    write(give_sizes(eigenvalues, sizes[:-1], directly=of_values), values)
    write(give_sizes(eigenvectors, sizes, directly=of_vectors, columns=True), vectors)
    return eigenvalues, eigenvectors


@kernel("aten::_linalg_eigvals")
def _linalg_eigvals(self: Tensor) -> Tensor:
    made = new_tensor((0,), _complex_dtype(self), self._device)
    return linalg_eigvals_out(self, made)


@kernel("aten::linalg_eigvals.out")
def linalg_eigvals_out(self: Tensor, out: Tensor) -> Tensor:
    check_square(self, "linalg.eigvals")
    dtype, sizes = _complex_dtype(self), self._sizes[:-1]
    check_castable("torch.linalg.eigvals", out, dtype, "eigenvalues")
    check_same_device("torch.linalg.eigvals", out, self, "eigenvalues")
    directly = is_written_directly(out, sizes, dtype)
    dispatch_over(COMPUTED, "linalg_eig_out_cpu", self._dtype)
    write(give_sizes(out, sizes, directly=directly), _eigenvalues(value_array(self)))
    return out


def _eigenvalues(matrices: Array) -> Array:
    if not matrices.size:
        return _no_values(matrices)
    matrices, finite = _finite(matrices)
    return np.where(finite[..., 0], np.linalg.eigvals(matrices), complex(np.nan, np.nan))


def _no_values(matrices: Array) -> Array:
    return np.zeros(matrices.shape[:-1], matrices.dtype)
