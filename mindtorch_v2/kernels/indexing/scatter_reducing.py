"""``scatter_reduce``: what is scattered to one place is reduced to one element.

Mirrors ``scatter_reduce_two`` of ``aten/src/ATen/native/TensorAdvancedIndexing.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.cpu.samples.distributions import limits_of
from mindtorch_v2.kernels.elementwise.promotion import BOOL
from mindtorch_v2.kernels.factories.filling import copy_
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.indexing.gathering import (
    Combine,
    add_to,
    check_scattered,
    multiply_by,
    replace,
    scatter_into,
)
from mindtorch_v2.kernels.outputs import set_output
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap, assert_no_overlap
from mindtorch_v2.kernels.structured import Outputs, changed_in_place, structured
from mindtorch_v2.kernels.switches import (
    ALL_TYPES,
    COMPLEX_TYPES,
    HALVES,
    dispatch,
    dispatch_over,
)
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

_DIV_: Final = OperatorHandle("aten::div_.Tensor")
_DIV_MODE_: Final = OperatorHandle("aten::div_.Tensor_mode")
_EQ: Final = OperatorHandle("aten::eq.Scalar")
_MASKED_FILL_: Final = OperatorHandle("aten::masked_fill_.Scalar")
_ONES_LIKE: Final = OperatorHandle("aten::ones_like")
_SCATTER_ADD_: Final = OperatorHandle("aten::scatter_add_")
_ZEROS_LIKE: Final = OperatorHandle("aten::zeros_like")


def _most(target: Array, places: tuple[Array, ...], values: Array) -> None:
    np.maximum.at(target, places, values)


def _least(target: Array, places: tuple[Array, ...], values: Array) -> None:
    np.minimum.at(target, places, values)


_REDUCTIONS: Final[dict[str, Combine]] = {
    "sum": add_to,
    "prod": multiply_by,
    "mean": add_to,
    "amax": _most,
    "amin": _least,
}
_EXTREMES: Final = ("amax", "amin")
_SWITCH: Final = "scatter_gather_tensor_cpu"
_BEGUN: Final = ALL_TYPES | COMPLEX_TYPES | HALVES | {BOOL}
_COMPILED: Final = {
    "mean": ALL_TYPES | COMPLEX_TYPES | HALVES,
    **dict.fromkeys(_EXTREMES, ALL_TYPES | HALVES | {BOOL}),
}


def is_reduction(reduce: str) -> bool:
    return reduce in _REDUCTIONS


def check_reduction(reduce: str) -> None:
    """``get_operator_enum``; that of Python has other words."""
    if not is_reduction(reduce):
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )


def _identity(reduce: str, dtype: DType) -> Any:
    """What a reduction begins with where the tensor's own element is not included."""
    if reduce not in _EXTREMES:
        return int(reduce == "prod")
    if dtype.is_floating_point or dtype.is_complex:  # which are refused, but later
        return -np.inf if reduce == "amax" else np.inf
    lowest, highest = limits_of(dtype)
    return lowest if reduce == "amax" else highest


@structured("aten::scatter_reduce.two")
def scatter_reduce(
    outputs: Outputs,
    self: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    include_self: bool,
) -> tuple[Tensor, ...]:
    dim = wrap_dim(dim, len(self._sizes))
    check_scattered(self, dim, index, src)
    (given,) = outputs
    if given is not None and not given.is_meta:
        assert_no_internal_overlap(given)
        assert_no_overlap(given, index)
        assert_no_overlap(given, src)
    output = set_output(
        given, self._sizes, self._dtype, self._device, self=changed_in_place(outputs)
    )
    check_reduction(reduce)
    if output.is_meta:
        return (output,)
    if output is not self:
        copy_(output, self, False)
    if numel(index._sizes):
        if not include_self:
            dispatch_over(_BEGUN, "scatter_reduce_exclude_input_init", self._dtype)
            begin = _identity(reduce, self._dtype)
            scatter_into(output, dim, index, begin, self, replace)
        _check_compiled(reduce, self._dtype)
        scatter_into(output, dim, index, src, self, _REDUCTIONS[reduce])
    if reduce == "mean":
        _average(output, dim, index, src, include_self)
    return (output,)


def _check_compiled(reduce: str, dtype: DType) -> None:
    if reduce in _COMPILED:
        dispatch_over(_COMPILED[reduce], f"{_SWITCH}_reduce_{reduce}", dtype)
    else:
        dispatch(_SWITCH, dtype)


def _average(output: Tensor, dim: int, index: Tensor, src: Tensor, include_self: bool) -> None:
    count: Any = (_ONES_LIKE if include_self else _ZEROS_LIKE)(output)
    _SCATTER_ADD_(count, dim, index, _ONES_LIKE(src))
    _MASKED_FILL_(count, _EQ(count, 0), 1)
    if output._dtype.is_floating_point or output._dtype.is_complex:
        _DIV_(output, count)
    else:
        _DIV_MODE_(output, count, rounding_mode="floor")
