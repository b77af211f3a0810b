"""What a call looks like from outside: how a function, an operator or a slot was reached.

What CPython hands over to C depends on how a call is written.  Python code that stands for C cannot
see that in its arguments; the bytecode of the caller tells.  Only errors, warnings and objects that
override functions ask.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import Final, NamedTuple

from mindtorch_v2 import profile

_LOADS_METHOD: Final = ("LOAD_METHOD", "LOAD_ATTR")
_CALL_EX: Final = "CALL_FUNCTION_EX"
_JUMPS: Final = frozenset((*dis.hasjrel, *dis.hasjabs))
_ENDS: Final = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE")


def hands_over_keywords(module: str) -> bool:
    """Whether what called into ``module`` hands over a dict of keywords, which may be empty.

    To a builtin function, or a method object of C, ``f(*args, **{})`` does.  Whatever is looked up
    where it is called counts as one.
    """
    caller: FrameType | None = sys._getframe(1)
    while caller is not None and caller.f_globals.get("__name__", "").startswith(module):
        caller = caller.f_back
    if caller is None:
        return False
    code = _until_now(caller)
    if code[-1].opname != _CALL_EX or not (code[-1].arg or 0) & 1:
        return False
    callee = _callee(code)
    if callee is None or callee.opname in _LOADS_METHOD:
        return True
    names = {**caller.f_globals, **caller.f_locals}
    return type(names.get(callee.argval)).__name__ not in _WITHOUT_EMPTY_KEYWORDS


_WITHOUT_EMPTY_KEYWORDS: Final = ("function", "method_descriptor")
"""Types of what is called alike with no keywords and with an empty dict of them."""


def is_called_by_cpp() -> bool:
    """Whether code of this package asks, where torch has C++, which nothing overrides.

    Note [C++ asks no override]
        torch's C++ reads a tensor's fields and calls its methods without asking anybody.  This
        package does both through the same attributes as users.  Which of them does, the module
        of the caller says: these stand for C++, and those of torch's Python for Python.  So what
        C++ calls back, a kernel in Python or a ``__len__``, is in Python again by itself.

    For the bound function in whose frames this is called: those are not the caller's.
    """
    caller = caller_of_binding()
    return caller is not None and _module(caller).startswith(_CPP)


def hands_warnings_on() -> bool:
    """Whether Python learns of what C++ warns of now: ``HANDLE_TH_ERRORS`` sees to that.

    Bound functions and methods have it.  ``torch.ops`` has it as of 2.15: where it has not, C++
    prints the warning.
    """
    return CallSite().hands_warnings_on


def length_error(message: str) -> Exception:
    """``std::length_error`` as who called sees it: of operators, which pybind11 binds, it is a
    ValueError in releases that hand on no warnings there."""
    return RuntimeError(message) if CallSite().hands_warnings_on else ValueError(message)


Place = tuple[CodeType, int]
"""A code object and an instruction of it."""


def shown(place: Place) -> str:
    """``file:line``."""
    code, at = place
    lines = (line for start, end, line in code.co_lines() if start <= at < end)
    return f"{code.co_filename}:{next(lines, None)}"


class CallSite:
    """Where the package was called from when this was made; ``file:line`` as text.

    The line is looked up when somebody asks: what waits in a pipeline keeps one for every call.
    ``hands_warnings_on`` is what the function of that name says then.
    """

    __slots__ = ("hands_warnings_on", "place")

    def __init__(self) -> None:
        frame: FrameType | None = sys._getframe(1)
        calls_operator = was_binding = handed_on = False
        site = None
        while frame is not None:
            try:
                is_inside, is_cpp, is_binding, is_operators = _kinds[frame.f_globals["__name__"]]
            except KeyError:
                name = frame.f_globals.get("__name__", "")
                is_inside, is_cpp, is_binding, is_operators = _kind_of(name)
            if was_binding and not is_cpp:
                handed_on = True
            if not is_inside or frame.f_back is None:
                site = site or frame
                if handed_on:
                    break
            was_binding = is_binding
            calls_operator |= is_operators
            frame = frame.f_back
        assert site is not None
        self.place: Place = site.f_code, site.f_lasti
        self.hands_warnings_on = (
            handed_on or was_binding or not calls_operator or _OPERATORS_HAND_ON
        )

    def __str__(self) -> str:
        return shown(self.place)


def level_of_python() -> int:
    """How far above its caller the code is that called into C++, as ``stacklevel`` counts.

    That is a user's, or what this package has of torch's Python.
    """
    frame: FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None and frame.f_back is not None:
        module = f"{_module(frame)}."
        is_inside = module.startswith((_PACKAGE, "contextlib."))  # whose blocks are inside
        if not is_inside or module.startswith(_PYTHON):
            break
        frame, level = frame.f_back, level + 1
    return level


class _Kind(NamedTuple):
    """What the name of a frame's module says."""

    is_inside: bool
    #: Whether torch has C++ there, which hands warnings of what it calls to nobody.
    is_cpp: bool
    is_binding: bool
    is_operators: bool


def _kind_of(module: str) -> _Kind:
    kind = _kinds[module] = _Kind(
        module.startswith(_PACKAGE) or module == __package__,
        module != _CASTS and module.startswith(_CPP),
        module in _HANDING_ON,
        module == _OPERATORS,
    )
    return kind


_kinds: Final[dict[str, _Kind]] = {}

_OPERATORS_HAND_ON: Final[bool] = profile.active().messages["operators_hand_warnings_on"]
_PACKAGE: Final = f"{__package__}."
_OPERATORS: Final = f"{__package__}.binding.operators"
_CPP: Final = tuple(f"{__package__}.{part}." for part in ("binding", "kernels", "tensor"))
_PYTHON: Final = tuple(
    f"{__package__}.{part}."
    for part in ("nn", "optim", "utils", "functional", "library", "_library", "_tensor")
)
"""Modules that torch has in Python too."""
_CASTS: Final = f"{__package__}.binding.casts"
"""C++ too; but it asks values for numbers as Python does, by ``__float__`` and its like."""
_ASKING: Final = (__name__, f"{__package__}.binding.python.checks")
_BINDINGS: Final = tuple(
    f"{__package__}.binding.python.{name}" for name in ("bindings", "function", "properties")
)
_HANDING_ON: Final = (*_BINDINGS, f"{__package__}.autograd.backward")
"""Backward too is bound, and Python learns of what it warns of."""


def caller_of_binding() -> FrameType | None:
    """The frame that calls a bound function, for those of the function itself."""
    frame = _below(_ASKING, sys._getframe(1))
    return frame and _below((*_BINDINGS, _module(frame)), frame)


def _below(modules: tuple[str, ...], frame: FrameType | None) -> FrameType | None:
    while frame is not None and _module(frame) in modules:
        frame = frame.f_back
    return frame


def _module(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__", "")
    return name


def _until_now(frame: FrameType) -> list[dis.Instruction]:
    """The code of ``frame``, up to what it is doing."""
    instructions = dis.get_instructions(frame.f_code)
    return [each for each in instructions if each.offset <= frame.f_lasti]


def _callee(code: Sequence[dis.Instruction]) -> dis.Instruction | None:
    """What put on the stack that which the last instruction calls, with a tuple and a dict.

    It lies below these: what put it there is the last instruction before the call that raised the
    stack to that place from below it.  CPython may write a call once for each way that its
    arguments go, so "before" is not always above.
    """
    call = len(code) - 1
    heights = _heights(code)
    complete = heights[call] - 2
    callee = _before(code, call)
    while callee is not None and heights[callee] >= complete:
        callee = _before(code, callee)
    return None if callee is None else code[callee]


def _before(code: Sequence[dis.Instruction], at: int) -> int | None:
    """Where one comes from to an instruction: from the one above it, or else by a jump."""
    if not at:
        return None
    if code[at - 1].opname not in _ENDS:
        return at - 1
    here = code[at].offset
    jumps = (n for n in range(at) if code[n].opcode in _JUMPS and code[n].argval == here)
    return next(jumps, at - 1)


def is_assignment() -> bool:
    """Whether what called into this package is in the midst of ``x[index] = value``."""
    caller: FrameType | None = sys._getframe(1)
    while caller is not None and caller.f_globals.get("__name__", "").startswith(_PACKAGE):
        caller = caller.f_back
    now = _instruction(caller)
    return now is not None and now.opname == "STORE_SUBSCR"


def is_in_place(caller: FrameType | None) -> bool:
    """Whether ``caller`` is in the midst of ``x *= value`` or the like."""
    now = _instruction(caller)
    if now is None:
        return False
    return now.opname.startswith("INPLACE_") or (
        now.opname == "BINARY_OP" and now.argrepr.endswith("=")
    )


def _instruction(frame: FrameType | None) -> dis.Instruction | None:
    """What ``frame`` is doing."""
    if frame is None:
        return None
    return _until_now(frame)[-1]


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
