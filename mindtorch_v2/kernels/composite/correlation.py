"""Covariance and correlation.

Mirrors ``aten/src/ATen/native/Correlation.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.support import CPP_NAMES, HABITS, worded
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn

_IMPLICIT: Final = "CompositeImplicitAutograd"
_BOOL: Final = DTYPES["bool"]
_FLOAT: Final = DTYPES["float32"]

_TOO_FEW: Final = (
    "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of "
    "observations."
)

_CLIP: Final = OperatorHandle("aten::clip")
_COMPLEX: Final = OperatorHandle("aten::complex")
_CONJ: Final = OperatorHandle("aten::conj")
_COV: Final = OperatorHandle("aten::cov")
_DIAGONAL: Final = OperatorHandle("aten::diagonal")
_DIV: Final = OperatorHandle("aten::div.Tensor")
_EQUAL: Final = OperatorHandle("aten::equal")
_GE: Final = OperatorHandle("aten::ge.Scalar")
_IMAG: Final = OperatorHandle("aten::imag")
_LE: Final = OperatorHandle("aten::le.Scalar")
_MIN: Final = OperatorHandle("aten::min")
_MM: Final = OperatorHandle("aten::mm")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_MUL_SCALAR: Final = OperatorHandle("aten::mul.Scalar")
_NE: Final = OperatorHandle("aten::ne.Scalar")
_NEW_ONES: Final = OperatorHandle("aten::new_ones")
_REAL: Final = OperatorHandle("aten::real")
_SCALAR_TENSOR: Final = OperatorHandle("aten::scalar_tensor")
_SQRT: Final = OperatorHandle("aten::sqrt")
_SQUEEZE: Final = OperatorHandle("aten::squeeze")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_SUB_SCALAR: Final = OperatorHandle("aten::sub.Scalar")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_SUM_ALL: Final = OperatorHandle("aten::sum")
_T: Final = OperatorHandle("aten::t")
_TO: Final = OperatorHandle("aten::to.dtype")
_TRUE_DIVIDE: Final = OperatorHandle("aten::true_divide.Tensor")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_VIEW: Final = OperatorHandle("aten::view")
_ZEROS_LIKE: Final = OperatorHandle("aten::zeros_like")
_ZERO_: Final = OperatorHandle("aten::zero_")

_MINDS_ROUNDING: Final = HABITS["cov takes the correction from the number of observations"]
"""Then it also has noughts where the result is nought but for rounding."""


def _is_true(tensor: Any) -> bool:
    """``is_scalar_tensor_true``: asks the value of no tensor that cannot say one."""
    options = {"dtype": enum_value(_BOOL), "layout": enum_value(tensor._layout)}
    return bool(_EQUAL(tensor, _NEW_ONES(tensor, [], device=tensor._device, **options)))


def _check_rank(function: str, self: Tensor) -> None:
    if len(self._sizes) > 2:
        raise RuntimeError(
            f"{function}(): expected input to have two or fewer dimensions but got an input with "
            f"{len(self._sizes)} dimensions"
        )


def _check_weights(name: str, weights: Tensor, wanted: str, fits: bool, observations: int) -> None:
    if len(weights._sizes) > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
            f"{len(weights._sizes)} dimensions"
        )
    if not fits:
        raise RuntimeError(
            f"cov(): expected {name} to have {wanted} dtype but got {name} with "
            f"{CPP_NAMES[weights._dtype]} dtype"
        )
    if numel(weights._sizes) != observations:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input "
            f"but got {numel(weights._sizes)} != {observations}"
        )
    if observations and not _is_true(_GE(_MIN(weights), 0)):
        raise RuntimeError(f"cov(): {name} cannot be negative")


def _weights(fweights: Tensor | None, aweights: Tensor | None, observations: int) -> Any:
    """The product of how often an observation was made and how much it counts."""
    if fweights is not None:
        fits = is_integral(fweights._dtype) and fweights._dtype is not _BOOL
        _check_weights("fweights", fweights, "integral", fits, observations)
    if aweights is None:
        return fweights
    fits = aweights._dtype.is_floating_point
    _check_weights("aweights", aweights, "floating point", fits, observations)
    return aweights if fweights is None else _MUL(fweights, aweights)


def _number(value: int, like: Tensor) -> Any:
    options = {"layout": enum_value(like._layout), "device": like._device}
    return _SCALAR_TENSOR(value, dtype=enum_value(DTYPES["int64"]), **options)


@kernel("aten::cov", key=_IMPLICIT)
def cov(self: Tensor, correction: int, fweights: Tensor | None, aweights: Tensor | None) -> Any:
    _check_rank("cov", self)
    if self._dtype is _BOOL:
        raise worded("cov of truth values")
    given: Any = _VIEW(self, [1, -1]) if len(self._sizes) < 2 else self
    observations = given._sizes[1]
    weights = _weights(fweights, aweights, observations)
    if weights is None:
        total: Any = _number(observations, given)
    else:
        total = _SUM_ALL(weights)
        if not _is_true(_NE(total, 0)):
            raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    weighted = given if weights is None else _MUL(given, weights)
    average = _DIV(_SUM(weighted, [1]), total)
    is_weighed_once = (fweights is None) != (aweights is None)
    is_lone = _MINDS_ROUNDING and observations == 1 and is_weighed_once
    if is_lone and fweights is None and correction == 1:
        norm: Any = _number(0, given)
    elif aweights is not None and correction != 0:
        share = _SUM_ALL(_MUL(weights, aweights))
        norm = _SUB(total, _DIV(_MUL_SCALAR(share, correction), total))
    elif not _MINDS_ROUNDING:
        norm = _SUB_SCALAR(total, correction)
    elif weights is None:
        norm = _number(observations - correction, given)
    else:
        norm = _SUB_SCALAR(total, correction) if correction else total
    if _is_true(_LE(norm, 0)):
        warn("cov", _TOO_FEW)
        _ZERO_(norm)
    centred = _nothing(given) if is_lone else _SUB(given, _UNSQUEEZE(average, 1))
    others = centred if weights is None else _MUL(centred, weights)
    product: Any = _MM(centred, _CONJ(_T(others)))
    if _MINDS_ROUNDING and product._dtype.is_complex and 1 in centred._sizes:
        real: Any = _REAL(product)
        product = _COMPLEX(real, _ZEROS_LIKE(real))
    return _SQUEEZE(_TRUE_DIVIDE(product, norm))


def _nothing(given: Tensor) -> Any:
    """Of a lone observation, which is its average: zeros in the memory of what was given."""
    _ZERO_(given)
    return _TO(given, enum_value(_FLOAT)) if is_integral(given._dtype) else given


@kernel("aten::corrcoef", key=_IMPLICIT)
def corrcoef(self: Tensor) -> Any:
    _check_rank("corrcoef", self)
    found: Any = _COV(self)
    if not found._sizes:
        return _DIV(found, found)
    diagonal: Any = _DIAGONAL(found)
    spread = _SQRT(_REAL(diagonal) if diagonal._dtype.is_complex else diagonal)
    found = _DIV(found, _VIEW(spread, [-1, 1]))
    found = _DIV(found, _VIEW(spread, [1, -1]))
    if not found._dtype.is_complex:
        return _CLIP(found, -1, 1)
    imaginary = _CLIP(_IMAG(found), -1, 1)  # C++ compilers make the last argument first
    return _COMPLEX(_CLIP(_REAL(found), -1, 1), imaginary)
