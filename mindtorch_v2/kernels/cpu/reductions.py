"""Reductions over dimensions: sums, products, means, truth, counts.

Mirrors ``aten/src/ATen/native/ReduceOps.cpp`` and ``ReduceOpsUtils.h``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import compress
from math import prod
from typing import Any, Final

import numpy as np

from mindtorch_v2.dispatch.tls import thread_local
from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.reduce import (
    Compute,
    fill_and_reduce,
    foreach_reduced_elt,
    review_reduce_result,
    shares_storage,
)
from mindtorch_v2.kernels.cpu.running_products import RunningProduct
from mindtorch_v2.kernels.cpu.sums import sum_in_order
from mindtorch_v2.kernels.dtypes import (
    HABITS,
    SCALAR,
    check_implemented,
    check_supported,
    not_implemented,
)
from mindtorch_v2.kernels.elementwise.pointwise import as_array, check_fill, rounded
from mindtorch_v2.kernels.elementwise.promotion import (
    BOOL,
    dtype_numbered,
    float_of,
    to_opmath,
)
from mindtorch_v2.kernels.foretold import foretell
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, resize_output, set_output
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import HALVES
from mindtorch_v2.tensor.copying import fill, store, value_array, warn_of_cast
from mindtorch_v2.tensor.dtype import DTYPES, DType, int64
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.experimental import raise_warning_for_complex_half, warn_of_copy
from mindtorch_v2.tensor.geometry import dim_list, numel
from mindtorch_v2.tensor.plain import array_of, of_array
from mindtorch_v2.tensor.quiet import quietly
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.support import CPP_NAMES, worded
from mindtorch_v2.tensor.tensor import Tensor

_BYTE: Final = DTYPES["uint8"]
_FLOAT: Final = DTYPES["float32"]
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_SUM_OUT: Final = OperatorHandle("aten::sum.IntList_out")
_MEAN: Final = OperatorHandle("aten::mean.dim")
_ISNAN: Final = OperatorHandle("aten::isnan")
_MASKED_FILL: Final = OperatorHandle("aten::masked_fill.Scalar")
_NE: Final = OperatorHandle("aten::ne.Scalar")

_DIV_FACTS: Final = f"aten::div.Tensor{SCALAR}"
_PROD_FACTS: Final = "aten::prod.dim_int"
_FILLED: Final = (_PROD_FACTS, "aten::sum.dim_IntList", "aten::nansum")
"""Reductions whose results of nothing ``fill_`` and ``zero_`` make."""


def reduced_dims(
    dims: Sequence[int] | None, rank: int, *, allow_empty: bool = False
) -> tuple[int, ...]:
    """The dimensions that are reduced: all, if none are named (``make_dim_mask``)."""
    if dims is None or not (dims or allow_empty):
        return tuple(range(rank))
    wrapped = dim_list(dims, rank)
    return wrapped if rank else ()


def reduced_shape(sizes: Sequence[int], dims: Sequence[int], *, keepdim: bool) -> tuple[int, ...]:
    """``get_reduction_shape``."""
    if keepdim:
        return tuple(1 if dim in dims else size for dim, size in enumerate(sizes))
    return tuple(size for dim, size in enumerate(sizes) if dim not in dims)


def sum_dtype(self: Tensor, dtype: int | None) -> DType:
    """``get_dtype_from_self``: integers are added up as int64."""
    if dtype is not None:
        return dtype_numbered(dtype)
    return int64 if is_integral(self._dtype) else self._dtype


def _inferred(self: Tensor, dtype: int | None, output: Tensor | None) -> DType:
    """``infer_dtype_from_optional``: that which is asked for, else the output's, else the sum's."""
    if dtype is None and output is not None:
        return output._dtype
    return sum_dtype(self, dtype)


def run_reduction(
    facts: str,
    compute: Compute,
    outputs: Outputs,
    self: Tensor,
    dims: Sequence[int] | None,
    keepdim: bool,
    dtype: DType,
    *,
    fills: bool = True,
    read_as: DType | None = None,
) -> tuple[Tensor, ...]:
    """The result of ``compute`` over some dimensions, of a dtype in which it is computed.

    ``fills``: the output is filled with the identity first.  ``read_as``: what is computed is of
    this dtype, and rounded to the result's when all is done.
    """
    reduced = reduced_dims(dims, len(self._sizes))
    shape = reduced_shape(self._sizes, reduced, keepdim=keepdim)
    if outputs[0] is None and dtype is self._dtype and read_as is None:
        made = _of_plain(facts, compute, self, reduced, shape)
        if made is not None:
            return (made,)
    output = set_output(outputs[0], shape, dtype, self._device)
    if output is self:  # of another geometry now
        reduced = reduced_dims(dims, len(self._sizes))
    reduce_into(
        facts, compute, output, self, reduced, keepdim=keepdim, fills=fills, read_as=read_as
    )
    return (output,)


def _of_plain(
    facts: str, compute: Compute, self: Tensor, reduced: tuple[int, ...], shape: tuple[int, ...]
) -> Tensor | None:
    """The result for a plain tensor, around the array that was computed; None for any other."""
    if self._dtype in HALVES or thread_local.raw.inference_mode:  # halves are computed in floats
        return None
    array = array_of(self)
    if array is None:
        return None
    check_implemented(facts, self._dtype)
    found = np.array(quietly(compute, array, reduced), array.dtype, order="C")
    return of_array(Tensor, found.reshape(shape), self._dtype) if found.size else None


def reduce_into(
    facts: str,
    compute: Compute,
    output: Tensor,
    self: Tensor,
    reduced: tuple[int, ...],
    *,
    keepdim: bool = False,
    fills: bool = True,
    read_as: DType | None = None,
) -> None:
    """The same into an output that has its shape."""
    dtype, is_filled = output._dtype, not numel(self._sizes) and facts in _FILLED
    if is_filled and (facts == _PROD_FACTS or not numel(output._sizes)):
        check_fill(output, dtype)  # zeros are written byte by byte where there are any
    if output.is_meta:
        return
    warn_of_copy(self._dtype, dtype)
    if not numel(output._sizes):
        return
    if numel(self._sizes):
        warn_of_cast(self._dtype, dtype)
        check_implemented(facts, dtype)
    if shares_storage(output, self) and self._dtype is dtype:
        _reduce_into_own(compute, output, self, reduced, keepdim=keepdim, fills=fills)
        return
    shape = tuple(output._sizes)
    if fills:
        reduced, shape = with_repeated(output, len(self._sizes), reduced, keepdim=keepdim)
    with np.errstate(all="ignore"):
        found = compute(as_array(self, read_as or dtype), reduced)
        store(output, rounded(np.asarray(found).reshape(shape), dtype))


def with_repeated(
    output: Tensor, rank: int, reduced: tuple[int, ...], *, keepdim: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What is reduced in all, and the shape that is left: an element of the output that is written
    many times over is added to each time."""
    shape = tuple(output._sizes)
    still = [size > 1 and not step for size, step in zip(shape, output._strides, strict=True)]
    kept = [dim for dim in range(rank) if keepdim or dim not in reduced]
    left = tuple(1 if stays else size for size, stays in zip(shape, still, strict=True))
    return (*reduced, *compress(kept, still)), left


def _reduce_into_own(
    compute: Compute,
    output: Tensor,
    self: Tensor,
    reduced: tuple[int, ...],
    *,
    keepdim: bool,
    fills: bool,
) -> None:
    """The same into memory of ``self``: see Note [Outputs that are inputs]."""
    dtype = output._dtype
    viewed = review_reduce_result(output, reduced, keepdim=keepdim)

    def read() -> Array:
        return as_array(self, dtype)

    with np.errstate(all="ignore"):
        if not fills:
            foreach_reduced_elt(viewed, read, compute)
            return
        identity = compute(np.empty(0, elements_of(to_opmath(dtype)).computed), (0,))
        found = fill_and_reduce(viewed, read, compute, identity)
        store(viewed, rounded(np.asarray(found).reshape(tuple(viewed._sizes)), dtype))


def _sum(values: Array, dims: tuple[int, ...]) -> Array:
    if values.dtype.kind == "b":
        return np.asarray(np.any(values, axis=dims))
    if values.dtype.kind in "fc":
        return sum_in_order(values, dims)
    return np.asarray(np.sum(values, axis=dims, dtype=values.dtype))


def _nansum(values: Array, dims: tuple[int, ...]) -> Array:
    return sum_in_order(values, dims, _without_nan)


def _without_nan(values: Array) -> Array:
    return np.where(np.isnan(values), values.dtype.type(0), values)


def _mean(values: Array, dims: tuple[int, ...]) -> Array:
    return np.asarray(_sum(values, dims) / values.dtype.type(prod(values.shape[d] for d in dims)))


@structured.structured("aten::sum.dim_IntList")
def sum_(
    outputs: Outputs, self: Tensor, dim: Sequence[int] | None, keepdim: bool, dtype: int | None
) -> tuple[Tensor, ...]:
    found = _inferred(self, dtype, outputs[0])
    return run_reduction("aten::sum.dim_IntList", _sum, outputs, self, dim, keepdim, found)


@structured.structured("aten::prod.dim_int")
def prod_(
    outputs: Outputs, self: Tensor, dim: int, keepdim: bool, dtype: int | None
) -> tuple[Tensor, ...]:
    found = _inferred(self, dtype, outputs[0])
    compute = RunningProduct.of(self, found)
    return run_reduction(_PROD_FACTS, compute, outputs, self, [dim], keepdim, found)


@structured.structured("aten::mean.dim")
def mean(
    outputs: Outputs, self: Tensor, dim: Sequence[int] | None, keepdim: bool, dtype: int | None
) -> tuple[Tensor, ...]:
    asked = self._dtype if dtype is None else dtype_numbered(dtype)
    if not asked.is_floating_point and not asked.is_complex:
        what = "Input" if dtype is None else "Optional"
        raise worded("mean of integers", Input=what, Long=CPP_NAMES[asked])
    (output,) = outputs
    found = _inferred(self, dtype, output)
    read_as = _FLOAT if found in HALVES else None  # halves are made of the quotient
    reduction = partial(run_reduction, "aten::sum.dim_IntList", _mean, read_as=read_as)
    if output is not None and _LEAVES_OUTPUT and found in HALVES and not output.is_meta:
        set_output(output, _mean_shape(self, dim, keepdim), found, self._device)
        made = reduction((None,), self, dim, keepdim, found)
        return structured.Assigned(made)
    if output is not None and shares_storage(output, self):
        return (_mean_in_place(output, self, dim, keepdim, found),)
    made = reduction(outputs, self, dim, keepdim, found)
    if not made[0].is_meta:
        assert_no_internal_overlap(made[0])  # which is divided where it is
    if is_integral(found):  # into which the sum fits, and the quotient does not
        raise RuntimeError(
            f"result type {CPP_NAMES[float_of(found)]} can't be cast to the desired output type "
            f"{CPP_NAMES[found]}"
        )
    if not made[0].is_meta:  # sums of nothing take any dtype
        raise_warning_for_complex_half(found)  # of how many they are, as a tensor
        check_implemented(_DIV_FACTS, found)
    return made


_LEAVES_OUTPUT: Final = HABITS["a mean of halves leaves its output"]


def _mean_shape(self: Tensor, dim: Sequence[int] | None, keepdim: bool) -> tuple[int, ...]:
    return reduced_shape(self._sizes, reduced_dims(dim, len(self._sizes)), keepdim=keepdim)


def _mean_in_place(
    output: Tensor, self: Tensor, dim: Sequence[int] | None, keepdim: bool, dtype: DType
) -> Tensor:
    """The sum in ``output``, which is memory of ``self``, and that divided: the sum reduces what
    has been resized for the mean."""
    set_output(output, _mean_shape(self, dim, keepdim), dtype, self._device)
    count = prod(self._sizes[each] for each in reduced_dims(dim, len(self._sizes)))
    sum_((output,), self, dim, keepdim, None)
    store(output, np.asarray(value_array(output) / count))
    return output


@kernel("aten::sum", key="CompositeExplicitAutograd")
def sum_all(self: Tensor, dtype: int | None) -> Tensor:
    summed: Tensor = _SUM(self, [], False, dtype)
    return summed


@kernel("aten::mean", key="CompositeExplicitAutograd")
def mean_all(self: Tensor, dtype: int | None) -> Tensor:
    averaged: Tensor = _MEAN(self, [], False, dtype)
    return averaged


@kernel("aten::prod")
def prod_all(self: Tensor, dtype: int | None) -> Tensor:
    result = new_tensor((), sum_dtype(self, dtype), self._device)
    inner = _in_memory_order(self)
    compute = RunningProduct.of(inner, result._dtype)
    reduce_into(_PROD_FACTS, compute, result, inner, tuple(range(len(inner._sizes))))
    return result


def _in_memory_order(self: Tensor) -> Tensor:
    """The dimensions as TensorIterator goes through them where all are reduced."""
    order = sorted(range(len(self._sizes)), key=lambda dim: -self._strides[dim])
    sizes, strides = ([each[dim] for dim in order] for each in (self._sizes, self._strides))
    return self._as_view(sizes, tuple(strides), self._storage_offset)


# --- sums without NaN ------------------------------------------------------------------------


@kernel("aten::nansum.out")
def nansum_out(
    self: Tensor,
    dim: Sequence[int] | None,
    keepdim: bool,
    dtype: int | None,
    out: Tensor,
    begin: Callable[[], object] = lambda: None,
) -> Tensor:
    """``begin`` is called when the output has its size and nothing has been written yet."""
    if self._dtype.is_complex:
        check_supported("aten::nansum", self._dtype)
    if is_integral(self._dtype):
        _SUM_OUT(self, dim, keepdim, dtype, out=out)
        return out
    if _adds_up_as_integers(dtype):
        numbers: Tensor = _MASKED_FILL(self, _ISNAN(self), 0)
        _SUM_OUT(numbers, dim, keepdim, dtype, out=out)
        return out
    reduced = reduced_dims(dim, len(self._sizes))
    prepare_nansum((out,), self, dim, keepdim, dtype)
    begin()
    reduce_into("aten::nansum", _nansum, out, self, reduced, keepdim=keepdim)
    return out


@structured.prologue("aten::nansum")
def prepare_nansum(
    outputs: Sequence[Tensor],
    self: Tensor,
    dim: Sequence[int] | None,
    keepdim: bool,
    dtype: int | None,
) -> None:
    (out,) = outputs
    if self._dtype.is_complex:
        check_supported("aten::nansum", self._dtype)
    adds_up = is_integral(self._dtype) or _adds_up_as_integers(dtype)
    found = out._dtype if dtype is None else dtype_numbered(dtype)
    if not adds_up:
        check_result_dtype("nansum", out, found)
    reduced = reduced_dims(dim, len(self._sizes))
    resize_output(out, reduced_shape(self._sizes, reduced, keepdim=keepdim))
    if adds_up or not numel(self._sizes):
        return
    warn_of_copy(self._dtype, found)
    if is_integral(found):  # for which there is the sum
        raise not_implemented("aten::nansum", found)
    check_implemented("aten::nansum", found)


@kernel("aten::nansum")
def nansum(self: Tensor, dim: Sequence[int] | None, keepdim: bool, dtype: int | None) -> Tensor:
    found = sum_dtype(self, dtype)
    shape = reduced_shape(self._sizes, reduced_dims(dim, len(self._sizes)), keepdim=keepdim)
    result = new_tensor(shape, found, self._device)
    foretell("aten::nansum", result)
    return nansum_out(self, dim, keepdim, dtype, result)


def _adds_up_as_integers(dtype: int | None) -> bool:
    """Whether an integral dtype is asked for and this release then takes the sum."""
    asked = dtype is not None and is_integral(dtype_numbered(dtype))
    return asked and HABITS["nansum adds up floats as integers"]


def check_result_dtype(name: str, result: Tensor, dtype: DType) -> None:
    """What ``make_reduction`` asks of an output that is given."""
    if result._dtype is not dtype:
        raise RuntimeError(
            f"{name}: provided dtype must match dtype of result. Got {CPP_NAMES[result._dtype]} "
            f"and {CPP_NAMES[dtype]}."
        )


# --- truth ------------------------------------------------------------------------------------


def _truth(name: str, compute: Any) -> None:
    """``any`` and ``all``, whose answer is a bool, or for bytes a byte."""
    facts = f"aten::{name}.dim"

    def truth(values: Array, dims: tuple[int, ...]) -> Array:
        return np.asarray(compute(values != 0, axis=dims))

    def over_dims(
        outputs: Outputs, self: Tensor, dims: Sequence[int] | None, keepdim: bool
    ) -> tuple[Tensor, ...]:
        (given,) = outputs
        if given is not None and given._dtype not in (BOOL, _BYTE):
            raise RuntimeError(
                f"{name} only supports bool tensor for result, got: {CPP_NAMES[given._dtype]}"
            )
        reduced = reduced_dims(dims, len(self._sizes), allow_empty=True)
        shape = reduced_shape(self._sizes, reduced, keepdim=keepdim)
        byte = self._dtype is _BYTE if given is None else given._dtype is _BYTE
        output = set_output(given, shape, _BYTE if byte else BOOL, self._device)
        if output.is_meta or not numel(shape):
            return (output,)
        check_implemented(facts, self._dtype)
        if numel(self._sizes) == 1:  # that alone is converted to a bool
            store(output, as_array(self, BOOL).reshape(shape))
            return (output,)
        if output is self:  # of another geometry now
            reduced = reduced_dims(dims, len(self._sizes), allow_empty=True)
        reduce_into(facts, truth, output, self, reduced, keepdim=keepdim)
        return (output,)

    def over_all(outputs: Outputs, self: Tensor) -> tuple[Tensor, ...]:
        return over_dims(outputs, self, None, False)

    def over_one(outputs: Outputs, self: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, ...]:
        return over_dims(outputs, self, [dim], keepdim)

    structured.add(f"aten::{name}", over_all)
    structured.add(f"aten::{name}.dim", over_one)
    structured.add(f"aten::{name}.dims", over_dims, keys=_WITHOUT_DEFAULT)


_WITHOUT_DEFAULT: Final = ("CPU", "Meta", "CompositeExplicitAutogradNonFunctional")
"""Where the kernel is structured: the default one goes from dimension to dimension."""

_truth("any", np.any)
_truth("all", np.all)


def _truth_by_default(name: str) -> None:
    """``allany_dims_default``."""
    over_all, over_one = OperatorHandle(f"aten::{name}"), OperatorHandle(f"aten::{name}.dim")

    def over_dims(self: Tensor, dims: Sequence[int] | None, keepdim: bool) -> Any:
        if dims is None:
            found = over_all(self)
            return _EXPAND(found, [1] * len(self._sizes)) if keepdim else found
        if not dims:
            return self._converted(self._device, BOOL)
        found = reduce(lambda tensor, dim: over_one(tensor, dim, True), dims, self)
        return found if keepdim else _SQUEEZE(found, list(dims))

    kernel(f"aten::{name}.dims", key="CompositeExplicitAutograd")(over_dims)


_EXPAND: Final = OperatorHandle("aten::expand")
_SQUEEZE: Final = OperatorHandle("aten::squeeze.dims")

_truth_by_default("any")
_truth_by_default("all")


# --- counting ---------------------------------------------------------------------------------

_COUNT: Final = OperatorHandle("aten::count_nonzero.dim_IntList")


@kernel("aten::count_nonzero.dim_IntList")
def count_nonzero_dims(self: Tensor, dim: Sequence[int]) -> Any:
    if dim:
        truth = self if self._dtype is BOOL else _NE(self, 0)
        return _SUM(truth, list(dim), False, None)
    check_implemented("aten::count_nonzero.dim_IntList", self._dtype)
    result = new_tensor((), int64, self._device)
    fill(result, int(np.count_nonzero(value_array(self))))
    return result


@kernel("aten::count_nonzero", key="CompositeExplicitAutograd")
def count_nonzero(self: Tensor, dim: int | None) -> Any:
    return _COUNT(self, [] if dim is None else [dim])


# --- the diagonal -----------------------------------------------------------------------------


@kernel("aten::trace")
def trace(self: Tensor) -> Tensor:
    result = new_tensor((), sum_dtype(self, None), self._device)
    check_implemented("aten::trace", self._dtype)
    if len(self._sizes) != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {len(self._sizes)}")
    with np.errstate(all="ignore"):
        found = np.trace(as_array(self, result._dtype))
        store(result, rounded(np.asarray(found), result._dtype))
    return result
