"""Area ``views-versions``: what views, changes in place and copies make of tensors' bookkeeping.

A case makes a tensor and a view of it, changes one of them, and asks every tensor what it is then:
its version, its base, whether it is a view or a leaf, its node, its geometry and its elements.
What a step is refused for is noted, and the case goes on: a refused change leaves marks or not.

Generated are every view under every change, every way to make one (recorded, in ``no_grad``, in
``inference_mode``, of a leaf, of a view), and straight programs of all of it.

Changes write copies of what they read, and never elements that overlap: what torch leaves there
hangs on how many elements a processor takes at once.  Nor do they make memory grow, which torch
leaves uninitialised, or compute of inference tensors what kernels compose of other operators: the
version of such a result counts the calls that a kernel happens to make.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice, product
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases.turn import Turn
from conformance.cases.views_versions_pools import (
    CHANGES,
    COMPLEX_VIEWS,
    COPIES,
    GEOMETRIES,
    MAKINGS,
    SETTINGS,
    VIEWS,
)
from conformance.cases.views_versions_programs import TRIED, applied, attempt, program
from mindtorch_v2.profile import Profile

PROGRAMS: Final = 2_000

_STARTS: Final = tuple(SETTINGS)
_COMPLEX: Final = "x = xp.tensor([[1 + 2j, 0.5 - 1j], [2j, 3.0]], requires_grad={})"


def texts(profile: Profile) -> Iterator[Text]:
    yield from _changed_views()
    yield from _ways_to_make_one()
    yield from _views_of_views()
    yield from _copies()
    yield from _geometries()
    for number in range(PROGRAMS):
        yield "programs", program(random.Random(number))


def case(start: str, steps: list[str], shown: str) -> str:
    """Steps that may be refused, and then what each tensor is; ``start`` has to succeed."""
    return "\n".join([TRIED, start, *map(attempt, steps), f"(log, asked({shown}))"])


def _changed_views() -> Iterator[Text]:
    """Every view under every change, of itself or of its base; then the gradient."""
    turn = Turn()
    for view, change in product(VIEWS, CHANGES):
        start = SETTINGS[turn.of(_STARTS)]
        changed = turn.of(("v", "x", "v", "x", "x"))
        steps = [f"v = {view}", change.replace("{}", changed), _BACKWARD]
        yield view, case(f"{start}\nv = w = None", steps, "x, v")
    for view, change in product(COMPLEX_VIEWS, CHANGES):
        start = _COMPLEX.format(turn.of(("False", "True", "True")))
        steps = [f"v = {view}", change.replace("{}", turn.of(("v", "x")))]
        yield view, case(f"{start}\nx = x.clone()\nv = w = None", steps, "x, v")


_BACKWARD: Final = "(v.sum() + x.sum()).backward()"


def _ways_to_make_one() -> Iterator[Text]:
    """What may be done to a view hangs on where it was made, and where it is changed."""
    turn = Turn()
    some = [change for change in CHANGES if not change.startswith("with")]
    for start, made, changed in product(_STARTS, MAKINGS, MAKINGS):
        for view in (turn.of(VIEWS) for _ in range(12)):
            which = turn.of(("v", "x", "v", "w"))
            steps = [
                made.replace("{}", f"v = {view}"),
                "w = v.view_as(v)",
                changed.replace("{}", turn.of(some).replace("{}", which)),
                "v.sum().backward()",
            ]
            yield view, case(f"{SETTINGS[start]}\nv = w = None", steps, "x, v, w")


def _views_of_views() -> Iterator[Text]:
    turn = Turn()
    for one, two in islice(product(VIEWS, VIEWS), None, None, 3):
        start = SETTINGS[turn.of(_STARTS)]
        change = turn.of(CHANGES).replace("{}", turn.of(("x", "v", "w")))
        steps = [f"v = {one}", f"w = {applied(two, 'x', 'v')}", change, "w.sum().backward()"]
        yield one, case(f"{start}\nv = w = None", steps, "x, v, w")


def _copies() -> Iterator[Text]:
    """Copies, and whether a change of the copy is one of the tensor."""
    turn = Turn()
    for start, copy, view in product(_STARTS, COPIES, VIEWS[::11]):
        change = turn.of(CHANGES).replace("{}", turn.of(("v", "x", "w")))
        steps = [f"v = {view}", f"w = {copy}", change]
        yield copy, case(f"{SETTINGS[start]}\nv = w = None", steps, "x, v, w")


def _geometries() -> Iterator[Text]:
    """What a geometry leaves behind that is refused, or that nobody looks at."""
    for device, (size, stride) in product(("cpu", "meta"), GEOMETRIES):
        storage = f"xp.arange(8.0, device='{device}').untyped_storage()"
        for change in (
            f"resize_({size})",
            f"resize_({size}, memory_format=xp.channels_last)",
            *(f"as_strided_({size}, {stride}, {offset})" for offset in (0, 1, -1)),
            *(f"set_({storage}, {offset}, {size}, {stride})" for offset in (0, 1, -1)),
            f"set_({storage}, 1, {size})",
        ):
            start = f"x = xp.tensor([[1.0, 2.0, 3.0], [4.0, 0.5, 2.0]]).to('{device}')"
            shown = "(log, x.shape, x.stride(), x.storage_offset(), x.untyped_storage().nbytes())"
            yield "geometries", "\n".join([TRIED, start, attempt(f"x.{change}"), shown])


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """Programs beyond those of every run."""
    numbers = st.integers(PROGRAMS, 2**40)
    return numbers.map(lambda number: ("programs", program(random.Random(number))))


AREA: Final = Area("views-versions", texts, strategy, close=True, examples={"nightly": 10_000})
