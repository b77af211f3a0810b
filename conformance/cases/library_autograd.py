"""Custom operators that are differentiated, and rules that stand for ``__torch_dispatch__``.

A case of the first kind defines an operator, gives it a formula, calls it, and notes the result's
history, what the formula was called with and what came back; or how it was refused.  One of the
second kind registers rules for modes and for subclasses of tensors and notes which one answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import Final

from hypothesis import strategies as st

from conformance.area import Text
from conformance.cases.pools import STEP

# --- formulas ---------------------------------------------------------------------------------

_PRELUDE: Final = (
    """\
L, log = xp.library, []
x, y = xp.ones(2, requires_grad=True), xp.full((2,), 3.0, requires_grad=True)
u, n = xp.full((2,), 5.0), xp.arange(2)
def shown(v):
    if isinstance(v, xp.Tensor): return (v.detach().tolist(), v.requires_grad, history(v))
    if isinstance(v, (list, tuple)): return (type(v).__name__, [shown(each) for each in v])
    return str(v)
def history(v):
    node = v.grad_fn
    return node and (node.name(), [(e and e.name(), at) for e, at in node.next_functions])
"""
    + STEP
    + """\
def total(v):
    if isinstance(v, xp.Tensor): return v.sum() if v.requires_grad else 0
    return sum(map(total, v)) if isinstance(v, (list, tuple)) else 0
def part(v):
    if isinstance(v, xp.Tensor): return v.detach().clone()
    return xp.ones(2)
"""
)

OPERATORS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "(Tensor x) -> Tensor": ("part(a[0])", ("x", "u", "x * 2", "n", "x=x", "y[0]")),
    "(Tensor x, Tensor y) -> Tensor": ("a[0] * a[1]", ("x, y", "x, x", "u, y", "x, u", "u, u")),
    "(Tensor x, Tensor? y=None, float z=1.5) -> Tensor": (
        "part(a[0])",
        ("x", "x, y", "x, None", "x, y, 1.5", "u, y", "x, z=2.5", "x, y, z=2.5", "y=y, x=x"),
    ),
    "(Tensor x, *, int n=2) -> Tensor": ("part(a[0])", ("x", "x, n=3", "x, n=2", "u")),
    "(Tensor x, int[] n, bool b=True) -> Tensor": ("part(a[0])", ("x, [1, 2]", "x, [], False")),
    "(Tensor[] xs) -> Tensor": ("sum(map(part, a[0]))", ("[x, y]", "[x]", "[u, x]", "[u]", "[]")),
    "(Tensor[] xs, Tensor y, int z=1) -> Tensor[]": (
        "[part(v) for v in a[0]]",
        ("[x, y], u", "[u], y", "[x, x], x, 1", "[x], u, 2", "[], y"),
    ),
    "(Tensor?[] xs, Tensor y) -> Tensor": (
        "part(a[1])",
        ("[x, None], y", "[None, x], u", "[None], y", "[x, y], u", "[], y", "[x, None], u"),
    ),
    "(Tensor x) -> (Tensor, Tensor)": ("(part(a[0]), a[0] * 2)", ("x", "u")),
    "(Tensor x) -> (Tensor, int)": ("(part(a[0]), 3)", ("x", "u")),
    "(Tensor x, Tensor y) -> (Tensor[], Tensor)": (
        "([part(a[0]), part(a[1])], part(a[0]))",
        ("x, y", "u, y", "u, u"),
    ),
    "(Tensor x) -> Tensor[]": ("[part(a[0]), part(a[0])]", ("x", "u")),
    "(Tensor x) -> (int, Tensor)": ("(3, n.clone())", ("x", "u")),
    "(Tensor x) -> int": ("3", ("x", "u")),
    "(int z) -> Tensor": ("xp.ones(2)", ("1",)),
}
"""Schemas; what the operator answers to arguments ``a``; and calls."""

_RETURNED: Final = (
    *("g[0]", "(g[0],)", "(g[0], g[0])", "(g[0], None)", "(g[0], None, None)", "[g[0]]", "None"),
    *("()", "(None,)", "(g[0], 3)", "3", "([g[0], g[0]],)", "([g[0]], g[0])"),
    "([g[0], None], None)",
    *("(*g,)", "g[0][0]", "(g[0] * ctx.saved_tensors[0],)", "xp.ones(3)", "1 / 0", "[None], None"),
    *("(g[0], g[0], None, None)", "([None, g[0]], None, None)", "([g[0]], None, g[0])"),
    *("([g[0], g[0]], None, None)", "g", "tuple(None for each in ctx.needs_input_grad)"),
)
_SETUPS: Final = (
    "ctx.save_for_backward(*[v for v in inputs if isinstance(v, xp.Tensor)])",
    "ctx.mark_non_differentiable(output)",
    "ctx.set_materialize_grads(False)",
    "ctx._pt_metadata = 3",
    "ctx.save_for_backward(3)",
    "1 / 0",
    "ctx.mark_dirty(inputs[0])",
    "ctx.needs_input_grad = (True,)",
)
_WAYS: Final = (
    "step(lambda: total(r).backward())",
    "step(lambda: xp.autograd.grad(total(r), [x, y], allow_unused=True, create_graph=True))",
    "for _ in range(2): step(lambda: total(r).backward(retain_graph=True))",
    "step(lambda: xp.autograd.grad(total(r), y))",
)


def _program(schema: str, call: str, ways: str, *formula: str, around: str = "") -> str:
    answer, _ = OPERATORS[schema]
    called = f"r = step(lambda: op({call}))"
    if around:
        called = f"with {around}: {called}"
    return "\n".join(
        (
            _PRELUDE + f"def run(*a, **k): return {answer}",
            f'op = L.custom_op("t::f", run, mutates_args=(), schema="{schema}")',
            *formula,
            called,
            ways,
            "step(lambda: [x.grad, y.grad])",
            "log",
        )
    )


def _formula(returned: str, setup: str | None, named: bool) -> tuple[str, ...]:
    more = ", keyword_only_inputs" if named else ""
    shows = "shown(keyword_only_inputs)" if named else "None"
    lines = [
        "def back(ctx, *g):",
        "    log.append((shown(g), shown(ctx.needs_input_grad), xp.is_grad_enabled()))",
        f"    return {returned}",
    ]
    if setup is None:
        return (*lines, "op.register_autograd(back)")
    return (
        *lines,
        f"def setup(ctx, inputs{more}, output):",
        "    log.append((shown(inputs), shown(output), shown(ctx.needs_input_grad),",
        f"        {shows}, xp.is_grad_enabled()))",
        f"    {setup}",
        "op.register_autograd(back, setup_context=setup)",
    )


def _formulas() -> Iterator[Text]:
    for schema, (_, calls) in OPERATORS.items():
        named = "*" in schema
        for call in calls:
            yield "formula", _program(schema, call, _WAYS[0])
            for around in ("xp.no_grad()", "xp.inference_mode()"):
                formula = _formula("g[0]", _SETUPS[0], named)
                yield "formula", _program(schema, call, _WAYS[0], *formula, around=around)
        for call, returned in product(calls, _RETURNED):
            formula = _formula(returned, _SETUPS[0], named)
            yield "formula", _program(schema, call, _WAYS[0], *formula)
        for call, setup in product(calls[:2], _SETUPS[1:]):
            formula = _formula("g[0]", setup, named)
            yield "formula", _program(schema, call, _WAYS[0], *formula)
        for call, ways in product(calls[:3], _WAYS[1:]):
            formula = _formula("tuple(g)", _SETUPS[0], named)
            yield "formula", _program(schema, call, ways, *formula)
        yield "formula", _program(schema, calls[0], _WAYS[0], *_formula("g[0]", None, named))


# --- rules ------------------------------------------------------------------------------------

_RULES_PRELUDE: Final = """\
L, log = xp.library, []
x = xp.ones(2)
def said(who, answers):
    def rule(*args):
        log.append((who, [str(each) for each in args if not isinstance(each, (tuple, dict))],
            [sorted(each) if isinstance(each, dict) else len(each) for each in args
             if isinstance(each, (tuple, dict))]))
        return answers(*args)
    return rule
def on(mode, func, types, args=(), kwargs=None):
    if isinstance(mode, Mode): return func(*args, **(kwargs or {}))
    with xp._C._DisableTorchDispatch(): return func(*args, **(kwargs or {}))
class Mode(xp.utils._python_dispatch.TorchDispatchMode):
    def __repr__(self): return type(self).__name__
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        log.append((type(self).__name__, str(func), len(types), len(args)))
        return func(*args, **(kwargs or {}))
class Inner(Mode): pass
class Sub(xp.Tensor):
    @staticmethod
    def __new__(cls, elem): return xp.Tensor._make_subclass(cls, elem)
    def __repr__(self): return "Sub"
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        log.append(("Sub", str(func), len(types), len(args)))
        with xp._C._DisableTorchDispatch(): return func(*args, **(kwargs or {}))
class Less(Sub): pass
def step(run):
    try: answer = run()
    except Exception as error: log.append((str(type(error)), str(error).split(" object at")[0]))
    else: log.append(answer.tolist() if type(answer) is xp.Tensor else str(answer))
schema = "(Tensor x, float y=2.0) -> Tensor"
op = L.custom_op("t::f", lambda x, y: x * y, mutates_args=(), schema=schema)
lib = L.Library("t", "FRAGMENT")
lib.define("g.over(Tensor x, *, int n=1) -> Tensor")
lib.impl("g.over", lambda x, n=1: x + n, "CPU")
"""
_TARGETS: Final = (
    *("op", "'t::f'", "xp.ops.t.f.default", "xp.ops.t.f", "'t::g.over'", "xp.ops.t.g.over"),
    *("'t::g'", "xp.ops.aten.add.Tensor", "'aten::add.Tensor'", "'aten::detach'", "'none'", "3"),
)
_CLASSES: Final = ("Mode", "Inner", "Sub", "Less", "xp.Tensor", "3", "Mode()")
_ANSWERS: Final = ("on", "lambda *a: 'mine'", "lambda *a: NotImplemented", "lambda *a: 1 / 0")
_RULE_CALLS: Final = (
    "step(lambda: op(x))",
    "step(lambda: xp.ops.t.f(x, 3.0))",
    "step(lambda: xp.ops.t.g.over(x, n=2))",
    "step(lambda: x + x)",
    "step(lambda: xp.ops.aten.add.Tensor(x, x, alpha=2))",
    "step(lambda: x.detach())",
)
_SETTINGS: Final = (
    "with Mode(): {}",
    "with Mode(), Inner(): {}",
    "x = Sub(x)\n{}",
    "x = Less(x)\n{}",
    "x = Less(x)\nwith Mode(): {}",
)


def _rules() -> Iterator[Text]:
    for target, cls, answer in product(_TARGETS, _CLASSES, _ANSWERS[:2]):
        made = f"step(lambda: L.register_torch_dispatch({target}, {cls}, said('rule', {answer})))"
        for setting in _SETTINGS[::2]:
            yield "rule", _rules_program([made], setting)
    for target, cls, answer, setting in product(
        ("op", "'t::g.over'", "'aten::add.Tensor'"), _CLASSES[:4], _ANSWERS, _SETTINGS
    ):
        made = f"L.register_torch_dispatch({target}, {cls}, said('rule', {answer}), lib=lib)"
        again = f"L.register_torch_dispatch({target}, {cls}, said('again', on))"
        steps = [f"step(lambda: {made})", f"step(lambda: {again})"]
        yield "rule", _rules_program(steps, setting)
        yield "rule", _rules_program([steps[0], "lib._destroy()"], setting)
        method = f"op.register_torch_dispatch({cls}, said('of op', {answer}))"
        yield "rule", _rules_program([f"step(lambda: {method})"] * 2, setting)


def _rules_program(steps: list[str], setting: str) -> str:
    called = [setting.format(call) for call in _RULE_CALLS]
    if setting.startswith("x ="):  # once is enough
        made, _, rest = setting.partition("\n")
        called = [made, *(rest.format(call) for call in _RULE_CALLS)]
    return "\n".join((_RULES_PRELUDE, *steps, *called, "log"))


def texts() -> Iterator[Text]:
    """Every seventh formula and every fifth rule, which is no multiple of what varies: each process
    is made anew for one of them.  What is drawn has the others."""
    yield from islice(_formulas(), 0, None, 7)
    yield from islice(_rules(), 0, None, 5)


def strategy() -> st.SearchStrategy[Text]:
    """An operator with a formula of any answer, called and differentiated in any way."""

    def formula(schema: str, place: int, returned: str, setup: str, way: str) -> Text:
        calls = OPERATORS[schema][1]
        lines = _formula(returned, setup, "*" in schema)
        return "formula", _program(schema, calls[place % len(calls)], way, *lines)

    return st.builds(
        formula,
        st.sampled_from(list(OPERATORS)),
        st.integers(0, 7),
        st.sampled_from(_RETURNED),
        st.sampled_from((_SETUPS[0], *_SETUPS)),
        st.sampled_from(_WAYS),
    )
