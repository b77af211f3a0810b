"""The dispatcher: every operator that is known, and what is registered for all of them.

Mirrors ``aten/src/ATen/core/dispatch/Dispatcher.cpp``.  An operator of the profile becomes an
entry when it is first named; until then it is text.  One lock guards every change; reading a
table takes none.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property, partial
from typing import Any, Final, NamedTuple

from mindtorch_v2 import profile
from mindtorch_v2.dispatch import native
from mindtorch_v2.dispatch.jit_operators import OperatorRegistry
from mindtorch_v2.dispatch.kernel import NO_SIGNATURE, Kernel
from mindtorch_v2.dispatch.key import PIPELINE_VALUE, DispatchKey, key_name
from mindtorch_v2.dispatch.keyset import table_key
from mindtorch_v2.dispatch.operator_entry import (
    AnnotatedSchema,
    EntryState,
    OperatorEntry,
    Plan,
    Rule,
)
from mindtorch_v2.dispatch.unboxing import (
    REFUSES_UNSIGNED,
    checking_arrays,
    checking_boxes,
    has_arrays,
)
from mindtorch_v2.schema.function_schema import find_schema_differences
from mindtorch_v2.schema.parser import parse_printed_schema
from mindtorch_v2.warn import warn_once

Undo = Callable[[], None]
"""Takes a registration back; a second call does nothing."""


class Undos(list[Undo]):
    """Registrations that belong together."""

    def undo(self) -> None:
        """Take them back, the newest first."""
        for undo in reversed(self):
            undo()


@contextmanager
def undo_all() -> Iterator[Undos]:
    """For registrations of which all shall stay, or none: an exception takes them back."""
    done = Undos()
    try:
        yield done
    except BaseException:
        done.undo()
        raise


class Snapshot(NamedTuple):
    """Everything that is registered with a dispatcher."""

    operators: Mapping[str, tuple[OperatorDefinition, int, int, EntryState]]
    defined: OperatorRegistry
    libraries: Mapping[str, str]
    fallbacks: Mapping[int, Kernel]
    live: frozenset[object]


class Extra(NamedTuple):
    """A kernel that a backend of our own has for an operator of the profile, and its plan."""

    key: int
    kernel: Kernel
    plan: Plan | None


_MOST_REMEMBERED: Final = 1000
"""So much one place keeps; then it forgets all."""
_ATEN: Final = "aten::"
"""How the names of torch's own operators begin."""

Extension = Callable[[str, AnnotatedSchema, Mapping[int, tuple[Kernel, ...]]], Extra | None]
"""From an operator's full name, its schema, and the kernels that it has by key."""


class OperatorDefinition:
    """An entry and how often it is defined and registered: at nought it is forgotten."""

    def __init__(self, entry: OperatorEntry) -> None:
        self.entry = entry
        self.definitions = 0
        self.registrations = 0


class Dispatcher:
    """All operators.  ``from_profile`` says whether those of the profile are there."""

    def __init__(self, *, from_profile: bool = True) -> None:
        #: Held by whoever changes something, and by who computes a table.
        self.lock: Final = threading.RLock()
        self._operators: dict[str, OperatorDefinition] = {}
        self._from_profile = from_profile
        #: The overloads that registrations have defined.
        self._defined = OperatorRegistry()
        #: Goes up with every change: who remembers what follows from registrations asks for it.
        self.version = 0
        #: The same for changes that torch's own operators notice, or what they call.
        self.aten_version = 0
        #: What has been remembered since the last change, which is to be forgotten at the next.
        self._remembered: dict[str, dict[int, dict[Any, Any]]] = {}
        #: A token for each registration that can be taken back.
        self._live: set[object] = set()
        #: Who has more kernels for operators of the profile.
        self._extensions: list[Extension] = []

    @cached_property
    def _libraries(self) -> dict[str, str]:
        return dict(profile.active().registrations["libraries"] if self._from_profile else ())

    @cached_property
    def _fallbacks(self) -> dict[int, Kernel]:
        return dict(_profile_fallbacks() if self._from_profile else ())

    # --- operators ----------------------------------------------------------------------------

    def find(self, name: str) -> OperatorEntry | None:
        """The operator of a full name, ``aten::add.Tensor``, whether it is defined or not."""
        found = self._operators.get(name)
        if found is None and self._from_profile and name in _profile_names():
            with self.lock:
                found = self._operators.get(name) or self._add_from_profile(name)
        return None if found is None else found.entry

    def find_schema(self, name: str) -> OperatorEntry | None:
        """The operator of a full name if it is defined."""
        entry = self.find(name)
        return entry if entry is not None and entry.schema is not None else None

    def names(self) -> list[str]:
        """The full names of all operators: the profile's in torch's order, then the others."""
        known = _profile_names() if self._from_profile else ()
        with self.lock:
            return list(dict.fromkeys((*known, *self._operators)))

    def entries(self) -> Iterator[OperatorEntry]:
        """Every operator's entry; those of the profile are made on the way."""
        found = map(self.find, self.names())
        return (entry for entry in found if entry is not None)

    def _add_from_profile(self, name: str) -> OperatorDefinition:
        entry = OperatorEntry(name, self)
        entry.schema = _profile_schema(name)
        entry.signature_debug = _profile_signature(name)
        kernels = _profile_kernels(name)
        for extension in self._extensions:
            extra = extension(name, entry.schema, kernels)
            if extra is not None:
                kernels.setdefault(extra.key, (extra.kernel,))
                entry.set_plan(table_key(extra.key), extra.plan)
        entry.set_kernels(kernels)
        definition = OperatorDefinition(entry)
        definition.definitions = 1
        definition.registrations = 1 + sum(map(len, kernels.values()))
        self._operators[name] = definition
        return definition

    def _find_or_register(self, name: str) -> OperatorDefinition:
        self.find(name)
        if name not in self._operators:
            self._operators[name] = OperatorDefinition(OperatorEntry(name, self))
        return self._operators[name]

    def _clean_up(self, name: str, definition: OperatorDefinition) -> None:
        if not definition.registrations:
            del self._operators[name]
            self._defined.forget(name.partition(".")[0], definition.entry)

    # --- registration -------------------------------------------------------------------------

    def register_library(self, namespace: str, debug: str) -> Undo:
        """RuntimeError if the namespace has a library already."""
        with self.lock:
            previous = self._libraries.get(namespace)
            if previous is not None:
                raise RuntimeError(
                    "Only a single TORCH_LIBRARY can be used to register the namespace "
                    f"{namespace}; please put all of your definitions in a single TORCH_LIBRARY "
                    "block.  If you were trying to specify implementations, consider using "
                    "TORCH_LIBRARY_IMPL (which can be duplicated).  If you really intended to "
                    "define operators for a single namespace in a distributed way, you can use "
                    "TORCH_LIBRARY_FRAGMENT to explicitly indicate this.  Previous registration "
                    f"of TORCH_LIBRARY was {previous}; latest registration was {debug}"
                )
            self._libraries[namespace] = debug
        return self._once(lambda: self._libraries.pop(namespace), of=())

    def register_def(self, schema: AnnotatedSchema) -> Undo:
        """Define an operator; RuntimeError if it is defined, or its kernels do not suit."""
        name = schema.schema.full_name
        with self.lock:
            definition = self._find_or_register(name)
            entry = definition.entry
            if entry.schema is not None:
                raise RuntimeError(
                    f"Tried to register an operator ({schema.text}) with the same name and "
                    "overload name multiple times. Each overload's schema should only be "
                    "registered with a single call to def(). Duplicate registration: "
                    f"{schema.debug}. Original registration: {entry.schema.debug}"
                )
            for kernels in entry.kernels.values():
                for kernel in kernels:
                    check_inferred(schema, kernel)
            entry.schema = schema
            packet = schema.schema.name
            self._defined.register_operator(packet, entry)
            definition.definitions += 1
            definition.registrations += 1
        return self._once(lambda: self._deregister_def(name, packet, definition), of=(name,))

    def _deregister_def(self, name: str, packet: str, definition: OperatorDefinition) -> None:
        definition.definitions -= 1
        definition.registrations -= 1
        if not definition.definitions:
            entry = definition.entry
            self._defined.deregister_operator(packet, entry)
            entry.schema = None
        self._clean_up(name, definition)

    def register_impl(self, name: str, key: int | None, kernel: Kernel) -> Undo:
        """Give an operator a kernel, defined or not; RuntimeError if it does not suit the schema.

        A kernel without key (the catch-all of old) goes to CompositeImplicitAutograd.
        """
        at = int(DispatchKey.CompositeImplicitAutograd if key is None else key)
        with self.lock:
            definition = self._find_or_register(name)
            entry = definition.entry
            entry.note_signature(kernel)
            if entry.schema is not None:
                check_inferred(entry.schema, kernel)
            overrides = at in entry.kernels
            entry.add_kernel(at, kernel)
            if key is None:
                entry.update_all()
            definition.registrations += 1
            self._has_changed((name,))
        if overrides and key != DispatchKey.Meta:
            _warn_of_override(entry, key, kernel)
        return self._once(lambda: self._deregister_impl(name, definition, at, kernel), of=(name,))

    def _deregister_impl(
        self, name: str, definition: OperatorDefinition, key: int, kernel: Kernel
    ) -> None:
        definition.entry.remove_kernel(key, kernel)
        definition.registrations -= 1
        self._clean_up(name, definition)

    def _once(self, undo: Callable[[], object], of: Collection[str] | None = None) -> Undo:
        """What undoes a registration the first time that it is called; ``of`` are the operators
        whose calls may go elsewhere by it, None says all."""
        token = object()
        self._live.add(token)
        self._has_changed(of)

        def run() -> None:
            with self.lock:
                if token in self._live:
                    self._live.remove(token)
                    try:
                        undo()
                    finally:
                        self._has_changed(of)

        return run

    # --- what follows from registrations ------------------------------------------------------

    def remember(
        self, name: str, version: int, found: dict[Any, Any], key: Any, value: Any
    ) -> None:
        """Put into ``found`` what follows for an operator from the registrations of a ``version``.

        The next change to the operator empties it.  If anything has changed already, nothing is
        kept.
        """
        with self.lock:
            if version == self.version:
                if len(found) >= _MOST_REMEMBERED:
                    found.clear()
                found[key] = value
                self._remembered.setdefault(name, {})[id(found)] = found

    def _has_changed(self, names: Collection[str] | None = None) -> None:
        """To be called after a change to these operators, None says to all of them, so that nobody
        takes what was before it for its version."""
        with self.lock:
            self.version += 1
            if names is None or any(name.startswith(_ATEN) for name in names):
                self.aten_version += 1
            for name in self._remembered.copy() if names is None else names:
                for found in self._remembered.pop(name, {}).values():
                    found.clear()

    def extend(self, extension: Extension) -> None:
        """Give operators of the profile a kernel more: those that are known now, and every other
        one when it is first named.  It is not taken back, except by :meth:`restore`."""
        with self.lock:
            self._extensions.append(extension)
            for name, definition in self._operators.items():
                schema = definition.entry.schema
                if self._from_profile and name in _profile_names() and schema is not None:
                    _extend(definition, schema, extension)
            self._has_changed()

    # --- what torch has not -------------------------------------------------------------------

    def register_plan(self, name: str, key: int, plan: Plan) -> Undo:
        """Put a plan beside the kernel of a runtime key; RuntimeError if there is one."""
        at = table_key(key)
        with self.lock:
            definition = self._find_or_register(name)
            entry = definition.entry
            if at in entry.plans:
                raise RuntimeError(
                    f"Tried to register multiple plans for operator {name} at the same dispatch "
                    f"key {key_name(key)}"
                )
            entry.set_plan(at, plan)
            definition.registrations += 1
            return self._once(lambda: self._deregister_plan(name, definition, at), of=(name,))

    def _deregister_plan(self, name: str, definition: OperatorDefinition, key: int) -> None:
        definition.entry.set_plan(key, None)
        definition.registrations -= 1
        self._clean_up(name, definition)

    def register_functionalization_rule(self, name: str, rule: Rule) -> Undo:
        """RuntimeError for an operator that is not defined, mutates nothing, or has a rule."""
        with self.lock:
            entry = self.find_schema(name)
            if entry is None:
                raise RuntimeError(f"operator {name} does not exist")
            schema = entry.defined_schema.schema
            if not schema.is_mutable:
                raise RuntimeError(
                    f"Tried to register a functionalization rule for operator {name}, which "
                    f"mutates none of its arguments: {schema}"
                )
            if entry.functionalization_rule is not None:
                raise RuntimeError(
                    f"Tried to register multiple functionalization rules for operator {name}"
                )
            definition = self._operators[name]
            entry.functionalization_rule = rule
            definition.registrations += 1
            return self._once(lambda: self._deregister_rule(name, definition), of=(name,))

    def _deregister_rule(self, name: str, definition: OperatorDefinition) -> None:
        definition.entry.functionalization_rule = None
        definition.registrations -= 1
        self._clean_up(name, definition)

    # --- the state as a whole -----------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """What is registered now."""
        with self.lock:
            operators = {
                name: (each, each.definitions, each.registrations, each.entry.state)
                for name, each in self._operators.copy().items()  # garbage may take some back
            }
            return Snapshot(
                operators,
                self._defined.copy(),
                dict(self._libraries),
                self._fallbacks,
                frozenset(self._live),
            )

    def restore(self, snapshot: Snapshot) -> None:
        """Have registered what was registered then, and nothing else.

        Who holds an operator that was not there then holds one that is not defined.
        """
        with self.lock:
            since = [name for name in self._operators if name not in snapshot.operators]
            for name in since:
                gone = self._operators.pop(name).entry
                known = self._from_profile and name in _profile_names()
                fresh = self._add_from_profile(name).entry if known else OperatorEntry(name, self)
                gone.state = fresh.state
            self._fallbacks = dict(snapshot.fallbacks)
            for name, (each, definitions, registrations, state) in snapshot.operators.items():
                each.definitions, each.registrations = definitions, registrations
                each.entry.state = state
                self._operators[name] = each
            for name in since:  # their tables have the fallbacks in them
                if name in self._operators:
                    self._operators[name].entry.update_all()
            self._defined = snapshot.defined.copy()
            self._libraries = dict(snapshot.libraries)
            self._live = set(snapshot.live)
            self._has_changed()

    # --- fallbacks ----------------------------------------------------------------------------

    @property
    def fallbacks(self) -> Mapping[int, Kernel]:
        """What runs at runtime keys for operators that have nothing there; never changed."""
        return self._fallbacks

    def fallback(self, key: int) -> Kernel | None:
        """The same for one key."""
        return self._fallbacks.get(key)

    def register_fallback(self, key: int, kernel: Kernel) -> Undo:
        """RuntimeError if the key has a fallback."""
        with self.lock:
            previous = self._fallbacks.get(key)
            if previous is not None and key not in _replaceable_fallbacks():
                raise RuntimeError(
                    "Tried to register multiple backend fallbacks for the same dispatch key "
                    f"{key_name(key)}; previous registration {previous.debug}, new registration "
                    f"{kernel.debug}"
                )
            self._set_fallbacks(key, {**self._fallbacks, key: kernel})
        return self._once(lambda: self._deregister_fallback(key))

    def _deregister_fallback(self, key: int) -> None:
        others = {at: kernel for at, kernel in self._fallbacks.items() if at != key}
        self._set_fallbacks(key, others)

    def _set_fallbacks(self, key: int, fallbacks: dict[int, Kernel]) -> None:
        self._fallbacks = fallbacks
        for definition in self._operators.values():
            definition.entry.update(key)

    # --- questions ----------------------------------------------------------------------------

    def defined(self, name: str) -> tuple[OperatorEntry, ...]:
        """The overloads of ``ns::name`` that have been defined since the start, in that order.

        One that is defined no more may be among them (:mod:`mindtorch_v2.dispatch.jit_operators`).
        """
        if self._defined.has_pending_operators:
            with self.lock:
                self._defined.register_pending_operators()
        return self._defined.get_operators(name)

    def is_defined(self, name: str) -> bool:
        """Whether there are such overloads, without asking for them."""
        return self._defined.has(name)

    def dangling(self) -> list[OperatorEntry]:
        """Operators that have kernels and no schema."""
        with self.lock:
            entries = [definition.entry for definition in self._operators.values()]
        return [entry for entry in entries if entry.schema is None]

    def names_with_kernel(self, key: int | None) -> list[str]:
        """Operators with a kernel for exactly this key; all of them for None."""
        if key is None:
            return self.names()
        return [entry.name for entry in self.entries() if key in entry.kernels]


def _extend(definition: OperatorDefinition, schema: AnnotatedSchema, extension: Extension) -> None:
    entry = definition.entry
    extra = extension(entry.name, schema, entry.kernels)
    if extra is not None and extra.key not in entry.kernels:
        entry.add_kernel(extra.key, extra.kernel)
        entry.set_plan(table_key(extra.key), extra.plan)
        definition.registrations += 1


def check_inferred(schema: AnnotatedSchema, kernel: Kernel) -> None:
    """RuntimeError if the schema inferred for a kernel is not the operator's."""
    if kernel.inferred is None:
        return
    reason = find_schema_differences(schema.schema, kernel.inferred)
    if reason is not None:
        raise RuntimeError(
            "Inferred operator schema for a C++ kernel function doesn't match the expected "
            f"function schema.\n  operator: {schema.schema.full_name}\n"
            f"  expected schema: {schema.schema}\n    {schema.debug}\n"
            f"  inferred schema: {kernel.signature}\n    {kernel.debug}\n  reason: {reason}"
        )


def _warn_of_override(entry: OperatorEntry, key: int | None, kernel: Kernel) -> None:
    shown, debug = entry.name, "no debug info"
    if entry.schema is not None:
        shown, debug = entry.schema.text, entry.schema.debug
    named = "(catch all)" if key is None else key_name(key)
    message = (
        f"{profile.active().messages['override']}\n"
        "  Overriding a previously registered kernel for the same operator and the same dispatch "
        f"key\n  operator: {shown}\n    {debug}\n  dispatch key: {named}\n"
        f"  previous kernel: {entry.signature_debug or 'no debug info'}\n"
        f"       new kernel: {kernel.debug}"
    )
    # C++ that registers a kernel of its own prints the warning and Python never sees it
    warn_once("registerKernel", message, in_python=kernel.inferred is None)


# --- the profile's operators ------------------------------------------------------------------


@cache
def _profile_names() -> dict[str, None]:
    return dict.fromkeys(profile.active().schemas["dispatcher_names"])


@cache
def _schema_texts() -> dict[str, str]:
    return {text.partition("(")[0]: text for text in profile.active().schemas["schemas"]}


def _profile_schema(name: str) -> AnnotatedSchema:
    facts = profile.active().registrations
    texts, operator = facts["texts"], facts["operators"][name]
    text = _schema_texts()[name]
    return AnnotatedSchema(
        text,
        texts[operator["debug"]],
        texts[operator["alias analysis kind"]],
        partial(parse_printed_schema, text),
        tuple(profile.active().schemas["tags"].get(name, ())),
    )


def _profile_signature(name: str) -> str | None:
    facts = profile.active().registrations
    debug = facts["cpp_signatures"].get(name)
    return None if debug is None else facts["texts"][debug]


def _profile_kernels(name: str) -> dict[int, tuple[Kernel, ...]]:
    facts = profile.active().registrations
    texts, schema = facts["texts"], _schema_texts()[name]
    kernels: dict[int, tuple[Kernel, ...]] = {}
    for key, debug, signature, state in facts["operators"][name]["kernels"]:
        at = int(DispatchKey[key])
        own = native.find(name, at)
        if own.function is not None and not own.with_keyset and has_arrays(schema):
            checked = checking_arrays(own.function, parse_printed_schema(schema))
            own = own._replace(function=checked)
        if own.function is not None and REFUSES_UNSIGNED and texts[signature] == NO_SIGNATURE:
            in_python = at == DispatchKey.Meta  # no other key has such kernels
            leading = 2 if own.with_keyset else 0
            boxed = checking_boxes(own.function, schema, leading=leading, in_python=in_python)
            own = own._replace(function=boxed)
        kernel = Kernel(
            own.function,
            texts[debug],
            texts[state],
            texts[signature],
            with_keyset=own.with_keyset,
            with_op=own.with_keyset,
            is_native=own.function is not None,
        )
        kernels[at] = (*kernels.get(at, ()), kernel)
    return kernels


def _profile_fallbacks() -> Iterator[tuple[int, Kernel]]:
    yield PIPELINE_VALUE, Kernel(None, "registered with mindtorch_v2.pipeline", "boxed ")
    facts = profile.active().registrations
    for name, fallback in facts["fallbacks"].items():
        debug = facts["texts"][fallback["debug"]]
        state = "fallthrough boxed " if fallback["fallthrough"] else "boxed "
        yield int(DispatchKey[name]), Kernel(None, debug, state)


@cache
def _replaceable_fallbacks() -> frozenset[int]:
    """Keys that take another fallback when they have one."""
    names = profile.active().registrations["replaceable_fallbacks"]
    return frozenset(int(DispatchKey[name]) for name in names)


DISPATCHER: Final = Dispatcher()
"""The one that everything is registered with (``Dispatcher::singleton``)."""
