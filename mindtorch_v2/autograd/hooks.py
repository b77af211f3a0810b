"""Hooks: functions of the user that see gradients on their way, and may replace them.

Mirrors ``torch/utils/hooks.py`` and ``torch/csrc/autograd/python_hook.cpp``.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_string import dispatch_key, type_string
from mindtorch_v2.warn import call_in_python


class RemovableHandle:
    """What ``register_hook`` answers: takes the hook back."""

    __module__ = "mindtorch_v2.utils.hooks"

    id: int
    next_id: int = 0

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        extra = [extra_dict] if isinstance(extra_dict, dict) else extra_dict or []
        self.extra_dict_ref = tuple(map(weakref.ref, extra))

    @classmethod
    def added(cls, hooks: Any, hook: Callable[..., Any]) -> RemovableHandle:
        """Add a hook to a dictionary of them."""
        handle = cls(hooks)
        hooks[handle.id] = hook
        return handle

    def remove(self) -> None:
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, type: Any, value: Any, tb: Any) -> None:
        self.remove()


def call_tensor_hook(hook: Callable[..., Any], grad: Any) -> Any:
    """The gradient, or what the hook answers in its place."""
    found = call_in_python(hook, (grad,))
    if found is None or found is grad:
        return grad
    _check_single(grad, found, hook)
    return found


def call_pre_hooks(hooks: Iterable[Callable[..., Any]], grads: Sequence[Any]) -> list[Any]:
    """``hook(grad_outputs)``."""
    current = tuple(grads)
    for hook in list(hooks):
        found = call_in_python(hook, (current,))
        if found is not None and found is not current:
            _check_all(current, found, hook)
            current = found
    return list(current)


def call_post_hooks(
    hooks: Iterable[Callable[..., Any]], outputs: Sequence[Any], inputs: Sequence[Any]
) -> list[Any]:
    """``hook(grad_inputs, grad_outputs)``."""
    current, received = tuple(outputs), tuple(inputs)
    for hook in list(hooks):
        found = call_in_python(hook, (current, received))
        if found is not None and found is not current:
            _check_all(current, found, hook)
            current = found
    return list(current)


def call_post_accumulate_hooks(hooks: Iterable[Callable[..., Any]], tensor: Tensor) -> None:
    """What a hook answers is for the next one; at the end it is refused."""
    current: Any = tensor
    for hook in list(hooks):
        current = call_tensor_hook(hook, current)
    if current is not tensor:
        raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def _check_all(previous: tuple[Any, ...], found: Any, hook: Callable[..., Any]) -> None:
    if not isinstance(found, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type_name(found)}'")
    if len(previous) != len(found):
        raise RuntimeError(
            f"hook '{_hook_name(hook)}' has returned an incorrect number of values (got "
            f"{len(found)}, but expected {len(previous)})"
        )
    for original, result in zip(previous, found, strict=True):
        _check_single(original, result, hook)


def _check_single(original: Any, result: Any, hook: Callable[..., Any]) -> None:
    if result is None:
        return
    if original is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(result, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type_name(result)}'")
    name = _hook_name(hook)
    if not _type_equal(original, result):
        raise RuntimeError(
            f"hook '{name}' has changed the type of value (was {type_string(original)} got "
            f"{type_string(result)})"
        )
    if tuple(original._sizes) != tuple(result._sizes):
        raise RuntimeError(f"hook '{name}' has changed the size of value")


def _type_equal(one: Tensor, two: Tensor) -> bool:
    """``TensorOptions::type_equal``."""
    return one._dtype is two._dtype and (
        (one._layout is two._layout and one._device.type == two._device.type)
        or dispatch_key(one) == dispatch_key(two)
    )


def _hook_name(hook: Callable[..., Any]) -> str:
    return getattr(hook, "__name__", "<unknown>")
