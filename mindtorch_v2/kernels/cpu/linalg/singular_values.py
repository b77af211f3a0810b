"""Singular value decompositions.

Mirrors ``_linalg_svd`` of ``aten/src/ATen/native/BatchLinearAlgebra.cpp``, which calls LAPACK's
``gesdd``, as NumPy does.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.linalg.lapack_outputs import write
from mindtorch_v2.kernels.cpu.moments import real_value_type
from mindtorch_v2.kernels.linear_algebra import (
    CHECK_ERRORS,
    COMPUTED,
    INT32,
    check_floating_or_complex,
    check_is_matrix,
    column_major_strides,
)
from mindtorch_v2.kernels.outputs import new_tensor, set_output
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import dispatch_over
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import contiguous_strides, numel
from mindtorch_v2.tensor.tensor import Tensor

_NON_FINITE: Final = -4
"""What LAPACK informs of if there is a NaN: that its fourth argument is not right."""


@structured.structured("aten::_linalg_svd", outputs=3)
def linalg_svd(
    outputs: Outputs, self: Tensor, full_matrices: bool, compute_uv: bool, driver: str | None
) -> tuple[Tensor, ...]:
    check_is_matrix(self, "linalg.svd")
    check_floating_or_complex(self, "linalg.svd")
    *batch, rows, columns = self._sizes
    count = min(rows, columns)

    def matrix(place: int, *sizes: int) -> Tensor:
        shape = (*batch, *sizes) if compute_uv else (0,)
        strides = column_major_strides(shape)
        return set_output(outputs[place], shape, self._dtype, self._device, strides)

    u = matrix(0, rows, rows if full_matrices else count)
    vh = matrix(2, columns if full_matrices else count, columns)
    shape = (*batch, count)
    real = real_value_type(self._dtype)
    s = set_output(outputs[1], shape, real, self._device, contiguous_strides(shape))
    if s.is_meta:
        return u, s, vh
    if not numel(self._sizes):
        for each in (u, vh) if compute_uv and full_matrices else ():
            write(each, np.eye(each._sizes[-1]))
        return u, s, vh
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
            "cuSOLVER backend."
        )
    dispatch_over(COMPUTED, "linalg_svd_cpu", self._dtype)
    values = value_array(self)
    _check_numbers(values, self)
    found = _decomposed(values, full_matrices, compute_uv)
    for each, part in zip((u, s, vh) if compute_uv else (s,), found, strict=True):
        write(each, part)
    return u, s, vh


def _decomposed(values: Array, full_matrices: bool, compute_uv: bool) -> tuple[Array, ...]:
    """Of an infinite matrix nothing is a number."""
    finite = np.asarray(np.isfinite(values).all(axis=(-2, -1), keepdims=True))
    values = np.where(finite, values, 0)
    if compute_uv:
        found = tuple(np.linalg.svd(values, full_matrices=full_matrices))
    else:
        found = (np.linalg.svd(values, compute_uv=False),)
    fits = {values.ndim: finite, values.ndim - 1: finite[..., 0]}
    return tuple(np.where(fits[each.ndim], each, np.nan).astype(each.dtype) for each in found)


def _check_numbers(values: Array, self: Tensor) -> None:
    wrong = np.isnan(values).any(axis=(-2, -1))
    if wrong.any():
        info = new_tensor(self._sizes[:-2], INT32, self._device)
        store(info, np.where(wrong, _NON_FINITE, 0))
        CHECK_ERRORS(info, "linalg.svd", is_matrix=len(self._sizes) == 2)
