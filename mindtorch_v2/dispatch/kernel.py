"""What an operator has registered at a key.

Mirrors ``AnnotatedKernel`` in ``aten/src/ATen/core/dispatch/OperatorEntry.h`` and what
``KernelFunction::dumpState`` prints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from mindtorch_v2.schema.function_schema import FunctionSchema

NO_SIGNATURE: Final = "(none)"
"""What a dump prints for a kernel whose schema nobody inferred."""


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """A kernel, and where it came from.

    ``function`` is None for a kernel of torch's that this package knows of and does not have.
    ``state`` is how a dump describes it, words that end in a space each: ``boxed``, ``unboxed``,
    ``fallthrough``.  ``signature`` is the schema inferred from C++, as text.
    """

    function: Callable[..., Any] | None
    debug: str
    state: str = "boxed "
    signature: str = NO_SIGNATURE
    inferred: FunctionSchema | None = None
    with_keyset: bool = False
    with_op: bool = False
    origin: str = ""
    """Which C++ function it is, if its ``debug`` does not tell."""
    is_native: bool = False
    """Whether this package has the function in place of torch's: it is called with the values of
    the stack as they are, behind the operator's entry and the keyset if they are wanted."""

    @property
    def code(self) -> tuple[str, ...]:
        """What ``_equalsBoxedAndUnboxed`` compares: C++ functions.  All kernels in Python are run
        by the same one."""
        if self.function is not None and not self.is_native and not self.origin:
            return (self.state,)
        return (self.state, "" if self.is_fallthrough else self.origin or self.debug)

    @property
    def is_fallthrough(self) -> bool:
        return self.state.startswith("fallthrough ")


MISSING: Final = Kernel(None, "", state="")
AMBIGUOUS_AUTOGRAD_OTHER: Final = Kernel(
    None, "ambiguous_autogradother", state="ambiguous_autogradother boxed "
)
"""Stands where two registrations would do and neither is the better one; see Note [Ambiguity in
AutogradOther kernel] in OperatorEntry.h."""


def fallthrough(debug: str) -> Kernel:
    """A kernel that dispatch passes over."""
    return Kernel(None, debug, state="fallthrough boxed ")
