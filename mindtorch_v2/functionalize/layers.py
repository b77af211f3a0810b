"""functorch's stack of transforms, with functionalization as the one kind of transform.

While a transform runs, the keys FuncTorchDynamicLayerFrontMode and -BackMode are included.  The
front one hands a call to the topmost transform, with the keys of that transform alone; the back one
hands on what the transform calls, to the next transform or to the rest of the keys.

Mirrors ``aten/src/ATen/functorch/DynamicLayer.cpp``, ``Interpreter.cpp`` and
``FunctionalizeInterpreter.cpp``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from mindtorch_v2.binding.fallbacks import tensors_of
from mindtorch_v2.binding.operators import Call, Operator
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import difference, full_after, functionality_bit, mask_of
from mindtorch_v2.functionalize.facts import ASSERTS
from mindtorch_v2.functionalize.reapply_views import reapply_views
from mindtorch_v2.functionalize.storage import FUNCTIONALIZE
from mindtorch_v2.functionalize.wrapper import is_functional, wrapper_of
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.thread_state import ThreadLocal, carried

_FRONT: Final = DispatchKey.FuncTorchDynamicLayerFrontMode
_BACK: Final = DispatchKey.FuncTorchDynamicLayerBackMode


def _excluded_within() -> int:
    """``keysToExcludeWhenEnteringDynamicLayer``: the keys from the front one down to the back one,
    less autocast, less FuncTorchVmapMode, less the back one and that of the transform."""
    keys = difference(full_after(_FRONT), full_after(_BACK)) | mask_of(_FRONT)
    keys = difference(keys, _autocast())
    for key in (DispatchKey.FuncTorchVmapMode, _BACK):
        keys = difference(keys, mask_of(key))
    return difference(keys, FUNCTIONALIZE)


def _autocast() -> int:
    names = {name for name in DispatchKey.__members__ if name.startswith("Autocast")}
    return sum({functionality_bit(DispatchKey[name]) for name in names})


_EXCLUDED: Final = _excluded_within()


class DynamicLayer:
    """A transform that runs; ``add_back_views`` says whether it keeps views."""

    def __init__(self, level: int, add_back_views: bool) -> None:
        self.level = level
        self.add_back_views = add_back_views
        #: Both sets of keys as they were where a call came in.
        self.saved = (0, 0)


class _Stack(ThreadLocal):
    def __init__(self) -> None:
        self.layers: list[DynamicLayer] = []


_stack: Final = carried(_Stack())


def push_functionalize(add_back_views: bool) -> int:
    """Begin a transform; answers its level."""
    level = len(_stack.layers) + 1
    _push(DynamicLayer(level, add_back_views))
    return level


def pop_functionalize() -> int:
    """End the topmost transform; answers its level.  RuntimeError if none runs."""
    if not _stack.layers:
        raise RuntimeError(ASSERTS["popped empty"])
    return _pop().level


def maybe_current_level() -> int | None:
    return _stack.layers[-1].level if _stack.layers else None


def current_level() -> int:
    """RuntimeError if no transform runs."""
    level = maybe_current_level()
    if level is None:
        raise RuntimeError(ASSERTS["no level"])
    return level


_UNSUPPORTED: Final = (
    "inside of a function being transformed by a functorch transform. This is unsupported, please "
    "attempt to use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call "
)


def check_supports_inplace_requires_grad() -> None:
    """RuntimeError within a transform."""
    if _stack.layers:
        raise RuntimeError(
            "You are attempting to call Tensor.requires_grad_() (or perhaps using "
            f"torch.autograd.functional.* APIs) {_UNSUPPORTED}requires_grad_() outside of a "
            "function being transformed instead."
        )


def check_supports_retain_grad() -> None:
    """RuntimeError within a transform."""
    if _stack.layers:
        raise RuntimeError(
            f"You are attempting to call Tensor.retain_grad() {_UNSUPPORTED}retain_grad() outside "
            "of a function being transformed instead."
        )


def _push(layer: DynamicLayer) -> None:
    _stack.layers.append(layer)
    if len(_stack.layers) == 1:
        _include_keys(True)


def _pop() -> DynamicLayer:
    layer = _stack.layers.pop()
    if not _stack.layers:
        _include_keys(False)
    return layer


def _include_keys(desired: bool) -> None:
    for key in (_FRONT, _BACK):
        tls.set_dispatch_key_included(key, desired)


@contextmanager
def _without_top() -> Iterator[None]:
    layer = _pop()
    try:
        yield
    finally:
        _push(layer)


@contextmanager
def _forced(included: int, excluded: int) -> Iterator[None]:
    guard = tls.ForceDispatchKeyGuard(included, excluded)
    try:
        yield
    finally:
        guard.close()


# --- the fallbacks of both keys -------------------------------------------------------------------


def front_fallback(call: Call, keyset: int) -> Any:
    """``dynamicLayerFrontFallback``: to the kernels of the topmost transform."""
    if not _stack.layers:
        raise RuntimeError(
            internal_assert("!dynamicLayerStack.empty()", "dynamicLayerFrontFallback")
        )
    layer = _stack.layers[-1]
    raw = tls.local_dispatch_key_set()
    layer.saved = raw.included, raw.excluded
    included = raw.included | FUNCTIONALIZE
    excluded = difference(raw.excluded | _EXCLUDED, FUNCTIONALIZE)
    with _forced(included, excluded), reapply_views(layer.add_back_views):
        answer = call.run()
        for each in tensors_of((answer,)):
            if is_functional(each):
                wrapper_of(each).level = layer.level
        return answer


def back_fallback(call: Call, keyset: int) -> Any:
    """``dynamicLayerBackFallback``: to what is below the topmost transform."""
    with _forced(*_stack.layers[-1].saved), _without_top():
        _check_not_functional(call.stack)
        answer = call.run()
        _check_not_functional((answer,))
        return answer


def back_kernel(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    """The same, of an operator that has a kernel there: other transforms treat it otherwise."""
    return back_fallback(Call(operator, stack), keyset)


def _check_not_functional(values: Any) -> None:
    """Transforms of this kind do not nest."""
    if any(map(is_functional, tensors_of(values))):
        raise RuntimeError(ASSERTS["nested"])
