"""Context managers and decorators that switch recording on and off.

Mirrors ``torch/autograd/grad_mode.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mindtorch_v2 import _C, profile
from mindtorch_v2.dispatch import tls
from mindtorch_v2.tensor.support import HABITS
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.utils._contextlib import (
    _DecoratorContextManager,
    _NoParamDecoratorContextManager,
)

_MODES_SHOW_THEMSELVES: Final = profile.active().autograd["python"]["modes_show_themselves"]


class no_grad(_NoParamDecoratorContextManager):  # noqa: N801 (torch's name)
    """Nothing is recorded."""

    def __init__(self) -> None:
        self.prev = False

    def __enter__(self) -> None:
        self.prev = tls.is_grad_enabled()
        set_grad_enabled(False)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        set_grad_enabled(self.prev)


class enable_grad(_NoParamDecoratorContextManager):  # noqa: N801 (torch's name)
    """Recording, inside of ``no_grad``."""

    def __enter__(self) -> None:
        self.prev = tls.is_grad_enabled()
        _C._set_grad_enabled(True)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        _C._set_grad_enabled(self.prev)


class set_grad_enabled(_DecoratorContextManager):  # noqa: N801 (torch's name)
    """Recording or not, as said; at once, and back at the end of a ``with``."""

    def __init__(self, mode: bool) -> None:
        self.prev = tls.is_grad_enabled()
        self.mode = mode
        _C._set_grad_enabled(mode)

    def __call__(self, orig_func: Callable[..., Any]) -> Callable[..., Any]:
        _C._set_grad_enabled(self.prev)
        return super().__call__(orig_func)

    def __enter__(self) -> None:
        _C._set_grad_enabled(self.mode)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        _C._set_grad_enabled(self.prev)

    def __repr__(self) -> str:
        if not _MODES_SHOW_THEMSELVES:
            return object.__repr__(self)
        return f"{type(self).__module__}.set_grad_enabled(mode={self.mode})"

    def clone(self) -> set_grad_enabled:
        return self.__class__(self.mode)


class inference_mode(_DecoratorContextManager):  # noqa: N801 (torch's name)
    """Nothing is recorded, new tensors have no autograd keys; or, with ``mode=False``, not so."""

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def __new__(cls, mode: Any = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __enter__(self) -> None:
        self._guard = tls.InferenceModeGuard(self.mode)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        self._guard.close()

    def clone(self) -> inference_mode:
        return self.__class__(self.mode)


def is_multithreading_enabled() -> bool:
    """Whether backward may use several threads: not what it does here, but part of the state."""
    return tls.thread_local.raw.multithreading


class set_multithreading_enabled(_DecoratorContextManager):  # noqa: N801 (torch's name)
    """Lets backward use several threads or not; at once, and back at the end of a ``with``."""

    def __init__(self, mode: bool) -> None:
        self.prev = is_multithreading_enabled()
        _C._set_multithreading_enabled(mode)
        self.mode = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        _C._set_multithreading_enabled(self.prev)

    def clone(self) -> set_multithreading_enabled:
        return self.__class__(self.mode)


class _unsafe_preserve_version_counter(_DecoratorContextManager):  # noqa: N801 (torch's name)
    """What is changed inside counts as unchanged: the versions of ``tensors`` are put back."""

    tensors: Any

    def __init__(self, tensors: Any) -> None:
        self.tensors = (tensors,)
        if HABITS["versions of several tensors are put back at once"]:
            self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
            if not isinstance(self.tensors, tuple):
                is_told = HABITS["what is no tuple of tensors is told so"]
                raise AssertionError("Expected tensors to be a tuple" if is_told else "")
        self.prev_versions = tuple(each._version for each in self.tensors)

    def __enter__(self) -> None: ...

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        for each, version in zip(self.tensors, self.prev_versions, strict=True):
            each._versions.set(version)
