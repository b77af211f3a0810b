"""The names a case may say, made from the profile of a torch release.

``grammar`` checks every attribute name of a case against one list, whatever the object is, so
this list decides what a case can reach.  It has three sources:

1. the profile: functions, Tensor methods, dispatch keys, and what of ``torch._C`` fits
   ``C_PREFIXES`` or ``C_NAMES``.  A name from there is taken only if no rule below speaks
   against it: `NEVER`, `HARM` (words such as ``load`` in a name nobody has judged), a name of
   Python's standard library, two leading underscores;
2. the lists written by hand in :mod:`conformance.names`, each group under what it is for;
3. nothing else: never ``dir(torch)``, which holds ``os``, ``sys`` and every loader.

A name stands for every attribute of that name.  ``data`` is ``Tensor.data`` and the package
``torch.utils.data`` alike, so a name is judged by all that it reaches, not by where it comes from.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.names import (
    AUTOGRAD,
    BUILTINS,
    C_NAMES,
    C_PREFIXES,
    DECORATORS,
    DEFINABLE,
    DISPATCH,
    EXTENSION,
    FUNCTIONS,
    MODULES,
    NEURAL,
    NEVER,
    NEVER_NAMESPACES,
    NUMPY,
    PROPERTIES,
    PYTHON_ATTRIBUTES,
    READABLE,
    SETTABLE,
    VALUES,
    refusal,
    words,
)

if TYPE_CHECKING:
    from mindtorch_v2.profile import Profile

__all__ = ["ROOT", "Facts", "Vocabulary", "for_facts", "for_profile"]

#: The name of the namespace in a case's text.
ROOT: Final = "xp"

#: ``xp.ops.<namespace>.<operator>.<overload>``: the free names after a free root.
FREE_DEPTH: Final = 3

#: With `Vocabulary.with_free_attributes`, names that start so are free: no module has them.
FREE_PREFIX: Final = "nosuch"


def operator_name(text: str) -> str | None:
    """Why ``text`` must not name an operator (``aten::add.Tensor``); None if it may."""
    namespace, _, rest = text.rpartition("::")
    found = NEVER_NAMESPACES.get(namespace) or next(
        filter(None, map(refusal, rest.split("."))), None
    )
    return found and f"operator {text!r}: {found}"


def tensor_type(text: str) -> str | None:
    """Why ``text`` names no type of tensors.

    ``Storage.type`` imports the module its argument names and calls what it finds there:
    ``storage.type("os.abort")``.  So only the legacy names pass, ``torch.FloatTensor``.
    """
    parts = text.split(".")
    fits = parts[0] == "torch" and parts[-1].endswith("Tensor") and text.isascii()
    if fits and len(parts) <= 3 and all(map(str.isidentifier, parts)):
        return None
    return f"{text!r} is no name such as 'torch.FloatTensor'"


#: Attributes that may only be called, on the spot and with literals: strings decide there what
#: runs.  The function answers why a string is refused.
LITERAL_CALLS: Final[Mapping[str, Callable[[str], str | None]]] = MappingProxyType(
    {
        "_jit_get_operation": operator_name,
        "_get_operation_overload": operator_name,
        "_dispatch_find_schema_or_throw": operator_name,
        "_dispatch_get_computed_kernel_for_dispatch_key": operator_name,
        "get_kernel": operator_name,
        "type": tensor_type,
    }
)

_STANDARD_LIBRARY: Final = frozenset(sys.stdlib_module_names)

#: Functions named as a module of the standard library; that module is reached nowhere.
#: Not so ``copy``, which is ``torch.storage.copy``: a case says ``list(x)`` or ``dict(x)``.
_NOT_THE_MODULE: Final = words("chunk select trace")


# The vocabulary ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Vocabulary:
    """What the text of a case may say.  Immutable; ``with_…`` answer a changed copy."""

    #: Every attribute name, on whatever object.
    attributes: frozenset[str]
    #: Attributes that may be assigned to.
    settable: frozenset[str] = SETTABLE
    #: Free names that stand for Python's builtins.
    builtins: frozenset[str] = BUILTINS
    #: Free names that the harness binds.
    helpers: frozenset[str] = frozenset()
    #: Attributes of ``xp`` after which `FREE_DEPTH` names are free, if `free_refusal` lets them.
    free_roots: frozenset[str] = frozenset({"ops"})
    #: Words that the release's operators have (namespaces, names, overloads); see `HARM`.
    operators: frozenset[str] = frozenset()
    #: Attribute names with this prefix are free; "" for none.
    free_prefix: str = ""

    def __post_init__(self) -> None:
        forbidden = {name for name in self.attributes if refusal(name)}
        forbidden -= DEFINABLE | READABLE
        if forbidden:
            raise ValueError(f"names no vocabulary may have: {', '.join(sorted(forbidden))}")
        if not self.settable <= self.attributes:
            missing = ", ".join(sorted(self.settable - self.attributes))
            raise ValueError(f"settable, but no attributes: {missing}")

    @cached_property
    def reserved(self) -> frozenset[str]:
        """Names a case may not bind: the grammar's rules or the harness speak of them."""
        return self.helpers | DECORATORS | {ROOT, "type", "super", "str", "repr"}

    @cached_property
    def known(self) -> frozenset[str]:
        """Free names that mean something without the case binding them."""
        return self.builtins | self.helpers | {ROOT}

    def with_helpers(self, *names: str) -> Vocabulary:
        """This vocabulary, and names that the harness puts into a case's globals."""
        return replace(self, helpers=self.helpers | frozenset(names))

    def with_free_attributes(self, prefix: str = FREE_PREFIX) -> Vocabulary:
        """This vocabulary, and every attribute that starts with ``prefix``.

        For areas that look up what does not exist.  The rule is safe because nothing in torch,
        NumPy or Python starts so; `is_free` holds the rest of the name to ``[a-z0-9_]``.
        """
        if not prefix.startswith(FREE_PREFIX):
            raise ValueError(f"a free prefix starts with {FREE_PREFIX!r}: {prefix!r}")
        return replace(self, free_prefix=prefix)

    def is_free(self, name: str) -> bool:
        """Whether ``name`` is one that exists nowhere."""
        return (
            bool(self.free_prefix)
            and name.startswith(self.free_prefix)
            and name.isascii()
            and name.lower() == name
        )

    def free_refusal(self, path: tuple[str, ...]) -> str | None:
        """Why the last name of ``xp.ops.<namespace>.<operator>.<overload>`` is refused.

        Any other name passes, for looking up operators that do not exist is a subject of testing;
        but a namespace with an underscore is one of the profile's, or it is torch.ops' own state.
        """
        name = path[-1]
        is_private = len(path) == 2 and name.startswith("_")
        if is_private and name not in self.operators:
            return "no operators are known in a namespace of that name"
        if name in self.operators and not name.startswith("__"):  # judged: see `HARM`
            return NEVER.get(name) or (NEVER_NAMESPACES.get(name) if len(path) == 2 else None)
        return refusal(name)


@dataclass(frozen=True)
class Facts:
    """The names a vocabulary takes from a profile; tests write their own."""

    #: Names of dispatch keys.
    keys: frozenset[str] = frozenset()
    #: Functions of torch, methods of Tensor, properties, fields of return types.
    functions: frozenset[str] = frozenset()
    #: Functions and classes of torch._C, with the members of each class.
    bindings: Mapping[str, frozenset[str]] = field(default_factory=dict)
    #: Words of operator names.
    operators: frozenset[str] = frozenset()

    @classmethod
    def of(cls, source: Profile) -> Facts:
        return cls(
            keys=frozenset(source.keys.members)
            | frozenset(source.keys.parse)
            | frozenset(source.keys.constants),
            functions=frozenset(_functions(source.signatures))
            | frozenset(_constants(source.tensors))
            | frozenset(_saved(source.derivatives["nodes"])),
            bindings=dict(_bindings(source.bindings)),
            operators=frozenset(_operatorwords(source.schemas["schemas"])),
        )


def _constants(tensors: Mapping[str, Any]) -> Iterator[str]:
    """Names of dtypes, layouts and memory formats, their aliases included."""
    for dtype in tensors["dtypes"]:
        yield from dtype["aliases"]
    yield from tensors["layouts"]
    yield from tensors["memory_formats"]


def _saved(nodes: Mapping[str, Any]) -> Iterator[str]:
    """What nodes of the graph show of what they have saved."""
    for facts in nodes.values():
        for name, *_ in (*facts["saved_inputs"], *facts["saved_outputs"]):
            yield f"_saved_{name}"
            yield f"_raw_saved_{name}"


def _functions(signatures: Mapping[str, Any]) -> Iterator[str]:
    for group in ("modules", "manual"):
        for names in signatures[group].values():
            yield from names
    for name, fields in signatures["return_types"].items():
        yield name
        yield from fields
    for owner, names in signatures["names"].items():
        if owner != "torch":  # its names are those of a module, os and sys among them
            yield from names


def _bindings(section: Mapping[str, Any]) -> Iterator[tuple[str, frozenset[str]]]:
    for name in section["functions"]:
        yield name, frozenset()
    for name, facts in section["classes"].items():
        kinds = ("methods", "static_methods", "properties", "members")
        yield name, frozenset().union(*(facts[kind] for kind in kinds))


def _operatorwords(schemas: Iterable[str]) -> Iterator[str]:
    for schema in schemas:
        namespace, _, rest = schema.partition("(")[0].partition("::")
        yield namespace
        yield from rest.split(".")


def _from_profile(names: Iterable[str]) -> Iterator[str]:
    """Those of a profile's names that nothing speaks against."""
    for name in names:
        if refusal(name) is None and name not in _STANDARD_LIBRARY - _NOT_THE_MODULE:
            yield name


def _of_torch_c(bindings: Mapping[str, frozenset[str]]) -> Iterator[str]:
    for name, members in bindings.items():
        if name.startswith(C_PREFIXES) or name in C_NAMES:
            yield name
            yield from members


def for_facts(facts: Facts) -> Vocabulary:
    """The vocabulary of a release with these facts."""
    by_hand = (
        PYTHON_ATTRIBUTES | MODULES | VALUES | FUNCTIONS | PROPERTIES | AUTOGRAD | NEURAL | DISPATCH
    ) | (NUMPY | EXTENSION | C_NAMES.keys() | SETTABLE | DEFINABLE | READABLE)
    found = {*facts.keys, *facts.functions, *_of_torch_c(facts.bindings)}
    return Vocabulary(by_hand | frozenset(_from_profile(found)), operators=facts.operators)


@cache
def for_profile(name: str) -> Vocabulary:
    """The vocabulary of a torch release, by the name of its profile: ``2.4`` or ``2.4.1``.

    Needs no torch.
    """
    # Imported late: a vocabulary made of other facts does not need the subject.
    from mindtorch_v2 import profile

    return for_facts(Facts.of(profile.load(name)))
