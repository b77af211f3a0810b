"""Reductions over dimensions.

Mirrors ``aten/src/ATen/native/ReduceOps.cpp`` and ``ReduceOpsUtils.h``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.dtypes import check_implemented
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import set_output
from mindtorch_v2.kernels.pointwise import as_array, rounded
from mindtorch_v2.kernels.promotion import BOOL, dtype_numbered, float_of
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES, DType, int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_BYTE: Final = DTYPES["uint8"]
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_MEAN: Final = OperatorHandle("aten::mean.dim")


def reduced_dims(dims: Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """The dimensions that are reduced: all, if none are named (``make_dim_mask``)."""
    if not dims:
        return tuple(range(rank))
    wrapped = [wrap_dim(dim, rank) for dim in dims]
    for place, dim in enumerate(wrapped):
        if dim in wrapped[:place]:
            raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
    return tuple(dim for dim in wrapped if rank)


def reduced_shape(sizes: Sequence[int], dims: Sequence[int], *, keepdim: bool) -> tuple[int, ...]:
    """``get_reduction_shape``."""
    if keepdim:
        return tuple(1 if dim in dims else size for dim, size in enumerate(sizes))
    return tuple(size for dim, size in enumerate(sizes) if dim not in dims)


def _inferred(self: Tensor, dtype: int | None, output: Tensor | None) -> DType:
    """``infer_dtype_from_optional``: that which is asked for, else the output's, else the sum's."""
    if dtype is not None:
        return dtype_numbered(dtype)
    if output is not None:
        return output._dtype
    return int64 if is_integral(self._dtype) else self._dtype


def _reduce(
    facts: str,
    compute: Callable[..., Array],
    outputs: Outputs,
    self: Tensor,
    dims: Sequence[int] | None,
    keepdim: bool,
    dtype: DType,
) -> tuple[Tensor, ...]:
    """The result of ``compute`` over some dimensions, of a dtype in which it is computed."""
    reduced = reduced_dims(dims, len(self._sizes))
    shape = reduced_shape(self._sizes, reduced, keepdim=keepdim)
    output = set_output(outputs[0], shape, dtype, self._device)
    if not output.is_meta and numel(output._sizes):
        if numel(self._sizes):
            check_implemented(facts, dtype)
        with np.errstate(all="ignore"):
            found = compute(as_array(self, dtype), reduced)
            store(output, rounded(np.asarray(found).reshape(shape), dtype))
    return (output,)


def _sum(values: Array, dims: tuple[int, ...]) -> Array:
    if values.dtype.kind == "b":
        return np.asarray(np.any(values, axis=dims))
    return np.asarray(np.sum(values, axis=dims, dtype=values.dtype))


def _mean(values: Array, dims: tuple[int, ...]) -> Array:
    return np.asarray(_sum(values, dims) / values.dtype.type(prod(values.shape[d] for d in dims)))


@structured.structured("aten::sum.dim_IntList")
def sum_(
    outputs: Outputs, self: Tensor, dim: Sequence[int] | None, keepdim: bool, dtype: int | None
) -> tuple[Tensor, ...]:
    found = _inferred(self, dtype, outputs[0])
    return _reduce("aten::sum.dim_IntList", _sum, outputs, self, dim, keepdim, found)


@structured.structured("aten::mean.dim")
def mean(
    outputs: Outputs, self: Tensor, dim: Sequence[int] | None, keepdim: bool, dtype: int | None
) -> tuple[Tensor, ...]:
    asked = self._dtype if dtype is None else dtype_numbered(dtype)
    if not asked.is_floating_point and not asked.is_complex:
        what = "Input" if dtype is None else "Optional"
        raise RuntimeError(
            f"mean(): could not infer output dtype. {what} dtype must be either a floating point "
            f"or complex dtype. Got: {CPP_NAMES[asked]}"
        )
    found = _inferred(self, dtype, outputs[0])
    made = _reduce("aten::sum.dim_IntList", _mean, outputs, self, dim, keepdim, found)
    if is_integral(found):  # into which the sum fits, and the quotient does not
        raise RuntimeError(
            f"result type {CPP_NAMES[float_of(found)]} can't be cast to the desired output type "
            f"{CPP_NAMES[found]}"
        )
    return made


@kernel("aten::sum", key="CompositeExplicitAutograd")
def sum_all(self: Tensor, dtype: int | None) -> Tensor:
    summed: Tensor = _SUM(self, [], False, dtype)
    return summed


@kernel("aten::mean", key="CompositeExplicitAutograd")
def mean_all(self: Tensor, dtype: int | None) -> Tensor:
    averaged: Tensor = _MEAN(self, [], False, dtype)
    return averaged


# --- extremes --------------------------------------------------------------------------------


def _check_no_empty(name: str, self: Tensor, dims: Sequence[int]) -> None:
    """``zero_numel_check_dims``: of nothing there is no largest."""
    if not dims:
        raise RuntimeError(
            f"{name}: Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )
    for dim in dims:
        if not self._sizes[wrap_dim(dim, len(self._sizes))]:
            raise IndexError(f"{name}: Expected reduction dim {dim} to have non-zero size.")


def _extreme(name: str, compute: Any) -> None:
    def run(
        outputs: Outputs, self: Tensor, dim: Sequence[int], keepdim: bool
    ) -> tuple[Tensor, ...]:
        (output,) = outputs
        if output is not None and output._dtype is not self._dtype:
            raise RuntimeError(
                "Expected the dtype for input and out to match, but got "
                f"{CPP_NAMES[self._dtype]} for input's dtype and {CPP_NAMES[output._dtype]} for "
                "out's dtype."
            )
        if not numel(self._sizes):
            _check_no_empty(f"{name}()", self, dim)
        return _reduce(f"aten::{name}", compute, outputs, self, dim, keepdim, self._dtype)

    structured.add(f"aten::{name}", run)


_extreme("amax", lambda values, dims: np.max(values, axis=dims))
_extreme("amin", lambda values, dims: np.min(values, axis=dims))


# --- where the extremes are -------------------------------------------------------------------


def _extreme_place(name: str, compute: Any) -> None:
    def run(outputs: Outputs, self: Tensor, dim: int | None, keepdim: bool) -> tuple[Tensor, ...]:
        rank = len(self._sizes)
        if dim is None:
            if not numel(self._sizes):
                raise IndexError(
                    f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                    "Specify the reduction dim with the 'dim' argument."
                )
            reduced = tuple(range(rank))
        else:
            reduced = (wrap_dim(dim, rank),) if rank else ()
            wrap_dim(dim, rank)
            if not numel(self._sizes):
                _check_no_empty(f"{name}()", self, (dim,))
        shape = reduced_shape(self._sizes, reduced, keepdim=keepdim)
        output = set_output(outputs[0], shape, int64, self._device)
        if not output.is_meta and numel(shape):
            values = as_array(self, self._dtype)
            found = compute(values, axis=None if dim is None or not rank else reduced[0])
            store(output, np.asarray(found).reshape(shape))
        return (output,)

    structured.add(f"aten::{name}", run)


_extreme_place("argmax", np.argmax)
_extreme_place("argmin", np.argmin)


# --- truth ------------------------------------------------------------------------------------


def _truth(name: str, compute: Any) -> None:
    """``any`` and ``all``, whose answer is a bool, or for bytes a byte."""

    def reduce(
        outputs: Outputs, self: Tensor, dims: Sequence[int] | None, keepdim: bool
    ) -> tuple[Tensor, ...]:
        reduced = reduced_dims(dims, len(self._sizes))
        shape = reduced_shape(self._sizes, reduced, keepdim=keepdim)
        dtype = self._dtype if self._dtype is _BYTE else BOOL
        output = set_output(outputs[0], shape, dtype, self._device)
        if not output.is_meta and numel(shape):
            found = compute(value_array(self) != 0, axis=reduced)
            store(output, np.asarray(found).reshape(shape))
        return (output,)

    def over_all(outputs: Outputs, self: Tensor) -> tuple[Tensor, ...]:
        return reduce(outputs, self, None, False)

    def over_one(outputs: Outputs, self: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, ...]:
        return reduce(outputs, self, [dim], keepdim)

    structured.add(f"aten::{name}", over_all)
    structured.add(f"aten::{name}.dim", over_one)


_truth("any", np.any)
_truth("all", np.all)
