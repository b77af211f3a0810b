"""Area ``functionalize``: programs that change and view tensors, with both taken out.

Each program runs eagerly, under ``functionalize`` with either ``remove``, and on a tensor wrapped
by hand; what is compared is the log of operators below functionalization, and what became of it.
So are torch's own samples of operators.

Left out are changes of tensors whose elements overlap: what they do depends on the order in which
C++ walks the elements; elements that ``resize_`` makes and nobody has written; and operators that
only differ in their values, which other areas compare.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text, made_once
from conformance.cases import functionalize_samples, functionalize_schemas
from conformance.cases.core_ops import compares_warnings
from conformance.cases.functionalize_drawn import LONG, SHORT, drawn_program
from conformance.cases.functionalize_pools import (
    CHANGES,
    COMPLEX,
    COMPLEX_VIEWS,
    COPIES,
    GRADIENTS,
    INPLACE,
    NUMBERS,
    OPERATOR_PROGRAMS,
    OUT,
    PROGRAMS,
    QUESTIONS,
    REAL,
    SCATTERS,
    SOURCES,
    STATES,
    TARGETS,
    VIEWS,
    WRAPPERS,
)
from conformance.cases.functionalize_programs import program
from conformance.cases.turn import Turn
from conformance.functionalized import WAYS
from mindtorch_v2.profile import Profile

DRAWN: Final = 22_000
DRAWN_LONG: Final = 6_000
DRAWN_FROM_SCHEMAS: Final = 2_000
"""How many programs of every run are put together at random, how many of them are long, and how
many more are made of what the schemas have.  More than 20,000 are left without those that are drawn
twice; nightly, hypothesis draws as many again of both kinds."""


@made_once()
def texts(profile: Profile) -> Iterator[Text]:
    turn = Turn()
    ways = list(WAYS)
    for base, views in ((REAL, VIEWS), (COMPLEX, COMPLEX_VIEWS)):
        for view, change in product(views, CHANGES):
            lines = (f"y = {view}", change, "return x, y")
            way = turn.of(ways[1:])
            yield "views and changes", program(base, lines, way)
            if change in CHANGES[:4]:
                for each in ways:
                    yield "views and changes", program(base, lines, each)
    for body, way in product(PROGRAMS, ways):
        yield "programs", program(REAL, body, way)
    for body, way in product(OPERATOR_PROGRAMS, ways):
        yield "custom operators", program(REAL, body, way, operators=True)
    for method, base in product(INPLACE, ("x", "x[:1]", "x.t()", "x + 1")):
        yield (
            "in place",
            program(REAL, (f"y = {base}", f"y.{method}", "return x, y"), turn.of(ways)),
        )
    for call, target in product(OUT, TARGETS):
        body = (f"y = {target}", call.format("out=y"), "return x, y")
        yield "out", program(REAL, body, turn.of(ways))
    for body, way in product(GRADIENTS, ways[:3]):
        yield "gradients", _differentiated(body, way)
    yield from _operators()
    yield from _functions()
    for text in functionalize_samples.texts(profile, ways):
        yield "samples", text
    for number in range(DRAWN):
        length = LONG if number < DRAWN_LONG else SHORT
        yield "drawn programs", drawn_program(random.Random(number), length)
    for number in range(DRAWN_FROM_SCHEMAS):
        text = functionalize_schemas.drawn_program(random.Random(number), profile.name)
        yield "programs from schemas", text
    tensors = "o, n, i, d = (xp.tensor(each) for each in (1, 2, 3, 0.0))"
    for call, way in product(NUMBERS, ways):
        body = (tensors, f"y = {call}", "return x, y")
        yield "numbers", program(REAL, body, way)


def _differentiated(body: tuple[str, ...], way: str) -> str:
    """A program whose argument has a gradient, which is its value."""
    *lines, run = program(f"{REAL}.requires_grad_()", body, way).split("\n")
    return "\n".join((*lines, f"xp.autograd.grad({run}[1], x)"))


def _operators() -> Iterator[Text]:
    for scatter, source in product(SCATTERS, SOURCES):
        call = scatter.format(source)
        for base in (REAL, "xp.arange(6.).view(3, 2).t()", "xp.zeros(2, 3, device='meta')"):
            yield "scatters", f"x = {base}\n{call.replace('xp.ones(2', 'x.new_ones(2')}"
        answer = f"y = {call}\n(y, xp.autograd.grad((y * y).sum(), x))"
        yield "scatters, gradients", f"x = {REAL}.requires_grad_()\n{answer}"
    for copy in COPIES:
        for base in (REAL, "xp.arange(6.).view(3, 2).t()", COMPLEX, "xp.ones(2, 3, device='meta')"):
            yield "copies", f"x = {base}\nxp.ops.aten.{copy}"
        call = f"y = xp.ops.aten.{copy}\ny = y[1] if isinstance(y, (list, tuple)) else y"
        answer = f"{call}\n(y, y.grad_fn, xp.autograd.grad(y.sum(), x))"
        yield "copies, gradients", f"x = {REAL}.requires_grad_()\n{answer}"
        yield "copies, gradients", f"x = {COMPLEX}.requires_grad_()\nxp.ops.aten.{copy}"


def _functions() -> Iterator[Text]:
    """What torch answers about functional tensors, and refuses of others."""
    for question, value, state in product(QUESTIONS, WRAPPERS, STATES):
        if value == "None" and "lift" in question:
            continue
        if state and value not in ("w", "w[0]", "w.split(1)[1]"):
            continue
        made = [f"x = {REAL}", "w = xp._to_functional_tensor(x)", *([state] if state else ())]
        yield "functional tensors", "\n".join((*made, _answered(question.format(value))))
    for line in (
        *("xp._enable_functionalization(1)", "xp._enable_functionalization(reapply_views=True)"),
        *("xp._disable_functionalization(1)", "xp._functionalize_enable_reapply_views(True)"),
        *("xp._C._functorch._func_decrement_nesting()", "xp._C._functorch.current_level()"),
        *("xp._C._functorch.maybe_current_level()", "xp.func.functionalize(1)"),
        *("xp.func.functionalize(lambda: 1)()", "xp.func.functionalize(lambda: 1, remove='x')()"),
        *("xp.func.functionalize()", "xp.func.functionalize(lambda x: x)(1)"),
        "xp.func.functionalize(lambda *, x: x.add_(1))(x=xp.ones(2))",
        "xp.func.functionalize(lambda x, y: x[0].add_(y['a']))([xp.ones(2)], {'a': xp.ones(2)})",
    ):
        yield "switches", _answered(line)
    nested = (
        "xp._enable_functionalization()\n"
        "try: xp._enable_functionalization()\n"
        "except Exception as error: found = str(error)\n"
        "finally: xp._disable_functionalization()\n"
        "(found, xp._C._functionalization_reapply_views_tls())"
    )
    yield "switches", nested


def _answered(expression: str) -> str:
    """An answer, unwrapped if it is a functional tensor, or the error."""
    return (
        f"try: found = {expression}\n"
        "except Exception as error: found = (type(error).__name__, str(error))\n"
        "is_tensor = isinstance(found, xp.Tensor) and xp._is_functional_tensor(found)\n"
        "(is_tensor, xp._from_functional_tensor(found) if is_tensor else found)"
    )


# --- drawn ----------------------------------------------------------------------------------------


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """Programs that mix views, changes, ``out=``, factories and operators of their own, and such
    as are made of what the schemas have."""
    chances = st.randoms(use_true_random=False)

    def from_schemas(chance: random.Random) -> Text:
        text = functionalize_schemas.drawn_program(chance, profile.name)
        return "programs from schemas", text

    return st.one_of(
        chances.map(lambda chance: ("drawn programs", drawn_program(chance))),
        chances.map(from_schemas),
    )


AREA: Final = Area(
    "functionalize",
    texts,
    strategy,
    isolation="thread",
    warnings=compares_warnings,
    close=True,
    examples={"ci": 500},
)
