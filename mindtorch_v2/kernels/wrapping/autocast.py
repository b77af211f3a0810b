"""Kernels at AutocastCPU: arguments in another dtype, then the operator itself.

Which operators have one, and by what policy, the profile says.  What a thread casts to is in
:data:`STATE`; whether it casts at all is in its masks, as for every key.

Mirrors ``aten/src/ATen/autocast_mode.{h,cpp}``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, Final
from weakref import ref

from mindtorch_v2 import profile
from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.binding.operators import Call, Operator
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import mask_of
from mindtorch_v2.dispatch.native import NONE, Native
from mindtorch_v2.kernels import rows
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.thread_state import ThreadLocal

_FACTS: Final = profile.active().autocast
_CPU: Final = mask_of(DispatchKey.AutocastCPU)
_FLOAT, _DOUBLE = DTYPES["float32"], DTYPES["float64"]
_TO: Final = OperatorHandle("aten::to.dtype")


class State(ThreadLocal):
    """A thread's: the dtype for each type of device, and whether casts of weights are kept."""

    def __init__(self) -> None:
        self.dtypes = {device: DTYPES[name] for device, name in _FACTS["dtypes"].items()}
        self.is_cache_enabled = True
        self.nesting = 0


STATE: Final = State()

_CACHED: Final[dict[int, tuple[ref[Tensor], Tensor]]] = {}
"""Casts of weights by the address of what was cast, of all threads."""
_LOCK: Final = threading.Lock()


def clear_cache() -> None:
    """Forget the casts of weights."""
    with _LOCK:
        _CACHED.clear()


# --- casts ----------------------------------------------------------------------------------------


def _is_eligible(tensor: Tensor) -> bool:
    return tensor._device.type == "cpu" and tensor._dtype.is_floating_point


def _cached_cast(dtype: DType, tensor: Tensor) -> Tensor:
    """The same where it is no float of the CPU or of float64; casts of weights are kept."""
    if not _is_eligible(tensor) or tensor._dtype in (_DOUBLE, dtype):
        return tensor
    if not _is_weight(dtype, tensor):
        return _to(dtype, tensor)
    with _LOCK:
        kept = _CACHED.get(id(tensor))
        if kept is not None and kept[0]() is tensor:
            return kept[1]
        cast = _to(dtype, tensor)
        _CACHED[id(tensor)] = (ref(tensor), cast)
        return cast


def _is_weight(dtype: DType, tensor: Any) -> bool:
    """Whether it is a leaf that somebody trains, and is cast to the lower precision."""
    return bool(
        STATE.is_cache_enabled
        and dtype is STATE.dtypes["cpu"]
        and tensor._dtype is _FLOAT
        and tensor.requires_grad
        and tensor.is_leaf
        and not tensor._is_view()
    )


def _to(dtype: DType, tensor: Tensor) -> Tensor:
    cast: Tensor = _TO(tensor, dtype=enum_value(dtype))
    return cast


def _cast_each(dtype: DType, value: Any) -> Any:
    if isinstance(value, Tensor):
        return _cached_cast(dtype, value)
    if isinstance(value, (list, tuple)) and any(isinstance(each, Tensor) for each in value):
        return type(value)(_cast_each(dtype, each) for each in value)
    return value


# --- policies -------------------------------------------------------------------------------------


def _lower_precision(_: tuple[Any, ...]) -> DType:
    return STATE.dtypes["cpu"]


def _float32(_: tuple[Any, ...]) -> DType:
    return _FLOAT


def _widest(stack: tuple[Any, ...]) -> DType:
    """``promote_type``: float32 if there is one; float64 counts for nothing."""
    lower = current = STATE.dtypes["cpu"]
    for tensor in _tensors(stack):
        if not _is_eligible(tensor) or tensor._dtype is _DOUBLE:
            continue
        if _FLOAT in (current, tensor._dtype):
            current = _FLOAT
        elif tensor._dtype is not lower:
            raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
    return current


def _tensors(values: Any) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


_POLICIES: Final[dict[str, Callable[[tuple[Any, ...]], DType]]] = {
    "lower_precision_fp": _lower_precision,
    "fp32": _float32,
    "promote": _widest,
}


@cache
def _policy_of() -> dict[str, Callable[[tuple[Any, ...]], DType]]:
    """By the operator's full name."""
    return {
        name: _POLICIES[policy] for policy, names in _FACTS["policies"].items() for name in names
    }


def _run(
    policy: Callable[[tuple[Any, ...]], DType], operator: Operator, _: int, /, *stack: Any
) -> Any:
    with tls.guarded(tls.ExcludeDispatchKeyGuard, _CPU):
        dtype = policy(stack)
        # the last argument first, as GCC computes those of a call
        cast = [_cast_each(dtype, value) for value in reversed(stack)]
        return Call(operator, tuple(reversed(cast))).run()


def _find(name: str, key: int) -> Native:
    policy = _policy_of().get(name) if key == DispatchKey.AutocastCPU else None
    return NONE if policy is None else Native(partial(_run, policy), with_keyset=True)


rows.DERIVED.append(_find)
