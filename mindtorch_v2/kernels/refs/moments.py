"""The reference functions of variances and norms.

Mirrors ``torch/_refs/__init__.py`` and ``torch/_refs/linalg/__init__.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, Final

from mindtorch_v2.kernels.cpu.moments import real_value_type
from mindtorch_v2.kernels.elementwise.promotion import Number
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import (
    HABITS,
    get_computation_dtype,
    get_higher_dtype,
    to_dtype,
    worded,
)
from mindtorch_v2.kernels.refs.reductions import mean, reduction
from mindtorch_v2.kernels.renorm import check_renorm
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS, DType
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

_DECOMPOSED: Final = "torch._decomp.decompositions."
_REFS: Final = "torch._refs."
_VAR: Final = OperatorHandle("aten::var.correction")
_VAR_MEAN: Final = OperatorHandle("aten::var_mean.correction")
_SQRT: Final = OperatorHandle("aten::sqrt")

Dims = Sequence[int] | None


def _check_correction(correction: Number | None) -> None:
    """``set_correction``."""
    if isinstance(correction, complex):
        raise ValueError("correction argument should be integer or float")
    if HABITS["a correction is not negative"] and correction is not None and correction < 0:
        raise ValueError("correction argument should be non-negative")


@body(_REFS + "var")
def var(
    a: Tensor,
    dim: Dims = None,
    *,
    correction: Number | None = None,
    keepdim: bool = False,
) -> Tensor:
    _check_correction(correction)
    return reduction(a, dim, keepdim, None, real=True)


@body(_REFS + "std")
def std(
    a: Tensor,
    dim: Dims = None,
    *,
    correction: Number | None = None,
    keepdim: bool = False,
) -> Any:
    _check_correction(correction)
    variance = _VAR(
        to_dtype(a, get_computation_dtype(a._dtype)), dim, correction=correction, keepdim=keepdim
    )
    return to_dtype(_SQRT(variance), real_value_type(a._dtype))


@body(_REFS + "var_mean")
def var_mean(
    a: Tensor,
    dim: Dims = None,
    *,
    correction: Number | None = None,
    keepdim: bool = False,
) -> tuple[Any, Any]:
    variance = var(a, dim, correction=correction, keepdim=keepdim)
    return variance, mean(a, dim, keepdim)


@body(_REFS + "std_mean")
def std_mean(
    a: Tensor,
    dim: Dims = None,
    *,
    correction: Number | None = None,
    keepdim: bool = False,
) -> tuple[Any, Any]:
    _check_correction(correction)
    computed = to_dtype(a, get_computation_dtype(a._dtype))
    variance, average = _VAR_MEAN(computed, dim, correction=correction, keepdim=keepdim)
    deviation = to_dtype(_SQRT(variance), real_value_type(a._dtype))
    return deviation, to_dtype(average, a._dtype)


# --- norms ------------------------------------------------------------------------------------

_NAME: Final = "linalg.vector_norm"
_CHECKED: Final = "a norm looks at no dimension from the end"
"""What came with ``_check_vector_norm_args``."""
_FORMAT: Final = MEMORY_FORMATS["contiguous_format"]
_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_ABS: Final = OperatorHandle("aten::abs")
_AMAX: Final = OperatorHandle("aten::amax")
_AMIN: Final = OperatorHandle("aten::amin")
_NE: Final = OperatorHandle("aten::ne.Scalar")
_POW: Final = OperatorHandle("aten::pow.Tensor_Scalar")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_VIEW: Final = OperatorHandle("aten::view")
_NORM: Final = OperatorHandle("aten::norm.Scalar")
_VECTOR_NORM: Final = OperatorHandle("aten::linalg_vector_norm")


@body(_REFS + "norm")
def norm(
    input: Tensor,
    p: Number | None = 2,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Any:
    return _VECTOR_NORM(input, 2 if p is None else p, dim, keepdim, dtype=dtype)


@body(_DECOMPOSED + "dist")
def dist(input: Tensor, other: Tensor, p: Number = 2) -> Any:
    return _NORM(_SUB(input, other), p)


@body(_REFS + "linalg.vector_norm")
def vector_norm(
    x: Tensor,
    ord: Any = 2,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Any:
    if not x._dtype.is_floating_point and not x._dtype.is_complex:
        raise worded("vector_norm of integers", **{"torch.int64": str(x._dtype)})
    if (HABITS[_CHECKED] or not numel(x._sizes)) and (ord < 0.0 or ord == inf):
        _check_identity(x, ord, dim)
    if dtype is not None:
        _check_dtype(dtype, x._dtype)
    wanted = dtype or x._dtype
    result = real_value_type(wanted)
    if ord == 0:
        return _SUM(_NE(x, 0.0), dim, keepdim, dtype=result)
    if ord in (inf, -inf):
        extreme = _AMAX if ord > 0 else _AMIN
        return to_dtype(extreme(_ABS(x), dim or [], keepdim), result)
    x = to_dtype(x, get_computation_dtype(wanted))
    if HABITS["a norm over one element is its size"]:
        dims = list(dim) if dim else None
        if dims and HABITS["a norm over one element counts from the end"]:
            dims = [wrap_dim(d, len(x._sizes)) for d in dims]
        if _is_over_one(x, dims):
            return _of_one(_ABS(x), dims, keepdim, result)
    if ord % 2.0 or not x._dtype.is_floating_point:
        x = _ABS(x)
    return to_dtype(_POW(_SUM(_POW(x, ord), dim, keepdim), 1.0 / ord), result)


def _is_over_one(x: Tensor, dims: Sequence[int] | None) -> bool:
    if dims is None:
        return numel(x._sizes) == 1
    return bool(x._sizes) and all(x._sizes[dim] == 1 for dim in dims)


def _of_one(sizes: Any, dims: Sequence[int] | None, keepdim: bool, dtype: DType) -> Any:
    is_number = dims is None and not keepdim and bool(sizes._sizes)
    is_converted = not is_number or HABITS["a norm of one element has its dtype"]
    found = to_dtype(sizes, dtype) if is_converted else sizes
    if not keepdim and found._sizes:
        kept = [size for d, size in enumerate(found._sizes) if dims is not None and d not in dims]
        found = _VIEW(found, kept)
    return _CONTIGUOUS(found, memory_format=_FORMAT)


def _check_identity(x: Tensor, ord: Number, dim: Dims) -> None:
    if numel(x._sizes):
        return
    if not dim:
        raise _no_identity(ord, "an empty tensor because the operation does not have an identity")
    for place in dim:
        if HABITS[_CHECKED]:
            is_empty = not (0 <= place < len(x._sizes) and x._sizes[place])
        else:
            is_empty = not x._sizes[place]
        if is_empty:
            raise _no_identity(
                ord,
                f"the dimension {place} because this dimension is empty and the operation does "
                "not have an identity",
            )


def _no_identity(ord: Number, of: str) -> Exception:
    """Releases that hand over text where a function is to make it say no more than that."""
    if not HABITS["a norm has words for what has no identity"]:
        return TypeError("message must be a callable")
    return RuntimeError(f"{_NAME} cannot compute the {ord} norm on {of}")


def _check_dtype(dtype: DType, own: DType) -> None:
    """``_check_norm_dtype``."""
    if not dtype.is_floating_point and not dtype.is_complex:
        raise worded("vector_norm in integers", **{"torch.int64": str(dtype)})
    if dtype.is_complex != own.is_complex:
        kind = "complex" if own.is_complex else "real"
        raise RuntimeError(f"{_NAME}: dtype should be {kind} for {kind} inputs. Got {dtype}")
    if get_higher_dtype(dtype, own) is not dtype:
        formatted = HABITS["a norm tells the dtype that is too narrow"]
        raise RuntimeError(
            f"{_NAME}: the dtype of the input ({own}) should be convertible without narrowing to "
            f"the specified dtype ({dtype if formatted else '{dtype}'})"
        )


# --- renorm -----------------------------------------------------------------------------------

_ADD: Final = OperatorHandle("aten::add.Scalar")
_GT: Final = OperatorHandle("aten::gt.Scalar")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_RECIPROCAL: Final = OperatorHandle("aten::reciprocal")
_SCALE: Final = OperatorHandle("aten::mul.Scalar")
_WHERE: Final = OperatorHandle("aten::where.ScalarOther")


@body(_REFS + "renorm")
def renorm(input: Tensor, p: Number, dim: int, maxnorm: Number) -> Any:
    check_renorm(input, p, maxnorm)
    dim = wrap_dim(dim, len(input._sizes))
    others = [each for each in range(len(input._sizes)) if each != dim]
    computed = get_computation_dtype(input._dtype)
    dtype = None if computed is input._dtype else computed
    norm = _VECTOR_NORM(input, p, others, True, dtype=dtype)
    scale = _SCALE(_RECIPROCAL(_ADD(norm, 1e-7)), maxnorm)
    factor = _WHERE(_GT(norm, maxnorm), scale, 1.0)
    return _CONTIGUOUS(_MUL(input, to_dtype(factor, input._dtype)), memory_format=_FORMAT)
