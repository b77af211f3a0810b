"""Area ``packet-binding``: packets, which try one overload after the other.

The calls are stopped before a kernel (see :mod:`conformance.bound`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases.arguments import (
    Target,
    call,
    drawn,
    good,
    iterates_tensors,
    kinds,
    named,
    takes_only_its_kind,
    targets,
)
from conformance.cases.values import NO_CONSTANTS, ONCE, POOL, TENSORS, WITHOUT_DIMENSIONS
from mindtorch_v2.profile import Profile

WRONG_ARGUMENTS: Final = 4
"""Calls of each packet with a wrong value in a place where an overload has an argument."""


def packets(profile: Profile) -> dict[str, list[Target]]:
    """Every packet of which a case may name all overloads, and whose arguments can be given."""
    found: dict[str, list[Target]] = {}
    for target in targets(profile):
        found.setdefault(target.path.rpartition(".")[0], []).append(target)
    registered = _registered(profile)
    return {
        path: overloads
        for path, overloads in found.items()
        if all(target.is_safe for target in overloads)
        and not any(takes_only_its_kind(a) for each in overloads for a in each.schema.arguments)
        and len(overloads) == registered[overloads[0].schema.name]
    }


def _registered(profile: Profile) -> dict[str, int]:
    counts: dict[str, int] = {}
    for text in profile.schemas["schemas"]:
        name = text.partition("(")[0].partition(".")[0]
        counts[name] = counts.get(name, 0) + 1
    return counts


def texts(profile: Profile) -> Iterator[Text]:
    turn = count()
    for path, overloads in packets(profile).items():
        for text in _calls(path, overloads, turn):
            yield path.removeprefix("xp.ops."), text


def _calls(path: str, overloads: list[Target], turn: Iterator[int]) -> Iterator[str]:
    pool = _pool(overloads)
    most = max(len(target.schema.arguments) for target in overloads)
    yield call(path, [])
    yield call(path, [pool[next(turn) % len(pool)]])
    yield call(path, ["None"] * (most + 1))
    yield call(path, [], {"nosuch": "1"})
    for target in overloads:
        positional = [a for a in target.schema.arguments if not a.kwarg_only]
        keyword = [a for a in target.schema.arguments if a.kwarg_only and named(a)]
        values = [good(argument) for argument in positional]
        keywords = {a.name: good(a) for a in keyword if not a.has_default}
        yield call(path, values, keywords)
        yield call(path, [*values, pool[next(turn) % len(pool)]], keywords)
        yield call(path, values[:-1], {**keywords, "nosuch": pool[next(turn) % len(pool)]})
        yield call(path, [], {a.name: good(a) for a in target.schema.arguments if named(a)})
    for _ in range(WRONG_ARGUMENTS):
        target = overloads[next(turn) % len(overloads)]
        arguments = target.schema.arguments
        if arguments:
            place = next(turn) % len(arguments)
            values = [
                good(a) if a is not arguments[place] else pool[next(turn) % len(pool)]
                for a in arguments
            ]
            split = next((i for i, a in enumerate(arguments) if a.kwarg_only), len(values))
            pairs = list(zip(arguments, values, strict=True))[split:]
            yield call(path, values[:split], {a.name: value for a, value in pairs if named(a)})


def _pool(overloads: list[Target]) -> tuple[str, ...]:
    """Without tensors where Python iterates them (see ``iterates_tensors``)."""
    arguments = [argument for target in overloads for argument in target.schema.arguments]
    if any(map(iterates_tensors, arguments)):
        return tuple(value for value in _VALUES if value not in TENSORS)
    if any("ListType" in kinds(argument) for argument in arguments):
        return tuple(value for value in _VALUES if value not in WITHOUT_DIMENSIONS)
    return _VALUES


#: Torch is asked twice, see ``bound``; and an overload may take a number for a constant.
_VALUES: Final = tuple(value for value in POOL if value not in ONCE | NO_CONSTANTS)


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """A packet with any values, some by keyword."""
    found = packets(profile)
    pools = {path: _pool(overloads) for path, overloads in found.items()}
    choices = [(path, target) for path, overloads in found.items() for target in overloads]
    numbers = st.integers(0, len(choices) - 1)  # as in operator-binding

    @st.composite
    def calls(draw: st.DrawFn) -> Text:
        path, target = choices[draw(numbers)]
        pool = pools[path]
        values = [draw(drawn(good(argument), pool)) for argument in target.schema.arguments]
        end = draw(st.integers(0, len(values)))
        pairs = list(zip(target.schema.arguments, values, strict=True))[end:]
        keywords = {a.name: value for a, value in pairs if named(a)}
        if draw(st.booleans()):
            keywords["nosuch"] = "1"
        return path.removeprefix("xp.ops."), call(path, values[:end], keywords)

    return calls()


AREA: Final = Area("packet-binding", texts, strategy, warnings=False)
