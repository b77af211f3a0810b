"""How a method was called: by name on its object, or as an object that had been looked up.

CPython names a method in its own errors by the class that defines it, ``TensorBase.t()``, where
the call looks it up (``x.t(1)``), and by the instance's class, ``Tensor.t()``, where a bound method
object is called (``method = x.t; method(1)`` or ``f(*args)``).  Python code that stands for a
method of C cannot see which it was; the bytecode of the caller can.  Only errors ask.

A call finds its method on the evaluation stack, below the arguments: what put it there is the last
instruction before the call that raised the stack to that place from below it.  Arguments may jump
(``x.t(a if c else b)``, ``x.t(a or b)``), so the height of the stack is counted along the jumps.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Final

_LOADS_METHOD: Final = ("LOAD_METHOD", "LOAD_ATTR")
_CALLS: Final = ("CALL", "CALL_METHOD", "CALL_KW")
_PARTS_OF_CALLS: Final = ("PRECALL", "KW_NAMES")
"""What CPython 3.11 and 3.12 write before a call, as instructions of their own."""

_JUMPS: Final = frozenset((*dis.hasjrel, *dis.hasjabs))
_ENDS: Final = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE")


def is_method_call(caller: FrameType | None) -> bool:
    """Whether the call that ``caller`` is making names the method that it calls."""
    if caller is None:
        return False
    code = [each for each in dis.get_instructions(caller.f_code) if each.offset <= caller.f_lasti]
    call = code[-1]
    if call.opname not in _CALLS:
        return False
    heights = _heights(code)
    at = len(code) - 1
    while code[at - 1].opname in _PARTS_OF_CALLS:
        at -= 1
    given = (call.arg or 0) + (call.opname == "CALL_KW")  # which has the keywords' names on top
    complete = heights[at] - given  # with the method and its receiver, or with nothing and it
    while at and heights[at - 1] >= complete:
        at -= 1
    return at > 0 and _looks_up_method(code[at - 1])


def is_called_by_cpp() -> bool:
    """Whether code of this package asks, where torch has C++, which nothing overrides."""
    caller = _caller()
    name = "" if caller is None else caller.f_globals.get("__name__", "")
    return name.startswith(_CPP)


_CPP: Final = tuple(f"{__name__.partition('.')[0]}.{part}." for part in ("binding", "tensor"))
_BINDINGS: Final = tuple(
    f"{__package__}.{name}" for name in ("bindings", "call_site", "function", "properties")
)


def _caller() -> FrameType | None:
    """The frame that calls a bound function, below those of the binding itself."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") in _BINDINGS:
        frame = frame.f_back
    return frame


def _heights(code: Sequence[dis.Instruction]) -> list[int]:
    """How high the stack is before each instruction.

    What no jump and no instruction before it leads to handles an exception: there the count goes on
    from any height, since nothing of an expression is on the stack.
    """
    at_target: dict[int, int] = {}
    heights = []
    height = 0
    for each in code:
        height = at_target.get(each.offset, height)
        heights.append(height)
        if each.opcode in _JUMPS:
            jumped = height + dis.stack_effect(each.opcode, each.arg, jump=True)
            at_target.setdefault(each.argval, jumped)
        if each.opname not in _ENDS:
            height += dis.stack_effect(each.opcode, each.arg, jump=False)
    return heights


def _looks_up_method(load: dis.Instruction) -> bool:
    """Of LOAD_ATTR, as of Python 3.12, one bit says so."""
    if load.opname not in _LOADS_METHOD:
        return False
    return load.opname == "LOAD_METHOD" or bool((load.arg or 0) & 1)
