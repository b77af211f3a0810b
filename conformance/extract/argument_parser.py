"""Section ``argument_parser.json``: what of PythonArgParser differs between releases and builds.

The rules are code (torch/csrc/utils/python_arg_parser.{h,cpp}).  Here are the words and the choices
that a release changed, each found by a call that shows it, and the names that C++ prints for
dtypes and layouts.
"""

import re
from collections.abc import Callable
from typing import Any

import torch

from conformance.extract import ExtractionError

STRIDED = torch.zeros(2, 3)
ONE_INTEGER = torch.tensor(1)
TOO_BIG = 2**70


def extract() -> dict[str, Any]:
    element_error = str(refusal(lambda: STRIDED.expand([1, TOO_BIG])))
    overflow = refusal(lambda: STRIDED.split(TOO_BIG))
    return {
        "overflow": {
            "type": type(overflow).__name__,
            "message": str(overflow),
            "with_stack": "frame #" in element_error,
        },
        "message_buffer": message_buffer(),
        "tensors_fill_lists": STRIDED.sum(ONE_INTEGER).dim() == 1,
        "varargs_begin_with_int": "found element" not in str(refusal(lambda: STRIDED.permute("a"))),
        "overrides_anywhere": overrides_anywhere(),
        "symbolic_devices": isinstance(
            refusal(lambda: torch.zeros(1, device=torch.SymInt(None))), AttributeError
        ),
        "no_accelerator": str(refusal(lambda: torch.zeros(1, device=0))),
        "scalar_type_names": {
            repr(dtype): name for dtype in kinds(torch.dtype) if (name := scalar_type_name(dtype))
        },
        "layout_names": {repr(layout): layout_name(layout) for layout in kinds(torch.layout)},
    }


class Overriding:
    """An object that overrides torch's functions."""

    @classmethod
    def __torch_function__(cls, *_: object) -> str:
        return "overridden"


def overrides_anywhere() -> bool:
    """Whether an object that overrides functions is asked wherever it stands."""
    try:
        return bool(torch.dropout(STRIDED, Overriding(), True) == "overridden")
    except TypeError:
        return False


def message_buffer() -> int | None:
    """Bytes that a message is formatted into, its final NUL included; None for no limit."""
    message = str(refusal(lambda: torch.numel(STRIDED, **{"a" * 5000: 1})))
    return len(message) + 1 if len(message) < 5000 else None


def refusal(call: Callable[[], object]) -> Exception:
    """The exception of a call that torch refuses; one that it takes is an error here."""
    try:
        call()
    except (RuntimeError, TypeError, ValueError, AssertionError, AttributeError) as error:
        return error
    raise ExtractionError("a call that torch used to refuse was taken; look at argument_parser.py")


def kinds(kind: type) -> list[Any]:
    """Every instance of ``kind`` that torch names, each once, sorted by its text."""
    found = {repr(value): value for value in vars(torch).values() if isinstance(value, kind)}
    return [found[text] for text in sorted(found)]


def scalar_type_name(dtype: torch.dtype) -> str:
    """As C++ prints it: from the message about an ``out`` of another dtype."""
    other = torch.float64 if dtype is torch.float32 else torch.float32
    message = str(refusal(lambda: torch.zeros(2, out=torch.zeros(2, dtype=other), dtype=dtype)))
    return found(r"^dtype (\w+) does not match", message)


def layout_name(layout: torch.layout) -> str:
    """As C++ prints it: from the message about an ``out`` of another layout."""
    out = torch.zeros(2)
    if layout is torch.strided:
        out = out.to_sparse()
    message = str(refusal(lambda: torch.zeros(2, out=out, layout=layout)))
    return found(r"^layout (\w+) does not match", message)


def found(pattern: str, message: str) -> str:
    match = re.search(pattern, message)
    if match is None:
        raise ExtractionError(f"no {pattern!r} in {message!r}")
    return match[1]
