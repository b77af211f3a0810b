"""The reference functions that do more than compute each element from its like.

Mirrors ``torch/_refs/__init__.py``, ``torch/_refs/nn/functional``, ``torch/_meta_registrations.py``
and ``torch/_decomp/decompositions.py``; a function is named as it is there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeVar, cast

from mindtorch_v2.kernels.cpu.arithmetic import check_sub
from mindtorch_v2.kernels.dtypes import HABITS as KERNEL_HABITS
from mindtorch_v2.kernels.elementwise.promotion import BOOL, Number, Operand
from mindtorch_v2.kernels.factories.filling import check_broadcast
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rearranging import check_has_matrices
from mindtorch_v2.kernels.refs.common import (
    HABITS,
    check_range,
    check_same_device,
    dtype_to_type,
    elementwise,
    elementwise_dtypes,
    is_integer,
    is_weakly_lesser_type,
    maybe_broadcast,
    row_major,
    shaped_elementwise,
    to_dtype,
    worded,
)
from mindtorch_v2.kernels.refs.wrappers import check_inplace_broadcast
from mindtorch_v2.tensor.dtype import DType, int64
from mindtorch_v2.tensor.geometry import dense_strides_like
from mindtorch_v2.tensor.tensor import Tensor

BODIES: Final[dict[str, Callable[..., Any]]] = {}
"""By the function's full name."""

_REFS: Final = "torch._refs."
_META: Final = "torch._meta_registrations."
_NN: Final = "torch._refs.nn.functional."
_DECOMP: Final = "torch._decomp.decompositions."


Function = TypeVar("Function", bound=Callable[..., Any])


def body(*names: str) -> Callable[[Function], Function]:
    """Make a function the body of these of torch's."""

    def register(function: Function) -> Function:
        BODIES.update(dict.fromkeys(names, function))
        return function

    return register


def unary(a: Tensor) -> Tensor:
    """A function of one tensor whose name alone is its own."""
    return elementwise(a)


def binary(a: Operand, b: Operand) -> Tensor:
    """The same of two."""
    return shaped_elementwise(a, b)


def _operand_dtype(a: Operand, b: Operand) -> DType:
    """``_binary_op_dtype``."""
    first = next(each for each in (a, b) if isinstance(each, Tensor))
    return first._dtype


def refuse_type(what: str, value: Number, wanted: type) -> None:
    if not is_weakly_lesser_type(type(value), wanted):
        raise ValueError(
            f"{what} argument of type {type(value)} cannot be safely cast to type {wanted}!"
        )


# --- arithmetic ------------------------------------------------------------------------------


def _refuse_complex(words: str, *operands: Operand) -> None:
    if any(isinstance(operand, Tensor) and operand._dtype.is_complex for operand in operands):
        raise RuntimeError(words)


def _angle(name: str) -> None:
    def convert(a: Tensor) -> Tensor:
        _refuse_complex(f"{name} is not supported for complex tensors.", a)
        return elementwise(a)

    body(_REFS + name)(convert)


_angle("rad2deg")
_angle("deg2rad")


@body(_REFS + "logaddexp2")
def logaddexp2(a: Operand, b: Operand) -> Tensor:
    """A choice between one and the logarithm, which takes the lesser less the greater."""
    maybe_broadcast(a, b)
    _refuse_complex("logaddexp2 doesn't support complex dtypes", a, b)
    sub(a, b)
    return shaped_elementwise(a, b)


@body(_REFS + "add")
def add(a: Operand, b: Operand, *, alpha: Number | None = None) -> Tensor:
    a, b = maybe_broadcast(a, b)
    if alpha is not None:
        wanted = dtype_to_type(_operand_dtype(a, b))
        if wanted is not bool:
            refuse_type("alpha", alpha, wanted)
        b = _times(b, alpha)
    return elementwise(a, b)


def _times(b: Operand, alpha: Number) -> Operand:
    """``prims.mul``: on meta a tensor keeps its dtype, one on the CPU is multiplied there."""
    if not isinstance(b, Tensor):
        return b * alpha
    if not b.is_meta:
        return cast("Tensor", _MUL(b, alpha))
    return elementwise(b, alpha)


@body(_REFS + "sub")
def sub(a: Operand, b: Operand, *, alpha: Number = 1) -> Tensor:
    a, b = maybe_broadcast(a, b)
    tensors = [each for each in (a, b) if isinstance(each, Tensor)]
    if (
        HABITS["two truth values are not subtracted"]
        and len(tensors) == 2
        and any(each._dtype is BOOL for each in tensors)
    ):
        raise worded("a truth value less another")
    if alpha != 1:
        refuse_type("alpha", alpha, dtype_to_type(_operand_dtype(a, b)))
        b = _times(b, alpha)
    return elementwise(a, b)


@body(_REFS + "frac")
def frac(a: Tensor) -> Tensor:
    """Itself less what is before the point."""
    return sub(a, a)


@body(_REFS + "rsub")
def rsub(a: Tensor, b: Operand, alpha: Number = 1) -> Tensor:
    subtracted: Tensor = _SUB(b, a, alpha=alpha)
    return subtracted


@body(_REFS + "pow")
def pow_(a: Operand, b: Operand) -> Tensor:
    a, b = maybe_broadcast(a, b)
    if not isinstance(b, Tensor) and b == 1 and isinstance(a, Tensor):
        strides = dense_strides_like(a._sizes, a._strides)  # a clone
        return new_tensor(a._sizes, a._dtype, a._device, strides)
    return elementwise(a, b)


@body(_REFS + "neg")
def neg(a: Tensor) -> Tensor:
    if a._dtype is BOOL:
        raise worded("a minus sign before a truth value")
    return elementwise(a)


@body(_REFS + "conj_physical")
def conj_physical(a: Tensor) -> Tensor:
    return elementwise(a) if a._dtype.is_complex else a


@body(_REFS + "div")
def div(a: Operand, b: Operand, *, rounding_mode: str | None = None) -> Tensor:
    if rounding_mode is None:
        return _promoted(shaped_elementwise, "INT_TO_FLOAT", a, b)
    if rounding_mode == "trunc":
        return _promoted(_trunc_divide, "DEFAULT", a, b)
    if rounding_mode == "floor":
        return _promoted(_floor_divide, "DEFAULT", a, b)
    raise ValueError(
        "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
        f"{rounding_mode}."
    )


def _promoted(function: Callable[..., Tensor], kind: str, *operands: Operand) -> Tensor:
    """A function that is called by another one, its promotion included."""
    computed, result = elementwise_dtypes(*operands, kind=kind)
    found: Tensor = to_dtype(function(*(to_dtype(each, computed) for each in operands)), result)
    return found


def _trunc_divide(a: Operand, b: Operand) -> Tensor:
    """What integers do in one step, others do in two."""
    quotient = shaped_elementwise(a, b)
    return quotient if is_integer(quotient._dtype) else elementwise(quotient)


def _floor_divide(a: Operand, b: Operand) -> Tensor:
    a, b = maybe_broadcast(a, b)
    if not isinstance(b, Tensor):
        assert isinstance(a, Tensor)
        b = new_tensor((), a._dtype, a._device)
    elif not isinstance(a, Tensor):
        a = new_tensor((), b._dtype, b._device)
    elif a._device != b._device:
        if a._device.type == "cpu":
            raise _divisor_from_elsewhere(a, b)
        b = new_tensor(b._sizes, b._dtype, a._device, b._strides)
    dtype = a._dtype
    if not dtype.is_floating_point and not is_integer(dtype):
        raise RuntimeError(f"{dtype} not supported for floor_divide")
    return _floor_divide_integer(a, b) if is_integer(dtype) else _floor_divide_float(a, b)


def _floor_divide_integer(a: Tensor, b: Tensor) -> Tensor:
    """A division less one where signs differ and something remains: strides go through both."""
    quotient = shaped_elementwise(a, b)
    if not a._dtype.is_signed:
        return quotient
    signs_differ = _NE(_LT_SCALAR(a, 0), _LT_SCALAR(b, 0))
    offset = _LOGICAL_AND(signs_differ, _NE_SCALAR(_FMOD(a, b), 0))
    floored: Tensor = _SUB(quotient, to_dtype(offset, a._dtype))
    return floored


def _floor_divide_float(a: Tensor, b: Tensor) -> Tensor:
    """A chain of choices; where a stride is ambiguous, each of its steps may turn it."""
    step = shaped_elementwise
    remainder = step(a, b)
    quotient = step(step(a, remainder), b)
    signs_differ = step(_truth(a), _truth(b))
    quotient = where(step(_truth(remainder), signs_differ), step(quotient, 1), quotient)
    floored = step(quotient)
    floored = where(_truth(step(quotient, floored)), step(floored, 1), floored)
    basic = step(a, b)
    signed_zero = copysign(new_tensor((), basic._dtype, basic._device), basic)
    floored = where(_truth(quotient), floored, signed_zero)
    return where(_truth(b), floored, basic)


def _truth(a: Tensor) -> Tensor:
    """What a comparison with a number gives."""
    truth: Tensor = to_dtype(elementwise(a), BOOL)
    return truth


def _divisor_from_elsewhere(a: Tensor, b: Tensor) -> RuntimeError:
    return RuntimeError(
        f"Expected divisor (b) to be on the same device ({a._device}) as dividend (a), "
        f"but it is found on {b._device}!"
    )


@body(_REFS + "copysign")
def copysign(a: Operand, b: Operand) -> Tensor:
    """A choice by signs; its message is that of a division."""
    a, b = maybe_broadcast(a, b)
    assert isinstance(a, Tensor)
    if not isinstance(b, Tensor):
        b = new_tensor((), a._dtype, a._device)
    elif a._device != b._device:
        raise _divisor_from_elsewhere(a, b)
    size = elementwise(a)
    return elementwise(*maybe_broadcast(elementwise(b), size, size))


@body(_REFS + "floor_divide")
def promoted_floor_divide(a: Operand, b: Operand) -> Tensor:
    return _floor_divide(a, b)


@body(_DECOMP + "floor_divide")
def floor_divide(self: Operand, other: Operand) -> Tensor:
    return div(self, other, rounding_mode="floor")


@body(_REFS + "round")
def round_(a: Tensor, *, decimals: int = 0) -> Tensor:
    return elementwise(a)


@body(_REFS + "logical_and", _REFS + "logical_or", _REFS + "logical_xor")
def logical(a: Operand, b: Operand) -> Tensor:
    """Numbers that are no truth values are compared with 0 first, each by itself."""
    a, b = maybe_broadcast(a, b)
    return elementwise(*(_as_truth(each) for each in (a, b)))


@body(_REFS + "lcm")
def lcm(a: Tensor, b: Tensor) -> Tensor:
    """By the greatest common divisor, or 1 where that is 0, which makes an integer of a truth."""
    dividend, other = maybe_broadcast(a, b)
    divisor = elementwise(dividend, other)
    divisor = to_dtype(divisor, int64) if divisor._dtype is BOOL else divisor
    return elementwise(dividend, divisor)


def _as_truth(operand: Operand) -> Operand:
    if isinstance(operand, Tensor) and operand._dtype is not BOOL:
        return elementwise(operand)
    return operand


# --- addcmul, addcdiv, lerp ------------------------------------------------------------------


@body(_REFS + "addcmul", _REFS + "addcdiv")
def addcmul(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    refuse_type("value", value, dtype_to_type(self._dtype))
    product = shaped_elementwise(elementwise(tensor1, value), tensor2)
    return shaped_elementwise(self, product)


def elementwise_meta(*operands: Operand, kind: str = "DEFAULT") -> Tensor:
    """``elementwise_meta``."""
    _, result = elementwise_dtypes(*operands, kind=kind)
    return shaped_elementwise(*(to_dtype(each, result) for each in operands))


@body(_META + "addcmul")
def meta_addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    return elementwise_meta(input, tensor1, tensor2)


@body(_META + "addcdiv")
def meta_addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    if is_integer(tensor1._dtype) and is_integer(tensor2._dtype):
        raise RuntimeError(str(_NO_INTEGER_DIVISION))
    return elementwise_meta(input, tensor1, tensor2)


_NO_INTEGER_DIVISION: Final = (
    "Integer division with addcdiv is no longer supported, and in a future ",
    "release addcdiv will perform a true division of tensor1 and tensor2. ",
    "The historic addcdiv behavior can be implemented as ",
    "(input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) ",
    "for integer inputs and as ",
    "(input + value * tensor1 / tensor2) for float inputs. ",
    "The future addcdiv behavior is just the latter implementation: ",
    "(input + value * tensor1 / tensor2), for all dtypes.",
)
"""A message that torch made a tuple by mistake."""


@body(_META + "lerp")
def meta_lerp(start: Tensor, end: Tensor, weight: Operand) -> Tensor:
    if start._dtype is not end._dtype:
        raise RuntimeError(f"expected dtype {start._dtype} for `end`, but got dtype {end._dtype}")
    if not isinstance(weight, Tensor):
        return elementwise_meta(start, end)
    if weight._sizes and start._dtype is not weight._dtype:
        raise RuntimeError(
            f"expected dtype {start._dtype} for `weight`, but got dtype {weight._dtype}"
        )
    return elementwise_meta(start, end, weight)


@body(_REFS + "lerp")
def lerp(start: Tensor, end: Tensor, weight: Operand) -> Tensor:
    like = weight if isinstance(weight, Tensor) else new_tensor((), start._dtype, start._device)
    check_same_device(like, end, start)
    maybe_broadcast(like, end, start)  # of the weight's side which element is nearer
    if KERNEL_HABITS["lerp on meta subtracts"]:
        check_sub(end, start, 1)
    return shaped_elementwise(start, end, *([weight] if isinstance(weight, Tensor) else []))


# --- where, clamp, masked_fill ---------------------------------------------------------------

_WHERE: Final = OperatorHandle("aten::where.self")
_WHERE_SELF: Final = OperatorHandle("aten::where.ScalarSelf")
_CLAMP: Final = OperatorHandle("aten::clamp")
_CLAMP_TENSOR: Final = OperatorHandle("aten::clamp.Tensor")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_LT_SCALAR: Final = OperatorHandle("aten::lt.Scalar")
_NE: Final = OperatorHandle("aten::ne.Tensor")
_NE_SCALAR: Final = OperatorHandle("aten::ne.Scalar")
_LOGICAL_AND: Final = OperatorHandle("aten::logical_and")
_FMOD: Final = OperatorHandle("aten::fmod.Tensor")


@body(_REFS + "where")
def where(pred: Tensor, a: Operand, b: Operand) -> Tensor:
    check_same_device(pred, a, b)
    if pred._dtype is not BOOL:
        raise RuntimeError(f"expected predicate to be bool, got {pred._dtype}")
    expanded, a, b = maybe_broadcast(pred, a, b)
    assert isinstance(expanded, Tensor)
    return elementwise(a, b, also=(expanded,))


@body(_REFS + "clamp")
def clamp(a: Tensor, min: Operand | None = None, max: Operand | None = None) -> Tensor:
    if min is None and max is None:
        raise ValueError("clamp called but both min and max are none!")
    if HABITS["clamp looks at an integer's range"] and is_integer(a._dtype):
        check_range(a._dtype, min, max)
    for bound in (min, max):
        if bound is not None:
            condition = _promoted(shaped_elementwise, "ALWAYS_BOOL", a, bound)
            a = _promoted(partial(_where, condition), "NO_OPMATH", a, bound)
    return a


def _where(condition: Tensor, a: Tensor, bound: Operand) -> Tensor:
    """``aten::where.ScalarOther`` makes a tensor of a number, on the device of the others."""
    if not isinstance(bound, Tensor):
        bound = new_tensor((), a._dtype, a._device)
    return where(condition, a, bound)


@body(_REFS + "clamp_min")
def clamp_min(self: Tensor, min: Operand | None = None) -> Tensor:
    return _clamped(self, min, None)


@body(_REFS + "clamp_max")
def clamp_max(self: Tensor, max: Operand | None = None) -> Tensor:
    return _clamped(self, None, max)


def _clamped(self: Tensor, low: Operand | None, high: Operand | None) -> Tensor:
    bound = high if low is None else low
    clamped: Tensor = (_CLAMP_TENSOR if isinstance(bound, Tensor) else _CLAMP)(self, low, high)
    return clamped


@body(_REFS + "masked_fill")
def masked_fill(a: Tensor, mask: Tensor, value: Operand) -> Tensor:
    wanted = dtype_to_type(a._dtype)
    kind: type = type(value)
    if isinstance(value, Tensor):
        if value._sizes:
            raise RuntimeError(
                "only supports a 0-dimensional value tensor, but got tensor with "
                f"{len(value._sizes)} dimension"
            )
        if value._device != a._device:
            raise RuntimeError("Expected `value` to be on same device as `a`")
        kind = dtype_to_type(value._dtype)
    if kind is complex and not is_weakly_lesser_type(kind, wanted):
        raise RuntimeError(f"could not convert to type {wanted} without overflow")
    value = to_dtype(value, a._dtype)
    chosen: Tensor = (_WHERE if isinstance(value, Tensor) else _WHERE_SELF)(mask, value, a)
    return row_major(chosen)


@body(_META + "meta_masked_fill_")
def meta_masked_fill_(self: Tensor, mask: Tensor, value: Number) -> Tensor:
    check_inplace_broadcast(self, mask)
    return self


@body(_REFS + "masked_fill_")
def masked_fill_(a: Tensor, mask: Tensor, value: Operand) -> Tensor:
    return _copied(a, masked_fill(a, mask, value))


def _copied(target: Tensor, source: Tensor) -> Tensor:
    """``copy_`` on meta, which only looks at shapes."""
    check_broadcast(target, source)
    return target


def expand_to(source: Tensor, target: Tensor) -> None:
    """RuntimeError in the words of ``expand`` if a tensor does not fit into another's shape."""
    missing = len(target._sizes) - len(source._sizes)
    if missing < 0:
        raise RuntimeError(
            f"expand: the requested shape has too few dimensions! "
            f"{list(source._sizes)} {list(target._sizes)}"
        )
    for place, size in enumerate(source._sizes):
        wanted = target._sizes[missing + place]
        if size not in (1, wanted):
            raise RuntimeError(
                f"expand: attempting to expand a dimension of length {size} -> {wanted}!"
            )


# --- activation functions --------------------------------------------------------------------


def _like(self: Tensor, dtype: DType | None = None) -> Tensor:
    """``empty_like``."""
    return cast("Tensor", to_dtype(elementwise(self), dtype or self._dtype))


@body(_META + "silu")
def silu(self: Tensor) -> Tensor:
    return _like(self)


@body(_DECOMP + "silu")
def decomposed_silu(self: Tensor) -> Tensor:
    return _promoted(elementwise, "DEFAULT", self)


@body(_META + "sigmoid")
def sigmoid(self: Tensor) -> Tensor:
    return _like(self, elementwise_dtypes(self, kind="INT_TO_FLOAT")[1])


@body(_META + "meta_polygamma")
def polygamma(n: int, self: Tensor) -> Tensor:
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return sigmoid(self)


@body(_REFS + "sigmoid")
def sigmoid_of_exponential(a: Tensor) -> Tensor:
    return elementwise(elementwise(a))


@body(_NN + "gelu")
def gelu(a: Tensor, approximate: str = "none") -> Tensor:
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    computed, _ = elementwise_dtypes(a, 0.5, kind="DEFAULT")
    return elementwise(elementwise(to_dtype(a, computed)))  # half of it, and times a function


@body(_NN + "relu")
def relu(a: Tensor) -> Tensor:
    return _promoted(partial(_compared, bound=0), "NO_OPMATH", a)


def _compared(a: Tensor, bound: Number) -> Tensor:
    """The elements that are on one side of a bound, and a number in the place of others."""
    return _where(_promoted(elementwise, "ALWAYS_BOOL", a), a, bound)


@body(_REFS + "tril")
def tril(a: Tensor, diagonal: int = 0) -> Tensor:
    return _triangle("tril", a)


@body(_REFS + "triu")
def triu(a: Tensor, diagonal: int = 0) -> Tensor:
    return _triangle("triu", a)


def _triangle(name: str, a: Tensor) -> Tensor:
    check_has_matrices(name, a)
    mask = new_tensor(a._sizes[-2:], BOOL, a._device)
    if a._dtype is BOOL:
        return row_major(shaped_elementwise(mask, a))
    return row_major(_where(mask, a, 0))


@body(_META + "meta_relu_", _META + "meta_logical_not_")
def unchanged(self: Tensor) -> Tensor:
    return self


@body(_NN + "leaky_relu")
def leaky_relu(a: Tensor, negative_slope: float = 0.01) -> Tensor:
    refuse_type("negative_slope", negative_slope, dtype_to_type(a._dtype))
    return elementwise(a)


@body(_NN + "threshold")
def threshold(a: Tensor, threshold: Number, value: Number) -> Tensor:
    return _promoted(lambda x, _: _compared(x, value), "NO_OPMATH", a, value)
