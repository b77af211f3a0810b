"""Reductions that are made of others.

Mirrors ``aten/src/ATen/native/ReduceOps.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, Final

from mindtorch_v2.kernels.cpu.reductions import nansum_out, reduced_dims
from mindtorch_v2.kernels.dtypes import HABITS
from mindtorch_v2.kernels.elementwise.promotion import can_cast, dtype_numbered, float_of
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS as NEURAL_HABITS
from mindtorch_v2.tensor.dtype import int64
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.support import CPP_NAMES, worded
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like

_MEAN_OUT: Final = OperatorHandle("aten::mean.out")

_EXPLICIT: Final = "CompositeExplicitAutograd"
_IMPLICIT: Final = "CompositeImplicitAutograd"

Dims = Sequence[int] | None

# --- means ------------------------------------------------------------------------------------


@kernel("aten::mean.dtype_out", key="CompositeExplicitAutograd")
def mean_all_out(self: Tensor, dtype: int | None, out: Tensor) -> Any:
    if not can_cast(self._dtype, out._dtype):
        raise RuntimeError(
            "mean.dtype_out(): input types can't be cast to the desired output type "
            f"{CPP_NAMES[out._dtype]}"
        )
    return _MEAN_OUT(self, [], False, dtype, out=out)


# --- variances --------------------------------------------------------------------------------


def _with_unbiased(name: str) -> None:
    """The overloads of a variance that ask whether it is unbiased."""
    corrected = OperatorHandle(f"aten::{name}.correction")

    def over_all(self: Tensor, unbiased: bool) -> Any:
        return corrected(self, None, correction=int(unbiased))

    def over_dims(self: Tensor, dim: Dims, unbiased: bool, keepdim: bool) -> Any:
        return corrected(self, dim, correction=int(unbiased), keepdim=keepdim)

    kernel(f"aten::{name}", key=_IMPLICIT)(over_all)
    kernel(f"aten::{name}.dim", key=_IMPLICIT)(over_dims)


def _with_unbiased_out(name: str) -> None:
    corrected = OperatorHandle(f"aten::{name}.correction_out")

    def run(self: Tensor, dim: Dims, unbiased: bool, keepdim: bool, out: Tensor) -> Any:
        return corrected(self, dim, correction=int(unbiased), keepdim=keepdim, out=out)

    kernel(f"aten::{name}.out", key=_IMPLICIT)(run)


for _name in ("var", "std", "var_mean", "std_mean"):
    _with_unbiased(_name)
for _name in ("var", "std"):
    _with_unbiased_out(_name)

# --- means without NaN ------------------------------------------------------------------------

_AS_STRIDED: Final = OperatorHandle("aten::as_strided")
_FILL_: Final = OperatorHandle("aten::fill_.Scalar")
_ZERO_: Final = OperatorHandle("aten::zero_")
_DETACH: Final = OperatorHandle("aten::detach")
_DIV: Final = OperatorHandle("aten::div.Tensor")
_DIV_: Final = OperatorHandle("aten::div_.Tensor")
_NE: Final = OperatorHandle("aten::ne.Tensor")
_LOGICAL_NOT_: Final = OperatorHandle("aten::logical_not_")
_NANSUM: Final = OperatorHandle("aten::nansum")
_NANSUM_OUT: Final = OperatorHandle("aten::nansum.out")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")


def _count(self: Tensor, dim: Dims, keepdim: bool) -> Any:
    """How many elements are equal to themselves."""
    return _SUM(_LOGICAL_NOT_(_NE(self, self)), dim, keepdim)


def _check_nanmean(self: Tensor, dtype: int | None) -> None:
    if not self._dtype.is_floating_point and not self._dtype.is_complex:
        raise worded("nanmean of integers", Long=CPP_NAMES[self._dtype])
    if HABITS["nanmean looks at its dtype"] and dtype is not None:
        asked = dtype_numbered(dtype)
        if not asked.is_floating_point and not asked.is_complex:
            raise RuntimeError(
                "nanmean(): could not infer output dtype. Optional dtype must be either a floating "
                f"point or complex dtype. Got: {CPP_NAMES[asked]}"
            )


@kernel("aten::nanmean", key=_IMPLICIT)
def nanmean(self: Tensor, dim: Dims, keepdim: bool, dtype: int | None) -> Any:
    _check_nanmean(self, dtype)
    count = _count(_DETACH(self), dim, keepdim)
    return _DIV(_NANSUM(self, dim, keepdim, dtype=dtype), count)


@kernel("aten::nanmean.out", key=_IMPLICIT)
def nanmean_out(self: Tensor, dim: Dims, keepdim: bool, dtype: int | None, out: Tensor) -> Any:
    if is_integral(self._dtype):
        raise worded("nanmean of integers into an output", Long=CPP_NAMES[self._dtype])
    _check_nanmean(self, dtype)
    count = _count(self, dim, keepdim)
    if HABITS["nanmean writes to an output on meta"]:
        return _DIV_(_NANSUM_OUT(self, dim, keepdim, dtype=dtype, out=out), count)
    return _DIV_(_summed_natively(self, dim, keepdim, dtype, out), count)


def _summed_natively(
    self: Tensor, dim: Dims, keepdim: bool, dtype: int | None, out: Tensor
) -> Tensor:
    """``at::native::nansum_out``, which no operator stands before: modes see what it calls."""
    reduced = sorted(reduced_dims(dim, len(self._sizes)))
    is_empty = not numel(self._sizes)

    def begin() -> None:
        viewed = out
        if not keepdim:  # ``review_reduce_result``
            sizes, strides = list(out._sizes), list(out._strides)
            for place in reduced:
                sizes.insert(place, 1)
                strides.insert(place, 0)
            viewed = _AS_STRIDED(out, sizes, strides)
        if is_empty:
            _ZERO_(out)
        elif out.is_meta:
            raise RuntimeError("DispatchStub: unsupported device typemeta")
        else:
            _FILL_(viewed, 0.0)

    return nansum_out(self, dim, keepdim, dtype, out, begin)


# --- what gradients are made of ---------------------------------------------------------------

_HAS_DIAGONAL: Final = HABITS["a trace has a gradient along its diagonal alone"]
"""Else beyond it too, in a matrix with more rows than columns."""
_ARANGE: Final = OperatorHandle("aten::arange.start_step")
_INDEX_FILL: Final = OperatorHandle("aten::index_fill.int_Tensor")
_INDEX_FILL_: Final = OperatorHandle("aten::index_fill_.int_Tensor")
_SCATTER_ADD: Final = OperatorHandle("aten::scatter_add")
_SCATTER_ADD_: Final = OperatorHandle("aten::scatter_add_")
_VIEW: Final = OperatorHandle("aten::view")
_NEW_ZEROS: Final = OperatorHandle("aten::new_zeros")
_ZEROS: Final = OperatorHandle("aten::zeros")


def _zeros(sizes: Sequence[int], like: Tensor) -> Any:
    return _ZEROS(list(sizes), dtype=like._dtype, layout=like._layout, device=like._device)


@kernel("aten::trace_backward", key=_IMPLICIT)
def trace_backward(grad: Tensor, sizes: Sequence[int]) -> Any:
    if len(sizes) != 2:
        raise RuntimeError("expected matrix input")
    rows, columns = sizes
    end = min(rows, columns) * (columns + 1) if _HAS_DIAGONAL else rows * columns
    zeros = _zeros([rows * columns], grad)
    options = {"dtype": int64, "layout": grad._layout, "device": grad._device}
    places = _ARANGE(0, end, columns + 1, **options)
    fill = _INDEX_FILL if is_tensor_subclass_like(grad) else _INDEX_FILL_
    return _VIEW(fill(zeros, 0, places, grad), list(sizes))


@kernel("aten::cummaxmin_backward", key=_IMPLICIT)
def cummaxmin_backward(grad: Tensor, input: Tensor, indices: Tensor, dim: int) -> Any:
    if not numel(input._sizes):
        return input
    is_like = is_tensor_subclass_like(indices) or is_tensor_subclass_like(grad)
    scatter_add = _SCATTER_ADD if is_like else _SCATTER_ADD_
    if is_like and NEURAL_HABITS["a scan's gradient is among zeros like itself"]:
        zeros = _NEW_ZEROS(grad, list(input._sizes))
    else:
        zeros = _zeros(input._sizes, input)
    return scatter_add(zeros, dim, indices, grad)


# --- logsumexp --------------------------------------------------------------------------------

_ABS: Final = OperatorHandle("aten::abs")
_ADD_: Final = OperatorHandle("aten::add_.Tensor")
_AMAX: Final = OperatorHandle("aten::amax")
_EQ: Final = OperatorHandle("aten::eq.Scalar")
_EXP: Final = OperatorHandle("aten::exp")
_EXP_: Final = OperatorHandle("aten::exp_")
_LOG_: Final = OperatorHandle("aten::log_")
_LOGSUMEXP: Final = OperatorHandle("aten::logsumexp")
_LOGSUMEXP_OUT: Final = OperatorHandle("aten::logsumexp.out")
_MASKED_FILL_: Final = OperatorHandle("aten::masked_fill_.Scalar")
_REAL: Final = OperatorHandle("aten::real")
_SQUEEZE: Final = OperatorHandle("aten::squeeze.dims")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_SUM_OUT: Final = OperatorHandle("aten::sum.IntList_out")


@kernel("aten::logsumexp", key=_EXPLICIT)
def logsumexp(self: Tensor, dim: Sequence[int], keepdim: bool) -> Any:
    result = new_tensor((0,), float_of(self._dtype), self._device)
    return _LOGSUMEXP_OUT(self, dim, keepdim, out=result)


@kernel("aten::logsumexp.out", key="CompositeExplicitAutogradNonFunctional")
def logsumexp_out(self: Tensor, dim: Sequence[int], keepdim: bool, out: Tensor) -> Tensor:
    takes_complex = HABITS["logsumexp takes complex numbers"]
    if not (out._dtype.is_floating_point or (takes_complex and out._dtype.is_complex)):
        raise RuntimeError(
            "logsumexp(): Expected floating point type for result tensor, but got: "
            f"{CPP_NAMES[out._dtype]}"
        )
    if is_integral(self._dtype):
        self = self._converted(self._device, float_of(self._dtype))
    if not numel(self._sizes):
        _SUM_OUT(_EXP(self), dim, keepdim, out=out)
        _LOG_(out)
        return out
    largest = _AMAX(_REAL(self) if takes_complex else self, dim, True)
    squeezed = largest if keepdim else _SQUEEZE(largest, dim)
    _MASKED_FILL_(squeezed, _EQ(_ABS(squeezed), inf), 0)
    _SUM_OUT(_EXP_(_SUB(self, largest)), dim, keepdim, out=out)
    _ADD_(_LOG_(out), squeezed)
    return out


@kernel("aten::special_logsumexp", key=_IMPLICIT)
def special_logsumexp(self: Tensor, dim: Sequence[int], keepdim: bool) -> Any:
    return _LOGSUMEXP(self, dim, keepdim)


@kernel("aten::special_logsumexp.out", key=_IMPLICIT)
def special_logsumexp_out(self: Tensor, dim: Sequence[int], keepdim: bool, out: Tensor) -> Any:
    return _LOGSUMEXP_OUT(self, dim, keepdim, out=out)
