"""Area ``operator-binding``: every overload, called right and wrong in every way.

The calls are stopped before a kernel (see :mod:`conformance.bound`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import count
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases.arguments import Target, call, drawn, good, is_safe, named, targets
from conformance.cases.values import TENSOR
from mindtorch_v2.profile import Profile
from mindtorch_v2.schema import Argument

PER_ARGUMENT: Final = 1
"""Values of the pool that an argument is given; the next argument gets the next ones."""
CHECK: Final = "xp._C._check_schema_allow_fake_script_object"
WHOLE_POOL: Final = 1
"""Arguments of each declared type that are given every value of the pool."""


def texts(profile: Profile) -> Iterator[Text]:
    turn = count()
    seen: dict[str, int] = {}
    for target in targets(profile):
        name = target.path.removeprefix("xp.ops.")
        for text in _counts(target):
            yield name, text
        for text in _values(target, turn, seen):
            yield name, text
        for text in _checks(target, turn):
            yield name, text


def _split(target: Target) -> tuple[list[Argument], list[Argument]]:
    """Arguments that may stand in a position, and those that need their keyword."""
    arguments = target.schema.arguments
    return (
        [argument for argument in arguments if not argument.kwarg_only],
        [argument for argument in arguments if argument.kwarg_only],
    )


def _counts(target: Target) -> Iterator[str]:
    """Too few, too many, twice, misspelt, by keyword, in the wrong order."""
    path, arguments = target.path, target.schema.arguments
    yield call(path, [])
    yield call(path, ["None"] * (len(arguments) + 1))
    yield call(path, [], {"nosuch": "1"})
    if not target.is_safe:
        return
    positional, keyword = _split(target)
    values = [good(argument) for argument in positional]
    keywords = {argument.name: good(argument) for argument in keyword if named(argument)}
    required = {a.name: good(a) for a in keyword if named(a) and not a.has_default}
    yield call(path, values, keywords)
    yield call(path, values, required)
    yield call(path, [*values, *keywords.values()])
    yield call(path, [*values, "None"], required)
    everything = {a.name: good(a) for a in arguments if named(a)}
    yield call(path, [], everything)
    yield call(path, [], dict(reversed(everything.items())))
    yield call(path, [], {**everything, "nosuch": "1"})
    for name in everything:
        yield call(path, [], {key: value for key, value in everything.items() if key != name})
    for name in list(everything)[-1:]:
        yield call(path, [], {_misspelt(key, name): value for key, value in everything.items()})
    for position, argument in enumerate(positional):
        yield call(path, values[:position])
        if named(argument):
            yield call(path, values[: position + 1], {argument.name: values[position]})


def _misspelt(key: str, name: str) -> str:
    return key if key != name else f"nosuch_{key}"


def _values(target: Target, turn: Iterator[int], seen: dict[str, int]) -> Iterator[str]:
    """Each argument with values of every kind, the others good; and two of them at once."""
    positional, keyword = _split(target)
    for position, argument in enumerate(positional):
        before = positional[:position]
        if not all(map(is_safe, [*before, argument])):
            break
        for value in _some(target, argument, turn, seen):
            given = [*map(good, before), value]
            if target.is_safe:
                given += map(good, positional[position + 1 :])
            yield call(target.path, given, _required(keyword) if target.is_safe else {})
        if position and target.pool(before[-1]):
            wrong = [_turned(target, before[-1], turn), _turned(target, argument, turn)]
            yield call(target.path, [*map(good, before[:-1]), *wrong])
    if target.is_safe:
        values = [good(argument) for argument in positional]
        for argument in keyword:
            for value in _some(target, argument, turn, seen) if named(argument) else ():
                yield call(target.path, values, {**_required(keyword), argument.name: value})


def _checks(target: Target, turn: Iterator[int]) -> Iterator[str]:
    """The check that TorchScript's operators are called through, here with any schema."""
    if target.is_safe and target.schema.arguments:
        positional, keyword = _split(target)
        values = [good(argument) for argument in positional]
        if positional:
            place = next(turn) % len(positional)
            values[place] = _turned(target, positional[place], turn)
        schema = f"{target.path}._schema"
        yield call(schema, values, _required(keyword), through=CHECK)


def _required(keyword: list[Argument]) -> dict[str, str]:
    return {a.name: good(a) for a in keyword if named(a) and not a.has_default}


def _some(
    target: Target, argument: Argument, turn: Iterator[int], seen: dict[str, int]
) -> Iterator[str]:
    declared = f"{argument.real_type.text} {argument.N} {target.numbers_as_tensors}"
    seen[declared] = seen.get(declared, 0) + 1
    if seen[declared] <= WHOLE_POOL:
        yield from target.pool(argument)
    else:
        yield from (_turned(target, argument, turn) for _ in range(PER_ARGUMENT))


def _turned(target: Target, argument: Argument, turn: Iterator[int]) -> str:
    pool = target.pool(argument)
    return pool[next(turn) % len(pool)]


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """A call of any overload: any values, some in positions, the rest by keyword."""
    chosen = [target for target in targets(profile) if target.is_safe]
    # By number, for hypothesis hashes what it draws from.
    numbers = st.integers(0, len(chosen) - 1)

    @st.composite
    def calls(draw: st.DrawFn) -> Text:
        target = chosen[draw(numbers)]
        arguments = target.schema.arguments
        end = draw(st.integers(0, len(arguments)))
        values = [draw(drawn(good(a), target.pool(a))) for a in arguments]
        pairs = zip(arguments, values, strict=True)
        by_name = {a.name: value for a, value in pairs if named(a)}
        names = draw(_keywords((*by_name, "nosuch")))
        rest = [a.name for a in arguments[end:] if named(a)]
        keywords = {name: by_name.get(name, TENSOR) for name in [*names, *rest]}
        return target.path.removeprefix("xp.ops."), call(target.path, values[:end], keywords)

    return calls()


@cache
def _keywords(names: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(names), unique=True, max_size=4)


AREA: Final = Area("operator-binding", texts, strategy)
