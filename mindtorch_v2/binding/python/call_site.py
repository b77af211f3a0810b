"""How a method was called: by name on its object, or as an object that had been looked up.

CPython names a method in its own errors by the class that defines it, ``TensorBase.t()``, where
the call looks it up (``x.t(1)``), and by the instance's class, ``Tensor.t()``, where a bound method
object is called (``method = x.t; method(1)`` or ``f(*args)``).  Python code that stands for a
method of C cannot see which it was; the bytecode of the caller can.  Only errors ask.
"""

from __future__ import annotations

import dis
from types import FrameType
from typing import Final

_LOADS_METHOD: Final = ("LOAD_METHOD", "LOAD_ATTR")
_CALLS: Final = ("CALL", "CALL_METHOD", "CALL_KW")


def is_method_call(caller: FrameType | None) -> bool:
    """Whether the call that ``caller`` is making names the method that it calls."""
    if caller is None:
        return False
    before = [each for each in dis.get_instructions(caller.f_code) if each.offset <= caller.f_lasti]
    call = before.pop()
    if call.opname not in _CALLS:
        return False
    while before and before[-1].opname in ("PRECALL", "KW_NAMES"):  # of the same call
        before.pop()
    # Walk back over what pushed the arguments, to what pushed the method.  Jumps among them
    # (a conditional expression) are not followed.
    wanted = (call.arg or 0) + (1 if call.opname == "CALL_KW" else 0)
    while before:
        each = before.pop()
        if wanted == 0:
            return each.opname in _LOADS_METHOD and _pushes_method(each)
        wanted -= dis.stack_effect(each.opcode, each.arg, jump=False)
    return False


def is_assignment(caller: FrameType | None) -> bool:
    """Whether ``caller`` is in the midst of ``x[index] = value``."""
    if caller is None:
        return False
    now = (each for each in dis.get_instructions(caller.f_code) if each.offset == caller.f_lasti)
    return next(now).opname == "STORE_SUBSCR"


def _pushes_method(load: dis.Instruction) -> bool:
    """Of LOAD_ATTR, as of Python 3.12, one bit says so."""
    return load.opname == "LOAD_METHOD" or bool((load.arg or 0) & 1)
