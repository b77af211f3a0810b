"""Quantiles.

Mirrors ``quantile`` and ``nanquantile`` of ``aten/src/ATen/native/Sorting.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import resize_output
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.dtype import DTYPES, int64
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.support import streamed
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like

_IMPLICIT: Final = "CompositeImplicitAutograd"
_ALL: Final = OperatorHandle("aten::all")
_ANY: Final = OperatorHandle("aten::any.dim")
_BROADCAST: Final = OperatorHandle("aten::broadcast_tensors")
_CEIL_: Final = OperatorHandle("aten::ceil_")
_COPY_: Final = OperatorHandle("aten::copy_")
_EQUAL: Final = OperatorHandle("aten::equal")
_FLATTEN: Final = OperatorHandle("aten::flatten.using_ints")
_FLOOR_: Final = OperatorHandle("aten::floor_")
_FULL_LIKE: Final = OperatorHandle("aten::full_like")
_GATHER: Final = OperatorHandle("aten::gather")
_GE: Final = OperatorHandle("aten::ge.Scalar")
_ISNAN: Final = OperatorHandle("aten::isnan")
_LE: Final = OperatorHandle("aten::le.Scalar")
_LERP_: Final = OperatorHandle("aten::lerp_.Tensor")
_LOGICAL_AND_: Final = OperatorHandle("aten::logical_and_")
_LOGICAL_NOT_: Final = OperatorHandle("aten::logical_not_")
_LT: Final = OperatorHandle("aten::lt.Scalar")
_MASKED_FILL: Final = OperatorHandle("aten::masked_fill.Scalar")
_MASKED_FILL_: Final = OperatorHandle("aten::masked_fill_.Scalar")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_MUL_BY: Final = OperatorHandle("aten::mul.Scalar")
_NEW_ONES: Final = OperatorHandle("aten::new_ones")
_ROUND_: Final = OperatorHandle("aten::round_")
_SCALAR_TENSOR: Final = OperatorHandle("aten::scalar_tensor")
_SORT: Final = OperatorHandle("aten::sort")
_SQUEEZE_: Final = OperatorHandle("aten::squeeze_.dim")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_SUB_NUMBER: Final = OperatorHandle("aten::sub.Scalar")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_TO: Final = OperatorHandle("aten::to.dtype_layout")
_TO_DTYPE: Final = OperatorHandle("aten::to.dtype")
_TRANSPOSE: Final = OperatorHandle("aten::transpose.int")
_TRANSPOSE_: Final = OperatorHandle("aten::transpose_")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_UNSQUEEZE_: Final = OperatorHandle("aten::unsqueeze_")
_VIEW: Final = OperatorHandle("aten::view")

_ROUNDED: Final = {"lower": _FLOOR_, "higher": _CEIL_, "nearest": _ROUND_}
"""What ranks become in place, by the interpolation."""
_MODES: Final = ("linear", "lower", "higher", "midpoint", "nearest")
_LONGEST: Final = 2**24
_RANKS_ARE_EXACT: Final = HABITS["quantiles have ranks in float64"]
"""Which are computed before anything is sorted."""
_ALWAYS_LOOKS: Final = HABITS["quantile looks at its ranks inside a mode"]


def _check_mode(interpolation: str) -> None:
    if interpolation not in _MODES:
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )


def _check(self: Tensor, q: Tensor) -> None:
    """``quantile_checks``."""
    if not numel(self._sizes):
        raise RuntimeError("quantile() input tensor must be non-empty")
    if len(q._sizes) > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if self._dtype not in (DTYPES["float32"], DTYPES["float64"]):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if self._dtype is not q._dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if self._device != q._device:
        raise RuntimeError("quantile() q tensor must be on the same device as the input tensor")


def _place(self: Tensor, dim: int | None) -> int | None:
    """Of the dimension that is reduced, which is known before an ``out`` that is the operand gets
    another shape."""
    return None if dim is None else wrap_dim(dim, len(self._sizes))


def _sizes(self: Tensor, q: Tensor, place: int | None, keepdim: bool) -> list[int]:
    """``quantile_output_shape``."""
    sizes: list[int] = []
    if place is not None and self._sizes:
        sizes = list(self._sizes)
        sizes[place : place + 1] = [1] if keepdim else []
    elif keepdim:
        sizes = [1] * len(self._sizes)
    return [numel(q._sizes), *sizes] if q._sizes else sizes


def _with_rows(self: Tensor, place: int | None) -> Any:
    """With what is reduced as the last dimension."""
    if place is None:
        return _FLATTEN(self)
    if place == len(self._sizes) - 1:
        return self
    return _TRANSPOSE(_UNSQUEEZE(self, -1), place, -1)


def _ranks(values: Any, q: Tensor, *, ignore_nan: bool) -> Any:
    """Places between 0 and the last, or the last that is a number."""
    if ignore_nan:
        count = _SUM(_LOGICAL_NOT_(_ISNAN(values)), [-1], True)
        last_number = _SUB_NUMBER(count, 1)
        ranks = _MUL(_exact(q), last_number)
        return _MASKED_FILL_(ranks, _LT(ranks, 0), 0)
    last = values._sizes[-1] - 1
    wanted = _MUL_BY(_exact(q), last)
    ranks, has_nan = _BROADCAST([wanted, _ANY(_ISNAN(values), -1, True)])
    return _MASKED_FILL(ranks, has_nan, last)


def _exact(q: Tensor) -> Any:
    """Quantiles in the dtype that ranks have."""
    return _TO_DTYPE(q, DTYPES["float64"]) if _RANKS_ARE_EXACT else q


def _as_places(ranks: Any) -> Any:
    """``toType``."""
    return _TO(ranks, **{**_options(ranks), "dtype": int64})


def _options(like: Any) -> dict[str, Any]:
    return {"dtype": like._dtype, "layout": like._layout, "device": like._device}


def _between(values: Any, ranks: Any, below: Any, interpolation: str) -> Any:
    """The values at ranks that may lie between two places."""
    found = _GATHER(values, -1, below)
    if interpolation not in ("linear", "midpoint"):
        return found
    is_midpoint = interpolation == "midpoint"
    weights = _FULL_LIKE(ranks, 0.5) if is_midpoint else _SUB(ranks, below)
    above = _as_places(_CEIL_(ranks))
    return _LERP_(found, _GATHER(values, -1, above), weights)


def _between_unsorted(values: Any, ranks: Any, below: Any, interpolation: str) -> Any:
    """The same of values that are sorted now, when all places are known."""
    if interpolation not in ("linear", "midpoint"):
        return _GATHER(_SORT(values)[0], -1, below)
    if interpolation == "midpoint":
        weights = _FULL_LIKE(ranks, 0.5, **{**_options(ranks), "dtype": values._dtype})
    else:
        weights = _TO_DTYPE(_SUB(ranks, below), values._dtype)
    above = _as_places(_CEIL_(ranks))
    in_order = _SORT(values)[0]
    found = _GATHER(in_order, -1, below)
    return _LERP_(found, _GATHER(in_order, -1, above), weights)


def _is_hidden(self: Tensor, q: Tensor) -> bool:
    return is_tensor_subclass_like(self) or is_tensor_subclass_like(q)


def _quantile(
    self: Tensor,
    q: Tensor,
    place: int | None,
    sizes: Sequence[int],
    interpolation: str,
    *,
    ignore_nan: bool,
) -> Any:
    """``quantile_compute``."""
    if self._device.type == "cpu" and (_ALWAYS_LOOKS or not _is_hidden(self, q)):
        in_range = _ALL(_LOGICAL_AND_(_GE(q, 0), _LE(q, 1)))
        if not _EQUAL(in_range, _NEW_ONES(in_range, [], **_options(in_range))):
            raise RuntimeError("quantile() q values must be in the range [0, 1]")
    values = _with_rows(self, place)
    if not _RANKS_ARE_EXACT:
        values = _SORT(values)[0]
    rows = sizes[1:] if q._sizes else sizes
    size = values._sizes[-1]
    values = _VIEW(values, [*rows, size])
    if size > _LONGEST:
        raise RuntimeError("quantile() input tensor is too large")
    ranks = _ranks(values, q, ignore_nan=ignore_nan)
    rounded = _ROUNDED.get(interpolation)
    if rounded is not None:
        ranks = rounded(ranks)
    between = _between_unsorted if _RANKS_ARE_EXACT else _between
    found = between(values, ranks, _as_places(ranks), interpolation)
    if not q._sizes:
        return _SQUEEZE_(found, -1)
    return _SQUEEZE_(_TRANSPOSE_(_UNSQUEEZE_(found, 0), 0, -1), -1)


def _reduction(name: str, *, ignore_nan: bool) -> None:
    """The operator of a name, of one quantile or of many, and its ``out=`` forms."""

    def run(self: Tensor, q: Tensor, dim: int | None, keepdim: bool, interpolation: str) -> Any:
        _check_mode(interpolation)
        _check(self, q)
        place = _place(self, dim)
        sizes = _sizes(self, q, place, keepdim)
        return _quantile(self, q, place, sizes, interpolation, ignore_nan=ignore_nan)

    def run_out(
        self: Tensor, q: Tensor, dim: int | None, keepdim: bool, interpolation: str, out: Tensor
    ) -> Any:
        _check_mode(interpolation)
        _check(self, q)
        if self._dtype is not out._dtype:
            raise RuntimeError("quantile() out tensor must be same dtype as the input tensor")
        if self._device != out._device:
            raise RuntimeError(
                "quantile() out tensor must be on the same device as the input tensor"
            )
        place = _place(self, dim)
        sizes = _sizes(self, q, place, keepdim)
        resize_output(out, sizes)
        return _COPY_(out, _quantile(self, q, place, sizes, interpolation, ignore_nan=ignore_nan))

    def run_scalar(self: Tensor, q: float, *rest: Any) -> Any:
        return run(self, _number(self, q), *rest)

    def run_scalar_out(self: Tensor, q: float, *rest: Any) -> Any:
        return run_out(self, _number(self, q), *rest)

    kernel(f"aten::{name}", key=_IMPLICIT)(run)
    kernel(f"aten::{name}.out", key=_IMPLICIT)(run_out)
    kernel(f"aten::{name}.scalar", key=_IMPLICIT)(run_scalar)
    kernel(f"aten::{name}.scalar_out", key=_IMPLICIT)(run_scalar_out)


def _number(self: Tensor, q: float) -> Any:
    if not 0 <= q <= 1:
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {streamed(q)}")
    return _SCALAR_TENSOR(q, **_options(self))


_reduction("quantile", ignore_nan=False)
_reduction("nanquantile", ignore_nan=True)
