"""Descriptors of methods that Python calls with the instance, in place of binding them first.

``x.add(y)`` and ``x + y`` look a function up in the class of ``x``.  A function of Python or of C
they call at once, with ``x`` before the other arguments.  Whatever else has a ``__get__`` is asked
for an object that is bound to ``x``, which they call and throw away.  CPython tells them apart by a
flag of the descriptor's type (PEP 590), which says that ``descriptor(x, *args)`` does what
``descriptor.__get__(x)(*args)`` does.  The descriptors of C have it; a class of Python cannot say
it in Python.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Final, TypeVar

AnyClass = TypeVar("AnyClass", bound=type)

_METHOD_DESCRIPTOR: Final = 1 << 17
"""``Py_TPFLAGS_METHOD_DESCRIPTOR`` of ``Include/object.h``."""
_FIELDS_BEFORE_FLAGS: Final = 19
"""Of ``PyTypeObject``, in ``Include/cpython/object.h``; a pointer each, or as large as one."""


def called_unbound(cls: AnyClass) -> AnyClass:
    """A class of descriptors for which the flag is true.

    Where the flags are not found where CPython has them, nothing changes: calls are slower, and
    errors name a method after its receiver's class, as those of a bound one do.
    """
    if sys.implementation.name == "cpython":
        offset = object.__basicsize__ + _FIELDS_BEFORE_FLAGS * ctypes.sizeof(ctypes.c_void_p)
        flags = ctypes.c_ulong.from_address(id(cls) + offset)
        if flags.value == cls.__flags__:
            flags.value |= _METHOD_DESCRIPTOR
    return cls
