"""Pointwise functions of one tensor or two that few programs call.

Mirrors ``aten/src/ATen/native/UnaryOps.cpp``, ``BinaryOps.cpp``, ``cpu/UnaryOpsKernel.cpp`` and
``cpu/BinaryOpsKernel.cpp``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.functions.c_library import log
from mindtorch_v2.kernels.cpu.functions.error_function import inverse_error
from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.kernels.cpu.scans import add_complex_exp
from mindtorch_v2.kernels.cpu.special_pointwise import special
from mindtorch_v2.kernels.cpu.unary import one_by_one
from mindtorch_v2.kernels.dtypes import check_supported
from mindtorch_v2.kernels.elementwise.pointwise import (
    Pointwise,
    as_array,
    element,
    pointwise,
    rounded,
)
from mindtorch_v2.kernels.elementwise.promotion import BOOL
from mindtorch_v2.kernels.elementwise.tensor_iterator import (
    BINARY_FLOAT_OP,
    BINARY_OP,
    UNARY_FLOAT_OP,
    UNARY_OP,
    Config,
    TensorIterator,
)
from mindtorch_v2.kernels.foretold import foretell
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, resize_output
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs, Structured
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HALVES, dispatch, dispatch_over
from mindtorch_v2.messages import is_asserted, uncast
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS, REAL_OF_COMPLEX, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.support import CPP_NAMES, worded
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_info import finfo

_EXPLICIT: Final = "CompositeExplicitAutograd"
_PRESERVE: Final = MEMORY_FORMATS["preserve_format"]
_COPY_: Final = OperatorHandle("aten::copy_")
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_NAN_TO_NUM_OUT: Final = OperatorHandle("aten::nan_to_num.out")


def _sinc(self: Array) -> Array:
    scaled = self * self.dtype.type(math.pi)
    return np.asarray(np.where(self == 0, 1, np.sin(scaled) / scaled), self.dtype)


_INVERSE_ERROR: Final = one_by_one(inverse_error)


def _erfinv(self: Array, dtype: DType) -> Array:
    """Where there is none, the sign of a float's NaN is set, as MKL leaves it."""
    found: Array = _INVERSE_ERROR(self)
    is_nowhere = (np.abs(self) > 1) & (dtype is DTYPES["float32"])
    return np.where(is_nowhere, self.dtype.type(-math.nan), found)


for _name, _compute in (
    ("acosh", np.arccosh),
    ("asinh", np.arcsinh),
    ("atanh", np.arctanh),
    ("erfc", one_by_one(math.erfc)),
    ("sinc", _sinc),
):
    pointwise(f"aten::{_name}", _compute, UNARY_FLOAT_OP, 1)

pointwise("aten::erfinv", _erfinv, UNARY_FLOAT_OP, 1, prepare=lambda dtype: (dtype,))


def _entr(self: Array, dtype: DType) -> Array:
    """The logarithm is a value of ``dtype`` as well."""
    above = -self * rounded(log(self), dtype)
    found = np.where(self > 0, above, np.where(self == 0, 0, -np.inf))
    return np.asarray(np.where(np.isnan(self), self, found), self.dtype)


special("entr", _entr, cases=FLOATING_TYPES | HALVES, prepare=lambda dtype: (dtype,))


# --- truth ------------------------------------------------------------------------------------

_TRUTH_OP: Final = Config(check_all_same_dtype=False, static_dtype=BOOL)


def _question(name: str, ask: Callable[[Array], Array]) -> Structured:
    """An answer with truth values, which is given in nothing else."""
    operator = f"aten::{name}"
    answer = Pointwise(operator, ask, _TRUTH_OP, 1)

    def run(outputs: Outputs, self: Tensor) -> tuple[Tensor, ...]:
        check_supported(operator, self._dtype)
        if outputs[0] is not None and outputs[0]._dtype is not BOOL:
            raise RuntimeError(f"{name} does not support non-boolean outputs.")
        return answer(outputs, self)

    return run


for _name, _ask in (
    ("isposinf", np.isposinf),
    ("isneginf", np.isneginf),
    ("signbit", np.signbit),
):
    structured.add(f"aten::{_name}", _question(_name, _ask))


# --- two tensors ------------------------------------------------------------------------------


def _logaddexp(self: Array, other: Array) -> Array:
    if self.dtype.kind == "c":
        return add_complex_exp(self, other)
    return np.asarray(np.logaddexp(self, other), self.dtype)


def _logaddexp2(self: Array, other: Array) -> Array:
    """As compiled, the greater number is added to a product that is not rounded."""
    most = np.maximum(self, other)
    share = np.log1p(np.exp2(-np.abs(self - other)))
    found = fused(share, share.dtype.type(1 / math.log(2)), most)
    return np.where(np.isinf(self) & (self == other), self, found)


def _xlogy(self: Array, other: Array, dtype: DType) -> Array:
    """The logarithm is a value of ``dtype`` as well."""
    found = np.where(self == 0, 0, self * rounded(np.log(other), dtype))
    return np.asarray(np.where(np.isnan(other), np.nan, found), self.dtype)


def _xlog1py(self: Array, other: Array, dtype: DType) -> Array:
    found = np.where(self == 0, 0, self * rounded(np.log1p(other), dtype))
    return np.asarray(np.where(np.isnan(other), np.nan, found), self.dtype)


def _check_xlog1py(iterator: TensorIterator) -> None:
    if not iterator.outputs[0].is_meta:
        dispatch_over(FLOATING_TYPES | HALVES, "xlog1py_cpu", iterator.common_dtype)


_FLOAT16: Final = DTYPES["float16"]
_BFLOAT16: Final = DTYPES["bfloat16"]
_BFLOAT16_STEP: Final = 1 << 16


def _nextafter(self: Array, other: Array, dtype: DType) -> Array:
    """A step among the values of ``dtype``: float16 has its own, bfloat16 is half a float32."""
    if dtype is _FLOAT16:
        return np.nextafter(self.astype(np.float16), other.astype(np.float16)).astype(self.dtype)
    if dtype is not _BFLOAT16:
        return np.nextafter(self, other)
    direction = np.where(np.abs(other) < np.abs(self), -1, 1)
    direction = np.where(np.signbit(self) != np.signbit(other), -1, direction)
    step = (self.view(np.int32) + direction * _BFLOAT16_STEP).astype(np.int32).view(np.float32)
    smallest = np.copysign(np.array(_BFLOAT16_STEP, np.int32).view(np.float32), other)
    stepped = np.where(self == 0, smallest, step)
    same = np.where(self == other, other, stepped)
    return np.asarray(np.where(np.isnan(self) | np.isnan(other), np.float32(math.nan), same))


def _heaviside(self: Array, values: Array) -> Array:
    return np.asarray(np.where(self == 0, values, self > 0), self.dtype)


pointwise("aten::hypot", np.hypot, BINARY_OP, 2)
pointwise("aten::logaddexp", _logaddexp, BINARY_OP, 2)
pointwise("aten::logaddexp2", _logaddexp2, BINARY_OP, 2)
pointwise("aten::xlogy.Tensor", _xlogy, BINARY_FLOAT_OP, 2, prepare=lambda dtype: (dtype,))
pointwise(
    "aten::special_xlog1py",
    _xlog1py,
    BINARY_FLOAT_OP,
    2,
    facts="aten::xlogy.Tensor",
    prepare=lambda dtype: (dtype,),
    check=_check_xlog1py,
)
pointwise("aten::nextafter", _nextafter, BINARY_OP, 2, prepare=lambda dtype: (dtype,))
pointwise("aten::gcd", np.gcd, BINARY_OP, 2)
pointwise("aten::lcm", np.lcm, BINARY_OP, 2)

_HEAVISIDE: Final = Pointwise("aten::heaviside", _heaviside, BINARY_OP, 2, before=lambda *_: None)


@structured.structured("aten::heaviside")
def heaviside(outputs: Outputs, self: Tensor, values: Tensor) -> tuple[Tensor, ...]:
    (output,) = outputs
    dtypes = [each._dtype for each in (self, values, output) if each is not None]
    if any(dtype.is_complex for dtype in dtypes):
        raise worded("heaviside of complex numbers")
    if any(dtype is not self._dtype for dtype in dtypes):
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return _HEAVISIDE(outputs, self, values)


# --- logit ------------------------------------------------------------------------------------


def _bound(dtype: DType, eps: float | None) -> tuple[Any, ...]:
    return element(-1.0 if eps is None else eps, dtype), dtype


def _logit(self: Array, eps: Any, dtype: DType) -> Array:
    """Each step is a value of ``dtype``."""
    low, high = eps, rounded(np.asarray(1 - eps, self.dtype), dtype)
    inner = self if eps < 0 else np.where(self < low, low, np.where(self > high, high, self))
    quotient = rounded(np.asarray(inner / rounded(1 - inner, dtype), self.dtype), dtype)
    return np.asarray(np.log(quotient), self.dtype)


def _logit_backward(grad: Array, self: Array, eps: Any, dtype: DType) -> Array:
    slope = rounded(self * rounded(np.asarray(1 - self), dtype), dtype)
    found = grad / slope
    low, high, beyond = (0, 1, np.nan) if eps < 0 else (eps, 1 - eps, 0)
    return np.asarray(np.where((self < low) | (self > high), beyond, found), self.dtype)


pointwise("aten::logit", _logit, UNARY_FLOAT_OP._replace(is_structured=False), 1, prepare=_bound)
pointwise("aten::logit_backward", _logit_backward, BINARY_OP, 2, prepare=_bound)


# --- numbers that are none --------------------------------------------------------------------


def _replacements(dtype: DType, *numbers: float | None) -> tuple[Any, ...]:
    """Of nothing zero, of infinities the largest numbers that there are."""
    real = REAL_OF_COMPLEX.get(dtype, dtype)
    limit = finfo(real).max
    given = zip(numbers, (0.0, limit, -limit), strict=True)
    return tuple(element(other if each is None else each, real) for each, other in given)


def _nan_to_num(self: Array, nan: Any, posinf: Any, neginf: Any) -> Array:
    if self.dtype.kind == "c":
        made = np.empty_like(self)  # of its parts, whose zeros keep their signs
        made.real = _nan_to_num(self.real, nan, posinf, neginf)
        made.imag = _nan_to_num(self.imag, nan, posinf, neginf)
        return made
    found = np.where(np.isnan(self), nan, self)
    found = np.where(self == np.inf, posinf, found)
    return np.asarray(np.where(self == -np.inf, neginf, found), self.dtype)


_NAN_TO_NUM: Final = Pointwise("aten::nan_to_num", _nan_to_num, UNARY_OP, 1, prepare=_replacements)


@kernel("aten::nan_to_num", key=_EXPLICIT)
def nan_to_num(self: Tensor, *numbers: float | None) -> Any:
    return _NAN_TO_NUM_OUT(self, *numbers, out=_EMPTY_LIKE(self, memory_format=_PRESERVE))


@kernel("aten::nan_to_num_", key=_EXPLICIT)
def nan_to_num_inplace(self: Tensor, *numbers: float | None) -> Any:
    return _NAN_TO_NUM_OUT(self, *numbers, out=self)


@kernel("aten::nan_to_num.out")
def nan_to_num_out(
    self: Tensor, nan: float | None, posinf: float | None, neginf: float | None, out: Tensor
) -> Tensor:
    if self._dtype is not out._dtype:
        raise RuntimeError(
            f"nan_to_num: dtype of out: {CPP_NAMES[out._dtype]} should be same as input: "
            f"{CPP_NAMES[self._dtype]}"
        )
    if is_integral(self._dtype):
        resize_output(out, self._sizes)
        _COPY_(out, self)
        return out
    _NAN_TO_NUM((out,), self, nan, posinf, neginf)
    return out


# --- complex numbers of two real ones ---------------------------------------------------------

_REAL: Final = tuple(DTYPES[name] for name in ("float16", "float32", "float64"))
_COMPLEX: Final = {real: dtype for dtype, real in REAL_OF_COMPLEX.items()}
_MADE_OP: Final = Config(check_all_same_dtype=False)


def _check_floating(one: Tensor, two: Tensor) -> None:
    if not {one._dtype, two._dtype} <= set(_REAL):
        names = f"{CPP_NAMES[one._dtype]} and {CPP_NAMES[two._dtype]}"
        raise worded("complex numbers of integers", **{"Long and Long": names})


def _complex_of_two(name: str, compute: Any) -> None:
    out_form = OperatorHandle(f"aten::{name}.out")

    def run(one: Tensor, two: Tensor) -> Any:
        _check_floating(one, two)
        result = new_tensor((0,), _COMPLEX[one._dtype], one._device)
        foretell(f"aten::{name}", result)
        return out_form(one, two, out=result)

    @structured.prologue(f"aten::{name}")
    def prepare(outputs: Sequence[Tensor], one: Tensor, two: Tensor) -> None:
        (out,) = outputs
        _check_floating(one, two)
        if one._dtype is not two._dtype:
            raise RuntimeError(
                f"Expected object of scalar type {CPP_NAMES[one._dtype]} but got scalar type "
                f"{CPP_NAMES[two._dtype]} for second argument"
            )
        if out._dtype is not (wanted := _COMPLEX[one._dtype]):
            raise RuntimeError(
                f"Expected object of scalar type {CPP_NAMES[wanted]} but got scalar type "
                f"{CPP_NAMES[out._dtype]} for argument 'out'"
            )
        TensorIterator(_MADE_OP, (out,), (one, two))

    def run_out(one: Tensor, two: Tensor, out: Tensor) -> Tensor:
        prepare((out,), one, two)
        if not out.is_meta:
            dispatch(f"{name}_cpu", one._dtype)
        if not out.is_meta and numel(out._sizes):
            with np.errstate(all="ignore"):
                store(out, compute(*(as_array(each, one._dtype) for each in (one, two))))
        return out

    kernel(f"aten::{name}", key=_EXPLICIT)(run)
    kernel(f"aten::{name}.out", keys=("CPU", "Meta"))(run_out)


def _pair(real: Array, imag: Array) -> Array:
    made = np.empty(np.broadcast_shapes(real.shape, imag.shape), np.result_type(real, np.complex64))
    made.real, made.imag = real, imag
    return made


_complex_of_two("complex", _pair)
_complex_of_two("polar", lambda size, angle: _pair(size * np.cos(angle), size * np.sin(angle)))


# --- powers of two ----------------------------------------------------------------------------


def scale(self: Tensor, exponent: Tensor, out: Tensor) -> Tensor:
    """``ldexp_kernel``: by ``std::ldexp``, whose exponents are of 32 bits."""
    iterator = TensorIterator(_MADE_OP, (out,), (self, exponent))
    dtype = self._dtype
    dispatch("ldexp_cpu", dtype)
    dispatch("ldexp_cpu_exp", exponent._dtype)
    if out._dtype is not dtype and is_asserted("ldexp_kernel"):
        raise RuntimeError(uncast())
    values, powers = (as_array(each, each._dtype) for each in (self, exponent))
    with np.errstate(all="ignore"):
        found = np.ldexp(values, powers.astype(np.int32))
        store(iterator.outputs[0], rounded(found, dtype))
    return out
