"""Functions of one tensor.

Mirrors ``aten/src/ATen/native/UnaryOps.cpp`` and ``cpu/UnaryOpsKernel.cpp``.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.functions import (
    complex_functions,
)
from mindtorch_v2.kernels.cpu.functions.error_function import erf, erf_of_vectors
from mindtorch_v2.kernels.cpu.functions.vector_functions import (
    Functions,
    always,
    over_lanes,
    to_the_last_digit,
)
from mindtorch_v2.kernels.elementwise.pointwise import Pointwise, pointwise, rounded
from mindtorch_v2.kernels.elementwise.promotion import check_can_cast, to_opmath
from mindtorch_v2.kernels.elementwise.tensor_iterator import (
    UNARY_FLOAT_OP,
    UNARY_OP,
    is_standing_for_cpu,
)
from mindtorch_v2.kernels.elementwise.vector_loop import in_vectors_of_one_row
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, resize_output
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HALVES, dispatch, dispatch_over
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES, REAL_OF_COMPLEX, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import dense_strides_like
from mindtorch_v2.tensor.support import TYPE_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_INT32: Final = DTYPES["int32"]
_LN2: Final = math.log(2)


def rounds_roots(dtype: DType) -> bool:
    return to_opmath(dtype) is not dtype


def rsqrt(self: Array, dtype: DType, lanes: Array | None = None) -> Array:
    """The root is a value of ``dtype`` as well, but in a vector, which is one of floats."""
    root = np.sqrt(self)
    if lanes is not None:
        root = np.where(lanes, root, rounded(root, dtype))
    return np.asarray(1 / root)


def _sigmoid(functions: Functions, self: Array) -> Array:
    return np.asarray(1 / (1 + functions.exp(-self)))


def _erf(self: Array, dtype: DType) -> Array:
    """Of floats and doubles it is MKL's, of halves that of vectors, for each element."""
    return erf_of_vectors(self) if dtype in HALVES else erf(self)


def _log2(self: Array) -> Array:
    if self.dtype.kind != "c":
        return np.log2(self)
    found = np.asarray(np.log(self))
    found.real /= _LN2  # each part: NumPy would divide by a complex number
    found.imag /= _LN2
    return found


def _by_parts(real: Any, of_parts: Any) -> Any:
    """``real``, and another function of complex numbers."""
    return lambda self: of_parts(self) if self.dtype.kind == "c" else real(self)


def one_by_one(function: Any) -> Any:
    """A function of Python floats as one of arrays."""
    compute = np.frompyfunc(function, 1, 1)
    return lambda self: np.asarray(compute(self.astype(np.float64)), np.float64).astype(self.dtype)


for _name, _compute in (
    ("acos", _by_parts(np.arccos, complex_functions.acos)),
    ("asin", _by_parts(np.arcsin, complex_functions.asin)),
    ("atan", _by_parts(np.arctan, complex_functions.atan)),
    ("cos", to_the_last_digit(np.cos)),
    ("cosh", np.cosh),
    ("exp", _by_parts(to_the_last_digit(np.exp), complex_functions.exp)),
    ("exp2", _by_parts(np.exp2, complex_functions.exp2)),
    ("expm1", to_the_last_digit(np.expm1)),
    ("log", to_the_last_digit(np.log)),
    ("log10", to_the_last_digit(np.log10)),
    ("log1p", to_the_last_digit(complex_functions.log1p)),
    ("log2", _log2),
    ("reciprocal", lambda self: 1 / self),
    ("sin", to_the_last_digit(np.sin)),
    ("sinh", np.sinh),
    ("sqrt", np.sqrt),
    ("tan", np.tan),
    ("tanh", to_the_last_digit(np.tanh)),
):
    pointwise(f"aten::{_name}", _compute, UNARY_FLOAT_OP, 1)

pointwise("aten::erf", _erf, UNARY_FLOAT_OP, 1, prepare=lambda dtype: (dtype,))
pointwise("aten::sigmoid", over_lanes(_sigmoid), UNARY_FLOAT_OP, 1, by_lanes=always)
pointwise(
    "aten::rsqrt", rsqrt, UNARY_FLOAT_OP, 1, prepare=lambda dtype: (dtype,), by_lanes=rounds_roots
)


def _of_floats(compute: Any) -> Any:
    """Rounding, which leaves integers as they are."""
    return lambda self: compute(self) if self.dtype.kind == "f" else self


def _sign(self: Array) -> Array:
    """Nothing is not a number's sign."""
    if self.dtype.kind == "b":
        return self
    return np.asarray((self > 0).astype(self.dtype) - (self < 0).astype(self.dtype))


def _sgn(self: Array, lanes: Array | None = None) -> Array:
    """Of a complex number a quotient by its length: in a vector that of each part."""
    if self.dtype.kind != "c":
        return _sign(self)
    length = np.abs(self)
    by_parts = np.empty_like(self)
    by_parts.real, by_parts.imag = self.real / length, self.imag / length
    lanes = in_vectors_of_one_row(self) if lanes is None else lanes
    found = np.where(lanes, by_parts, self / length)
    return np.asarray(np.where(length == 0, 0, found), self.dtype)


for _name, _compute in (
    ("ceil", _of_floats(np.ceil)),
    ("floor", _of_floats(np.floor)),
    ("frac", lambda self: self - np.trunc(self)),
    ("neg", np.negative),
    ("round", _of_floats(np.rint)),
    ("sign", _sign),
    ("trunc", _of_floats(np.trunc)),
):
    pointwise(f"aten::{_name}", _compute, UNARY_OP, 1)

pointwise("aten::sgn", _sgn, UNARY_OP, 1, by_lanes=lambda dtype: dtype.is_complex)


def _round_decimals(self: Array, decimals: int) -> Array:
    power = self.dtype.type(10.0 ** abs(decimals))
    rounded = np.rint(self / power) * power if decimals < 0 else np.rint(self * power) / power
    return np.asarray(rounded)


_ROUND_DECIMALS: Final = Pointwise("aten::round.decimals", _round_decimals, UNARY_OP, 1)


def _check_rounded(dtype: DType) -> tuple[()]:
    """That of no decimals has no case for integers, which ``round`` itself leaves as they are."""
    dispatch("round_vml_cpu", dtype)
    return ()


_ROUND: Final = Pointwise("aten::round", np.rint, UNARY_OP, 1, prepare=_check_rounded)


@structured.structured("aten::round.decimals")
def round_decimals(outputs: Outputs, self: Tensor, decimals: int) -> tuple[Tensor, ...]:
    if decimals:
        return _ROUND_DECIMALS(outputs, self, decimals)
    return _ROUND(outputs, self)


# --- absolute values and angles, which are real ----------------------------------------------

_ABS: Final = Pointwise("aten::abs", np.abs, UNARY_OP, 1)


def _complex_to_float(
    function: Pointwise, outputs: Outputs, self: Tensor, *, as_laid: bool
) -> tuple[Tensor, ...]:
    """``unary_op_impl_with_complex_to_float``; a new output is ``as_laid`` as the numbers, or
    row-major, as an empty one becomes when it is resized."""
    (output,) = outputs
    if not self._dtype.is_complex or (output is not None and output._dtype.is_complex):
        return function(outputs, self)
    real = REAL_OF_COMPLEX[self._dtype]
    if output is None:
        is_laid = as_laid or (self.is_meta and not is_standing_for_cpu())
        strides = dense_strides_like(self._sizes, self._strides) if is_laid else None
        output = new_tensor(self._sizes, real, self._device, strides)
    check_can_cast(real, output._dtype)
    (computed,) = function((None,), self)
    resize_output(output, computed._sizes)
    if not output.is_meta:
        store(output, value_array(computed).real)
    return (output,)


@structured.structured("aten::abs")
def abs_(outputs: Outputs, self: Tensor) -> tuple[Tensor, ...]:
    return _complex_to_float(_ABS, outputs, self, as_laid=True)


@kernel("aten::abs_", key="CompositeExplicitAutograd")
def abs_inplace(self: Tensor) -> Tensor:
    if self._dtype.is_complex:
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    _ABS((self,), self)
    return self


def _angle(self: Array) -> Array:
    """Of a number below zero half a turn."""
    if self.dtype.kind == "c":
        return np.asarray(np.arctan2(self.imag, self.real), self.dtype)
    return np.where(np.isnan(self), self, np.where(self < 0, self.dtype.type(math.pi), 0))


_ANGLE: Final = Pointwise("aten::angle", _angle, UNARY_FLOAT_OP._replace(is_structured=False), 1)


@structured.structured("aten::angle")
def angle(outputs: Outputs, self: Tensor) -> tuple[Tensor, ...]:
    return _complex_to_float(_ANGLE, outputs, self, as_laid=False)


# --- conjugation, carried out ----------------------------------------------------------------

_CONJUGATED: Final = Pointwise("aten::conj_physical", np.conj, UNARY_OP, 1)
_CLONE: Final = OperatorHandle("aten::clone")
_CONJ: Final = OperatorHandle("aten::conj")
_CONJ_PHYSICAL: Final = OperatorHandle("aten::_conj_physical")


@kernel("aten::conj_physical", key="CompositeImplicitAutograd")
def conj_physical(self: Tensor) -> Any:
    return _CONJ_PHYSICAL(self) if self._dtype.is_complex else self


@kernel("aten::_conj_physical", key="CompositeExplicitAutograd")
def conj_physical_of_complex(self: Tensor) -> Any:
    return _CLONE(_CONJ(self)) if self._is_conj() else _CONJUGATED((None,), self)[0]


@kernel("aten::conj_physical_", key="CompositeExplicitAutograd")
def conj_physical_inplace(self: Tensor) -> Tensor:
    if self._dtype.is_complex:
        _CONJUGATED((self,), self)
    return self


@kernel("aten::conj_physical.out")
def conj_physical_out(self: Tensor, out: Tensor) -> Tensor:
    return _CONJUGATED((out,), self)[0]


# --- mantissas and exponents -----------------------------------------------------------------


@structured.structured("aten::frexp.Tensor", outputs=2)
def frexp(outputs: Outputs, self: Tensor) -> tuple[Tensor, ...]:
    if not self._dtype.is_floating_point:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    _check_parts(self._dtype, *outputs)
    like = dense_strides_like(self._sizes, self._strides)
    parts = [
        new_tensor(self._sizes, dtype, self._device, like) if given is None else given
        for given, dtype in zip(outputs, (self._dtype, _INT32), strict=True)
    ]
    for part in parts:
        assert_no_internal_overlap(part)
        resize_output(part, self._sizes)
    if not self.is_meta:
        dispatch_over(FLOATING_TYPES | HALVES, "frexp_cpu", self._dtype)
        for part, values in zip(parts, np.frexp(value_array(self)), strict=True):
            store(part, values)
    return tuple(parts)


def _check_parts(dtype: DType, mantissa: Tensor | None, exponent: Tensor | None) -> None:
    if mantissa is not None and mantissa._dtype is not dtype:
        raise RuntimeError(
            f"torch.frexp() expects mantissa to have dtype {TYPE_NAMES[dtype]} but got "
            f"{TYPE_NAMES[mantissa._dtype]}"
        )
    if exponent is not None and exponent._dtype is not _INT32:
        raise RuntimeError(
            "torch.frexp() expects exponent to have int dtype but got "
            f"{TYPE_NAMES[exponent._dtype]}"
        )
