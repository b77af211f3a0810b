"""The overloads that have been defined since the start, as who asks by a qualified name finds them.

Mirrors ``OperatorRegistry`` of ``torch/csrc/jit/runtime/operator.cpp``.  There an operator waits
until somebody asks for any; from then on its *signature* says whether it is there, which is its
schema without defaults, aliases and the overload's name.  So of two overloads with one signature,
the second that goes away is not noticed to go: it is still found, and has no schema to show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mindtorch_v2.dispatch.operator_entry import OperatorEntry
    from mindtorch_v2.schema.function_schema import FunctionSchema

Signature = tuple[object, ...]


class JitOperators:
    """The lock of who has it is held by who changes something."""

    __slots__ = ("_overloads", "_signatures", "_waiting")

    def __init__(self) -> None:
        #: By ``ns::name``, in the order of definition.
        self._overloads: dict[str, tuple[OperatorEntry, ...]] = {}
        #: Of these, nobody has asked since they came.
        self._waiting: dict[OperatorEntry, None] = {}
        #: Of all the others.
        self._signatures: set[Signature] = set()

    def copy(self) -> JitOperators:
        """As it is now."""
        made = JitOperators()
        made._overloads, made._waiting = dict(self._overloads), dict(self._waiting)
        made._signatures = set(self._signatures)
        return made

    def has(self, packet: str) -> bool:
        """Whether ``ns::name`` has an overload; nobody is told."""
        return bool(self._overloads.get(packet))

    @property
    def is_settled(self) -> bool:
        """Whether nothing waits."""
        return not self._waiting

    def settle(self) -> None:
        """Somebody asks."""
        self._signatures.update(map(_signature_of, self._waiting))
        self._waiting.clear()

    def of(self, packet: str) -> tuple[OperatorEntry, ...]:
        """The overloads of ``ns::name``; who asks settles it first."""
        return self._overloads.get(packet, ())

    def add(self, packet: str, entry: OperatorEntry) -> None:
        """``entry`` has a schema now."""
        self._overloads[packet] = (*self.of(packet), entry)
        self._waiting[entry] = None

    def remove(self, packet: str, entry: OperatorEntry) -> None:
        """``entry`` is to lose the schema that it still has."""
        if entry in self._waiting:
            del self._waiting[entry]
        else:
            signature = _signature_of(entry)
            if signature not in self._signatures:
                return
            self._signatures.remove(signature)
        self.forget(packet, entry)

    def forget(self, packet: str, entry: OperatorEntry) -> None:
        """Find an operator no more, once: torch looks for one that is gone in memory that it has
        given back."""
        overloads = list(self.of(packet))
        if entry in overloads:
            overloads.remove(entry)
            self._overloads[packet] = tuple(overloads)


def _signature_of(entry: OperatorEntry) -> Signature:
    """``canonicalSchemaString``."""
    schema: FunctionSchema = entry.defined_schema.schema
    arguments = [(str(each.type), each.name, each.kwarg_only) for each in schema.arguments]
    return schema.name, *arguments, *[str(each.type) for each in schema.returns]
