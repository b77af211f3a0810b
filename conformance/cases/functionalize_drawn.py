"""Programs of the area ``functionalize`` that are put together at random.

A program is a function of ``x`` that fills the list ``t``: a step makes another tensor of one of
them, or changes one.  What a step is refused for is noted, and the program goes on: a change that
is refused must have changed nothing.

Some things are no part of a program:

-   What hangs on how many elements a processor takes at once: so eagerly nothing is expanded, and
    what is written is a copy where it might be the target's own memory.
-   Elements that nobody has written: those that ``resize_`` makes are filled at once, and eagerly
    there is no ``out=`` of kernels that look at the dtype after they have resized.
-   Functions that are not exact: what is small in one step is large after five.
-   Tensors that get other sizes beside one of several views (``split``, ``unbind``): torch makes
    the view anew of what no longer has as many, and crashes.  Nor beside ``set_`` and
    ``as_strided``, which may leave a tensor whose new elements cannot be written.
-   Changes in inference mode of tensors from outside of it: the functional tensor is none of
    inference mode, what it wraps is, and who has which version counter is not mirrored to the end.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from typing import Final

from conformance.cases.functionalize_pools import (
    DRAWN_BASES,
    DRAWN_CHANGES,
    DRAWN_MAKERS,
    DRAWN_OPERATORS,
    DRAWN_OUT,
    DRAWN_QUESTIONS,
    DRAWN_VIEWS,
)
from conformance.cases.functionalize_programs import program

_KINDS: Final = ("view",) * 8 + ("change",) * 8 + ("out",) * 2 + ("made",) * 3 + ("question",)
_ADDED: Final = frozenset(("view", "made"))
_PLACES: Final = ("t[0]", "t[0]", "t[1]", "t[-1]", "t[-1]", "t[-1]", "t[-2]")
_WAYS: Final = ("mutations", "mutations_and_views", "wrapped", "wrapped, copies") * 2 + ("eager",)
_NOT_BESIDE_RESIZES: Final = re.compile(r"split|chunk|unbind|set_\(|as_strided")
_RESIZES: Final = re.compile(r"resize_|out=")
_OVERLAPS: Final = re.compile(r"expand|broadcast")
_RESIZES_AND_REFUSES: Final = re.compile(r"\b(gt|mm|max|sort|topk|aminmax|\w+_copy[.\w]*)\(.*out=")
_ASSIGNS: Final = re.compile(r" \+?= ")

LONG: Final = (2, 6)
SHORT: Final = (1, 2)
"""The least and the most steps of a program: a short one takes half the time."""


def drawn_program(chance: random.Random, length: tuple[int, int] = LONG) -> str:
    """The text of one, by what ``chance`` chooses."""
    way = chance.choice(_WAYS)
    operators = chance.random() < 0.05
    left_out = [chance.choice((_NOT_BESIDE_RESIZES, _RESIZES))]
    if way == "eager":
        left_out += (_OVERLAPS, _RESIZES_AND_REFUSES)
    steps = ["t.append(x.clone())"] if chance.random() < 0.3 else []
    drawn = (_step(chance, way, operators) for _ in range(chance.randint(*length)))
    steps += (step for step in drawn if not any(each.search(step) for each in left_out))
    bases = [base for base in DRAWN_BASES if way != "eager" or not _OVERLAPS.search(base)]
    return program(chance.choice(bases), _body(steps), way, operators=operators)


def _body(steps: Iterable[str]) -> Iterator[str]:
    yield "t = [x]"
    names = []
    for number, step in enumerate(steps):
        is_statement = _ASSIGNS.search(step)
        if is_statement:
            yield f"def s{number}(): {step}"
        names.append(f"s{number}" if is_statement else f"lambda: {step}")
    yield f"attempt(log, [{', '.join(names)}])"
    yield "return t"


def _step(chance: random.Random, way: str, operators: bool) -> str:
    kind = chance.choice(_KINDS)
    pool = {
        "view": DRAWN_VIEWS,
        "change": DRAWN_CHANGES,
        "out": DRAWN_OUT,
        "made": DRAWN_OPERATORS if operators else DRAWN_MAKERS,
        "question": DRAWN_QUESTIONS,
    }[kind]
    text = chance.choice(pool)
    one, other = chance.choice(_PLACES), chance.choice(_PLACES)
    if way == "eager" and kind in ("change", "out"):
        other = f"{other}.clone()"
    step = text.replace("{0}", one).replace("{1}", other)
    return f"t.append({step})" if kind in _ADDED else step
