"""``torch.typename``: what messages call the type of an object.

Mirrors ``typename`` of ``torch/__init__.py``.
"""

from __future__ import annotations

from typing import Any

from mindtorch_v2.tensor.tensor import Tensor

__all__ = ["typename"]


def typename(obj: Any, /) -> str:
    """The kind of a tensor; of anything else its class, or its own name if it has one."""
    if isinstance(obj, Tensor):
        return str(obj.type())  # type: ignore[attr-defined]
    has_name = hasattr(obj, "__qualname__") or hasattr(obj, "__name__")
    named = obj if has_name else obj.__class__
    name = getattr(named, "__qualname__", None) or named.__name__
    module = getattr(named, "__module__", None) or "builtins"
    return name if module == "builtins" else f"{module}.{name}"
