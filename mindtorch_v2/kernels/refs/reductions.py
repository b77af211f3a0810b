"""The reference functions that reduce dimensions.

Mirrors ``_reduction`` and its callers in ``torch/_refs/__init__.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, Final

from mindtorch_v2.kernels.cpu.moments import real_value_type
from mindtorch_v2.kernels.cpu.reductions import reduced_shape
from mindtorch_v2.kernels.elementwise.promotion import BOOL
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import (
    HABITS,
    elementwise,
    get_computation_dtype,
    maybe_wrap_dim,
    to_dtype,
)
from mindtorch_v2.kernels.refs.wrappers import written_out
from mindtorch_v2.tensor.dtype import DTYPES, DType, int64
from mindtorch_v2.tensor.geometry import MAX_LISTED_DIMS, numel, wrap_dim
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.tensor import Tensor

_REFS: Final = "torch._refs."
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_SUM_OUT: Final = OperatorHandle("aten::sum.IntList_out")


def reduction_dims(rank: int, dims: Sequence[int] | None) -> tuple[int, ...]:
    """``reduction_dims``: all for None or an empty list."""
    if not dims:
        return tuple(range(rank))
    wrapped = tuple(wrap_dim(dim, rank) for dim in dims)
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError("duplicate value in the list of dims")
    return wrapped


def check_rank(rank: int) -> None:
    """What ``_reduction`` looks at first."""
    if rank > MAX_LISTED_DIMS:
        raise RuntimeError(
            f"Received a tensor with {rank} dimensions, but only tensors with up to "
            f"{MAX_LISTED_DIMS} dims are supported!"
        )


def reduction(
    a: Tensor,
    dims: Sequence[int] | None,
    keepdim: bool,
    dtype: DType | None,
    out: Tensor | None = None,
    *,
    has_identity: bool = True,
    keep_promoted: bool = False,
    real: bool = False,
) -> Tensor:
    """``real``: of complex numbers comes a real one (``COMPLEX_TO_FLOAT``)."""
    check_rank(len(a._sizes))
    if out is not None and dtype is not None and dtype is not out._dtype:
        raise RuntimeError("dtype argument and out dtype must match in reduction")
    rank = len(a._sizes)
    reduced = reduction_dims(rank, dims)
    if not has_identity and rank and not all(a._sizes[dim] for dim in reduced):
        raise RuntimeError(
            "reducing over zero-size dimension for reduction operation without identity"
        )
    result_dtype = dtype or a._dtype
    computed = get_computation_dtype(result_dtype)
    if real:
        result_dtype, computed = real_value_type(result_dtype), real_value_type(computed)
    shape = reduced_shape(a._sizes, reduced, keepdim=False)
    result = new_tensor(shape, computed, a._device)
    if keepdim:
        result = _with_dims(result, a, reduced)
    if out is not None:
        return written_out(out, result)
    return result if keep_promoted or computed is result_dtype else _converted(result, result_dtype)


def _with_dims(result: Tensor, a: Tensor, reduced: Sequence[int]) -> Tensor:
    """``prims.broadcast_in_dim``: the reduced dimensions again, of size 1."""
    strides: list[int] = []
    place = 0
    for dim in range(len(a._sizes)):
        if dim not in reduced:
            strides.append(result._strides[place])
            place += 1
        elif place == len(result._sizes):
            strides.append(1)
        else:
            strides.append(result._strides[place] * result._sizes[place])
    shape = reduced_shape(a._sizes, reduced, keepdim=True)
    return new_tensor(shape, result._dtype, result._device, tuple(strides))


def _converted(tensor: Tensor, dtype: DType) -> Tensor:
    """``prims.convert_element_type``."""
    like = elementwise(tensor)
    return new_tensor(like._sizes, dtype, like._device, like._strides)


@body(_REFS + "sum")
def sum_(
    a: Tensor,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor:
    return reduction(a, dim, keepdim, _sum_dtype(a, dtype, out), out)


def _sum_dtype(a: Tensor, dtype: DType | None, out: Tensor | None = None) -> DType:
    if dtype is not None:
        return dtype
    if out is not None:
        return out._dtype
    return int64 if is_integral(a._dtype) else a._dtype


@body(_REFS + "prod")
def prod(
    a: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor:
    return reduction(a, None if dim is None else [dim], keepdim, _sum_dtype(a, dtype, out), out)


@body("torch._decomp.decompositions.sum_default")
def sum_default(self: Tensor, *, dtype: DType | None = None, out: Tensor | None = None) -> Tensor:
    if out is None:
        summed: Tensor = _SUM(self, [], False, dtype)
    else:
        summed = _SUM_OUT(self, [], False, dtype, out=out)
    return summed


@body(_REFS + "amax", _REFS + "amin")
def amax(
    a: Tensor,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    looks_first = HABITS["an extreme looks at its output first"]
    if looks_first and out is not None and out._dtype is not a._dtype:
        raise RuntimeError(
            f"Expected the dtype for input and out to match, but got {a._dtype} for input's dtype "
            f"and {out._dtype} for out's dtype."
        )
    return reduction(a, dim, keepdim, None, out, has_identity=False)


@body(_REFS + "mean")
def mean(
    a: Tensor,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor:
    asked = dtype or a._dtype
    if HABITS["a mean goes into its own dtype"] and out is not None and out._dtype is not asked:
        raise RuntimeError(
            f"Expected out tensor to have dtype {asked}, but got {out._dtype} instead"
        )
    result = reduction(a, dim, keepdim, asked, keep_promoted=True)
    if not asked.is_floating_point and not asked.is_complex:
        what = "Input" if dtype is None else "Optional"
        raise RuntimeError(
            f"mean(): could not infer output dtype. {what} dtype must be either a floating point "
            f"or complex dtype. Got: {asked}"
        )
    result = to_dtype(elementwise(result), asked)
    return result if out is None else written_out(out, result)


_META: Final = "torch._meta_registrations."
_DECOMPOSED: Final = "torch._decomp.decompositions."


def _empty(a: Tensor, dims: Sequence[int] | None, keepdim: bool, dtype: DType) -> Tensor:
    """``new_empty`` in the shape of a reduction."""
    reduced = tuple(range(len(a._sizes))) if dims is None else reduction_dims(len(a._sizes), dims)
    shape = reduced_shape(a._sizes, [d for d in reduced if a._sizes], keepdim=keepdim)
    return new_tensor(shape, dtype, a._device)


@body(_META + "meta_nansum")
def nansum(
    input: Tensor,
    dims: Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    reduced = reduction_dims(len(input._sizes), dims)
    if dims is not None and not dims and not HABITS["nansum over no dimension is over all"]:
        reduced = ()
    shape = reduced_shape(input._sizes, reduced, keepdim=keepdim)
    return new_tensor(shape, _sum_dtype(input, dtype), input._device)


# --- truth ------------------------------------------------------------------------------------

_BYTE: Final = DTYPES["uint8"]
_ANY: Final = OperatorHandle("aten::any.dims")
_CLONE: Final = OperatorHandle("aten::clone")
_LOGICAL_NOT: Final = OperatorHandle("aten::logical_not")
_NE: Final = OperatorHandle("aten::ne.Scalar")


def _dim_list(dim: Any) -> list[int] | None:
    return [dim] if isinstance(dim, int) else dim


@body(_REFS + "any")
def any_(a: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    truth = to_dtype(a, BOOL)
    if isinstance(dim, (list, tuple)) and not dim:
        result = _CLONE(truth)
    else:
        result = _NE(_SUM(truth, _dim_list(dim), keepdim), False)
    return _converted(result, _BYTE) if a._dtype is _BYTE else result


@body(_REFS + "all")
def all_(a: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    result = _LOGICAL_NOT(_ANY(_LOGICAL_NOT(a), _dim_list(dim), keepdim))
    return to_dtype(result, _BYTE) if a._dtype is _BYTE else result


@body(_REFS + "count_nonzero")
def count_nonzero(self: Tensor, dim: Any = None) -> Any:
    return _SUM(_NE(self, 0), _dim_list(dim))


# --- extremes ---------------------------------------------------------------------------------

_AMAX: Final = OperatorHandle("aten::amax")
_AMIN: Final = OperatorHandle("aten::amin")


@body(_DECOMPOSED + "aminmax")
def aminmax(self: Tensor, *, dim: int | None = None, keepdim: bool = False) -> tuple[Any, Any]:
    dims = [] if dim is None else [dim]
    return _AMIN(self, dims, keepdim), _AMAX(self, dims, keepdim)


@body(_META + "meta_max", _META + "meta_min", _META + "meta_median")
def max_(self: Tensor) -> Tensor:
    return new_tensor((), self._dtype, self._device)


@body(_META + "meta_max_dim", _META + "meta_min_dim", _META + "meta_median_mode_dim")
def max_dim(self: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return _empty(self, [dim], keepdim, self._dtype), _empty(self, [dim], keepdim, int64)


@body(_META + "kthvalue_meta")
def kthvalue(self: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    dim = maybe_wrap_dim(dim, len(self._sizes))
    if not 1 <= k <= (self._sizes[dim] if self._sizes else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}")
    return max_dim(self, dim, keepdim)


@body(_META + "argmax_argmin_meta")
def argmax(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Both go by the name of the first."""
    if dim is None and not numel(self._sizes):
        raise RuntimeError("argmax: Expected reduction dim to be specified for input.numel() == 0.")
    if dim is not None:
        wrapped = maybe_wrap_dim(dim, len(self._sizes))
        if self._sizes and not self._sizes[wrapped]:
            raise IndexError(f"argmax: Expected reduction dim {wrapped} to have non-zero size.")
    return _empty(self, None if dim is None else [dim], keepdim, int64)


# --- scans ------------------------------------------------------------------------------------

_ARANGE: Final = OperatorHandle("aten::arange")
_LE: Final = OperatorHandle("aten::le.Tensor")
_PROD: Final = OperatorHandle("aten::prod.dim_int")
_PROD_OUT: Final = OperatorHandle("aten::prod.int_out")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_WHERE: Final = OperatorHandle("aten::where.ScalarOther")


def _scan(reduce: Any, init: int, a: Tensor, dim: int, dtype: Any, out: Tensor | None) -> Any:
    """A reduction of what is masked: of each place the elements up to it."""
    rank = len(a._sizes)
    dim = wrap_dim(dim, rank)
    if not rank:
        return reduce(_UNSQUEEZE(a, 0), 0, dtype, out)
    places = _ARANGE(a._sizes[dim], device=a._device)
    mask = _LE(_UNSQUEEZE(places, 1), places)
    for _ in range(rank - dim - 1):
        mask = _UNSQUEEZE(mask, -1)
    return reduce(_WHERE(mask, _UNSQUEEZE(a, dim + 1), init), dim, dtype, out)


@body(_REFS + "cumsum")
def cumsum(a: Tensor, dim: int, *, dtype: DType | None = None, out: Tensor | None = None) -> Any:
    def reduce(masked: Tensor, dim: int, dtype: Any, out: Tensor | None) -> Any:
        if out is None:
            return _SUM(masked, [dim], dtype=dtype)
        return _SUM_OUT(masked, [dim], dtype=dtype, out=out)

    return _scan(reduce, 0, a, dim, dtype, out)


@body(_REFS + "cumprod")
def cumprod(a: Tensor, dim: int, *, dtype: DType | None = None, out: Tensor | None = None) -> Any:
    def reduce(masked: Tensor, dim: int, dtype: Any, out: Tensor | None) -> Any:
        if out is None:
            return _PROD(masked, dim, dtype=dtype)
        return _PROD_OUT(masked, dim, dtype=dtype, out=out)

    return _scan(reduce, 1, a, dim, dtype, out)


@body(_META + "cummaxmin")
def cummax(self: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    if numel(self._sizes) and self._sizes:
        maybe_wrap_dim(dim, len(self._sizes))
    return (
        new_tensor(self._sizes, self._dtype, self._device),
        new_tensor(self._sizes, int64, self._device),
    )


@body(_META + "logcumsumexp")
def logcumsumexp(self: Tensor, dim: int) -> Tensor:
    maybe_wrap_dim(dim, len(self._sizes))
    return new_tensor(self._sizes, self._dtype, self._device)


# --- logsumexp --------------------------------------------------------------------------------

_ABS: Final = OperatorHandle("aten::abs")
_ADD: Final = OperatorHandle("aten::add.Tensor")
_EQ: Final = OperatorHandle("aten::eq.Scalar")
_EXP: Final = OperatorHandle("aten::exp")
_LOG: Final = OperatorHandle("aten::log")
_MASKED_FILL: Final = OperatorHandle("aten::masked_fill.Scalar")
_SQUEEZE: Final = OperatorHandle("aten::squeeze.dims")
_SUB: Final = OperatorHandle("aten::sub.Tensor")


@body(_REFS + "logsumexp")
def logsumexp(self: Tensor, dim: Any, keepdim: bool = False) -> Any:
    dims = _dim_list(dim) or []
    if not numel(self._sizes):
        return _LOG(_SUM(_EXP(self), dims, keepdim))
    maxes = _AMAX(self, dims, True)
    maxes = _MASKED_FILL(maxes, _EQ(_ABS(maxes), inf), 0)
    squeezed = maxes if keepdim else _SQUEEZE(maxes, dims)
    return _ADD(_LOG(_SUM(_EXP(_SUB(self, maxes)), dims, keepdim)), squeezed)


# --- the diagonal -----------------------------------------------------------------------------

_SUM_ALL: Final = OperatorHandle("aten::sum")


@body(_REFS + "trace")
def trace(self: Tensor) -> Any:
    rank = len(self._sizes)
    if rank != 2:
        shown = str(rank) if HABITS["trace tells the number of dimensions"] else "{self.ndim}"
        raise RuntimeError(f"expected a matrix, but got tensor with dim {shown}")
    count = min(self._sizes)
    return _SUM_ALL(new_tensor((count,), self._dtype, self._device))
