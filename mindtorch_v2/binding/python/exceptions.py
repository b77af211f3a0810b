"""Every rule that bears the name of a function, with its reason.  There are no others.

One mechanism binds all functions: signatures of the profile, one parser, and the operator of a
call.  What torch writes by hand is a function of its own and no exception; all of those are listed
in :mod:`~mindtorch_v2.binding.python.by_hand`.  Here is where the mechanism itself has to know whom
it serves.  A name is that of the C function, ``THPVariable_<name>``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mindtorch_v2 import profile


def is_of_a_tensors_kind(name: str) -> bool:
    """Whether a new tensor is where another one is, unless the call says where.

    torchgen itself goes by the name (``is_like_or_new_function`` in ``torchgen/api/python.py``),
    and no signature shows which default it wrote into the C++.
    """
    return name.startswith("new_") or name.endswith("_like")


def is_operator_of_python(name: str) -> bool:
    """Whether a TypeError means that Python asks the other operand.

    The generator goes by the name as well (``TypeError_to_NotImplemented_``).
    """
    return name.startswith("__")


def has_no_module(name: str) -> bool:
    """Whether a function is not said to be torch's own where a message names it in full.

    ``torch/__init__.py`` does not take these over into its namespace (``PRIVATE_OPS``).
    """
    return name.startswith("__") or name == "unique_dim"


UNASKED: Final[Mapping[str, str]] = dict.fromkeys(
    (*profile.active().modes["unasked"], "_dtensor__new__"),
    "its body never asks the parsed call whether something overrides it",
)
"""Functions that run though something overrides functions, and why.

What makes instances of subclasses is among them: it is what overrides call.  The profile has those
that can be called with plain tensors.
"""

ASKED_FIRST: Final[Mapping[str, str]] = dict.fromkeys(
    ("new", "new_tensor"), "its parser stands in another file, behind the question to the receiver"
)
"""Methods with parsers that look whether their receiver overrides them before they parse."""

SILENT: Final[Mapping[str, str]] = dict.fromkeys(
    ("_fix_weakref", "_use_count", "_rev_view_func_unsafe"),
    "of the tensor's own object: to ask it would be to change what is asked about",
)
"""Methods without parsers that do not look whether their receiver overrides them."""
