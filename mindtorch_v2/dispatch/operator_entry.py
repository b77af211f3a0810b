"""One operator: its schema, its kernels, and the table that dispatch reads.

Mirrors ``aten/src/ATen/core/dispatch/OperatorEntry.cpp``.  A registration computes the entries anew
that torch computes anew, which are not always all that it changes, and the table is then replaced
in one step: no thread sees half of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce, wraps
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from mindtorch_v2.dispatch.dispatch_table import DispatchTable
from mindtorch_v2.dispatch.flat_hash_order import FlatHashOrder
from mindtorch_v2.dispatch.kernel import AMBIGUOUS_AUTOGRAD_OTHER, MISSING, Kernel
from mindtorch_v2.dispatch.key import is_alias_dispatch_key, key_name
from mindtorch_v2.dispatch.keyset import has
from mindtorch_v2.dispatch.precedence import EXTENSIONS, RUNTIME_KEYS, Source, affected, sources
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.schema.function_schema import FunctionSchema

_INVARIANT: Final = "expected_k._equalsBoxedAndUnboxed(dispatchTable_[idx])"

Plan = Callable[..., Any]
"""What a pipeline calls ahead of a kernel, to learn what it will need."""
Rule = Callable[..., Any]
"""What a mutating operator is called as, without mutation, where its schema does not tell."""


class Fallbacks(Protocol):
    """What an entry asks of the dispatcher: the kernel of a key for operators that have none, and
    the lock without which nothing changes."""

    @property
    def lock(self) -> AbstractContextManager[object]: ...

    @property
    def fallbacks(self) -> Mapping[int, Kernel]: ...

    def fallback(self, key: int) -> Kernel | None: ...


class Computed(NamedTuple):
    """An entry of a table, and why it is there, in the words of a dump."""

    kernel: Kernel
    reason: str


_NOTHING: Final = Computed(MISSING, "missing")


@dataclass(frozen=True)
class AnnotatedSchema:
    """A schema, where it was registered, and how its aliases are known.

    ``parse`` makes the schema when it is first asked for; ``text`` is how it prints.
    """

    text: str
    debug: str
    alias_analysis: str
    parse: Callable[[], FunctionSchema]
    tags: tuple[str, ...] = ()

    @cached_property
    def schema(self) -> FunctionSchema:
        return self.parse()


class EntryState(NamedTuple):
    """What an entry has registered; no value of it ever changes."""

    schema: AnnotatedSchema | None
    kernels: Mapping[int, tuple[Kernel, ...]]
    order: FlatHashOrder
    signature_debug: str | None
    plans: Mapping[int, Plan]
    functionalization_rule: Rule | None
    report_error: Callable[[str], object] | None


Answer = TypeVar("Answer")


def _while_nothing_changes(
    method: Callable[[OperatorEntry], Answer],
) -> Callable[[OperatorEntry], Answer]:
    """For a method that reads more than one thing: no registration comes in between."""

    @wraps(method)
    def locked(self: OperatorEntry) -> Answer:
        with self.lock:
            return method(self)

    return locked


@lru_cache
def _order_of(*keys: int) -> FlatHashOrder:
    """The map that these were added to one after the other; many operators have the same."""
    return reduce(FlatHashOrder.added, keys, FlatHashOrder())


class OperatorEntry:
    """An operator by its full name, ``aten::add.Tensor``.

    Whoever changes it holds the dispatcher's lock.
    """

    def __init__(self, name: str, fallbacks: Fallbacks) -> None:
        self.name = name
        self.schema: AnnotatedSchema | None = None
        #: By key, an alias key too, in the order of torch's map: newest first, never empty.
        self.kernels: Mapping[int, tuple[Kernel, ...]] = MappingProxyType({})
        self.order = FlatHashOrder()
        #: Where the first kernel with a C++ signature came from; it outlives that kernel.
        self.signature_debug: str | None = None
        #: By runtime key, beside the kernels there.
        self.plans: Mapping[int, Plan] = MappingProxyType({})
        self.functionalization_rule: Rule | None = None
        #: Called with the name of a key that has no kernel, before dispatch says so.
        self.report_error: Callable[[str], object] | None = None
        self._fallbacks = fallbacks
        #: None until it is first needed.
        self._table: DispatchTable | None = None

    # --- registration -------------------------------------------------------------------------

    def note_signature(self, kernel: Kernel) -> None:
        """Of the first kernel with a C++ signature, even if it is refused then."""
        if kernel.inferred is not None and self.signature_debug is None:
            self.signature_debug = kernel.debug

    def add_kernel(self, key: int, kernel: Kernel) -> None:
        self._replace(key, (kernel, *self.kernels.get(key, ())))

    def set_kernels(self, kernels: Mapping[int, tuple[Kernel, ...]]) -> None:
        """All kernels at once, of an operator that nobody has looked at yet."""
        self.order = _order_of(*kernels)
        self.kernels = MappingProxyType({at: kernels[at] for at in self.order})

    def remove_kernel(self, key: int, kernel: Kernel) -> None:
        left = tuple(each for each in self.kernels[key] if each is not kernel)
        self._replace(key, left)

    def _replace(self, key: int, kernels: tuple[Kernel, ...]) -> None:
        before = self.table
        changed = {**self.kernels, key: kernels}
        self.order = self.order.added(key) if kernels else self.order.removed(key)
        self.kernels = MappingProxyType({at: changed[at] for at in self.order})
        self._table = self._updated(before, key)

    def update(self, key: int) -> None:
        """Compute anew what a change at ``key`` changes (``updateDispatchTable_``)."""
        if self._table is not None:
            self._table = self._updated(self._table, key)

    def update_all(self) -> None:
        """Compute the whole table anew (``updateDispatchTableFull_``)."""
        self._table = None

    def _updated(self, table: DispatchTable, key: int) -> DispatchTable:
        own = self._sources
        return table.updated({each: self._computed(each, own).kernel for each in affected(key)})

    def set_plan(self, key: int, plan: Plan | None) -> None:
        """The plan beside the kernel at ``key``, or none."""
        others = {at: each for at, each in self.plans.items() if at != key}
        self.plans = MappingProxyType(others if plan is None else {**others, key: plan})

    @property
    def lock(self) -> AbstractContextManager[object]:
        return self._fallbacks.lock

    @property
    def state(self) -> EntryState:
        """All that registrations change; may be set to what it was."""
        return EntryState(*(getattr(self, name) for name in EntryState._fields))

    @state.setter
    def state(self, state: EntryState) -> None:
        for name, value in state._asdict().items():
            setattr(self, name, value)
        self.update_all()

    # --- questions ----------------------------------------------------------------------------

    @property
    def defined_schema(self) -> AnnotatedSchema:
        """RuntimeError while the operator has kernels only."""
        schema = self.schema
        if schema is None:
            raise RuntimeError(
                internal_assert("schema_.has_value()", "OperatorEntry.schema")
                + f"Tried to access the schema for {self.name} which doesn't have a schema "
                "registered yet"
            )
        return schema

    @property
    def debug(self) -> str:
        """Where it was defined; RuntimeError while the operator has kernels only."""
        schema = self.schema
        if schema is None:
            raise RuntimeError(internal_assert("schema_.has_value()", "OperatorEntry.debug"))
        return schema.debug

    def kernel_at(self, key: int) -> Kernel | None:
        """The kernel registered for exactly this key."""
        kernels = self.kernels.get(key)
        return kernels[0] if kernels else None

    def fallback_at(self, key: int) -> Kernel | None:
        """What a runtime key has for operators that have nothing there."""
        return self._fallbacks.fallback(key)

    def has_kernel_for_any(self, keyset: int) -> bool:
        """Whether a runtime key of a set has a kernel of its own."""
        return any(not is_alias_dispatch_key(key) and has(keyset, key) for key in self.kernels)

    def has_kernel_serving(self, key: int) -> bool:
        """Whether a kernel of the operator's own serves a runtime key, be it an alias's."""
        return self.compute(key).kernel not in (MISSING, self.fallback_at(key))

    def entry(self, key: int) -> Kernel:
        """The table's entry for a runtime key; MISSING if dispatch to it fails."""
        return self.table.get(key, MISSING)

    @property
    def table(self) -> DispatchTable:
        """What dispatch reads."""
        table = self._table
        if table is None:
            with self.lock:  # no registration comes in between
                self._table = table = self._computed_table()
        return table

    # --- the table ----------------------------------------------------------------------------

    def compute(self, key: int) -> Computed:
        """The kernel that dispatch to ``key`` runs, and why: see ``precedence``."""
        return self._computed(key, self._sources)

    @property
    def _sources(self) -> Mapping[int, Source]:
        return sources(frozenset(self.kernels))

    def _computed(self, key: int, own: Mapping[int, Source]) -> Computed:
        source = own.get(key)
        if source is not None:
            return Computed(self._kernel_from(source.key), source.reason)
        # 3. the key's fallback
        fallback = self._fallbacks.fallback(key)
        if fallback is not None:
            return Computed(fallback, "backend fallback")
        # 4. an error
        return _NOTHING

    def _kernel_from(self, key: int | None) -> Kernel:
        """The one registered there; ``key`` is that of a source."""
        return AMBIGUOUS_AUTOGRAD_OTHER if key is None else self.kernels[key][0]

    def _computed_table(self) -> DispatchTable:
        served = {key: self._kernel_from(at) for key, (at, _) in self._sources.items()}
        # Where no kernel of its own has a say, the fallback is all there is.
        return DispatchTable({**self._fallbacks.fallbacks, **served})

    @_while_nothing_changes
    def check_invariants(self) -> None:
        """RuntimeError if the table is not what the registrations make of it."""
        table = self._table
        if table is None:  # nothing is kept that could be out of date
            return
        if not table.agrees_with(self._computed_table()):
            raise RuntimeError(
                internal_assert(_INVARIANT, "checkInvariants")
                + f"Canonical state\n~~~~~~~~~~~\n{self.dump_state()}\n\n"
                + f"Computed table:\n~~~~~~~~~~~\n{self.dump_computed_table()}"
            )

    # --- as text ------------------------------------------------------------------------------

    @_while_nothing_changes
    def dump_state(self) -> str:
        """What was registered, alias keys included; not what follows from it."""
        lines = [f"name: {self.name}"]
        if self.schema is None:
            lines.append("schema: (none)")
        else:
            lines += [
                f"schema: {self.schema.text}",
                f"debug: {self.schema.debug}",
                f"alias analysis kind: {self.schema.alias_analysis}",
            ]
        for key in sorted(self.kernels):
            mark = "[alias]" if is_alias_dispatch_key(key) else ""
            for place, kernel in enumerate(self.kernels[key]):
                inactive = " (inactive)" if place else ""
                lines.append(
                    f"{key_name(key)}{mark}{inactive}: {kernel.debug} :: {kernel.signature} "
                    f"[ {kernel.state}]"
                )
        return "".join(f"{line}\n" for line in lines)

    @_while_nothing_changes
    def dump_computed_table(self) -> str:
        """The whole table, with the reason of each entry."""
        lines = []
        own = self._sources
        fallbacks = self._fallbacks.fallbacks
        for key in self._shown_keys():
            if key in own or key in fallbacks:
                kernel, reason = self._computed(key, own)
                passes = "fallthrough " if kernel.is_fallthrough else ""
                lines.append(f"{key_name(key)}: {passes}{kernel.debug} [{reason}]\n")
        return "".join(lines)

    def list_all_dispatch_keys(self) -> str:
        """The keys that a call can go to, for the message about one that it cannot."""
        table = self.table
        keys = (key for key in self._shown_keys() if key and key in table)
        return f"[{', '.join(map(key_name, keys))}]"

    def _shown_keys(self) -> Iterator[int]:
        """torch's keys, and of ours those that have a kernel."""
        yield from RUNTIME_KEYS
        yield from (key for key in EXTENSIONS if key in self.kernels)
