"""C++ RAII guards as Python context managers.

Mirrors ``torch/csrc/utils/python_raii.h``: ``py_context_manager``, whose guard is made on entry,
and ``py_context_manager_DEPRECATED``, whose guard is made with the object.  Either way the guard
is undone on exit, or when the object goes away, whichever comes first; entering twice undoes the
first guard before it makes the second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from mindtorch_v2.pybind.classes import bind_methods, pybind11_type


class Guard(Protocol):
    """A change that construction makes and :meth:`close` undoes."""

    def close(self) -> None: ...


class _ContextManager(metaclass=pybind11_type):
    __slots__ = ("_optional",)

    _optional: OptionalGuard

    def __del__(self) -> None:
        if hasattr(self, "_optional"):
            self._optional.close()


class OptionalGuard:
    """``std::optional`` of a guard: made by :meth:`emplace`, undone by :meth:`close`."""

    __slots__ = ("_guard", "_make")

    def __init__(self, make: Callable[[], Guard]) -> None:
        self._make = make
        self._guard: Guard | None = None

    def emplace(self) -> None:
        self.close()
        self._guard = self._make()

    def close(self) -> None:
        guard, self._guard = self._guard, None
        if guard is not None:
            guard.close()


def make_guard_class(
    name: str,
    module: str,
    docs: Mapping[str, str],
    guard: Callable[..., Guard],
    *,
    at_init: bool,
) -> type:
    """The context manager of a guard; ``at_init`` for torch's deprecated kind."""

    def construct(*args: Any) -> OptionalGuard:
        optional = OptionalGuard(lambda: guard(*args))
        if at_init:
            optional.emplace()
        return optional

    def enter(self: _ContextManager) -> None:
        if not at_init:
            self._optional.emplace()

    def leave(self: _ContextManager, *exception: object) -> None:
        self._optional.close()

    cls = pybind11_type(
        name,
        (_ContextManager,),
        {"__slots__": (), "__module__": module, "__qualname__": name, "__doc__": None},
        cpp_name=f"torch._C.{name}",
    )
    methods: dict[str, Callable[..., Any]] = {
        "__init__": construct,
        "__enter__": enter,
        "__exit__": leave,
    }
    bind_methods(cls, docs, methods, slot="_optional")
    return cls
