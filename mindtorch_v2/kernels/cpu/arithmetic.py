"""Arithmetic on two tensors.

Mirrors ``aten/src/ATen/native/BinaryOps.cpp``, ``Pow.cpp``, ``cpu/BinaryOpsKernel.cpp`` and
``cpu/PowKernel.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.functions import (
    complex_functions,
)
from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.kernels.cpu.functions.std_extremes import (
    is_first_of_zeros,
    std_fmax,
    std_fmin,
    std_max,
    std_min,
)
from mindtorch_v2.kernels.cpu.unary import rounds_roots, rsqrt
from mindtorch_v2.kernels.dtypes import HABITS
from mindtorch_v2.kernels.elementwise.pointwise import (
    Compute,
    Pointwise,
    as_array,
    check_fill,
    element,
    pointwise,
    rounded,
)
from mindtorch_v2.kernels.elementwise.promotion import BOOL, Number, Operand, result_type, to_opmath
from mindtorch_v2.kernels.elementwise.tensor_iterator import (
    BINARY_FLOAT_OP,
    BINARY_OP,
    TERNARY_OP,
    UNARY_OP,
    TensorIterator,
    dtype_of,
)
from mindtorch_v2.kernels.outputs import check_out, new_tensor, resize_output
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import HALVES
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.scalars import is_integral, scalar_to
from mindtorch_v2.tensor.support import worded
from mindtorch_v2.tensor.tensor import Tensor

# --- add and subtract ------------------------------------------------------------------------


def _check_alpha(iterator: TensorIterator, alpha: Number) -> None:
    """``alpha_check``."""
    dtype = iterator.common_dtype
    if isinstance(alpha, bool) and dtype is not BOOL:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if is_integral(dtype) and not isinstance(alpha, int):
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )
    if isinstance(alpha, complex) and not dtype.is_complex:
        raise RuntimeError(
            "For non-complex input tensors, argument alpha must not be a complex number."
        )


def check_sub(self: Operand, other: Operand, alpha: Number) -> None:
    """``sub_check``."""
    bools = [dtype_of(each) is BOOL for each in (self, other)]
    if all(bools):
        raise worded("a truth value less another")
    if any(bools):
        raise worded("a number less a truth value")


Rounding = Callable[[Array], Array]


def _rounding(dtype: DType) -> tuple[Rounding]:
    return (partial(rounded, dtype=dtype),)


def _scale(dtype: DType, alpha: Number) -> tuple[Any, ...]:
    """What ``other`` is multiplied with, and how the product is rounded."""
    return element(alpha, dtype), *_rounding(dtype)


def _negated_scale(dtype: DType, alpha: Number) -> tuple[Any, ...]:
    """The same for a subtraction, which of complex numbers is an addition of the negative: signs of
    zeros tell."""
    return _scale(dtype, -alpha if dtype.is_complex else alpha)


def _rounds_products(dtype: DType, alpha: Number) -> bool:
    return alpha != 1 and dtype in HALVES


def _with_factor(combine: Callable[..., Array]) -> Callable[..., Array]:
    """``self`` combined with ``alpha`` times ``other`` (``ufunc/add.h``): of floats that product is
    not rounded, nor that of halves in vectors."""

    def compute(
        self: Array,
        other: Array,
        alpha: Any,
        rounding: Rounding,
        lanes: Array | None = None,
    ) -> Array:
        if other.dtype.kind == "c":  # infinite ones are not the same after a multiplication by 1
            return np.asarray(self + rounding(other * alpha))
        if alpha == 1 or other.dtype.kind != "f":
            return combine(self, other if alpha == 1 else rounding(other * alpha))
        exact = fused(other, alpha if combine is np.add else -alpha, self)
        if lanes is None:
            return exact
        return np.where(lanes, exact, combine(self, rounding(other * alpha)))

    return compute


def _unscaled(function: Compute) -> Callable[[DType, Number], Compute | None]:
    """The bare function where ``other`` is not multiplied."""
    return lambda dtype, alpha: function if alpha == 1 and not dtype.is_complex else None


pointwise(
    "aten::add.Tensor",
    _with_factor(np.add),
    BINARY_OP,
    2,
    check=_check_alpha,
    prepare=_scale,
    array_function=_unscaled(np.add),
    sign="+",
    by_lanes=_rounds_products,
)
pointwise(
    "aten::sub.Tensor",
    _with_factor(np.subtract),
    BINARY_OP,
    2,
    before=check_sub,
    check=_check_alpha,
    prepare=_negated_scale,
    array_function=_unscaled(np.subtract),
    sign="-",
    by_lanes=_rounds_products,
)

# --- multiply and divide ---------------------------------------------------------------------


def _refuse_zero(divisor: Array) -> None:
    """Integers have no quotient by zero; floats and complex numbers do."""
    if divisor.dtype.kind in "iu" and not np.all(divisor):
        raise RuntimeError("ZeroDivisionError")


def _div_trunc(self: Array, other: Array, rounding: Rounding) -> Array:
    """Halves are rounded after every step, unless the divisor is a single number."""
    _refuse_zero(other)
    if self.dtype.kind in "iu":
        return _quotient(self, other, floor=False)
    quotient = np.true_divide(self, other)
    return np.trunc(quotient if other.size == 1 else rounding(quotient))


def _quotient(self: Array, other: Array, *, floor: bool) -> Array:
    """Of integers; the least one by -1 is itself."""
    floored: Array = np.floor_divide(self, other)
    if floor:
        return floored
    inexact = (floored * other != self) & ((self < 0) != (other < 0))
    return np.asarray(floored + inexact, floored.dtype)


def _div_floor(self: Array, other: Array, rounding: Rounding) -> Array:
    """``div_floor_floating``, which is Python's; halves are rounded as above."""
    _refuse_zero(other)
    if self.dtype.kind in "iu":
        return _quotient(self, other, floor=True)

    def step(values: Array) -> Array:
        return values if other.size == 1 else rounding(values)

    basic = step(np.true_divide(self, other))
    mod = np.fmod(self, other)
    whole = np.where(np.isinf(basic) & ~np.isinf(self), self, step(self - mod))
    div = step(whole / other)
    div = np.where((mod != 0) & ((other < 0) != (mod < 0)), step(div - 1), div)
    floored = np.floor(div)
    floored = np.where(step(div - floored) > 0.5, step(floored + 1), floored)
    floored = np.where(div == 0, np.copysign(np.zeros_like(basic), basic), floored)
    return np.where(other == 0, basic, floored).astype(self.dtype)


def _remainder(self: Array, other: Array) -> Array:
    _refuse_zero(other)
    if self.dtype.kind in "iu":
        return np.remainder(self, other)
    mod = np.fmod(self, other)
    return np.where((mod != 0) & ((other < 0) != (mod < 0)), mod + other, mod)


def _fmod(self: Array, other: Array) -> Array:
    _refuse_zero(other)
    return np.fmod(self, other)


pointwise("aten::mul.Tensor", np.multiply, BINARY_OP, 2, scalar_in_opmath=True, sign="*")
pointwise("aten::div.Tensor", np.true_divide, BINARY_FLOAT_OP, 2, scalar_in_opmath=True, sign="/")
pointwise("aten::remainder.Tensor", _remainder, BINARY_OP, 2)
pointwise("aten::fmod.Tensor", _fmod, BINARY_OP, 2)
pointwise(
    "aten::floor_divide",
    _div_floor,
    BINARY_OP._replace(is_structured=False),
    2,
    prepare=_rounding,
    scalar_in_opmath=True,
)
pointwise("aten::atan2", np.arctan2, BINARY_FLOAT_OP, 2)
pointwise("aten::copysign.Tensor", np.copysign, BINARY_FLOAT_OP, 2)

_DIV_MODES: Final = {
    mode: Pointwise(
        f"aten::div.Tensor_mode({mode})",
        compute,
        config,
        2,
        prepare=prepare,
        scalar_in_opmath=True,
    )
    for mode, compute, config, prepare in (
        (None, np.true_divide, BINARY_FLOAT_OP, None),
        ("trunc", _div_trunc, BINARY_OP, _rounding),
        ("floor", _div_floor, BINARY_OP, _rounding),
    )
}


@structured.structured("aten::div.Tensor_mode")
def div_mode(
    outputs: Outputs, self: Operand, other: Operand, rounding_mode: str | None
) -> tuple[Tensor, ...]:
    if rounding_mode not in _DIV_MODES:
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' "
            f"but found '{rounding_mode}'"
        )
    return _DIV_MODES[rounding_mode](outputs, self, other)


# --- the larger and the smaller --------------------------------------------------------------
pointwise("aten::maximum", std_max, BINARY_OP, 2)
pointwise("aten::minimum", std_min, BINARY_OP, 2)
pointwise("aten::fmax", std_fmax, BINARY_OP, 2, prepare=is_first_of_zeros)
pointwise("aten::fmin", std_fmin, BINARY_OP, 2, prepare=is_first_of_zeros)

# --- powers ----------------------------------------------------------------------------------


def _power(base: Array, exponent: Array) -> Array:
    """``std::pow``, and for integers ``powi``: to a negative power 0 unless the base is a unit."""
    if base.dtype.kind == "c":
        # C++ has no shortcuts for whole powers and for those of zero and of NaN, as NumPy has
        return np.exp(complex_functions.product(exponent, np.log(base)))
    if base.dtype.kind not in "iu":
        return np.power(base, exponent)
    if base.dtype.kind == "u":
        return np.power(base, exponent)
    units = np.where(base == 1, 1, np.where(base == -1, np.where(exponent % 2 == 0, 1, -1), 0))
    positive = np.power(base, np.maximum(exponent, 0))
    return np.where(exponent < 0, units.astype(base.dtype), positive)


pointwise("aten::pow.Tensor_Tensor", _power, BINARY_OP, 2)

_TENSOR_SCALAR: Final = "aten::pow.Tensor_Scalar"


def _exponent(dtype: DType, number: Number) -> tuple[Any, ...]:
    """In the dtype of the elements but for floats, whose kernel takes a double."""
    in_double = dtype.is_complex or (dtype.is_floating_point and to_opmath(dtype) is dtype)
    return (number if in_double else element(number, dtype), dtype)


def _power_of_number(base: Array, exponent: Any, dtype: DType) -> Array:
    if exponent == 2:
        return base * base
    if exponent in (3, -2):
        square = rounded(base * base, dtype) if dtype is _BFLOAT16 else base * base
        return np.asarray(square * base if exponent == 3 else 1 / square)
    return _power(base, np.asarray(exponent).astype(base.dtype))


_POWER_OP: Final = TERNARY_OP if HABITS["a power is cast to its output"] else UNARY_OP
_POWER: Final = Pointwise(_TENSOR_SCALAR, _power_of_number, _POWER_OP, 1, prepare=_exponent)
_FILL_WITH_ONE: Final = Pointwise("", lambda base: np.ones_like(base), _POWER_OP, 1)
_COPY: Final = Pointwise("", lambda base: base, _POWER_OP, 1)
_BFLOAT16: Final = DTYPES["bfloat16"]


def _itself(dtype: DType) -> tuple[DType]:
    return (dtype,)


_SHORTCUTS: Final[dict[Number, Pointwise]] = {
    0.5: Pointwise("aten::sqrt", np.sqrt, _POWER_OP, 1),
    -0.5: Pointwise("aten::rsqrt", rsqrt, _POWER_OP, 1, prepare=_itself, by_lanes=rounds_roots),
    -1.0: Pointwise("aten::reciprocal", lambda base: 1 / base, _POWER_OP, 1),
}
"""Other kernels, which take these powers of some dtypes."""
_WITH_SHORTCUTS: Final = tuple(
    DTYPES[name]
    for name in ("float32", "float64", "bfloat16", "complex32", "complex64", "complex128")
)


@structured.structured(_TENSOR_SCALAR)
def pow_tensor_scalar(outputs: Outputs, base: Tensor, exponent: Number) -> tuple[Tensor, ...]:
    if (
        is_integral(base._dtype)
        and isinstance(exponent, int)
        and scalar_to(exponent, DTYPES["int64"]) < 0
    ):
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    converted = base._converted(base._device, result_type((base, exponent)))
    if exponent == 0:
        check_fill(converted, converted._dtype)
        return _FILL_WITH_ONE(outputs, converted)
    if exponent == 1:
        return _COPY(outputs, converted)
    if exponent in _SHORTCUTS and converted._dtype in _WITH_SHORTCUTS:
        return _SHORTCUTS[exponent](outputs, converted)
    return _POWER(outputs, converted, exponent)


_TENSOR_TENSOR: Final = Pointwise("aten::pow.Tensor_Tensor", _power, BINARY_OP, 2)


@structured.structured("aten::pow.Scalar")
def pow_scalar(outputs: Outputs, base: Number, exponent: Tensor) -> tuple[Tensor, ...]:
    (output,) = outputs
    dtype = result_type((base, exponent)) if output is None else output._dtype
    if output is None:
        output = new_tensor(exponent._sizes, dtype, exponent._device)
    else:
        check_out(output, dtype, exponent._device)
        resize_output(output, exponent._sizes)
    if not output.is_meta and base == 1 and not isinstance(base, bool):
        store(output, as_array(1, dtype))
        return (output,)
    return _TENSOR_TENSOR((output,), base, exponent)
