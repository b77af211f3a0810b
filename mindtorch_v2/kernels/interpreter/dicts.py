"""Operators of dictionaries, which from Python only an empty one gets to: it has no values whose
type a schema leaves open.

Mirrors ``dict_ops`` of ``torch/csrc/jit/runtime/register_prim_ops.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

from mindtorch_v2.kernels.formatting import printed
from mindtorch_v2.kernels.interpreter.values import Operation, cast
from mindtorch_v2.schema.values import show
from mindtorch_v2.tensor.tensor import Tensor


def find(base: str, types: tuple[str, ...]) -> Operation | None:
    """The operator for dictionaries with keys of some type."""
    if not types or not types[0].startswith("Dict["):
        return None
    if base in _WITH_KEY and len(types) == 2:
        return lambda self, key: _WITH_KEY[base](cast(key, types[1]))
    return _OF_ALL.get(base)


def _missing(key: Any) -> NoReturn:
    shown = printed(key) if isinstance(key, Tensor) else show(key)
    raise RuntimeError(f"KeyError: {shown}")


def _nothing(*stack: Any) -> None:
    """None, or what it changes is a copy that nobody sees."""


def _no_items(self: dict[Any, Any]) -> list[Any]:
    return []


def _no_item(self: dict[Any, Any]) -> NoReturn:
    raise RuntimeError("popitem(): dictionary is empty")


_WITH_KEY: Final[dict[str, Callable[[Any], Any]]] = {
    "aten::Delete": _missing,
    "aten::__contains__": lambda key: False,
    "aten::__getitem__": _missing,
    "aten::get": _nothing,
    "aten::pop": _missing,
}

_OF_ALL: Final[dict[str, Operation]] = {
    "aten::clear": _nothing,
    "aten::copy": dict,
    "aten::dict": dict,
    "aten::items": _no_items,
    "aten::keys": _no_items,
    "aten::len": len,
    "aten::popitem": _no_item,
    "aten::update": _nothing,
    "aten::values": _no_items,
}
