"""Descriptions: a returned value, exactly, as JSON that is the same for every ``xp``.

A leaf is a string ``repr : type``.  A container is an object with its ``type`` and its
``items`` or ``pairs``; a tensor is an object with its metadata and its values.  Nothing is
rounded and nothing is left out but where a module is installed: what a description does not say,
no comparison can see.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, Final

Description = str | dict[str, Any]

MAX_DEPTH: Final = 20
MAX_ITEMS: Final = 10_000
"""Beyond these a value is cut with a mark, and the mark carries the length."""

_PLAIN: Final[Mapping[type, str]] = {
    cls: cls.__name__ for cls in (bool, bytes, float, int, str, type(None))
}
"""The leaves that most values consist of: no tensors, and nothing that holds any."""

TENSOR_FIELDS: Final = ("dtype", "device", "layout", "requires_grad")


def qualified_name(cls: type) -> str:
    """``module.qualname``, without the module for builtins."""
    module = cls.__module__
    return cls.__qualname__ if module == "builtins" else f"{module}.{cls.__qualname__}"


def describe(value: object, depth: int = 0) -> Description:
    """Describe ``value``; never raises for what a case can return."""
    if depth > MAX_DEPTH:
        return "… : nested too deep"
    name = _PLAIN.get(type(value))
    if name is not None:
        return f"{_safe_repr(value)} : {name}"
    if is_tensor(value):
        return _describe_tensor(value)
    if isinstance(value, Mapping):
        pairs = [[describe(k, depth + 1), describe(v, depth + 1)] for k, v in value.items()]
        return {"type": qualified_name(type(value)), "pairs": pairs}
    if isinstance(value, (list, tuple)):
        return {"type": qualified_name(type(value)), "items": _items(value, depth)}
    if isinstance(value, (set, frozenset)):
        members = sorted((describe(item, depth + 1) for item in value), key=show)
        return {"type": qualified_name(type(value)), "items": members}
    if isinstance(value, type):
        return f"{qualified_name(value)} : class"
    if isinstance(value, ModuleType):  # its repr says where it is installed
        return f"{value.__name__} : module"
    return f"{_safe_repr(value)} : {qualified_name(type(value))}"


def is_tensor(value: object) -> bool:
    """Whether ``value`` is a tensor of any torch-like package: it is known by what it can do."""
    cls = type(value)
    return hasattr(cls, "requires_grad") and hasattr(cls, "stride") and hasattr(cls, "dtype")


def show(description: Description | None) -> str:
    """A description on one line, as people read it."""
    if description is None:
        return "nothing"
    if isinstance(description, str):
        return description
    name = description["type"]
    if "pairs" in description:
        inner = ", ".join(f"{show(k)}: {show(v)}" for k, v in description["pairs"])
        return f"{name}{{{inner}}}"
    if "items" in description:
        return f"{name}[{', '.join(show(item) for item in description['items'])}]"
    fields = (f"{key}={_show_field(item)}" for key, item in description.items() if key != "type")
    return f"{name}({', '.join(fields)})"


def _show_field(item: object) -> str:
    return show(item) if isinstance(item, dict) else str(item)


def _items(values: list[Any] | tuple[Any, ...], depth: int) -> list[Description]:
    shown = [describe(item, depth + 1) for item in values[:MAX_ITEMS]]
    if len(values) > MAX_ITEMS:
        shown.append(f"… : {len(values)} items")
    return shown


def _describe_tensor(tensor: Any) -> Description:
    """Metadata field by field: a field that raises is described by its error, not dropped."""
    description: dict[str, Any] = {"type": qualified_name(type(tensor))}
    for name in TENSOR_FIELDS:
        description[name] = _field(lambda name=name: str(getattr(tensor, name)))
    description["shape"] = _field(lambda: _sizes(tensor.shape))
    description["stride"] = _field(lambda: _sizes(tensor.stride()))
    description["values"] = _field(lambda: _values(tensor))
    return description


def _field(read: Any) -> Any:
    try:
        return read()
    except Exception as error:
        return f"{qualified_name(type(error))}: {error}"


def _sizes(sizes: Any) -> list[Any]:
    """Integers as they are; whatever else a size is, described: ``True == 1`` even in JSON."""
    return [size if type(size) is int else describe(size) for size in sizes]


def _values(tensor: Any) -> Any:
    """Nested lists of reprs, so that ``-0.0``, ``nan`` and every last digit stay visible."""
    if str(tensor.device) == "meta":
        return "no data"
    return _reprs(tensor.detach().tolist())


def _reprs(value: Any) -> Any:
    return [_reprs(item) for item in value] if isinstance(value, list) else repr(value)


def _safe_repr(value: object) -> str:
    try:
        return repr(value)
    except Exception as error:
        return f"<repr raised {qualified_name(type(error))}: {error}>"
