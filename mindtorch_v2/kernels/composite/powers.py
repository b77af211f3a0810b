"""Products and powers that are made of others: angles in degrees, powers in double precision.

Mirrors ``aten/src/ATen/native/UnaryOps.cpp``, ``BinaryOps.cpp`` and ``Pow.cpp``.
"""

from __future__ import annotations

import math
from typing import Any, Final

from mindtorch_v2.kernels.cpu.special import scale
from mindtorch_v2.kernels.dtypes import HABITS
from mindtorch_v2.kernels.elementwise.promotion import Number, Operand, float_of
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS, DType
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.support import CPP_NAMES, worded
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_EXPLICIT: Final = "CompositeExplicitAutograd"
_KEYS: Final = (_EXPLICIT, "Meta")
_FLOAT: Final = DTYPES["float32"]
_PRESERVE: Final = MEMORY_FORMATS["preserve_format"]
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_FULL: Final = OperatorHandle("aten::full")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_MUL_OUT: Final = OperatorHandle("aten::mul.out")
_TO: Final = OperatorHandle("aten::to.dtype")
_XLOGY: Final = OperatorHandle("aten::xlogy.Tensor")
_XLOGY_: Final = OperatorHandle("aten::xlogy_.Tensor")
_XLOGY_OUT: Final = OperatorHandle("aten::xlogy.OutTensor")
_POW: Final = OperatorHandle("aten::pow.Tensor_Tensor")
_POW_OF_NUMBER: Final = OperatorHandle("aten::pow.Scalar")


# --- degrees and radians ----------------------------------------------------------------------


def _angle(name: str, factor: float) -> None:
    out_form = OperatorHandle(f"aten::{name}.out")

    def run(self: Tensor) -> Any:
        made = _EMPTY_LIKE(self, dtype=float_of(self._dtype), memory_format=_PRESERVE)
        return out_form(self, out=made)

    def run_inplace(self: Tensor) -> Any:
        return out_form(self, out=self)

    def run_out(self: Tensor, out: Tensor) -> Any:
        if self._dtype.is_complex:
            raise worded("degrees of complex numbers", deg2rad=name)
        return _MUL_OUT(self, factor, out=out)

    kernel(f"aten::{name}", keys=_KEYS)(run)
    kernel(f"aten::{name}_", keys=_KEYS)(run_inplace)
    kernel(f"aten::{name}.out", keys=_KEYS)(run_out)


_angle("rad2deg", 180 / math.pi)
_angle("deg2rad", math.pi / 180)


# --- products with logarithms and powers of two -----------------------------------------------


@kernel("aten::xlogy.Scalar_Self", "aten::xlogy.Scalar_Other", key=_EXPLICIT)
def xlogy(self: Operand, other: Operand) -> Any:
    return _XLOGY(self, other)


@kernel("aten::xlogy_.Scalar_Other", key=_EXPLICIT)
def xlogy_inplace(self: Tensor, other: Number) -> Any:
    return _XLOGY_(self, other)


@kernel("aten::xlogy.OutScalar_Self", "aten::xlogy.OutScalar_Other", key=_EXPLICIT)
def xlogy_out(self: Operand, other: Operand, out: Tensor) -> Any:
    return _XLOGY_OUT(self, other, out=out)


def _power_of_two(self: Tensor, other: Tensor) -> Any:
    """``_pow2``: by what ``self`` is multiplied, in its own dtype where a plain number would have
    another one."""
    has_its_dtype = HABITS["ldexp has powers of the dtype of what they multiply"]
    if not has_its_dtype or is_integral(self._dtype) or self._dtype is _FLOAT:
        return _POW_OF_NUMBER(2.0, other)
    options = {"dtype": self._dtype, "layout": self._layout, "device": self._device}
    return _POW(_FULL([], 2.0, **options), other)


@kernel("aten::ldexp.Tensor", key=_IMPLICIT)
def ldexp(self: Tensor, other: Tensor) -> Any:
    return _MUL(self, _power_of_two(self, other))


@kernel("aten::ldexp_", key=_IMPLICIT)
def ldexp_inplace(self: Tensor, other: Tensor) -> Any:
    return ldexp_out(self, other, self)


@kernel("aten::ldexp.out", key=_IMPLICIT)
def ldexp_out(self: Tensor, other: Tensor, out: Tensor) -> Any:
    return _MUL_OUT(self, _power_of_two(self, other), out=out)


@kernel("aten::ldexp.Tensor", key=_EXPLICIT)
def checked_ldexp(self: Tensor, other: Tensor) -> Any:
    if not _is_scaled(self, other):
        return ldexp(self, other)
    return scale(self, other, _EMPTY_LIKE(self, memory_format=None))


def _is_scaled(self: Tensor, other: Tensor) -> bool:
    """Whether ``std::ldexp`` computes it."""
    return self._dtype.is_floating_point and is_integral(other._dtype) and not self.is_meta


@kernel("aten::ldexp_", key=_EXPLICIT)
def checked_ldexp_inplace(self: Tensor, other: Tensor) -> Any:
    """Where it has a kernel, that has words of its own."""
    return checked_ldexp_out(self, other, self)


@kernel("aten::ldexp.out", key=_EXPLICIT)
def checked_ldexp_out(self: Tensor, other: Tensor, out: Tensor) -> Any:
    if is_integral(out._dtype):  # whatever is multiplied
        raise RuntimeError(
            f"ldexp can't be cast to the desired output type {CPP_NAMES[out._dtype]}"
        )
    return scale(self, other, out) if _is_scaled(self, other) else ldexp_out(self, other, out)


# --- powers in double precision ---------------------------------------------------------------


def _wide_dtype(self: Operand, exponent: Operand) -> DType:
    is_complex = any(
        each._dtype.is_complex if isinstance(each, Tensor) else isinstance(each, complex)
        for each in (self, exponent)
    )
    return DTYPES["complex128" if is_complex else "float64"]


def _widened(operand: Operand, dtype: DType) -> Any:
    if isinstance(operand, Tensor):
        return _TO(operand, dtype)
    number: Any = complex if dtype.is_complex else float
    return number(operand)


def _check_own(dtype: DType, tensor: Tensor, what: str) -> None:
    if tensor._dtype is not dtype:
        raise RuntimeError(
            f"the {what} has dtype {CPP_NAMES[tensor._dtype]} but the operation's result requires "
            f"dtype {CPP_NAMES[dtype]}"
        )


def _float_power(overload: str, out_overload: str) -> None:
    power, power_out = (OperatorHandle(f"aten::pow.{each}") for each in (overload, out_overload))

    def run(self: Operand, exponent: Operand) -> Any:
        dtype = _wide_dtype(self, exponent)
        two = _widened(exponent, dtype)  # which C++ takes first
        return power(_widened(self, dtype), two)

    def run_out(self: Operand, exponent: Operand, out: Tensor) -> Any:
        dtype = _wide_dtype(self, exponent)
        _check_own(dtype, out, "output given to float_power")
        two = _widened(exponent, dtype)
        return power_out(_widened(self, dtype), two, out=out)

    kernel(f"aten::float_power.{overload}", key=_IMPLICIT)(run)
    kernel(f"aten::float_power.{out_overload}", key=_IMPLICIT)(run_out)


for _overload in ("Tensor_Tensor", "Scalar", "Tensor_Scalar"):
    _float_power(_overload, f"{_overload}_out")


def _float_power_inplace(overload: str) -> None:
    power = OperatorHandle(f"aten::pow_.{overload}")

    def run(self: Tensor, exponent: Operand) -> Any:
        dtype = _wide_dtype(self, exponent)
        _check_own(dtype, self, "base given to float_power_")
        return power(self, _widened(exponent, dtype))

    kernel(f"aten::float_power_.{overload}", key=_IMPLICIT)(run)


_float_power_inplace("Tensor")
_float_power_inplace("Scalar")
