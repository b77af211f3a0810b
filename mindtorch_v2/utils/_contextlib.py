"""Context managers that decorate functions.

Mirrors ``torch/utils/_contextlib.py``.
"""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import Callable
from typing import Any


def context_decorator(
    context: Callable[[], Any], function: Callable[..., Any]
) -> Callable[..., Any]:
    """The function, each call of it, or of the generator that it makes, in a new context."""
    if inspect.isgeneratorfunction(function):
        return _wrap_generator(context, function)

    @functools.wraps(function)
    def decorate_context(*args: Any, **kwargs: Any) -> Any:
        with context():
            return function(*args, **kwargs)

    return decorate_context


def _wrap_generator(context: Callable[[], Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """In the context while it runs, out of it while it waits."""

    @functools.wraps(function)
    def generator_context(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        try:
            with context():
                response = generator.send(None)
            while True:
                try:
                    request = yield response
                except GeneratorExit:
                    with context():
                        generator.close()
                    raise
                except BaseException:
                    with context():
                        response = generator.throw(*sys.exc_info())
                else:
                    with context():
                        response = generator.send(request)
        except StopIteration as stop:
            return stop.value

    return generator_context


class _DecoratorContextManager:
    """A context manager that decorates functions too."""

    def __call__(self, orig_func: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isclass(orig_func):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You "
                "should only decorate functions or methods. To preserve the current behavior of "
                "class decoration, you can directly decorate the `__init__` method and nothing "
                "else.",
                FutureWarning,
                stacklevel=2,
            )
            return context_decorator(self.clone, lambda *args, **kwargs: orig_func(*args, **kwargs))
        return context_decorator(self.clone, orig_func)

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        raise NotImplementedError

    def clone(self) -> Any:
        return self.__class__()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """One that decorates without parentheses too."""

    def __new__(cls, orig_func: Callable[..., Any] | None = None) -> Any:
        return super().__new__(cls) if orig_func is None else cls()(orig_func)
