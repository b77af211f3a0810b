"""Every function that torch writes by hand, and what it is here.  There are no others.

The keys are names of C functions, ``THPVariable_<name>``.  Each module has its own with their
reasons; here they come together, so that one look shows them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mindtorch_v2.binding.python import (
    accessors,
    constructors,
    functional,
    indexing,
    legacy,
    manual,
    sparse,
    subclasses,
)
from mindtorch_v2.binding.python.function import Implementation

RUNNERS: Final[Mapping[str, manual.Runner]] = {
    **manual.RUNNERS,
    **constructors.RUNNERS,
    **legacy.RUNNERS,
    **accessors.RUNNERS,
    **functional.RUNNERS,
    **sparse.RUNNERS,
    **subclasses.RUNNERS,
}
"""Functions with signatures: what each does with a parsed call."""

DIRECT: Final = manual.DIRECT
"""Functions with generated signatures whose C++ dispatches nothing (``manual_cpp_binding``)."""

WITHOUT_PARSER: Final[Mapping[str, Implementation]] = {
    **constructors.WITHOUT_PARSER,
    **legacy.WITHOUT_PARSER,
    **accessors.WITHOUT_PARSER,
    **functional.WITHOUT_PARSER,
    **subclasses.WITHOUT_PARSER,
}
"""Functions that take their arguments as CPython hands them over."""

SLOTS: Final = indexing.SLOTS
"""Slots of the type of tensors: what each does, and how many arguments its wrapper takes."""
