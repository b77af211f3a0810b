"""Hooks of all modules: of their calls, their gradients, and of what becomes a part of them.

Mirrors the functions ``register_module_…`` of ``torch/nn/modules/module.py``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

from mindtorch_v2.autograd.hooks import RemovableHandle

__all__ = [
    "FORWARD",
    "FORWARD_ALWAYS_CALLED",
    "FORWARD_PRE",
    "FORWARD_WITH_KWARGS",
    "backward_hooks",
    "backward_pre_hooks",
    "has_any",
    "of_buffers",
    "of_modules",
    "of_parameters",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

Hook = Callable[..., Any]
Hooks = OrderedDict[int, Hook]

FORWARD_PRE: Final[Hooks] = OrderedDict()
FORWARD: Final[Hooks] = OrderedDict()
FORWARD_ALWAYS_CALLED: Final[OrderedDict[int, bool]] = OrderedDict()
FORWARD_WITH_KWARGS: Final[OrderedDict[int, bool]] = OrderedDict()
_BACKWARD_PRE: Final[Hooks] = OrderedDict()
_BACKWARD: Final[Hooks] = OrderedDict()
_BUFFERS: Final[Hooks] = OrderedDict()
_MODULES: Final[Hooks] = OrderedDict()
_PARAMETERS: Final[Hooks] = OrderedDict()


class _Kind:
    """Whether the backward hooks see all gradients; None before the first of them."""

    is_full: bool | None = None


# --- calls ------------------------------------------------------------------------------------


def has_any() -> bool:
    """Whether a call of a module is anybody's business."""
    return bool(FORWARD or FORWARD_PRE or _BACKWARD or _BACKWARD_PRE)


def backward_hooks(are_full: bool) -> tuple[Hook, ...]:
    """Those of a kind."""
    return tuple(_BACKWARD.values()) if _Kind.is_full is are_full else ()


def backward_pre_hooks() -> tuple[Hook, ...]:
    return tuple(_BACKWARD_PRE.values())


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """Have ``hook(module, args)`` called before ``forward`` of every module."""
    return RemovableHandle.added(FORWARD_PRE, hook)


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Have ``hook(module, args, output)`` called after ``forward`` of every module."""
    handle = RemovableHandle(FORWARD, extra_dict=FORWARD_ALWAYS_CALLED)
    FORWARD[handle.id] = hook
    if with_kwargs:
        FORWARD_WITH_KWARGS[handle.id] = True
    if always_call:
        FORWARD_ALWAYS_CALLED[handle.id] = True
    return handle


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """Have ``hook(module, grad_input, grad_output)`` called by the last node of every module."""
    _say_which(False)
    return RemovableHandle.added(_BACKWARD, hook)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """Have ``hook(module, grad_input, grad_output)`` called once both are known."""
    _say_which(True)
    return RemovableHandle.added(_BACKWARD, hook)


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """Have ``hook(module, grad_output)`` called before."""
    return RemovableHandle.added(_BACKWARD_PRE, hook)


def _say_which(are_full: bool) -> None:
    if _Kind.is_full is (not are_full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module "
            "hook. Please use only one of them."
        )
    _Kind.is_full = are_full


# --- registration -----------------------------------------------------------------------------


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """Have ``hook(module, name, buffer)`` called; it may answer another buffer."""
    return RemovableHandle.added(_BUFFERS, hook)


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """Have ``hook(module, name, submodule)`` called; it may answer another module."""
    return RemovableHandle.added(_MODULES, hook)


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """Have ``hook(module, name, param)`` called; it may answer another parameter."""
    return RemovableHandle.added(_PARAMETERS, hook)


def of_buffers(module: Any, name: str, buffer: Any) -> Any:
    """What becomes the buffer of that name."""
    return _asked(_BUFFERS, module, name, buffer)


def of_modules(module: Any, name: str, submodule: Any) -> Any:
    """What becomes the module of that name."""
    return _asked(_MODULES, module, name, submodule)


def of_parameters(module: Any, name: str, param: Any) -> Any:
    """What becomes the parameter of that name."""
    return _asked(_PARAMETERS, module, name, param)


def _asked(hooks: Hooks, module: Any, name: str, value: Any) -> Any:
    for hook in hooks.values():
        answer = hook(module, name, value)
        if answer is not None:
            value = answer
    return value
