"""Arguments for calls of operators: by schema type, a good one, and which values may be wrong.

Everything here is source text.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from keyword import iskeyword
from typing import Final, NamedTuple

from hypothesis import strategies as st

from conformance.cases.values import (
    NO_CONSTANTS,
    NUMBERS,
    NUMPY_NUMBERS,
    PLAIN,
    POOL,
    SYMBOLIC,
    TENSOR,
    TENSORS,
    WITHOUT_DIMENSIONS,
    with_classes,
)
from conformance.vocabulary import for_profile
from mindtorch_v2.profile import Profile, load
from mindtorch_v2.schema import Argument, FunctionSchema, parse_schema

_ENUMS: Final = frozenset(("ScalarTypeType", "LayoutType", "MemoryFormatType"))
#: What a call takes for a tensor where numbers are such.
_NUMBERS: Final = frozenset((*NUMBERS, *NUMPY_NUMBERS, *SYMBOLIC))

#: Kinds whose conversion in torch dereferences whatever it is given, or makes an object of it.
_UNSAFE: Final = frozenset(("ClassType", "FutureType", "AwaitType", "RRefType"))

#: A stream is dereferenced as well, unless it is one.
_STREAMS: Final = ('xp.Stream("cpu")', 'xp.Stream("meta")')

#: Python iterates what is given for these, and says in which of torch's files a tensor refused.
_CONTAINERS: Final = frozenset(("DictType", "TupleType"))

_GOOD: Final = {
    "TensorType": TENSOR,
    "IntType": "1",
    "SymIntType": "1",
    "FloatType": "0.5",
    "NumberType": "2",
    "BoolType": "True",
    "ComplexType": "1j",
    "StringType": '"mean"',
    "DeviceObjType": '"cpu"',
    "ScalarTypeType": "xp.float32",
    "LayoutType": "xp.strided",
    "MemoryFormatType": "xp.contiguous_format",
    "AnyType": "1",
    "GeneratorType": "xp.Generator()",
    "StreamObjType": 'xp.Stream("cpu")',
    "StorageType": "xp.UntypedStorage(0)",
    "DictType": "{}",
}


class Target(NamedTuple):
    """An operator that cases call: its path from ``xp`` and its schema."""

    path: str
    schema: FunctionSchema
    numbers_as_tensors: bool

    @property
    def is_safe(self) -> bool:
        """Whether every argument can be given."""
        return all(map(is_safe, self.schema.arguments))

    def pool(self, argument: Argument) -> tuple[str, ...]:
        """What may be given for an argument, right or wrong."""
        return _pool(argument.real_type.text, kinds(argument), self.numbers_as_tensors)


def targets(profile: Profile) -> tuple[Target, ...]:
    """Every overload of the release that a case may name."""
    return _targets_of(profile.name)


@cache
def _targets_of(name: str) -> tuple[Target, ...]:
    return tuple(_targets(load(name)))


def _targets(profile: Profile) -> Iterator[Target]:
    vocabulary = for_profile(profile.name)
    facts = profile.schemas
    dispatched = frozenset(facts["dispatcher_names"])
    numbers = frozenset(profile.conversions["numbers_as_tensors"])
    for text in facts["schemas"]:
        full_name = text.partition("(")[0]
        name, _, overload = full_name.partition(".")
        words = ("ops", *name.split("::"), overload or "default")
        refused = any(vocabulary.free_refusal(words[:end]) for end in (2, 3, 4))
        if refused or full_name in facts["unresolvable"] or any(map(iskeyword, words)):
            continue
        # Torch's check of what is not dispatched does not take these numbers; a call would.
        yield Target(
            f"xp.{'.'.join(words)}",
            parse_schema(text),
            name in numbers and full_name not in dispatched,
        )


def takes_only_its_kind(argument: Argument) -> bool:
    """Whether it may be given nothing but right values."""
    return "StreamObjType" in kinds(argument)


def is_safe(argument: Argument) -> bool:
    return not kinds(argument) & _UNSAFE


def named(argument: Argument) -> bool:
    """Whether Python's syntax takes its name as a keyword."""
    return argument.name.isidentifier() and not iskeyword(argument.name)


def kinds(argument: Argument) -> frozenset[str]:
    """The kinds of its type and of all that this is made of."""
    found, pending = set(), [argument.real_type]
    while pending:
        current = pending.pop()
        found.add(current.kind)
        pending.extend(current.contained)
    return frozenset(found)


def iterates_tensors(argument: Argument) -> bool:
    """Whether a tensor given for it is iterated by Python, down to what has no dimensions."""
    return bool(kinds(argument) & _CONTAINERS) or "[][]" in argument.real_type.text


@cache
def _pool(text: str, found: frozenset[str], no_numbers: bool) -> tuple[str, ...]:
    if found & _UNSAFE:
        return ()
    if "StreamObjType" in found:
        return _STREAMS
    if "AnyType" in found:
        return PLAIN
    if found & _ENUMS:
        return tuple(value for value in POOL if value not in NO_CONSTANTS)
    if found & _CONTAINERS or "[][]" in text:
        return tuple(value for value in POOL if value not in TENSORS)
    wrong = set(WITHOUT_DIMENSIONS if "ListType" in found else ())
    if "TensorType" in found and no_numbers:
        wrong |= _NUMBERS
    return tuple(value for value in POOL if value not in wrong)


def good(argument: Argument) -> str:
    """A value that binds."""
    real = argument.real_type
    if real.kind == "OptionalType":
        real = real.contained[0]
    if real.kind == "ListType":
        element = _GOOD.get(real.contained[0].kind)
        return "[]" if element is None else f"[{', '.join([element] * (argument.N or 1))}]"
    if real.kind == "TupleType":
        return f"({''.join(_GOOD.get(part.kind, 'None') + ', ' for part in real.contained)})"
    return _GOOD.get(real.kind, "None")


@cache
def drawn(good: str, pool: tuple[str, ...]) -> st.SearchStrategy[str]:
    """The good value as often as one of the pool."""
    return st.one_of(st.just(good), st.sampled_from(pool))


def call(
    path: str,
    positional: list[str],
    keywords: dict[str, str] | None = None,
    *,
    through: str = "bound",
) -> str:
    """``bound(operator, …)``, after the classes that its values need."""
    named = keywords or {}
    parts = [path, *positional, *(f"{name}={value}" for name, value in named.items())]
    return with_classes(f"{through}({', '.join(parts)})", [*positional, *named.values()])
