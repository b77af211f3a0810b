"""What may be a part of a module, and under which names.

Mirrors the checks of ``torch/nn/modules/module.py``.
"""

from __future__ import annotations

import inspect
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2._typename import typename
from mindtorch_v2.nn.modules import _global_hooks
from mindtorch_v2.nn.parameter import Buffer
from mindtorch_v2.tensor.tensor import Tensor

__all__ = ["assign_buffer", "check_is_free", "check_name", "expect_nothing", "may_be_buffer"]

_HABITS: Final[dict[str, bool]] = profile.active().training["habits"]
_HAS_BUFFERS: Final = _HABITS["nn has buffers of a class"]


def check_name(module: Any, name: Any, kind: str, registry: str) -> None:
    """Whether a part of a kind may have a name; AttributeError, TypeError or KeyError if not."""
    if registry not in module.__dict__:
        raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
    if not isinstance(name, str):
        raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
    if "." in name:
        raise KeyError(f'{kind} name can\'t contain "."')
    if name == "":
        raise KeyError(f'{kind} name can\'t be empty string ""')
    check_is_free(module, name, registry)


def check_is_free(module: Any, name: str, registry: str) -> None:
    """KeyError if a module has something else of that name."""
    if hasattr(module, name) and name not in module.__dict__[registry]:
        raise KeyError(f"attribute '{name}' already exists")


def may_be_buffer(value: Any) -> bool:
    """Whether a value is a tensor, or stands for one in this release."""
    if isinstance(value, Tensor):
        return True
    is_asked = _HABITS["what overrides functions may be a buffer"]
    return is_asked and hasattr(value, "__torch_function__")


def expect_nothing(name: str, value: Any, kind: str, expected: str) -> None:
    """TypeError for a value of another kind under the name of a part."""
    if value is not None:
        raise TypeError(
            f"cannot assign '{typename(value)}' as {kind} '{name}' ({expected} or None expected)"
        )


def assign_buffer(module: Any, name: str, value: Any) -> None:
    """Put a buffer into the place of another, or a new one of the class of buffers."""
    if not may_be_buffer(value):
        expected = "torch.nn.Buffer, torch.Tensor" if _HAS_BUFFERS else "torch.Tensor"
        expect_nothing(name, value, "buffer", expected)
    if not _HAS_BUFFERS:
        module._buffers[name] = _global_hooks.of_buffers(module, name, value)
        return
    if isinstance(value, Buffer):
        persistent = value.persistent  # type: ignore[attr-defined]
    else:
        persistent = name not in module._non_persistent_buffers_set
    if "persistent" in inspect.signature(module.register_buffer).parameters:
        module.register_buffer(name, value, persistent)
    elif persistent:
        module.register_buffer(name, value)
    else:
        raise RuntimeError(
            "Registering a non-persistent buffer on a Module subclass that implements "
            "register_buffer() without the persistent argument is not allowed."
        )
