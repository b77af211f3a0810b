"""The reference functions of activations and of their derivatives.

Mirrors ``torch/_refs/nn/functional/__init__.py`` and ``torch/_decomp/decompositions.py``.
"""

from __future__ import annotations

import math
from typing import Any, Final

from mindtorch_v2.kernels.dtypes import HABITS
from mindtorch_v2.kernels.elementwise.promotion import BOOL, Number, Operand
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body, refuse_type
from mindtorch_v2.kernels.refs.common import HABITS as REFS_HABITS
from mindtorch_v2.kernels.refs.common import (
    assertion,
    broadcast_shapes,
    dtype_to_type,
    elementwise,
    elementwise_dtypes,
    is_weakly_lesser_type,
    shaped_elementwise,
    strides_like,
    to_dtype,
    worded,
)
from mindtorch_v2.kernels.switches import HABITS as NEURAL_HABITS
from mindtorch_v2.tensor.dtype import COMPLEX_OF_REAL, DTYPES, DType
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_info import finfo

_BYTE: Final = DTYPES["uint8"]
_NN: Final = "torch._refs.nn.functional."
_DECOMPOSED: Final = "torch._decomp.decompositions."
_ADD: Final = OperatorHandle("aten::add.Tensor")
_CLAMP: Final = OperatorHandle("aten::clamp")
_CLONE: Final = OperatorHandle("aten::clone")
_AND: Final = OperatorHandle("aten::logical_and")
_EQ_BOTH: Final = OperatorHandle("aten::eq.Tensor")
_EXP: Final = OperatorHandle("aten::exp")
_GE: Final = OperatorHandle("aten::ge.Tensor")
_ISFINITE: Final = OperatorHandle("aten::isfinite")
_ISNEGINF: Final = OperatorHandle("aten::isneginf")
_DIV: Final = OperatorHandle("aten::div.Tensor")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_ABS: Final = OperatorHandle("aten::abs")
_COMPLEX: Final = OperatorHandle("aten::complex")
_EQ: Final = OperatorHandle("aten::eq.Scalar")
_ISNAN: Final = OperatorHandle("aten::isnan")
_LOG: Final = OperatorHandle("aten::log")
_LOG1P: Final = OperatorHandle("aten::log1p")
_NOT: Final = OperatorHandle("aten::logical_not")
_REAL: Final = OperatorHandle("aten::real")
_LE: Final = OperatorHandle("aten::le.Scalar")
_SIGN: Final = OperatorHandle("aten::sign")
_OF_POLAR: Final = tuple(DTYPES[name] for name in ("float16", "float32", "float64"))
_POW: Final = OperatorHandle("aten::pow.Tensor_Tensor")
_POW_OF_NUMBER: Final = OperatorHandle("aten::pow.Scalar")
_SIGMOID: Final = OperatorHandle("aten::sigmoid")
_TENSOR_SPLIT: Final = OperatorHandle("aten::tensor_split.sections")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_WHERE_BOTH: Final = OperatorHandle("aten::where.self")
_WHERE: Final = OperatorHandle("aten::where.ScalarSelf")


# --- activations in pieces --------------------------------------------------------------------


@body(_NN + "elu")
def elu(a: Tensor, alpha: Number = 1.0, scale: Number = 1.0, input_scale: Number = 1.0) -> Tensor:
    wanted = dtype_to_type(a._dtype)
    named = (("input_scale", input_scale), ("scale", scale), ("alpha", alpha))
    for name, number in named:
        if not is_weakly_lesser_type(type(number), wanted):
            raise RuntimeError(
                f"{name} argument of type {type(number)} cannot be safely cast to type {wanted}!"
            )
    return elementwise(elementwise(a))  # a choice between its multiples


@body(_NN + "celu")
def celu(a: Tensor, alpha: Number | None = None) -> Tensor:
    if alpha is not None:
        refuse_type("alpha", alpha, dtype_to_type(a._dtype))
    return elementwise(a)


@body(_NN + "softplus")
def softplus(a: Tensor, beta: Number | None = None, threshold: Number = 20) -> Tensor:
    if beta is not None:
        refuse_type("beta", beta, dtype_to_type(a._dtype))
    return elementwise(a)


@body(_NN + "hardtanh")
def checked_hardtanh(a: Tensor, min_val: Any = -1, max_val: Any = 1) -> Any:
    """As the function of that name in ``torch.nn.functional`` checks its bounds."""
    found = hardtanh(a, min_val, max_val)
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return found


@body(_NN + "_aten_hardtanh")
def hardtanh(a: Tensor, min_val: Any = -1, max_val: Any = 1) -> Any:
    """``clamp`` whose bounds are integers where the tensor's are."""
    if a._dtype is BOOL:
        raise worded("hardtanh of truth values")
    if is_integral(a._dtype):
        min_val, max_val = int(min_val), int(max_val)
        is_looked_at = not HABITS["hardtanh leaves bytes to clamp"] and a._dtype is _BYTE
        if is_looked_at and (min_val < 0 or max_val < 0):
            raise RuntimeError("Cannot do hardtanh on an unsigned type with negative limits")
    return _CLAMP(a, min_val, max_val)


@body(_NN + "hardshrink")
def hardshrink(a: Tensor, lambd: float = 0.5) -> Any:
    """Zeros or the elements, as ``where`` promotes them."""
    return _WHERE(_LE(_ABS(a), lambd), 0, a)


@body(_NN + "softshrink")
def softshrink(a: Tensor, lambd: float = 0.5) -> Any:
    if HABITS["softshrink has a bound by dtype"]:
        limit = finfo(a._dtype).max
        if not 0 <= lambd <= limit:
            raise RuntimeError(
                f"lambda must be in range [0, {limit}] for input dtype {a._dtype}, but found "
                f"{lambd}"
            )
    elif lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}")
    return _SUB(a, _MUL(_SIGN(a), lambd))


@body(_DECOMPOSED + "hardsigmoid")
def hardsigmoid(self: Tensor) -> Any:
    return _DIV(_CLAMP(_ADD(self, 3), 0, 6), 6)


@body(_DECOMPOSED + "hardswish")
def hardswish(self: Tensor) -> Any:
    return _DIV(_MUL(self, _CLAMP(_ADD(self, 3), 0, 6)), 6)


@body(_NN + "glu")
def glu(a: Tensor, dim: int = -1) -> Any:
    dim = wrap_dim(dim, len(a._sizes))
    size = a._sizes[dim]  # the tuple's IndexError is torch's as well
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {size}")
    one, two = _TENSOR_SPLIT(a, 2, dim)
    return _MUL(one, _SIGMOID(two))


# --- of two real tensors, and of none ---------------------------------------------------------


@body("torch._meta_registrations.meta_complex")
def meta_complex(real: Tensor, imag: Tensor) -> Tensor:
    for name, part in (("real", real), ("imag", imag)):
        if not part._dtype.is_floating_point:
            raise assertion(f"{name} must be floating point, got {part._dtype}")
    if REFS_HABITS["complex is elementwise on meta"]:
        parts = [to_dtype(each, COMPLEX_OF_REAL[each._dtype]) for each in (real, imag)]
        _, dtype = elementwise_dtypes(*parts, kind="DEFAULT")
        return shaped_elementwise(*(to_dtype(each, dtype) for each in parts))
    shape = broadcast_shapes(real._sizes, imag._sizes)
    return new_tensor(shape, COMPLEX_OF_REAL[real._dtype], real._device)


@body("torch._refs.logaddexp")
def logaddexp(a: Tensor, b: Tensor) -> Any:
    """One of two that are the same infinity, else the greater and what the lesser adds to it."""
    one, two = _REAL(a), _REAL(b)
    is_greater = _GE(one, two)
    greater, lesser = _WHERE_BOTH(is_greater, a, b), _WHERE_BOTH(is_greater, b, a)
    is_same_infinity = _AND(_NOT(_ISFINITE(one)), _EQ_BOTH(one, two))
    added = _ADD(greater, _LOG1P(_EXP(_SUB(lesser, greater))))
    return _WHERE_BOTH(is_same_infinity, a, added)


@body("torch._refs.xlogy")
def xlogy(a: Operand, b: Operand) -> Any:
    one, two = (_as_tensor(each, a, b) for each in (a, b))
    return _WHERE(_ISNAN(two), math.nan, _WHERE(_EQ(one, 0), 0, _MUL(one, _LOG(two))))


def _as_tensor(operand: Operand, *operands: Operand) -> Tensor:
    """A number becomes a tensor that is like the other operand."""
    if isinstance(operand, Tensor):
        return operand
    like = next(each for each in operands if isinstance(each, Tensor))
    return new_tensor((), like._dtype, like._device)


@body("torch._refs._conversions.polar")
def polar(abs: Tensor, angle: Tensor) -> Any:
    if REFS_HABITS["polar looks at its dtypes"]:
        _check_polar(abs._dtype, angle._dtype)
    return _COMPLEX(abs, angle)


def _check_polar(abs: DType, angle: DType) -> None:
    """``_check_complex_pair_dtypes``."""
    if abs not in _OF_POLAR or angle not in _OF_POLAR:
        words = {"torch.float32": repr(abs), "torch.int64": repr(angle)}
        raise worded("polar of integers", **words)
    if abs is not angle:
        words = {"torch.float32": repr(abs), "torch.float64": repr(angle)}
        raise worded("polar of two dtypes", **words)


@body("torch._meta_registrations.nan_to_num")
def nan_to_num(
    self: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    keeps = NEURAL_HABITS["nan_to_num on meta keeps the order of memory"]
    strides = strides_like(self) if keeps else None
    return new_tensor(self._sizes, self._dtype, self._device, strides)


@body("torch._refs.nan_to_num")
def nan_to_num_of_parts(
    a: Tensor, nan: float | None = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Any:
    """What is infinite is asked of each sign, which complex numbers have none of; newer releases
    ask their parts."""
    if is_integral(a._dtype):
        return _CLONE(a)
    if not REFS_HABITS["nan_to_num_ on meta takes complex"]:
        _ISNEGINF(a)
    return elementwise(a)


def _of_one_sign(name: str) -> None:
    @body(f"torch._refs.{name}")
    def is_infinite(a: Tensor) -> Tensor:
        if a._dtype.is_complex:
            words = {"isposinf": name, "torch.complex64": repr(a._dtype)}
            raise worded("isposinf of complex numbers", **words)
        return elementwise(a)


_of_one_sign("isposinf")
_of_one_sign("isneginf")


@body(_DECOMPOSED + "ldexp")
def ldexp(self: Tensor, other: Tensor) -> Any:
    if not REFS_HABITS["ldexp on meta has powers of the dtype"]:
        return _MUL(self, _POW_OF_NUMBER(2.0, other))
    dtype = DTYPES["float32"] if is_integral(self._dtype) else self._dtype
    return _MUL(self, _POW(new_tensor((), dtype, self._device), other))


@body("torch._refs.special.logit")
def logit(self: Tensor, eps: float | None = None) -> Tensor:
    return elementwise(self)


@body(_DECOMPOSED + "logit_backward")
def logit_backward(grad_output: Tensor, self: Tensor, eps: float | None = None) -> Any:
    return _MUL(grad_output, self)
