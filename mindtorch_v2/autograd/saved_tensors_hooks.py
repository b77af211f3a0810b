"""Contexts that say what is kept of tensors that are saved for backward.

Mirrors the first half of ``torch/autograd/graph.py``, where the names are, and what
``torch/csrc/autograd/init.cpp`` binds of ``torch::autograd::PyDefaultSavedVariableHooks``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.autograd.saved_variable import SavedTensorHooks, defaults
from mindtorch_v2.pybind.module import bound_functions


def _push(pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
    if defaults.disabled is not None:
        raise RuntimeError(defaults.disabled)
    defaults.hooks.append(SavedTensorHooks(pack, unpack))


def _pop() -> None:
    if not defaults.hooks:
        raise RuntimeError("there are no hooks of saved tensors in force that could be taken away")
    defaults.hooks.pop()


def _disable(error_message: str, fail_if_non_empty: bool = True) -> None:
    if fail_if_non_empty and defaults.hooks:
        raise RuntimeError(error_message)
    defaults.disabled = error_message


def _enable() -> None:
    defaults.disabled = None


BOUND: Final = bound_functions(
    profile.active().bindings["autograd"]["functions"],
    {
        "_push_saved_tensors_default_hooks": _push,
        "_pop_saved_tensors_default_hooks": _pop,
        "_saved_tensors_hooks_is_enabled": lambda: defaults.disabled is None,
        "_saved_tensors_hooks_enable": _enable,
        "_saved_tensors_hooks_disable": _disable,
        "_saved_tensors_hooks_get_disabled_error_message": lambda: defaults.disabled,
    },
)
"""What ``torch._C._autograd`` has of the hooks in force."""


class saved_tensors_hooks:  # noqa: N801 (torch's name)
    """Context in which ``pack_hook`` says what is kept of tensors that are saved."""

    __module__ = "mindtorch_v2.autograd.graph"

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        BOUND["_push_saved_tensors_default_hooks"](self.pack_hook, self.unpack_hook)

    def __exit__(self, *args: object) -> None:
        BOUND["_pop_saved_tensors_default_hooks"]()


class save_on_cpu(saved_tensors_hooks):  # noqa: N801 (torch's name)
    """Context in which what is saved lies on the CPU until backward needs it."""

    __module__ = "mindtorch_v2.autograd.graph"

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack_to_cpu(tensor: Any) -> tuple[Any, Any]:
            return tensor.device, tensor.cpu()

        def unpack_from_cpu(packed: tuple[Any, Any]) -> Any:
            device, tensor = packed
            return tensor.to(device, non_blocking=pin_memory)

        super().__init__(pack_to_cpu, unpack_from_cpu)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Context in which there must be no such hooks."""
    before = None
    try:
        before = BOUND["_saved_tensors_hooks_get_disabled_error_message"]()
        BOUND["_saved_tensors_hooks_disable"](error_message)
        yield
    finally:
        if before is None:
            BOUND["_saved_tensors_hooks_enable"]()
        else:
            BOUND["_saved_tensors_hooks_disable"](before)
