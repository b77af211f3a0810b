"""Arguments whose classes override torch's functions.

Mirrors ``handle_torch_function_no_python_arg_parser`` in
``torch/csrc/utils/python_arg_parser.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def handle_torch_function(
    function: Callable[..., Any],
    shown_name: str,
    overloaded: Sequence[Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """What the first ``__torch_function__`` answers that does not decline.

    ``function`` is what the user called, ``shown_name`` its full name in messages; TypeError if
    every one declines.
    """
    types = tuple(map(type, overloaded))
    for argument in overloaded:
        override = argument.__torch_function__
        answer = (
            override(function, types, args, kwargs) if kwargs else override(function, types, args)
        )
        if answer is not NotImplemented:
            return answer
    handlers = "".join(f"  - tensor subclass {cls!r}\n" for cls in types)
    raise TypeError(
        f"Multiple dispatch failed for '{shown_name}'; all __torch_function__ handlers returned "
        f"NotImplemented:\n\n{handlers}\nFor more information, try re-running with "
        "TORCH_LOGS=not_implemented"
    )
