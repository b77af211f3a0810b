"""Rows that are multiplied, averaged or compared into those at their places: ``index_reduce``.

Mirrors ``index_reduce_func_impl`` in ``aten/src/ATen/native/TensorAdvancedIndexing.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.cpu.samples.distributions import limits_of
from mindtorch_v2.kernels.dtypes import check_implemented
from mindtorch_v2.kernels.elementwise.pointwise import as_array, check_fill, rounded
from mindtorch_v2.kernels.factories.filling import copy_
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.indexing.accumulating import add_in_turn
from mindtorch_v2.kernels.indexing.scattering import check_rows
from mindtorch_v2.kernels.outputs import set_output
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap, assert_no_overlap
from mindtorch_v2.kernels.refused import refused
from mindtorch_v2.kernels.structured import Outputs, changed_in_place, structured
from mindtorch_v2.kernels.switches import ALL_TYPES, HALVES, dispatch_over
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DType, int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import is_warned_of, warn_once

_INDEX_FILL_: Final = OperatorHandle("aten::index_fill_.int_Scalar")
_TO: Final = OperatorHandle("aten::to.dtype")

_CASES: Final = ALL_TYPES | HALVES
_REDUCTIONS: Final[dict[str, Callable[[Array, Array], Array]]] = {
    "prod": np.multiply,
    "mean": np.add,
    "amax": np.maximum,
    "amin": np.minimum,
}
_OPERATORS: Final = {
    "prod": "aten::mul.Tensor",
    "mean": "aten::add.Tensor",
    "amax": "aten::maximum",
    "amin": "aten::minimum",
}


@structured("aten::index_reduce")
def index_reduce(
    outputs: Outputs,
    self: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    include_self: bool,
) -> tuple[Tensor, ...]:
    if reduce not in _REDUCTIONS:
        raise RuntimeError(
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    dim = wrap_dim(dim, len(self._sizes))
    check_rows("index_reduce", self, dim, index, source)
    output = set_output(
        outputs[0], self._sizes, self._dtype, self._device, self=changed_in_place(outputs)
    )
    if output.is_meta:
        return (output,)
    if outputs[0] is not None:
        assert_no_internal_overlap(output)
        assert_no_overlap(output, index)
        assert_no_overlap(output, source)
    if is_warned_of("index_reduce"):
        warn_once("index_reduce", "index_reduce() is in beta and the API may change at any time.")
    if output is not self:
        copy_(output, self, False)
    if not include_self:
        dispatch_over(_CASES, "index_reduce_func_exclude_input_init", self._dtype)
        _INDEX_FILL_(output, dim, _TO(index, int64), _neutral(reduce, self._dtype))
    if len(self._sizes) <= 1:
        check_fill(output, self._dtype)  # what is to be counted
        dispatch_over(_CASES, "index_func_", self._dtype)
    elif numel(index._sizes):
        _check_implemented(reduce, self._dtype)
    _reduce(output, dim, value_array(index).reshape(-1), source, reduce, include_self)
    return (output,)


def _check_implemented(reduce: str, dtype: DType) -> None:
    """What the operators say that combine whole rows."""
    check_implemented(_OPERATORS[reduce], dtype)
    if reduce == "mean" and not (dtype.is_floating_point or dtype.is_complex):
        check_implemented("aten::div.Tensor_mode(floor)", dtype)


@np.errstate(all="ignore")
def _reduce(
    output: Tensor, dim: int, places: Array, source: Tensor, name: str, include_self: bool
) -> None:
    dtype = output._dtype
    found = np.array(as_array(output, dtype), ndmin=1)
    given = np.array(as_array(source, dtype), ndmin=1)
    rows, changes = np.moveaxis(found, dim, 0), np.moveaxis(given, dim, 0)
    outside = np.flatnonzero((places < 0) | (places >= len(rows)))
    inside = places[: outside[0]] if len(outside) else places
    if name == "mean":
        add_in_turn(rows, inside, changes[: len(inside)], dtype)
    else:
        combine = _REDUCTIONS[name]
        for place, change in zip(inside.tolist(), changes, strict=False):
            rows[place] = rounded(np.asarray(combine(rows[place], change), rows.dtype), dtype)
    if name == "mean" and not len(outside):
        _divide(rows, inside, dtype, include_self)
    store(output, found.reshape(tuple(output._sizes)))
    if len(outside):
        raise refused(IndexError("index out of range in self"), output)


def _neutral(name: str, dtype: DType) -> Any:
    """What a reduction starts from."""
    if name in ("prod", "mean"):
        return 1 if name == "prod" else 0
    if dtype.is_floating_point:
        return -np.inf if name == "amax" else np.inf
    limits = limits_of(dtype)
    return limits.lowest if name == "amax" else limits.largest


def _divide(rows: Array, places: Array, dtype: DType, include_self: bool) -> None:
    """By how many there are, which is counted in the dtype itself."""
    counts = np.bincount(places, minlength=len(rows)) + (1 if include_self else 0)
    counts = np.maximum(counts, 1).reshape(-1, *(1,) * (rows.ndim - 1)).astype(rows.dtype)
    is_whole = not (dtype.is_floating_point or dtype.is_complex)
    divided = rows // counts if is_whole else rows / counts
    rows[...] = rounded(np.asarray(divided, rows.dtype), dtype)
