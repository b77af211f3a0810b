"""The mapping protocol of tensors as C has it: its methods are Python's wrappers of slots.

Mirrors ``THPVariable_as_mapping`` in ``torch/csrc/autograd/python_variable.cpp`` and the wrappers
of ``Objects/typeobject.c``, whose own errors come first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.tensor import views
from mindtorch_v2.tensor.base import TensorBase
from mindtorch_v2.tensor.tensor import Tensor


def _slot(name: str, wants: str, count: int, call: Callable[..., Any]) -> Callable[..., Any]:
    """``call`` behind a wrapper that counts its arguments, and says what it ``wants``."""
    owner = "'torch._C.TensorBase' object"

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not args:
            raise TypeError(f"descriptor '{name}' of {owner} needs an argument")
        receiver, *rest = args
        if not isinstance(receiver, TensorBase):
            raise TypeError(
                f"descriptor '{name}' requires a {owner} but received a '{type_name(receiver)}'"
            )
        if kwargs:
            raise TypeError(f"wrapper {name}() takes no keyword arguments")
        if len(rest) != count:
            raise TypeError(f"{wants}, got {len(rest)}")
        return call(receiver, *rest)

    wrapper.__name__, wrapper.__qualname__ = name, f"TensorBase.{name}"
    return wrapper


def _length(tensor: Tensor) -> int:
    return tensor._sizes[0] if tensor._sizes else 0


def _set_item(tensor: Tensor, index: Any, value: Any) -> None:
    raise NotImplementedError("mindtorch_v2 assigns no items yet")


def _delete_item(tensor: Tensor, index: Any) -> None:
    raise TypeError("Tensor does not support deleting items")


def bind() -> None:
    """Give ``TensorBase`` its slots."""
    base: Any = TensorBase
    for name in ("__len__", "__getitem__"):  # written by hand until here
        delattr(Tensor, name)
    base.__len__ = _slot("__len__", "expected 0 arguments", 0, _length)
    base.__getitem__ = _slot("__getitem__", "expected 1 argument", 1, views.get_item)
    base.__setitem__ = _slot("__setitem__", " expected 2 arguments", 2, _set_item)
    base.__delitem__ = _slot("__delitem__", "expected 1 argument", 1, _delete_item)
