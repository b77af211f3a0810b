"""Contexts that say what is kept of tensors that are saved for backward.

Mirrors the first half of ``torch/autograd/graph.py``, where the names are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch_v2.autograd.saved_variable import SavedTensorHooks, defaults


class saved_tensors_hooks:  # noqa: N801 (torch's name)
    """Context in which ``pack_hook`` says what is kept of tensors that are saved."""

    __module__ = "mindtorch_v2.autograd.graph"

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if defaults.disabled is not None:
            raise RuntimeError(defaults.disabled)
        defaults.hooks.append(SavedTensorHooks(self.pack_hook, self.unpack_hook))

    def __exit__(self, *args: object) -> None:
        defaults.hooks.pop()


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
    if defaults.hooks:
        raise RuntimeError(error_message)
    before, defaults.disabled = defaults.disabled, error_message
    try:
        yield
    finally:
        defaults.disabled = before
