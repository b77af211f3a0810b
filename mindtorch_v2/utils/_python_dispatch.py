"""``TorchDispatchMode``: overrides every operator while its ``with`` block runs.

Mirrors ``torch/utils/_python_dispatch.py``, without what serves tracing.  Of modes on the key
PreDispatch, which only tracers have, there is the refusal alone.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import TracebackType
from typing import Any, Final

from mindtorch_v2 import _C, profile
from mindtorch_v2._mode_bindings import pop_dispatch_mode, push_dispatch_mode
from mindtorch_v2.binding.written import factory_of_lines
from mindtorch_v2.dispatch import mode_stack
from mindtorch_v2.utils._wrapper_subclasses import (
    AliasInfo as AliasInfo,
)
from mindtorch_v2.utils._wrapper_subclasses import (
    SchemaInfo as SchemaInfo,
)
from mindtorch_v2.utils._wrapper_subclasses import (
    _correct_storage_aliasing as _correct_storage_aliasing,
)
from mindtorch_v2.utils._wrapper_subclasses import (
    get_alias_info as get_alias_info,
)
from mindtorch_v2.utils._wrapper_subclasses import (
    is_traceable_wrapper_subclass as is_traceable_wrapper_subclass,
)
from mindtorch_v2.utils._wrapper_subclasses import (
    is_traceable_wrapper_subclass_type as is_traceable_wrapper_subclass_type,
)
from mindtorch_v2.utils._wrapper_subclasses import (
    return_and_correct_aliasing as return_and_correct_aliasing,
)
from mindtorch_v2.utils._wrapper_subclasses import (
    transform_subclass as transform_subclass,
)

_FACTS: Final = profile.active().modes
_KEEPS_STACK: Final[bool] = _FACTS["keeps_stack"]
_REFUSALS: Final[dict[str, str]] = _FACTS["refusals"]
_ANY_MODE, *_FURTHER = _FACTS["flags"]

_inside: Final[dict[str, bool]] = dict.fromkeys(_FACTS["flags"], False)
"""Whether modes are entered, of any kind or of some: by the attribute in which a mode keeps how
it was before.  As in torch, one for all threads."""


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    kept = _ANY_MODE if include_infra_modes else _FURTHER[0]
    return _inside[kept]


def _written(line: str) -> Callable[[Any], None]:
    """A function of a mode that has a line for each flag of the release: blocks under modes are
    entered and left often."""
    lines = (line.format(name) for name in _inside)
    return factory_of_lines("inside", "mode", lines, __name__)(_inside)


_keep: Final = _written(
    "mode.{0}.append(inside['{0}'])" if _KEEPS_STACK else "mode.{0} = inside['{0}']"
)
_mark_all: Final = _written("inside['{0}'] = True")
_put_back: Final = _written(f"inside['{{0}}'] = mode.{{0}}{'.pop()' if _KEEPS_STACK else ''}")


def _make_stacks(mode: Any) -> None:
    """For a mode of a class that does not call :meth:`TorchDispatchMode.__init__`."""
    for name in _inside:
        if getattr(mode, name, None) is None:
            setattr(mode, name, deque())


class TorchDispatchMode:
    """Overrides operators, factory functions among them.

    A mode is taken off the stack while it answers, so what it calls goes to the modes below.
    """

    def __init__(self, _dispatch_key: Any = None) -> None:
        if _dispatch_key is not None:
            if not isinstance(_dispatch_key, _C.DispatchKey):
                raise AssertionError(*filter(None, [_REFUSALS["key"]]))
            self.__dict__["_dispatch_key"] = _dispatch_key
        for name in _inside:
            setattr(self, name, deque() if _KEEPS_STACK else False)

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        try:
            _keep(self)
        except AttributeError:
            _make_stacks(self)
            _keep(self)
        if _FURTHER and not type(self).is_infra_mode():
            _mark_all(None)
        else:
            _inside[_ANY_MODE] = True
        if getattr(self, "_dispatch_key", None) is None:
            push_dispatch_mode(self)
        else:
            _push_mode(self)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        _put_back(self)
        own = self.__dict__
        if "_dispatch_key" in own or "_mode_key" in own:
            key = own.get("_dispatch_key")
            _pop_mode(own.get("_mode_key") if key is None else key)
        else:
            mode_stack.pop()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            "`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`",
            stacklevel=2,
        )
        return cls(*args, **kwargs)

    if _FACTS["knows_infra_modes"]:

        @classmethod
        def is_infra_mode(cls) -> bool:
            return False

        @classmethod
        def ignore_compile_internals(cls) -> bool:
            return cls.is_infra_mode()

    if _FACTS["wraps_handlers"]:

        def __init_subclass__(cls, **kwargs: Any) -> None:
            super().__init_subclass__(**kwargs)
            handler = cls.__dict__.get("__torch_dispatch__")
            if handler is not None and not isinstance(handler, classmethod):
                cls.__torch_dispatch__ = _as_function(handler)  # type: ignore[method-assign]


def _as_function(handler: Callable[..., Any]) -> Callable[..., Any]:
    """What torch makes of a handler so that no compiler looks at it; it is a method, whatever
    the handler was."""

    @wraps(handler)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return handler(*args, **kwargs)

    return inner


class BaseTorchDispatchMode(TorchDispatchMode):
    """Passes every call on."""

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return func(*args, **({} if kwargs is None else kwargs))


# --- the stack --------------------------------------------------------------------------------


def _get_current_dispatch_mode() -> Any:
    """The topmost mode, or None."""
    depth = _C._len_torch_dispatch_stack()
    return _C._get_dispatch_stack_at(depth - 1) if depth > 0 else None


def _get_current_dispatch_mode_stack() -> list[Any]:
    """All modes, the topmost last."""
    return [_C._get_dispatch_stack_at(i) for i in range(_C._len_torch_dispatch_stack())]


def _push_mode(mode: Any) -> None:
    key = getattr(mode, "_dispatch_key", None)
    if key is None:
        push_dispatch_mode(mode)
        return
    refused = "pre-dispatch" if key == _C.DispatchKey.PreDispatch else "other key"
    text = _REFUSALS[refused].replace("%r", repr(type(mode)))
    raise AssertionError(*filter(None, [text]))


def _pop_mode(k: Any = None) -> Any:
    if k is None:
        return mode_stack.pop()
    if k == _C.DispatchKey.PreDispatch:
        raise AssertionError("Trying to pop empty mode stack")
    if isinstance(k, _C._TorchDispatchModeKey):
        return pop_dispatch_mode(k)
    return None


@contextmanager
def _pop_mode_temporarily(k: Any = None) -> Iterator[Any]:
    old = _pop_mode(k)
    try:
        yield old
    finally:
        _push_mode(old)


@contextmanager
def _disable_current_modes() -> Iterator[list[Any]]:
    """Without any mode; the value is a list of those there were, the topmost first."""
    old_modes = [_pop_mode() for _ in range(_C._len_torch_dispatch_stack())]
    try:
        yield old_modes
    finally:
        for mode in reversed(old_modes):
            _push_mode(mode)
