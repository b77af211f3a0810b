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


class OperatorRegistry:
    """Who changes it holds the dispatcher's lock."""

    __slots__ = ("_operators", "_operators_by_sig", "_to_register")

    def __init__(self) -> None:
        #: By ``ns::name``, in the order of definition.
        self._operators: dict[str, tuple[OperatorEntry, ...]] = {}
        #: Of these, nobody has asked since they came.
        self._to_register: dict[OperatorEntry, None] = {}
        #: Of all the others.
        self._operators_by_sig: set[Signature] = set()

    def copy(self) -> OperatorRegistry:
        """As it is now."""
        made = OperatorRegistry()
        made._operators, made._to_register = dict(self._operators), dict(self._to_register)
        made._operators_by_sig = set(self._operators_by_sig)
        return made

    def has(self, packet: str) -> bool:
        """Whether ``ns::name`` has an overload; nobody is told."""
        return bool(self._operators.get(packet))

    @property
    def has_pending_operators(self) -> bool:
        """Whether some wait."""
        return bool(self._to_register)

    def register_pending_operators(self) -> None:
        """Somebody asks."""
        self._operators_by_sig.update(map(_canonical_schema, self._to_register))
        self._to_register.clear()

    def get_operators(self, packet: str) -> tuple[OperatorEntry, ...]:
        """The overloads of ``ns::name``; who asks registers those that wait first."""
        return self._operators.get(packet, ())

    def register_operator(self, packet: str, entry: OperatorEntry) -> None:
        """``entry`` has a schema now."""
        self._operators[packet] = (*self.get_operators(packet), entry)
        self._to_register[entry] = None

    def deregister_operator(self, packet: str, entry: OperatorEntry) -> None:
        """``entry`` is to lose the schema that it still has."""
        if entry in self._to_register:
            del self._to_register[entry]
        else:
            signature = _canonical_schema(entry)
            if signature not in self._operators_by_sig:
                return
            self._operators_by_sig.remove(signature)
        self.forget(packet, entry)

    def forget(self, packet: str, entry: OperatorEntry) -> None:
        """Find an operator no more, once: torch looks for one that is gone in memory that it has
        given back."""
        overloads = list(self.get_operators(packet))
        if entry in overloads:
            overloads.remove(entry)
            self._operators[packet] = tuple(overloads)


def _canonical_schema(entry: OperatorEntry) -> Signature:
    """``canonicalSchemaString``."""
    schema: FunctionSchema = entry.defined_schema.schema
    arguments = [(str(each.type), each.name, each.kwarg_only) for each in schema.arguments]
    return schema.name, *arguments, *[str(each.type) for each in schema.returns]
