"""Functions of ``torch/__init__.py`` that take their argument by position alone, since 2.5."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mindtorch_v2 import profile

_F = TypeVar("_F", bound=Callable[..., object])


def by_position(function: _F) -> _F:
    """A function of one positional argument, which in a release of old may be given by name."""
    if not profile.active().values["habits"]["functions of torch itself take no names"]:
        function.__code__ = function.__code__.replace(co_posonlyargcount=0)
    return function
