"""Section ``registrations.json.xz``: what each dispatcher operator has registered.

Parsed from ``_dispatch_dump``, which prints aten/src/ATen/core/dispatch/OperatorEntry.cpp's state:

    name: aten::abs
    schema: aten::abs(Tensor self) -> Tensor
    debug: registered at aten/src/ATen/RegisterSchema.cpp:6
    alias analysis kind: FROM_SCHEMA
    SparseCPU: registered at … :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]
    CompositeExplicitAutograd[alias]: registered at … :: … [ boxed unboxed ]

A kernel becomes ``[key, debug, signature, state]``, the last three as indices into ``texts``.  The
printed line follows: ``[alias]`` after an alias key, `` (inactive)`` when the key is that of the
kernel before it, then ``: {debug} :: {signature} [ {state}]``.

``_dispatch_dump_table`` is not stored: it follows from the kernels, the backend fallbacks and the
alias keys, which is checked here for every operator.  A digest of each is kept, so that who
computes tables can be checked without torch, and the text of any that would not follow.
"""

import hashlib
import os
import re
import warnings
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import torch

from conformance.extract import require
from conformance.extract.keys import (
    C,
    alias_keys,
    alias_members,
    functionality_keys,
    key_name,
    runtime_and_alias_values,
)

KERNEL = re.compile(
    r"(?P<key>\w+)(?:\[alias\])?(?: \(inactive\))?: "
    r"(?P<debug>.*?) :: (?P<signature>.*) \[ (?P<state>[a-z ]*)\]"
)
PREVIOUS_KERNEL = re.compile(r"^  previous kernel: (.*)$", re.MULTILINE)
PREVIOUS_LIBRARY = re.compile(r"Previous registration of TORCH_LIBRARY was (.*); latest")
FALLBACK_ROW = re.compile(r"(\w+): (fallthrough )?(.*) \[backend fallback\]")
TORCH_DIRECTORY = torch.__path__[0]


class Kernel(NamedTuple):
    """One line of a dump, taken apart."""

    key: str
    debug: str
    signature: str
    state: str

    @property
    def fallthrough(self) -> bool:
        return "fallthrough" in self.state


class Operator(NamedTuple):
    """One dump, taken apart; ``head`` maps name, schema, debug and alias analysis kind."""

    head: dict[str, str]
    kernels: list[Kernel]


class Fallback(NamedTuple):
    """A backend fallback as the computed tables show it."""

    debug: str
    fallthrough: bool


class Texts:
    """A table of strings: equal ones are stored once."""

    def __init__(self) -> None:
        self.index: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.index.setdefault(text, len(self.index))


def extract() -> dict[str, Any]:
    """Operators and their kernels, fallbacks, and digests of the computed tables."""
    names = sorted(filter(has_schema, C._dispatch_get_all_op_names()))
    operators = {name: parse_dump(portable(C._dispatch_dump(name))) for name in names}
    tables = {name: portable(C._dispatch_dump_table(name)) for name in names}
    fallbacks = observed_fallbacks(tables.values())
    rule = TableRule(fallbacks)
    texts = Texts()
    return {
        "operators": {name: encode(operator, texts) for name, operator in operators.items()},
        "cpp_signatures": {
            name: texts(portable(debug)) for name in names if (debug := cpp_signature(name))
        },
        "fallbacks": {
            key: {"debug": texts(debug), "fallthrough": fallthrough}
            for key, (debug, fallthrough) in fallbacks.items()
        },
        "replaceable_fallbacks": [key for key in fallbacks if is_replaceable(key)],
        "aliases_without_runtime_keys": aliases_without_runtime_keys(fallbacks),
        "libraries": libraries(names),
        "table_digests": {name: digest(table) for name, table in tables.items()},
        "underived_tables": {
            name: table for name, table in tables.items() if rule.table(operators[name]) != table
        },
        "dangling": sorted(portable(dump) for dump in C._dispatch_find_dangling_impls()),
        "texts": list(texts.index),
    }


def aliases_without_runtime_keys(fallbacks: Iterable[str]) -> list[str]:
    """Alias keys for which ``getRuntimeDispatchKeySet`` has no keys.

    A fallback registered there is one for no key at all; torch would refuse it at any other, for
    one of its keys that has a fallback.
    """
    taken = {key for key in fallbacks if not is_replaceable(key)}
    members = {alias: set(map(key_name, values)) for alias, values in alias_members().items()}
    return [alias for alias, names in members.items() if names & taken and is_replaceable(alias)]


def is_replaceable(key: str) -> bool:
    """Whether torch takes another fallback for a key that has one.

    Tried in a fork: to take the other one back leaves none at all.
    """
    child = os.fork()
    if not child:
        try:
            C._dispatch_library("IMPL", "_", "").fallback_fallthrough(key)
        except RuntimeError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def cpp_signature(name: str) -> str | None:
    """Where the first kernel with a C++ signature came from, as the warning about overrides says
    (``cpp_signature_``); None if no kernel has one."""
    before = C._dispatch_dump(name)
    library = C._dispatch_library("IMPL", name.partition("::")[0], "")
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(2):
                library.impl(name, C.DispatchKey.PrivateUse3, lambda *args: None)
    finally:
        torch.set_warn_always(False)
        library.reset()
    require(C._dispatch_dump(name) == before, f"{name} is not what it was")
    debug = PREVIOUS_KERNEL.findall(str(caught[0].message))[0]
    return None if debug == "no debug info" else debug


def libraries(names: Iterable[str]) -> dict[str, str]:
    """Namespace to where its TORCH_LIBRARY stands, as the error about a second one says."""
    found = {}
    for namespace in sorted({name.partition("::")[0] for name in names}):
        try:
            C._dispatch_library("DEF", namespace, "").reset()
        except RuntimeError as error:
            found[namespace] = portable(PREVIOUS_LIBRARY.findall(str(error))[0])
    return found


def has_schema(name: str) -> bool:
    """Whether an operator is defined; one that only has kernels is a dangling implementation."""
    return "\nschema: (none)\n" not in C._dispatch_dump(name)


def portable(text: str) -> str:
    """``text`` with the directory of this installation's torch as ``<torch>``."""
    return text.replace(TORCH_DIRECTORY, "<torch>")


def digest(table: str) -> str:
    """Enough of a hash to notice a difference."""
    return hashlib.sha256(table.encode()).hexdigest()[:12]


def encode(operator: Operator, texts: Texts) -> dict[str, Any]:
    """An operator as stored; its schema is the one in the schemas section."""
    head = operator.head
    return {
        **{field: texts(head[field]) for field in ("debug", "alias analysis kind")},
        "kernels": [
            [kernel.key, texts(kernel.debug), texts(kernel.signature), texts(kernel.state)]
            for kernel in operator.kernels
        ],
    }


# Dumps ------------------------------------------------------------------------------------------


def parse_dump(dump: str) -> Operator:
    """Take a dump apart, and make sure that it can be put together again."""
    lines = dump.splitlines()
    head = dict(line.split(": ", 1) for line in lines[:4])
    require(
        list(head) == ["name", "schema", "debug", "alias analysis kind"],
        f"unknown head of a dump: {lines[:4]}",
    )
    matches = [KERNEL.fullmatch(line) for line in lines[4:]]
    operator = Operator(head, [Kernel(**match.groupdict()) for match in matches if match])
    require(format_dump(operator) == dump, f"dump not understood: {dump}")
    return operator


def format_dump(operator: Operator) -> str:
    """The text of ``_dispatch_dump``: the rule that the stored data relies on."""
    lines = [f"{field}: {value}" for field, value in operator.head.items()]
    aliases = alias_keys()
    before = None
    for kernel in operator.kernels:
        alias = "[alias]" if kernel.key in aliases else ""
        inactive = " (inactive)" if kernel.key == before else ""
        lines.append(
            f"{kernel.key}{alias}{inactive}: {kernel.debug} :: {kernel.signature} [ {kernel.state}]"
        )
        before = kernel.key
    return "\n".join(lines) + "\n"


# Tables -----------------------------------------------------------------------------------------

#: Steps 2.1 to 2.5 of computeDispatchTableEntryWithDebug: an alias key, and what a table says of
#: an entry that comes from it.
ALIAS_STEPS = (
    ("CompositeExplicitAutogradNonFunctional", "default backend kernel"),
    ("CompositeExplicitAutograd", "default backend kernel"),
    ("CompositeImplicitAutogradNestedTensor", "nested kernel"),
    ("CompositeImplicitAutograd", "math kernel"),
    ("Autograd", "autograd kernel"),
    ("FuncTorchBatchedDecomposition", "batched kernel"),
)
#: The aliases whose kernel also serves the key Undefined, which no keyset can hold.
FOR_UNDEFINED = {
    "CompositeExplicitAutogradNonFunctional",
    "CompositeExplicitAutograd",
    "CompositeImplicitAutograd",
}
AMBIGUOUS = ("ambiguous_autogradother", "ambiguous autogradother")


class TableRule:
    """Computes an operator's table, as ``dumpComputedTable`` in OperatorEntry.cpp prints it."""

    def __init__(self, fallbacks: dict[str, Fallback]) -> None:
        self.fallbacks = fallbacks
        self.keys = runtime_keys()
        self.served = {alias: keys_of_alias(alias) for alias in alias_keys()}
        self.backends_of = {
            key: keys_in(C._dispatch_get_backend_keyset_from_autograd(key_of(key)))
            for key in self.keys
        }
        self.other_backends = keys_in(C._dispatch_autogradother_backends)

    def table(self, operator: Operator) -> str:
        """One row for each runtime key that has an entry."""
        # Of several kernels for a key the first is active.
        active = {kernel.key: kernel for kernel in reversed(operator.kernels)}
        rows = [(key, self.entry(key, active)) for key in self.keys]
        return "".join(f"{key}: {entry}\n" for key, entry in rows if entry)

    def entry(self, key: str, kernels: dict[str, Kernel]) -> str | None:
        """What a key's row says after the colon; None if the key has no entry."""
        if key in kernels:
            return row(kernels[key], "kernel")
        for alias, reason in ALIAS_STEPS:
            if alias not in kernels or key not in self.served[alias]:
                continue
            if alias == "CompositeImplicitAutograd":
                if key == "AutogradOther" and self.other_backends & kernels.keys():
                    return "{} [{}]".format(*AMBIGUOUS)
                if self.has_backend_kernel(key, kernels):
                    continue
            return row(kernels[alias], reason)
        if key in self.fallbacks:
            return row(self.fallbacks[key], "backend fallback")
        return None

    def has_backend_kernel(self, key: str, kernels: dict[str, Kernel]) -> bool:
        """Whether an autograd key's backends have a kernel that is not composite-implicit."""
        return "CompositeExplicitAutograd" in kernels or bool(
            self.backends_of[key] & kernels.keys()
        )


def row(source: Kernel | Fallback, reason: str) -> str:
    return f"{'fallthrough ' if source.fallthrough else ''}{source.debug} [{reason}]"


def observed_fallbacks(tables: Iterable[str]) -> dict[str, Fallback]:
    """Backend fallbacks by key, in table order, from the rows that use them."""
    found: dict[str, Fallback] = {}
    for table in tables:
        for key, fallthrough, debug in FALLBACK_ROW.findall(table):
            fallback = Fallback(debug, bool(fallthrough))
            require(found.setdefault(key, fallback) == fallback, f"{key} has two fallbacks")
    keys = [key for key in runtime_keys() if C._dispatch_has_backend_fallback(key_of(key))]
    require(set(keys) == set(found), f"fallbacks {keys}, but tables show {list(found)}")
    return {key: found[key] for key in keys}


@cache
def runtime_keys() -> list[str]:
    """Keys in the order of a computed table: Undefined, then by functionality and backend."""
    values = range(1, len(functionality_keys()))
    blocks = [C._functionality_to_backend_keys(C.DispatchKey(value)) for value in values]
    return ["Undefined"] + [key_name(int(key)) for block in blocks for key in block]


@cache
def key_of(name: str) -> Any:
    """The DispatchKey that prints as ``name``; of several the lowest, as for Undefined."""
    values = runtime_and_alias_values()
    return C.DispatchKey(next(value for value in values if key_name(value) == name))


def keys_of_alias(alias: str) -> set[str]:
    """Runtime keys that the kernel of an alias key serves."""
    included = {
        key
        for key in runtime_keys()[1:]
        if C._dispatch_is_included_in_alias(key_of(key), key_of(alias))
    }
    return included | {"Undefined"} if alias in FOR_UNDEFINED else included


def keys_in(keyset: Any) -> set[str]:
    """Names of the runtime keys in a keyset."""
    return {key for key in runtime_keys()[1:] if keyset.has(key_of(key))}
