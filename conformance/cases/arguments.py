"""Arguments for calls of operators: by schema type, a good one, and a pool of all kinds.

Everything here is source text.  Tensors are on the meta device: what they hold is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from keyword import iskeyword
from typing import Final, NamedTuple

from conformance.vocabulary import for_profile
from mindtorch_v2.profile import Profile, load
from mindtorch_v2.schema import Argument, FunctionSchema, parse_schema

TENSOR: Final = 'xp.empty(2, device="meta")'

POOL: Final = (
    "None",
    "True",
    "False",
    "0",
    "1",
    "-1",
    "2**63 - 1",
    "2**63",
    "-2**63 - 1",
    "2**70",
    "1.5",
    "-0.0",
    'float("nan")',
    'float("inf")',
    "10**400",
    "1j",
    '""',
    '"x"',
    '"cpu"',
    '"cpu:1"',
    '"mean"',
    '"größe"',
    r'"\ud800"',
    r'"a\0b"',
    'b"cpu"',
    r'b"\xff"',
    'bytearray(b"ab")',
    "[]",
    "()",
    "[0]",
    "[1, 2]",
    "(1, True)",
    "[1.5, 2]",
    "[1j]",
    "[None]",
    '["x"]',
    "[2**63]",
    "[[1], [2]]",
    "range(2)",
    "{}",
    '{"a": 1}',
    "{1: 1.5}",
    "{1}",
    "frozenset((0, 1))",
    "{1: 2}.keys()",
    "(i for i in (0, 1))",
    "map(int, (0, 1))",
    "iter([1])",
    "...",
    "NotImplemented",
    "slice(0, 1)",
    "int",
    "object()",
    "(lambda: 0)",
    "xp.float32",
    "xp.int64",
    "xp.strided",
    "xp.sparse_coo",
    "xp.contiguous_format",
    "xp.channels_last",
    'xp.device("cpu")',
    'xp.device("meta")',
    TENSOR,
    'xp.empty(0, dtype=xp.int64, device="meta")',
    'xp.empty((1, 2), dtype=xp.bool, device="meta")',
    f"[{TENSOR}]",
    f"({TENSOR}, None)",
    f"[{TENSOR}, 1]",
    f"[[{TENSOR}]]",
    f'{{"a": {TENSOR}}}',
)

#: What tells torch's own numbers apart; others it would show as constants that do not exist.
_NUMBERS_OF_CONSTANTS: Final = frozenset(("0", "1", "True", "False"))
_ENUMS: Final = frozenset(("ScalarTypeType", "LayoutType", "MemoryFormatType"))
_INTEGERS: Final = frozenset(
    ("0", "1", "-1", "True", "False", "2**63 - 1", "2**63", "-2**63 - 1", "2**70", "10**400")
)

_NUMBERS: Final = _INTEGERS | {"1.5", "-0.0", 'float("nan")', 'float("inf")', "1j"}

#: Kinds whose conversion in torch dereferences whatever it is given, or makes an object of it.
_UNSAFE: Final = frozenset(("ClassType", "StreamObjType", "FutureType", "AwaitType", "RRefType"))

#: Python iterates what is given for these, and says in which of torch's files a tensor refused.
_CONTAINERS: Final = frozenset(("DictType", "TupleType"))

#: For ``Any``, torch compiles the class of a value that it does not know.
_PLAIN: Final = frozenset(
    ("None", "True", "0", "2**63", "1.5", "1j", '"x"', 'b"cpu"', "[0]", "[1, 2]", "[1.5, 2]")
) | {"[]", "{}", "(1, True)", '{"a": 1}', "[None]", "xp.float32", TENSOR, f"[{TENSOR}, 1]"}

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
    if "AnyType" in found:
        return tuple(value for value in POOL if value in _PLAIN)
    if found & _ENUMS:
        wrong = _INTEGERS - _NUMBERS_OF_CONSTANTS - {"2**63", "-2**63 - 1", "2**70", "10**400"}
        return tuple(value for value in POOL if value not in wrong)
    if found & _CONTAINERS or "[][]" in text:
        return tuple(value for value in POOL if "xp.empty" not in value)
    if "TensorType" in found and no_numbers:
        return tuple(value for value in POOL if value not in _NUMBERS)
    return POOL


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


def call(path: str, positional: list[str], keywords: dict[str, str] | None = None) -> str:
    """``bound(operator, …)``; keywords that are no names of Python go through ``**``."""
    named = keywords or {}
    parts = [path, *positional, *(f"{name}={value}" for name, value in named.items())]
    return f"bound({', '.join(parts)})"
