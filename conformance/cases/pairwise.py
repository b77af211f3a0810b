"""All pairs instead of all combinations: a selection of a product in which every two values of two
parameters still meet.

Most of what goes wrong depends on two of a call's parameters: two dtypes, two shapes, a shape and
a device.  For four parameters of ten values each that takes some 150 cases instead of 10,000.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any


def pairwise(*parameters: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Combinations of one value per parameter, in which every pair of values occurs.

    Deterministic.  Each combination starts from a pair that has not been met and takes for the
    other parameters the values that meet the most new pairs.
    """
    places = range(len(parameters))
    if len(parameters) < 2:
        yield from ((value,) for value in parameters[0]) if parameters else ()
        return
    unmet: dict[tuple[int, int], dict[tuple[int, int], None]] = {
        (one, two): {
            (i, j): None for i in range(len(parameters[one])) for j in range(len(parameters[two]))
        }
        for one, two in combinations(places, 2)
    }
    while True:
        start = next(((at, next(iter(pairs))) for at, pairs in unmet.items() if pairs), None)
        if start is None:
            return
        (one, two), (i, j) = start
        chosen = {one: i, two: j}
        for place in places:
            if place not in chosen:
                chosen[place] = _most_new(place, len(parameters[place]), chosen, unmet)
        for one, two in combinations(places, 2):
            unmet[one, two].pop((chosen[one], chosen[two]), None)
        yield tuple(parameters[place][chosen[place]] for place in places)


def _most_new(
    place: int,
    count: int,
    chosen: dict[int, int],
    unmet: dict[tuple[int, int], dict[tuple[int, int], None]],
) -> int:
    """The value of a parameter that meets the most of what is chosen for the first time."""

    def new(value: int) -> int:
        return sum(
            (value, other) in unmet[place, at] if place < at else (other, value) in unmet[at, place]
            for at, other in chosen.items()
        )

    # of equal ones another each time, lest the first value stand in half of the combinations
    turn = sum(map(len, unmet.values()))
    return max(range(count), key=lambda value: (new(value), (value + turn) % count))
