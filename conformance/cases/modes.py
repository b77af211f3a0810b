"""Area ``modes``: what overrides operators and functions, and in which order it is asked.

``__torch_dispatch__`` of modes and subclasses, ``__torch_function__`` of modes, subclasses and
other objects, their stacks, and the switches around them.  Cases call operators of their own,
which have kernels in Python; torch's own operators are called where an override answers.

Left out are ``resolve_name``, a name that no case may say, what serves tracing, and what comes of
an undefined tensor, an override's None, after the call that it answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text
from conformance.cases import (
    mode_autocast,
    mode_interfaces,
    mode_objects,
    mode_policies,
    mode_programs,
    mode_seen,
    mode_wrappers,
)
from conformance.cases.mode_programs import (
    ANSWER,
    ANSWERS,
    ATEN_CALLS,
    ATTRIBUTES,
    DECLINE,
    DECLINE_AT_FIRST,
    DISABLED,
    ELEMENT_CALLS,
    FUNCTION_ANSWERS,
    FUNCTION_CALLS,
    INFRA_KEYS,
    INHERIT,
    MODE_BODIES,
    OPERATOR_CALLS,
    PASS_ON,
    PASS_ON_BELOW,
    RAISE,
    REFUSED_CALLS,
    REFUSED_FUNCTION_CALLS,
    SETTINGS,
    VALUE_CALLS,
    dispatch_class,
    dispatch_mode,
    function_class,
    function_mode,
    infra_mode,
    made,
    program,
    tried,
    tried_block,
    within,
)
from mindtorch_v2.profile import Profile


def texts(profile: Profile) -> Iterator[Text]:
    yield from _one_dispatch_mode()
    yield from _kept_answers()
    yield from _nested_dispatch_modes()
    yield from _infra_modes()
    yield from _dispatch_classes()
    yield from _order_of_classes()
    yield from _one_function_mode()
    yield from _nested_function_modes()
    yield from _function_classes()
    yield from _guards()
    yield from _threads()
    yield from mode_interfaces.texts(profile)
    yield from mode_objects.texts()
    yield from mode_seen.texts()
    yield from mode_wrappers.texts()
    yield from mode_policies.texts()
    yield from mode_autocast.texts()


# --- operators --------------------------------------------------------------------------------


def _one_dispatch_mode() -> Iterator[Text]:
    for body in MODE_BODIES:
        mode = dispatch_mode("M", body)
        for call in (*OPERATOR_CALLS, *REFUSED_CALLS):
            steps = [within("M()", [tried(call.format("x")), "state()"])]
            yield "TorchDispatchMode", program([mode], steps)
    for body, call in product(ANSWERS, ATEN_CALLS):
        steps = [within("M()", [tried(call.format("x"))])]
        text = program([dispatch_mode("M", body)], steps, operators=False)
        yield "TorchDispatchMode, aten", text
    for body, call in product((*ANSWERS, PASS_ON), VALUE_CALLS):
        steps = [within("M()", [tried(call.format("x"))])]
        text = program([dispatch_mode("M", body)], steps, operators=False)
        yield "TorchDispatchMode, values", text


_BODIES: Final = (PASS_ON, DECLINE, ANSWER, RAISE)
_CALLS: Final = tuple(map(tried, ("ops.one(x)", "ops.none()", "ops.many([x], x)")))


_FACTORIES: Final = (
    *("xp.ones(2)", "xp.empty(0)", "xp.full((2,), 7)", "xp.arange(3)", "xp.eye(2)", "xp.rand(2)"),
    *("xp.zeros_like(x)", "xp.ones(2, requires_grad=True)", "xp.zeros(2, device='meta')"),
    *("xp.linspace(0, 1, 3)", "xp.randperm(3)", "xp.empty_strided((2,), (1,))", "xp.tensor([1.0])"),
    *("x.new_ones(2)", "x.add(1)", "xp.ones(2, out=out)", "xp.ops.aten.ones.default([2])"),
)
_KEPT: Final = (
    *("pass", "kept.append(r)", "kept.append([r])", "kept.append(lambda: r)"),
    *("kept.append(r.detach())", "kept.append(r.view(-1))", "kept.append(r.untyped_storage())"),
    *("r.detach()", "kept.append(r.clone())"),
)


def _kept_answers() -> Iterator[Text]:
    """What a function makes, who answers it keeps or not: then C++ makes a variable of a copy."""
    for call, keep in product(_FACTORIES, _KEPT):
        mode = [
            "kept = []",
            "class M(xp.utils._python_dispatch.TorchDispatchMode):",
            "    def __torch_dispatch__(self, func, types, args=(), kwargs=None):",
            "        log.append(str(func))",
            "        r = func(*args, **(kwargs or {}))",
            f"        {keep}",
            "        return r",
        ]
        steps = [
            f"with M(): made = {call}",
            "log.append(([made is each for each in kept], made._version, made.requires_grad))",
            "log.append((made._is_view(), made.is_leaf))",
        ]
        yield "TorchDispatchMode, kept", program(mode, steps, operators=False)


def _nested_dispatch_modes() -> Iterator[Text]:
    for bodies in product((PASS_ON, DECLINE, RAISE), repeat=3):
        modes = [dispatch_mode(name, body) for name, body in zip("ABD", bodies, strict=True)]
        for first, second, third in permutations(["A()", "B()", "D()"]):
            inner = within(third, [*_CALLS, "state()"])
            nested = within(first, [within(second, [inner, *_CALLS]), *_CALLS])
            yield "nested TorchDispatchMode", program(modes, [nested])


def _infra_modes() -> Iterator[Text]:
    """One of each kind there may be, below every user's mode."""
    for key, body, outer in product(INFRA_KEYS, _BODIES, _BODIES):
        modes = [infra_mode("I", key, body), dispatch_mode("M", outer)]
        for order in (["I()", "M()"], ["M()", "I()"]):
            nested = within(order[0], [within(order[1], [*_CALLS, "state()"]), *_CALLS])
            yield "infra modes", program(modes, [nested])
    for one, other in permutations(INFRA_KEYS, 2):
        modes = [infra_mode("I", one, PASS_ON), infra_mode("J", other, PASS_ON)]
        inner = tried_block(within("J()", [*_CALLS, "state()"]))
        yield "infra modes", program(modes, [within("I()", [inner, "state()"])])


def _dispatch_classes() -> Iterator[Text]:
    for body in (*ANSWERS, DISABLED):
        define = [dispatch_class("S", body), f"s = {made('S')}"]
        for call in (*OPERATOR_CALLS, *REFUSED_CALLS):
            yield "subclass", program(define, [tried(call.format("s"))])
    for body, call in product(ANSWERS, (*ATEN_CALLS, *ELEMENT_CALLS)):
        define = [dispatch_class("S", body), f"s = {made('S')}"]
        yield "subclass, aten", program(define, [tried(call.format("s"))], operators=False)
    for body, call in product(ANSWERS, VALUE_CALLS):
        define = [dispatch_class("S", body), f"s = {made('S')}"]
        if "{0}" in call:
            text = program(define, [tried(call.format("s"))], operators=False)
            yield "subclass, values", text
    for body, mode in product((*ANSWERS, DISABLED), _BODIES):
        define = [dispatch_class("S", body), dispatch_mode("M", mode), f"s = {made('S')}"]
        calls = [tried(call.format("s")) for call in OPERATOR_CALLS]
        yield "subclass in a mode", program(define, [within("M()", calls)])


def _order_of_classes() -> Iterator[Text]:
    """Subclasses before their bases, else as they come."""
    for bodies in product((DECLINE, ANSWER, RAISE), repeat=3):
        define = [
            dispatch_class("R", bodies[0]),
            dispatch_class("S", bodies[1], "R"),
            dispatch_class("U", bodies[2]),
            "class V(U): pass",
            *(f"{name.lower()} = {made(name)}" for name in "RSUV"),
        ]
        for order in permutations("rsuv"):
            one, two, three, four = order
            calls = [
                tried(f"ops.many([{', '.join(order)}])"),
                tried(f"ops.many([{one}, {two}, {three}], {four})"),
                tried(f"ops.one.other({one}, {two})"),
            ]
            yield "order of subclasses", program(define, calls)


# --- functions --------------------------------------------------------------------------------


def _one_function_mode() -> Iterator[Text]:
    for body in (*FUNCTION_ANSWERS, PASS_ON):
        mode = function_mode("F", body)
        calls = ATTRIBUTES if body == PASS_ON else FUNCTION_CALLS
        for call in (*calls, *REFUSED_FUNCTION_CALLS):
            steps = [within("F()", [tried(call.format("x")), "state()"])]
            yield "TorchFunctionMode", program([mode], steps, operators=False)
        for call in (*OPERATOR_CALLS, *REFUSED_CALLS):
            steps = [within("F()", [tried(call.format("x"))])]
            yield "TorchFunctionMode, operators", program([mode], steps)
        for line in SETTINGS if body != PASS_ON else SETTINGS[:1]:
            steps = [within("F()", [tried_block(line.format("x", "True"))])]
            yield "TorchFunctionMode, assignments", program([mode], steps, operators=False)


def _nested_function_modes() -> Iterator[Text]:
    calls = [tried(call) for call in ("x.shape", "xp.numel(x)", "x.dim()", "ops.one(x)")]
    for bodies in product((PASS_ON, DECLINE_AT_FIRST, ANSWER, RAISE), repeat=3):
        modes = [function_mode(name, body) for name, body in zip("FGH", bodies, strict=True)]
        inner = within("G()", [within("H()", [*calls, "state()"]), *calls])
        yield "nested TorchFunctionMode", program(modes, [within("F()", [inner, *calls])])
    for call in (*ATTRIBUTES, *VALUE_CALLS):
        modes = [function_mode(name, PASS_ON) for name in "FG"]
        steps = [within("F(), G()", [tried(call.format("x"))])]
        yield "nested TorchFunctionMode", program(modes, steps, operators=False)
    for function, dispatch in product((PASS_ON, ANSWER, RAISE), _BODIES):
        modes = [function_mode("F", function), dispatch_mode("M", dispatch)]
        for contexts in ("F(), M()", "M(), F()"):
            yield "both kinds of mode", program(modes, [within(contexts, _CALLS)])


def _function_classes() -> Iterator[Text]:
    kinds = ("classmethod", "staticmethod", "")
    for kind, base, body in product(kinds, ("xp.Tensor", "object"), FUNCTION_ANSWERS):
        if kind != "classmethod" and body != ANSWER:
            continue
        define = [function_class("T", body, base, kind), f"t = {_instance(base)}"]
        for call in (*FUNCTION_CALLS, *REFUSED_FUNCTION_CALLS):
            if base == "xp.Tensor" or not call.startswith("{0}"):
                text = program(define, [tried(call.format("t"))], operators=False)
                yield "__torch_function__", text
        for call in OPERATOR_CALLS if base == "xp.Tensor" else ():
            yield "__torch_function__, operators", program(define, [tried(call.format("t"))])
    for body, call in product((PASS_ON_BELOW, INHERIT), ATTRIBUTES):
        define = [function_class("T", body), f"t = {made('T')}"]
        yield "__torch_function__", program(define, [tried(call.format("t"))], operators=False)
    for body, line in product(FUNCTION_ANSWERS, SETTINGS):
        define = [function_class("T", body), f"t = {made('T')}"]
        steps = [tried_block(line.format("t", "1.0"))]
        yield "__torch_function__, assignments", program(define, steps, operators=False)
    for bodies in product((DECLINE, ANSWER, INHERIT), repeat=2):
        define = [
            function_class("T", bodies[0]),
            function_class("U", bodies[1], "T"),
            function_class("W", DECLINE, "object"),
            f"t, u, w = {made('T')}, {made('U')}, W()",
        ]
        for order in permutations(("t", "u", "w", "x")):
            calls = [f"xp.cat([{', '.join(order)}])", f"xp.add({order[0]}, {order[1]})"]
            calls += [f"xp.where({', '.join(order[:3])})", f"xp.stack([{order[2]}, w], 0)"]
            calls = calls if bodies != (INHERIT, INHERIT) else calls[:1]
            text = program(define, map(tried, calls), operators=False)
            if INHERIT not in bodies:
                yield "order of __torch_function__", text


def _instance(base: str) -> str:
    return made("T") if base == "xp.Tensor" else "T()"


# --- switches ---------------------------------------------------------------------------------

SWITCHES: Final = (
    "C._DisableTorchDispatch()",
    "C.DisableTorchFunction()",
    "C.DisableTorchFunctionSubclass()",
    "C._EnableTorchFunction()",
    "C._EnablePythonDispatcher()",
    "C._DisablePythonDispatcher()",
    "C._AutoDispatchBelowAutograd()",
    "C._AutoDispatchBelowADInplaceOrView()",
    "C._ExcludeDispatchKeyGuard(C.DispatchKeySet(C.DispatchKey.PythonTLSSnapshot))"
    ".__enter__() or C._DisableAutocast()",
    "C._ExcludeDispatchKeyGuard(C.DispatchKeySet(C.DispatchKey.Python))",
    "C._IncludeDispatchKeyGuard(C.DispatchKey.PythonTLSSnapshot)",
    "C._PreserveDispatchKeyGuard()",
    "P._disable_current_modes()",
    "P._pop_mode_temporarily()",
    "O._pop_mode_temporarily()",
    "O.enable_reentrant_dispatch()",
    "xp._dispatch.python.enable_python_dispatcher()",
    "M()",
    "F()",
)
"""Contexts inside and around modes."""


def _guards() -> Iterator[Text]:
    define = [
        dispatch_mode("M", PASS_ON),
        function_mode("F", PASS_ON),
        dispatch_class("S", ANSWER),
        function_class("T", ANSWER),
        f"s, t = {made('S')}, {made('T')}",
    ]
    calls = [*map(tried, ("ops.one(x)", "ops.one(s)", "xp.numel(t)", "ops.none()")), "state()"]
    for outer, inner in product(SWITCHES, repeat=2):
        nested = tried_block(within(outer, [within(inner, calls), *calls]))
        yield "switches", program(define, [nested])
    for switch, base in product(SWITCHES[:-2], ("M", "S", "F", "T")):
        inside = f"with {switch}: {PASS_ON}"
        if base == "T" and "DisableTorchFunction" not in switch:
            continue
        if base == "M" and "reentrant" in switch:  # asks Python's key without any override
            continue
        define = {
            "M": [dispatch_mode("M", inside)],
            "S": [dispatch_class("S", f"with {switch}: return fresh()"), f"s = {made('S')}"],
            "F": [function_mode("F", inside)],
            "T": [function_class("T", inside), f"t = {made('T')}"],
        }[base]
        call = f"ops.one({'x' if base in 'MF' else base.lower()})"
        steps = [within(f"{base}()", [tried(call)])] if base in "MF" else [tried(call)]
        yield "switches inside", program(define, steps)


def _threads() -> Iterator[Text]:
    """What one thread does, another does not see."""
    for body in _BODIES:
        define = [dispatch_mode("M", body), function_mode("F", body.replace(DECLINE, ANSWER))]
        for context in ("M()", "F()", "M(), F()", "C.DisableTorchFunction()"):
            work = within(context, ["state()", "in_thread(state)", *_CALLS])
            lines = ["def work():\n    " + work.replace("\n", "\n    ")]
            lines += ["work()", "in_thread(work)", within(context, ["in_thread(work)", *_CALLS])]
            yield "threads", program(define, lines)


# --- drawn ------------------------------------------------------------------------------------


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """Programs of modes, subclasses and switches, nested at random.

    An infra mode is entered around all the rest: entered twice it is refused, upon which torch
    releases a mode that it does not own.
    """
    return st.one_of(mode_programs_drawn(), mode_wrappers.drawn())


@st.composite
def mode_programs_drawn(draw: st.DrawFn) -> Text:
    own = st.sampled_from([*_BODIES, *MODE_BODIES, DISABLED])
    define = [
        dispatch_mode("A", draw(own)),
        dispatch_mode("B", draw(own), draw(st.sampled_from(["A", mode_programs.DISPATCH_MODE]))),
        infra_mode("I", draw(st.sampled_from(INFRA_KEYS)), draw(own)),
        function_mode("F", draw(st.sampled_from([*FUNCTION_ANSWERS, PASS_ON]))),
        function_mode("G", draw(st.sampled_from([*FUNCTION_ANSWERS, PASS_ON]))),
        dispatch_class("S", draw(st.sampled_from([*ANSWERS, DISABLED]))),
        dispatch_class("R", draw(st.sampled_from([*ANSWERS, DISABLED])), "S"),
        function_class("T", draw(st.sampled_from([*FUNCTION_ANSWERS, PASS_ON_BELOW]))),
        f"s, r, t = {made('S')}, {made('R')}, {made('T')}",
        "a, b, i, f, g = A(), B(), I(), F(), G()",
    ]
    contexts = st.sampled_from(["a", "b", "f", "g", "A()", "B()", "F()", *SWITCHES[:-2]])
    values = st.sampled_from("xsrt")
    calls = st.tuples(st.sampled_from([*OPERATOR_CALLS, *REFUSED_CALLS]), values)
    step = calls.map(lambda pair: tried(pair[0].format(pair[1])))
    blocks = st.recursive(
        st.lists(st.one_of(step, st.just("state()")), min_size=1, max_size=3),
        lambda inner: st.lists(st.tuples(contexts, inner).map(_block), min_size=1, max_size=3),
        max_leaves=6,
    )
    steps = draw(blocks)
    return "programs", program(define, [_block(("i", steps))] if draw(st.booleans()) else steps)


def _block(pair: tuple[str, list[str]]) -> str:
    context, steps = pair
    return tried_block(within(context, steps))


AREA: Final = Area("modes", texts, strategy, isolation="thread")
