"""Variances, standard deviations, and means beside them.

Mirrors ``std_var_out`` and ``std_var_mean_out`` of ``aten/src/ATen/native/ReduceOps.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from mindtorch_v2.kernels.cpu.reduce import (
    foreach_reduced_elt,
    review_reduce_result,
    shares_storage,
)
from mindtorch_v2.kernels.cpu.reductions import reduced_dims, reduced_shape
from mindtorch_v2.kernels.dtypes import check_implemented, not_implemented
from mindtorch_v2.kernels.elementwise.broadcasting import infer_size
from mindtorch_v2.kernels.elementwise.pointwise import as_array, check_fill
from mindtorch_v2.kernels.elementwise.promotion import Number, check_can_cast
from mindtorch_v2.kernels.elementwise.tensor_iterator import BINARY_OP, TensorIterator
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, resize_output
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import prologue
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES, REAL_OF_COMPLEX, DType
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.experimental import warn_of_copy
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.scalars import scalar_to
from mindtorch_v2.tensor.support import CPP_NAMES, worded
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn

Dims = Sequence[int] | None

_FACTS: Final = "aten::var_mean.correction"
"""The kernel of both."""
_ADD_OUT: Final = OperatorHandle("aten::add.out")
_SQRT_OUT: Final = OperatorHandle("aten::sqrt.out")
_HALVES: Final = (DTYPES["float16"], DTYPES["bfloat16"])
_SINGLES: Final = (DTYPES["float32"], DTYPES["float64"])


def real_value_type(dtype: DType) -> DType:
    """``toRealValueType``."""
    return REAL_OF_COMPLEX.get(dtype, dtype)


def _parts(self: Tensor) -> tuple[Array, ...]:
    """The values in double precision; of complex ones the real and the imaginary parts."""
    values = as_array(self, self._dtype)
    if not self._dtype.is_complex:
        return (values.astype(np.float64),)
    return values.real.astype(np.float64), values.imag.astype(np.float64)


def _of_parts(parts: Sequence[Array]) -> Array:
    """``complex``, which computes nothing: a part may be infinite."""
    if len(parts) == 1:
        return np.asarray(parts[0])
    made = np.empty(parts[0].shape, np.complex128)
    made.real, made.imag = parts
    return made


def _correction(number: Number | None) -> float:
    return float(scalar_to(1 if number is None else number, DTYPES["float64"]))


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
    mean = _mean(values, dims)
    squares = ((values - mean) ** 2).sum(axis=dims, keepdims=True)
    return squares / np.float64(max(0.0, count - correction)), mean


def _mean(values: Array, dims: tuple[int, ...]) -> Array:
    """One element after the other, as Welford's algorithm has it: it matters to infinities."""
    if np.isfinite(values).all():
        return np.asarray(values.mean(axis=dims, keepdims=True))
    kept = [dim for dim in range(values.ndim) if dim not in dims]
    rows = values.transpose(*kept, *dims).reshape(*(values.shape[dim] for dim in kept), -1)
    mean = np.zeros(rows.shape[:-1])
    for place in range(rows.shape[-1]):
        mean = mean + (rows[..., place] - mean) / (place + 1)
    return mean.reshape(reduced_shape(values.shape, dims, keepdim=True))


def _combined(parts: Sequence[Array], dtype: DType, *, take_sqrt: bool) -> Array:
    """The variance from those of the parts, each of the dtype of the result."""
    first, *rest = (_held_by(part, dtype) for part in parts)
    found = _held_by(sum(rest, first), dtype) if rest else parts[0]
    return np.sqrt(found) if take_sqrt else found


def _held_by(values: Array, dtype: DType) -> Array:
    """What ``dtype`` holds of values of a higher precision."""
    elements = elements_of(dtype)
    return elements.decode(elements.encode(values))


def _std_var_out(
    name: str,
    result: Tensor,
    self: Tensor,
    dim: Dims,
    correction: Number | None,
    keepdim: bool,
    *,
    take_sqrt: bool,
) -> Tensor:
    _check_floating(self)
    if self._dtype.is_complex:
        parts = _variances_of_parts(name, result, self, dim, correction, keepdim)
        _ADD_OUT(*parts, out=result)
        if take_sqrt:
            _SQRT_OUT(result, out=result)
        return result
    free, reduced = _correction(correction), reduced_dims(dim, len(self._sizes))
    _prepare_real(result, self, dim, keepdim)
    viewed = review_reduce_result(result, reduced, keepdim=keepdim)
    warn_of_copy(self._dtype, result._dtype)
    count = numel(infer_size(self._sizes, viewed._sizes))
    _warn_of_freedom(name, count, numel(result._sizes), free)
    if not count:
        check_fill(result, result._dtype)
        store(result, np.asarray(np.nan))
        return result
    _check_result(result._dtype, self, result._sizes)

    def read() -> Array:
        return as_array(self, self._dtype).astype(np.float64)

    def compute(values: Array, dims: tuple[int, ...]) -> Array:
        found, _ = _variance(values, dims, free)
        return np.sqrt(found) if take_sqrt else found

    with np.errstate(all="ignore"):
        if numel(result._sizes) == 1:
            found = compute(read(), tuple(range(len(self._sizes)))).reshape(())
            store(result, _held_by(found, self._dtype))  # whatever the result holds
        elif shares_storage(result, self):  # see Note [Outputs that are inputs]
            foreach_reduced_elt(viewed, read, compute)
        else:
            store(viewed, compute(read(), reduced))
    return result


def _variances_of_parts(
    name: str, result: Tensor, self: Tensor, dim: Dims, correction: Number | None, keepdim: bool
) -> list[Tensor]:
    """The variances of the real parts and of the imaginary parts, to be added up."""
    dtype, found = real_value_type(result._dtype), []
    values = value_array(self)
    for part in (values.real, values.imag):
        source = new_tensor(self._sizes, real_value_type(self._dtype), self._device)
        store(source, part)
        target = new_tensor((0,), dtype, self._device)
        _std_var_out(name, target, source, dim, correction, keepdim, take_sqrt=False)
        found.append(target)
    return found


def _prepare_result(result: Tensor, self: Tensor, dim: Dims, keepdim: bool) -> None:
    """Checks and resizes what is written to."""
    if not self._dtype.is_complex:
        _prepare_real(result, self, dim, keepdim)
        _check_result(result._dtype, self, result._sizes)
        return
    part = new_tensor(self._sizes, real_value_type(self._dtype), self._device)
    sums = new_tensor((0,), real_value_type(result._dtype), self._device)
    _prepare_result(sums, part, dim, keepdim)
    TensorIterator(BINARY_OP, (result,), (sums, sums))


def _prepare_real(result: Tensor, self: Tensor, dim: Dims, keepdim: bool) -> None:
    reduced = reduced_dims(dim, len(self._sizes))
    source = self._dtype
    resize_output(result, reduced_shape(self._sizes, reduced, keepdim=keepdim))
    check_can_cast(source, result._dtype)


def _check_result(dtype: DType, self: Tensor, shape: Sequence[int]) -> None:
    is_one = numel(shape) == 1 and numel(self._sizes)
    if numel(self._sizes) and not (is_one and _takes_all(self._dtype, dtype)):
        if dtype.is_complex:  # an output that was given
            raise not_implemented(_FACTS, dtype)
        check_implemented(_FACTS, dtype)


def _takes_all(own: DType, dtype: DType) -> bool:
    """Whether one result has a kernel of its own; RuntimeError if that does not take the dtype of
    the elements, whatever the output's is."""
    if dtype in _HALVES:
        return False
    if own not in _SINGLES:
        raise RuntimeError(f"std_var_all: Unsupported dtype {CPP_NAMES[own]}")
    return True


def _check_floating(self: Tensor) -> None:
    if not self._dtype.is_floating_point and not self._dtype.is_complex:
        raise worded("var of integers")


def _std_var_mean(
    name: str, self: Tensor, dim: Dims, correction: Number | None, keepdim: bool
) -> tuple[Tensor, Tensor]:
    if not self._dtype.is_floating_point and not self._dtype.is_complex:
        raise worded("var_mean of integers", var_mean=name)
    free = _correction(correction)
    dtype = real_value_type(self._dtype)
    reduced = reduced_dims(dim, len(self._sizes))
    shape = reduced_shape(self._sizes, reduced, keepdim=keepdim)
    variance = new_tensor(shape, dtype, self._device)
    average = new_tensor(shape, self._dtype, self._device)
    parts = _parts(self)
    for _ in parts:
        _warn_of_freedom(name, numel(self._sizes), numel(shape), free)
    if numel(self._sizes):
        check_implemented(_FACTS, dtype)
    with np.errstate(all="ignore"):
        found = [_variance(part, reduced, free) for part in parts]
        spread = _combined([each[0] for each in found], dtype, take_sqrt=name == "std_mean")
        store(variance, np.asarray(spread).reshape(shape))
        store(average, _of_parts([each[1] for each in found]).reshape(shape))
    return variance, average


def _register(name: str) -> None:
    def run_out(
        self: Tensor, dim: Dims, correction: Number | None, keepdim: bool, out: Tensor
    ) -> Tensor:
        return _std_var_out(name, out, self, dim, correction, keepdim, take_sqrt=name == "std")

    def run(self: Tensor, dim: Dims, correction: Number | None, keepdim: bool) -> Tensor:
        result = new_tensor((0,), real_value_type(self._dtype), self._device)
        return run_out(self, dim, correction, keepdim, result)

    def run_with_mean(
        self: Tensor, dim: Dims, correction: Number | None, keepdim: bool
    ) -> tuple[Tensor, Tensor]:
        return _std_var_mean(f"{name}_mean", self, dim, correction, keepdim)

    @prologue(f"aten::{name}.correction")
    def prepare(
        outputs: Sequence[Tensor],
        self: Tensor,
        dim: Dims,
        correction: Number | None,
        keepdim: bool,
    ) -> None:
        (result,) = outputs
        _check_floating(self)
        _correction(correction)
        _prepare_result(result, self, dim, keepdim)

    kernel(f"aten::{name}.correction")(run)
    kernel(f"aten::{name}.correction_out")(run_out)
    kernel(f"aten::{name}_mean.correction")(run_with_mean)


_register("var")
_register("std")
