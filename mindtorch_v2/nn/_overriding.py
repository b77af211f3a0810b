"""Functions of Python that arguments with ``__torch_function__`` may answer instead.

Mirrors the beginning of the functions in ``torch/nn/functional.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, signature
from typing import Any

from mindtorch_v2.overrides import handle_torch_function, has_torch_function


def level_of_caller() -> int:
    """How far above who asks the code is that has called an overridable function, as
    ``stacklevel`` counts."""
    level, is_inside = 1, True
    frame = sys._getframe(1)
    while frame.f_back is not None and (is_inside or frame.f_code.co_filename == __file__):
        frame, level = frame.f_back, level + 1
        is_inside = is_inside and frame.f_code.co_filename != __file__
    return level


def overridable(
    *names: str,
    relevant: Sequence[str] = (),
    hidden: Sequence[str] = (),
    public: Callable[[], Any] | None = None,
    by_name: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Have ``__torch_function__`` of arguments asked first (``handle_torch_function``).

    ``names``, or ``relevant``, are those that are asked.  As torch's functions do, it is handed
    what has no default as it stands, and everything else by its name, but for what is ``hidden``:
    that is asked too if one of the others answers, and not handed on.  ``public`` answers the
    function that is named as the one called, if it is another.  Of ``by_name`` functions everything
    is handed over by its name.
    """
    relevant = names or relevant

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = signature(function)
        required = [
            name
            for name, each in parameters.parameters.items()
            if each.default is Parameter.empty and not by_name
        ]

        @wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            if not has_torch_function((*args, *kwargs.values())):
                return function(*args, **kwargs)
            try:
                bound = parameters.bind(*args, **kwargs)
            except TypeError:  # which the function itself says in Python's words
                return function(*args, **kwargs)
            bound.apply_defaults()
            given = dict(bound.arguments)
            asked = tuple(given[name] for name in relevant)
            if not has_torch_function(asked):
                return function(*args, **kwargs)
            asked = (*asked, *(given.pop(name) for name in hidden))
            first = [given.pop(name) for name in required]
            shown = called if public is None else public()
            return handle_torch_function(shown, asked, *first, **given)

        return called

    return decorate
