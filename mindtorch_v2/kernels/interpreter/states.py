"""Operators that ask or set what a thread is in, and the machinery of the interpreter itself.

Mirrors ``torch/csrc/jit/runtime/register_prim_ops.cpp`` and ``register_special_ops.cpp``.
"""

from __future__ import annotations

import math
import time
from typing import Any, Final, NoReturn

import numpy as np

from mindtorch_v2 import random
from mindtorch_v2.amp import autocast_mode
from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.interpreter.elementary import factorial
from mindtorch_v2.kernels.interpreter.numbers import divmod_mixed, pow_of_integers, pow_of_scalars
from mindtorch_v2.kernels.interpreter.values import (
    Operation,
    int32,
    int64,
    kind_of,
    no_int,
    not_a,
)
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.generator import Generator
from mindtorch_v2.tensor.tensor import Tensor

_ADD: Final = OperatorHandle("aten::add.Tensor")


# --- flags ----------------------------------------------------------------------------------------


def _is_autocast_enabled() -> bool:
    return autocast_mode.is_autocast_enabled("cuda")


def _is_autocast_cpu_enabled() -> bool:
    return autocast_mode.is_autocast_enabled("cpu")


def _autocast_dtype(device_type: str) -> int:
    return int(enum_value(autocast_mode.get_autocast_dtype(Device(device_type).type)))


def _false() -> bool:
    return False


def _true() -> bool:
    return True


# --- generators -----------------------------------------------------------------------------------


def _generator(device: Device | None, seed: int | None) -> Generator:
    if device is not None and device.type != "cpu":
        raise RuntimeError(f"Unsupported device for at::make_generator_for_device found: {device}")
    made = Generator()
    if seed is not None:
        made.manual_seed(seed)
    return made


def _manual_seed(seed: int) -> None:
    random.manual_seed(seed)


def _manual_seed_of(self: Generator, seed: int) -> Generator:
    return self.manual_seed(seed)


def _seed(self: Generator) -> int:
    return int64(self.seed())


def _initial_seed(self: Generator) -> int:
    return int64(self.initial_seed())


# --- sizes ----------------------------------------------------------------------------------------


def _size_if_not_equal(self_size: list[int], other_size: list[int]) -> list[int] | None:
    return None if self_size == other_size else self_size


def _reduction_sizes(size: list[int], red_axes: list[int], keepdim: bool) -> list[int]:
    axes = sorted(red_axes)
    if keepdim:
        for axis in red_axes:
            if not 0 <= axis < len(size):
                raise IndexError(
                    f"vector::_M_range_check: __n (which is {axis % 2**64}) >= this->size() "
                    f"(which is {len(size)})"
                )
        return [1 if axis in axes else each for axis, each in enumerate(size)]
    return [each for axis, each in enumerate(size) if axis not in axes]


def _range_length(lo: int, hi: int, step: int) -> int:
    if step == 0:
        raise RuntimeError("range() arg 3 must not be zero")
    return len(range(lo, hi, step))


def _derive_index(index: int, start: int, step: int) -> int:
    return int64(start + index * step)


# --- values ---------------------------------------------------------------------------------------


def _itself(value: Any) -> Any:
    return value


def _if_then_else(cond: bool, x: Any, y: Any) -> Any:
    return x if cond else y


def _not(value: bool) -> bool:
    return not value


def _and(a: bool, b: bool) -> bool:
    return a and b


def _or(a: bool, b: bool) -> bool:
    return a or b


def _differ(a: Any, b: Any) -> bool:
    return bool(a != b)


def _equal(a: Any, b: Any) -> bool:
    return bool(a == b)


def _tuple_index(tup: Any, index: int) -> Any:
    if not isinstance(tup, tuple):
        raise not_a("Tuple", tup)
    place = index + len(tup) if index < 0 else index
    if not 0 <= place < len(tup):
        raise IndexError("Tuple index out of range")
    return tup[place]


def _tuple_unpack(tup: Any) -> Any:
    """What is left on the stack: one value is itself, none is None."""
    if not isinstance(tup, tuple):
        raise not_a("Tuple", tup)
    if not tup:
        return None
    return tup[0] if len(tup) == 1 else tup


def _nothing() -> None:
    return None


def _time_point() -> int:
    return time.time_ns()


def _warn(message: str, stacklevel: int) -> None:
    raise RuntimeError("warn is implemented directly in the interpreter")


def _autograd_add(a: Any, b: Any) -> Any:
    for each in (b, a):
        if each is not None and not isinstance(each, Tensor):
            raise RuntimeError(f"Expected Tensor but got {kind_of(each)}")
    if a is None or b is None:
        return b if a is None else a
    return _ADD(b, a)


def _of_no_stack() -> NoReturn:
    """It asks how many operands there are, which only the interpreter pushes."""
    raise RuntimeError("pop() called on empty stack")


def _of_one_value(value: Any) -> NoReturn:
    """The same, with one that is no number there."""
    raise no_int()


def _uninitialized() -> NoReturn:
    raise RuntimeError(
        "Missing cases in 'toPyObject'! Can't convert Uninitialized to a Python object"
    )


def _unwrap_optional(optional: None) -> NoReturn:
    raise RuntimeError("Unwrapping null optional")


def _zero(value: None) -> int:
    return 0


def _one() -> int:
    return 1


def _ignored(key: str, val: int) -> None:
    """Statistics, which nobody asks for."""


def _module_container_index(self: Any, ind: Any) -> NoReturn:
    raise not_a("Object", self)


def _dist_backward(context_id: int, roots: list[Tensor], retain_graph: bool) -> NoReturn:
    raise RuntimeError(
        "Need to initialize distributed autograd using torch.distributed.autograd.init()"
    )


def _cpu_capability() -> str:
    """By what NumPy knows of the processor."""
    features = _cpu_features()
    if all(features.get(each) for each in ("AVX512F", "AVX512VL", "AVX512BW", "AVX512DQ", "FMA3")):
        return "AVX512"
    return "AVX2" if features.get("AVX2") and features.get("FMA3") else "DEFAULT"


def _cpu_features() -> dict[str, bool]:
    core = getattr(np, "_core", None) or np.core
    return dict(core._multiarray_umath.__cpu_features__)


def _ldexp(x: float, exponent: int) -> float:
    try:
        return math.ldexp(x, int32(exponent))
    except OverflowError:
        return math.copysign(math.inf, x)


def _dict() -> dict[str, Any]:
    return {}


OPERATIONS: Final[dict[str, Operation]] = {
    "aten::Generator": _generator,
    "aten::__and__.bool": _and,
    "aten::__derive_index": _derive_index,
    "aten::__not__": _not,
    "aten::__or__.bool": _or,
    "aten::__range_length": _range_length,
    "aten::__xor__.bool": _differ,
    "aten::_get_tracing_state": _false,
    "aten::_size_if_not_equal": _size_if_not_equal,
    "aten::dict": _dict,
    "aten::dist_backward": _dist_backward,
    "aten::divmod.float_int": divmod_mixed,
    "aten::divmod.int_float": divmod_mixed,
    "aten::eq.bool": _equal,
    "aten::eq.device": _equal,
    "aten::factorial.int": factorial,
    "aten::frexp": math.frexp,
    "aten::get_autocast_dtype": _autocast_dtype,
    "aten::initial_seed": _initial_seed,
    "aten::is_autocast_cpu_enabled": _is_autocast_cpu_enabled,
    "aten::is_autocast_enabled": _is_autocast_enabled,
    "aten::is_grad_enabled": tls.is_grad_enabled,
    "aten::is_scripting": _true,
    "aten::manual_seed": _manual_seed,
    "aten::manual_seed.generator": _manual_seed_of,
    "aten::ldexp": _ldexp,
    "aten::modf": math.modf,
    "aten::ne.bool": _differ,
    "aten::ne.device": _differ,
    "aten::pow.Scalar_Scalar": pow_of_scalars,
    "aten::pow.int_to_int": pow_of_integers,
    "aten::seed": _seed,
    "aten::set_grad_enabled": tls.set_grad_enabled,
    "aten::warn": _warn,
    "aten::_get_cpu_capability": _cpu_capability,
    "aten::_unwrap_optional": _unwrap_optional,
    "aten::einsum.sublist": _of_one_value,
    "aten::format": _of_one_value,
    "aten::has_torch_function": _false,
    "aten::percentFormat": _of_one_value,
    "prim::AddStatValue": _ignored,
    "prim::AutogradAdd": _autograd_add,
    "prim::AutogradAllNonZero": _of_no_stack,
    "prim::AutogradAllZero": _of_no_stack,
    "prim::AutogradAnyNonZero": _of_no_stack,
    "prim::BailoutTemplate": _one,
    "prim::BroadcastSizes": _of_no_stack,
    "prim::ModuleContainerIndex.dict": _module_container_index,
    "prim::ModuleContainerIndex.list": _module_container_index,
    "prim::Uninitialized": _uninitialized,
    "prim::VarConcat": _of_no_stack,
    "prim::VarStack": _of_no_stack,
    "prim::id": _zero,
    "prim::unchecked_unwrap_optional": _itself,
    "prim::AutogradZero": _nothing,
    "prim::IfThenElse": _if_then_else,
    "prim::ReductionSizes": _reduction_sizes,
    "prim::TimePoint": _time_point,
    "prim::TupleIndex": _tuple_index,
    "prim::TupleUnpack": _tuple_unpack,
}
