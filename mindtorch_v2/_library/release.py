"""What of ``torch.library`` differs between releases: facts of the profile, and how they are used.

A function or method is written once, with every parameter that a release has; the default of a
parameter is what releases do that lack it.  :func:`as_released` gives it the parameters of the
release, so that a wrong call is refused in its words, and drops what the release does not have.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from functools import update_wrapper
from string import Template
from types import FrameType, FunctionType
from typing import Any, Final, TypeVar

from mindtorch_v2 import profile

_FACTS: Final[dict[str, Any]] = profile.active().library
_DECLARED: Final[dict[str, str]] = _FACTS["declared"]
_LINES: Final[dict[str, dict[str, dict[str, int]]]] = _FACTS["lines"]
_REDECLARED: Final = "<as released>"
_PACKAGE: Final = os.path.dirname(os.path.dirname(__file__))

_Function = TypeVar("_Function", bound=Callable[..., Any])


def has(name: str) -> bool:
    """Whether this release has a function of torch.library, or a method: ``Library.fallback``."""
    return name in _DECLARED


def taken(name: str, **options: Any) -> dict[str, Any]:
    """Those of the options that a function or method has parameters for."""
    declared = _DECLARED.get(name, "")
    return {option: value for option, value in options.items() if f" {option}=" in declared}


def does(habit: str) -> bool:
    """Whether this release does what a sentence says; the sentences are those of the profile."""
    answer: bool = _FACTS["habits"][habit]
    return answer


def message(name: str, /, **shown: object) -> tuple[str, ...]:
    """What an exception has for arguments, with the values that it shows."""
    texts = {key: str(value) for key, value in shown.items()}
    return tuple(Template(text).safe_substitute(texts) for text in _FACTS["messages"][name])


def fact(name: str) -> Any:
    """Any other fact by its name in ``library.json``."""
    return _FACTS[name]


# --- declarations -----------------------------------------------------------------------------


def as_released(function: _Function, name: str | None = None) -> _Function:
    """``function`` with the parameters that it has in this release (``name`` in the profile)."""
    declared = _DECLARED.get(name or function.__name__)
    if declared is None or declared == _parameters(function):
        return function
    return _redeclared(function, declared)


def without(function: _Function, *names: str) -> _Function:
    """``function`` as releases have it that lack some of its parameters."""
    signature = inspect.signature(function)
    kept = [each for name, each in signature.parameters.items() if name not in names]
    kept = [each.replace(annotation=each.empty) for each in kept]
    empty = inspect.Signature.empty
    declared = signature.replace(parameters=kept, return_annotation=empty)
    return _redeclared(function, str(declared))


def _redeclared(function: _Function, declared: str) -> _Function:
    namespace: dict[str, Any] = {"implementation": function}
    source = f"def declared{declared}: return implementation({_forwarded(declared)})"
    exec(compile(source, _REDECLARED, "exec"), namespace)
    wrapper: Any = update_wrapper(namespace["declared"], function)
    del wrapper.__wrapped__  # whose parameters are others
    return wrapper  # type: ignore[no-any-return]


def exposed(function: _Function) -> _Function:
    """``exposed_in("torch.library")``: the module that a function says it is from."""
    function.__module__ = "mindtorch_v2.library"
    return function


def _parameters(function: Callable[..., Any]) -> str:
    signature = inspect.signature(function)
    plain = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def _forwarded(declared: str) -> str:
    """Arguments that pass on every parameter of a declaration."""
    namespace: dict[str, Any] = {}
    exec(compile(f"def declared{declared}: ...", _REDECLARED, "exec"), namespace)
    return ", ".join(map(_passed, inspect.signature(namespace["declared"]).parameters.values()))


def _passed(parameter: inspect.Parameter) -> str:
    if parameter.kind == parameter.KEYWORD_ONLY:
        return f"{parameter.name}={parameter.name}"
    if parameter.kind == parameter.VAR_POSITIONAL:
        return f"*{parameter.name}"
    return f"**{parameter.name}" if parameter.kind == parameter.VAR_KEYWORD else parameter.name


def released_class(cls: type) -> type:
    """A class with the methods that the release has, each declared as it is there."""
    for name, method in list(vars(cls).items()):
        if not isinstance(method, FunctionType) or name.startswith("__"):
            continue
        if has(f"{cls.__name__}.{name}"):
            setattr(cls, name, as_released(method, f"{cls.__name__}.{name}"))
        else:
            delattr(cls, name)
    return cls


def only_if_released(cls: type, *names: str) -> None:
    """Drop methods of a class that the release does not have."""
    for name in names:
        if not has(f"{cls.__name__}.{name}"):
            delattr(cls, name)


# --- where a registration stands --------------------------------------------------------------


_WRITTEN_OUT: Final = {"_library_for_registration"} - _LINES["torch.library"].keys()
"""Functions whose few lines older releases have wherever this one calls them: no frame there."""


def frames() -> Iterator[tuple[FrameType, str]]:
    """The frames of the caller and of who called it, each with the name of what it called."""
    called = ""
    at: FrameType | None = sys._getframe(1)  # its own frame it must not hold: that is a cycle
    while at is not None:
        if at.f_code.co_filename != _REDECLARED and at.f_code.co_name not in _WRITTEN_OUT:
            yield at, called
            called = at.f_code.co_name
        at = at.f_back


def shows_file() -> bool:
    """Whether a registration says in which file it stands."""
    return "$file" in fact("registered_at")


def line_of(frame: FrameType, called: str) -> int:
    """The line of a frame; of a function of torch, that of its call in torch's file.

    A function may do nothing but call another one there, ``impl`` calls ``_impl``; and what it
    calls within it may be called ``register_``, lest it be taken for another ``register``.
    """
    path = frame.f_code.co_filename
    if not path.startswith(_PACKAGE):
        return frame.f_lineno
    inside = os.path.splitext(os.path.relpath(path, _PACKAGE))[0]
    module = f"torch.{inside.replace(os.sep, '.')}"
    lines, name = _LINES.get(module, {}), frame.f_code.co_name
    calls = lines.get(name) or lines.get(f"_{name}", {})
    return calls.get(called) or calls.get(f"{called}_", frame.f_lineno)
