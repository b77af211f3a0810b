"""What goes wrong when a value is converted, and what becomes of it.

Mirrors the exceptions that ``argumentToIValue`` in ``torch/csrc/jit/python/pybind_utils.h``
tells apart.  Any other exception leaves the call as it is: torch does not catch those either.
"""

from __future__ import annotations


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

    It leaves a call as a RuntimeError of the same text.
    """


class ReferenceCastError(Exception):
    """``py::reference_cast_error``: None where C++ wants a reference.

    pybind11 takes it for a call that does not suit the function which torch had it make.
    """


class PybindTypeError(Exception):
    """``pybind11::type_error``: a TypeError where pybind11 catches it, and a RuntimeError where
    a function of torch's own binding does."""
