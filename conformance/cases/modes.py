"""Area ``modes``: what overrides operators and functions, and in which order it is asked.

``__torch_dispatch__`` of modes and subclasses, ``__torch_function__`` of modes, subclasses and
other objects, their stacks, and the switches around them.  Cases call operators of their own,
which have kernels in Python; torch's own operators are called where an override answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases import mode_programs as p
from conformance.cases.mode_programs import made, program, within
from mindtorch_v2.profile import Profile


def texts(profile: Profile) -> Iterator[Text]:
    yield from _one_dispatch_mode()
    yield from _nested_dispatch_modes()
    yield from _dispatch_classes()
    yield from _one_function_mode()
    yield from _nested_function_modes()
    yield from _function_classes()


def _one_dispatch_mode() -> Iterator[Text]:
    for body in p.MODE_BODIES:
        mode = p.dispatch_mode("M", body)
        for call in (*p.OPERATOR_CALLS, *p.REFUSED_CALLS):
            steps = [within("M()", [f"> {call.format('x')}", "state()"])]
            yield "TorchDispatchMode", program([mode], steps)
    for body, call in product(p.ANSWERS, p.ATEN_CALLS):
        steps = [within("M()", [f"> {call.format('x')}"])]
        yield "TorchDispatchMode, aten", program([p.dispatch_mode("M", body)], steps, operators=False)


BODIES: Final = (p.PASS_ON, p.DECLINE, p.ANSWER, p.RAISE)


def _nested_dispatch_modes() -> Iterator[Text]:
    calls = ["> ops.one(x)", "> ops.none()", "> ops.many([x], x)"]
    for bodies in product(BODIES, repeat=3):
        modes = [p.dispatch_mode(name, body) for name, body in zip("ABC", bodies, strict=True)]
        modes[2] = modes[2].replace("class C", "class D").replace("'C'", "'D'")
        for order in permutations("ABD"):
            inner = within(f"{order[2]}()", [*calls, "state()"])
            nested = within(f"{order[0]}()", [within(f"{order[1]}()", [inner, *calls]), *calls])
            yield "nested TorchDispatchMode", program(modes, [nested])


def _dispatch_classes() -> Iterator[Text]:
    bodies = (*p.ANSWERS, p.DISABLED)
    for body in bodies:
        define = [p.dispatch_class("S", body), f"s = {made('S')}"]
        for call in (*p.OPERATOR_CALLS, *p.REFUSED_CALLS):
            yield "subclass", program(define, [f"> {call.format('s')}"])
    for body, call in product(p.ANSWERS, p.ATEN_CALLS):
        define = [p.dispatch_class("S", body), f"s = {made('S')}"]
        yield "subclass, aten", program(define, [f"> {call.format('s')}"], operators=False)


def _one_function_mode() -> Iterator[Text]:
    for body in (*p.FUNCTION_ANSWERS, p.PASS_ON):
        calls = p.FUNCTION_CALLS if body != p.PASS_ON else p.ATTRIBUTES
        mode = p.function_mode("F", body)
        for call in (*calls, *p.REFUSED_FUNCTION_CALLS):
            steps = [within("F()", [f"> {call.format('x')}", "state()"])]
            yield "TorchFunctionMode", program([mode], steps, operators=False)
        for call in (*p.OPERATOR_CALLS, *p.REFUSED_CALLS):
            steps = [within("F()", [f"> {call.format('x')}"])]
            yield "TorchFunctionMode, operators", program([mode], steps)


def _nested_function_modes() -> Iterator[Text]:
    calls = ["> x.shape", "> xp.numel(x)", "> x.dim()", "> ops.one(x)"]
    for bodies in product((p.PASS_ON, p.DECLINE_AT_FIRST, p.ANSWER, p.RAISE), repeat=2):
        modes = [p.function_mode(name, body) for name, body in zip("FG", bodies, strict=True)]
        nested = within("F()", [within("G()", [*calls, "state()"]), *calls])
        yield "nested TorchFunctionMode", program(modes, [nested])


def _function_classes() -> Iterator[Text]:
    for kind, base, body in product(
        ("classmethod", "staticmethod", ""), ("xp.Tensor", "object"), (*p.FUNCTION_ANSWERS, p.PASS_ON)
    ):
        instance = made("T") if base == "xp.Tensor" else "T()"
        define = [p.function_class("T", body, base, kind), f"t = {instance}"]
        calls = p.FUNCTION_CALLS if body != p.PASS_ON else ("{0}.shape", "{0}.dim()")
        for call in (*calls, *p.REFUSED_FUNCTION_CALLS) if body != p.PASS_ON else calls:
            if not (base == "object" and call.startswith("{0}")):
                yield "__torch_function__", program(define, [f"> {call.format('t')}"], operators=False)


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    return st.just(("x", "1"))


AREA: Final = Area("modes", texts, strategy, isolation="thread")
