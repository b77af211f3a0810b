"""Pools: the keys, names and wrong arguments that the areas of this step draw from.

Everything here is source text of a case, to be put into a call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from mindtorch_v2.profile import KeyFacts

C: Final = "xp._C"
KEY: Final = f"{C}.DispatchKey"
KEYSET: Final = f"{C}.DispatchKeySet"

WRONG: Final = (
    "None",
    "0",
    "1",
    "-1",
    "1.5",
    "True",
    "1j",
    '""',
    '"CPU"',
    '"nosuch"',
    '"std::vector"',
    r'"C\0PU"',
    r'"\ud800"',
    '"Größe"',
    'b"CPU"',
    "[]",
    "()",
    "{}",
    "{1}",
    "...",
    "int",
    "object()",
    "(lambda: 0)",
    f"{KEY}",
    f"{KEYSET}",
    f"[{KEY}.CPU]",
    f"{KEY}.CPU",
    f"{KEYSET}({KEY}.CPU)",
)
"""Values that are no dispatch key, no keyset, no name or no truth value, each in its own way."""

KEYWORDS: Final = ("arg0", "arg1", "self", "key", "k", "value")


def member(name: str) -> str:
    """A key that the enum of Python has, as text."""
    return f"{KEY}.{name}"


def value(number: int) -> str:
    """A key made from its value, as text."""
    return f"{KEY}({number})"


def keyset(key: str) -> str:
    """The set of one key, as text."""
    return f"{KEYSET}({key})"


def members(facts: KeyFacts) -> list[str]:
    """Every key of the enum, as text."""
    return [member(name) for name in facts.members]


def unlisted(facts: KeyFacts) -> list[str]:
    """Keys that only their value makes: those that Python's enum leaves out, and no keys at all."""
    listed = set(facts.members.values())
    last = max(facts.alias_keys.values())
    inside = [number for number in range(last + 1) if number not in listed]
    return [value(number) for number in [*inside, last + 1, 200, 255, 256, 1000, 65535]]


def all_keys(facts: KeyFacts) -> list[str]:
    return members(facts) + unlisted(facts)


def key_names(facts: KeyFacts) -> list[str]:
    """Strings: every name that parses, every name that is printed, and names that are neither."""
    near = ["", "cpu", " CPU", "CPU ", "CPU\\0", "Autocast", "CatchAll", "CPUTensorId", "Größe"]
    names = dict.fromkeys([*facts.parse, *facts.members, *facts.functionality_keys, *near])
    return [f'"{name}"' for name in names]


def some_keys(facts: KeyFacts) -> list[str]:
    """One key of each class, and the neighbours where order matters."""
    wanted = (
        "Undefined Dense CPU CUDA PrivateUse1 PrivateUse3 Meta Sparse SparseCPU SparseMeta"
        " Quantized QuantizedCPU SparseCsrCPU NestedTensor NestedTensorCPU BackendSelect Python"
        " FuncTorchDynamicLayerBackMode Functionalize Conjugate Negative ZeroTensor ADInplaceOrView"
        " AutogradOther AutogradFunctionality AutogradCPU AutogradMeta AutogradNestedTensor"
        " AutocastCPU AutocastCUDA FuncTorchBatched FuncTorchGradWrapper PythonTLSSnapshot"
        " FuncTorchDynamicLayerFrontMode PreDispatch PythonDispatcher StartOfDenseBackends"
        " EndOfSparseBackends Autograd CompositeImplicitAutograd CompositeExplicitAutograd"
    )
    return [member(name) for name in wanted.split() if name in facts.members]


def wrong_calls(callee: str, good: Sequence[str]) -> Iterator[str]:
    """Calls of ``callee`` that are wrong in one way; ``good`` are arguments it takes.

    Every position with every wrong value, every wrong number of arguments, keywords that are
    unknown, that double a position, or that stand for one, and arguments in the wrong order.
    """
    for position in range(len(good)):
        for wrong in WRONG:
            yield call(callee, [*good[:position], wrong, *good[position + 1 :]])
        yield call(callee, good[:position])
        for keyword in KEYWORDS:
            rest = [*good[:position], *good[position + 1 :]]
            yield call(callee, [*rest, f"{keyword}={good[position]}"])
            yield call(callee, [*good, f"{keyword}={good[position]}"])
    for wrong in WRONG:
        yield call(callee, [*good, wrong])
    for keyword in KEYWORDS:
        yield call(callee, [*good, f"{keyword}=None"])
    if len(good) > 1:
        yield call(callee, list(reversed(good)))
        for left in WRONG[:8]:
            for right in WRONG[:8]:
                yield call(callee, [left, right, *good[2:]])
    yield f"{callee}(*[None] * 5)"
    yield f'{callee}(**{{"std::x": 1}})'


def call(callee: str, arguments: Sequence[str]) -> str:
    return f"{callee}({', '.join(arguments)})"


STEP: Final = """\
def step(run):
    try: answer = run()
    except Exception as error: log.append((str(type(error)), str(error)))
    else:
        log.append(shown(answer))
        return answer
"""
"""A statement of a program that logs what it answers, ``shown``, or how it is refused."""
