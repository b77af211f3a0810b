"""Variances, standard deviations, and means beside them.

Mirrors ``std_var_out`` and ``std_var_mean_out`` of ``aten/src/ATen/native/ReduceOps.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from mindtorch_v2.kernels.cpu.reductions import reduced_dims, reduced_shape
from mindtorch_v2.kernels.dtypes import check_supported
from mindtorch_v2.kernels.outputs import new_tensor, resize_output
from mindtorch_v2.kernels.pointwise import as_array
from mindtorch_v2.kernels.promotion import Number, can_cast
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import REAL_OF_COMPLEX, Array
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn

Dims = Sequence[int] | None

_FACTS: Final = "aten::var.correction"


def real_value_type(dtype: DType) -> DType:
    """``toRealValueType``."""
    return REAL_OF_COMPLEX.get(dtype, dtype)


def _parts(self: Tensor) -> tuple[Array, ...]:
    """The values in double precision; of complex ones the real and the imaginary parts."""
    values = as_array(self, self._dtype)
    if not self._dtype.is_complex:
        return (values.astype(np.float64),)
    return values.real.astype(np.float64), values.imag.astype(np.float64)


def _warn_of_freedom(name: str, count: int, outputs: int, correction: float) -> None:
    if (count // outputs if outputs else 0) - correction <= 0:
        warn(
            "warn_invalid_degrees_of_freedom",
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "reduction factor (input numel divided by output numel).",
        )


def _variance(values: Array, dims: tuple[int, ...], correction: float) -> tuple[Array, Array]:
    """The variance and the mean over dimensions, which are kept."""
    count = int(np.prod([values.shape[dim] for dim in dims], dtype=np.int64))
    if not count:
        shape = reduced_shape(values.shape, dims, keepdim=True)
        return np.full(shape, np.nan), np.full(shape, np.nan)
    mean = values.mean(axis=dims, keepdims=True)
    squares = ((values - mean) ** 2).sum(axis=dims, keepdims=True)
    return squares / np.float64(max(0.0, count - correction)), mean


def _check_dtype(self: Tensor) -> None:
    check_supported(_FACTS, self._dtype)


def _std_var_out(
    name: str,
    result: Tensor,
    self: Tensor,
    dim: Dims,
    correction: Number | None,
    keepdim: bool,
) -> Tensor:
    _check_dtype(self)
    free = float(1 if correction is None else correction)  # type: ignore[arg-type]
    if not self._dtype.is_complex and not can_cast(self._dtype, result._dtype):
        raise RuntimeError(
            f"result type {CPP_NAMES[self._dtype]} can't be cast to the desired output type "
            f"{CPP_NAMES[result._dtype]}"
        )
    reduced = reduced_dims(dim, len(self._sizes))
    shape = reduced_shape(self._sizes, reduced, keepdim=keepdim)
    parts = _parts(self)
    for _ in parts:
        _warn_of_freedom(name, numel(self._sizes), numel(shape), free)
    resize_output(result, shape)
    with np.errstate(all="ignore"):
        found = sum(_variance(part, reduced, free)[0] for part in parts)
        store(result, np.asarray(np.sqrt(found) if name == "std" else found).reshape(shape))
    return result


def _std_var_mean(
    name: str, self: Tensor, dim: Dims, correction: Number | None, keepdim: bool
) -> tuple[Tensor, Tensor]:
    if not self._dtype.is_floating_point and not self._dtype.is_complex:
        raise RuntimeError(f"{name} only support floating point and complex dtypes")
    free = float(1 if correction is None else correction)  # type: ignore[arg-type]
    reduced = reduced_dims(dim, len(self._sizes))
    shape = reduced_shape(self._sizes, reduced, keepdim=keepdim)
    variance = new_tensor(shape, real_value_type(self._dtype), self._device)
    average = new_tensor(shape, self._dtype, self._device)
    parts = _parts(self)
    for _ in parts:
        _warn_of_freedom(name, numel(self._sizes), numel(shape), free)
    with np.errstate(all="ignore"):
        found = [_variance(part, reduced, free) for part in parts]
        spread = np.asarray(sum(each[0] for each in found))
        store(variance, (np.sqrt(spread) if name == "std_mean" else spread).reshape(shape))
        mean = found[0][1] if len(found) == 1 else found[0][1] + 1j * found[1][1]
        store(average, np.asarray(mean).reshape(shape))
    return variance, average


def _register(name: str) -> None:
    def run_out(
        self: Tensor, dim: Dims, correction: Number | None, keepdim: bool, out: Tensor
    ) -> Tensor:
        return _std_var_out(name, out, self, dim, correction, keepdim)

    def run(self: Tensor, dim: Dims, correction: Number | None, keepdim: bool) -> Tensor:
        result = new_tensor((0,), real_value_type(self._dtype), self._device)
        return run_out(self, dim, correction, keepdim, result)

    def run_with_mean(
        self: Tensor, dim: Dims, correction: Number | None, keepdim: bool
    ) -> tuple[Tensor, Tensor]:
        return _std_var_mean(f"{name}_mean", self, dim, correction, keepdim)

    kernel(f"aten::{name}.correction")(run)
    kernel(f"aten::{name}.correction_out")(run_out)
    kernel(f"aten::{name}_mean.correction")(run_with_mean)


_register("var")
_register("std")
