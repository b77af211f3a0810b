"""What goes wrong when a value is converted, and what becomes of it.

Mirrors the exceptions that ``argumentToIValue`` in ``torch/csrc/jit/python/pybind_utils.h``
tells apart.  Any other exception leaves the call as it is: torch does not catch those either.
"""

from __future__ import annotations

from collections.abc import Iterable


def c_string(text: str) -> str:
    """``what()`` of a C++ exception as Python sees it: it ends at the first NUL.

    UnicodeDecodeError where its bytes are no UTF-8.
    """
    return text.encode("utf-8", "surrogateescape").partition(b"\0")[0].decode()


class ConversionError(Exception):
    """A value does not convert; ``str()`` is the line that ends torch's message."""

    prefix = ""

    def __str__(self) -> str:
        return f"{self.prefix}{c_string(self.args[0])}"


class CastError(ConversionError):
    """``py::cast_error``: the value is of a wrong kind."""

    prefix = "\nCast error details: "


class PythonError(ConversionError):
    """``py::error_already_set``: Python code refused, ``iter(1)`` for one."""

    prefix = "\n Python error details: "


class SchemaMatchError(Exception):
    """``schema_match_error``: these arguments are not for this schema; another may take them.

    It leaves a call as a RuntimeError of the same text.  Its arguments are the parts of that: text,
    and tensors, which are printed if anybody comes to read it.
    """

    def __str__(self) -> str:
        return text_of(self.args, {})


def text_of(parts: Iterable[object], printed: dict[int, str]) -> str:
    """The text of a SchemaMatchError from its arguments, which alone are worth keeping: the error
    has frames that hold tensors.  Of several about the same values each value is printed once."""
    return "".join(each if isinstance(each, str) else _print(each, printed) for each in parts)


def _print(value: object, printed: dict[int, str]) -> str:
    text = printed.get(id(value))
    if text is None:
        text = printed[id(value)] = repr(value)
    return text


class ReferenceCastError(Exception):
    """``py::reference_cast_error``: None where C++ wants a reference.

    pybind11 takes it for a call that does not suit the function which torch had it make.
    """
