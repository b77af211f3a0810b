"""What the interpreter does with values and with its stack: tuples, sizes, branches, what is left.

Mirrors ``torch/csrc/jit/runtime/register_prim_ops.cpp``.  Some operators take a number of operands
that only the interpreter pushes; what they say of a call from Python is said here.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.interpreter.values import (
    Operation,
    int64,
    kind_of,
    no_int,
    normalized,
    not_a,
)
from mindtorch_v2.tensor.tensor import Tensor

_ADD: Final = OperatorHandle("aten::add.Tensor")


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
    place = normalized(index, len(tup))
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


def _false() -> bool:
    return False


def _true() -> bool:
    return True


def _dict() -> dict[str, Any]:
    return {}


OPERATIONS: Final[dict[str, Operation]] = {
    "aten::__and__.bool": _and,
    "aten::__derive_index": _derive_index,
    "aten::__not__": _not,
    "aten::__or__.bool": _or,
    "aten::__range_length": _range_length,
    "aten::__xor__.bool": _differ,
    "aten::_get_tracing_state": _false,
    "aten::_is_tracing": _false,
    "aten::_size_if_not_equal": _size_if_not_equal,
    "aten::_unwrap_optional": _unwrap_optional,
    "aten::dict": _dict,
    "aten::dist_backward": _dist_backward,
    "aten::einsum.sublist": _of_one_value,
    "aten::eq.bool": _equal,
    "aten::eq.device": _equal,
    "aten::format": _of_one_value,
    "aten::has_torch_function": _false,
    "aten::is_scripting": _true,
    "aten::ne.bool": _differ,
    "aten::ne.device": _differ,
    "aten::percentFormat": _of_one_value,
    "aten::warn": _warn,
    "prim::AddStatValue": _ignored,
    "prim::AutogradAdd": _autograd_add,
    "prim::AutogradAllNonZero": _of_no_stack,
    "prim::AutogradAllZero": _of_no_stack,
    "prim::AutogradAnyNonZero": _of_no_stack,
    "prim::AutogradZero": _nothing,
    "prim::BailoutTemplate": _one,
    "prim::BroadcastSizes": _of_no_stack,
    "prim::IfThenElse": _if_then_else,
    "prim::ModuleContainerIndex.dict": _module_container_index,
    "prim::ModuleContainerIndex.list": _module_container_index,
    "prim::ReductionSizes": _reduction_sizes,
    "prim::TupleIndex": _tuple_index,
    "prim::TupleUnpack": _tuple_unpack,
    "prim::Uninitialized": _uninitialized,
    "prim::VarConcat": _of_no_stack,
    "prim::VarStack": _of_no_stack,
    "prim::id": _zero,
    "prim::unchecked_unwrap_optional": _itself,
}
