"""Texts of area ``autograd`` about odd calls: flags, edges, nodes and contexts that are asked for
what they do not have.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_LEAF: Final = "x = xp.ones(2, requires_grad=True)\n"

#: Flags of backward, which C takes as bytes.
_FLAGS: Final = (
    *("'a'", "[]", "2.5", "None", "2", "0", "-1", "255", "256", "2**40", "2**70", "-2**70"),
    *("np.bool_(True)", "np.int64(1)", "np.float64(1.0)", "xp.tensor(1)", "xp.tensor(1.5)"),
    *("xp.tensor(True)", "xp.ones(2)"),
)
_TAKES_FLAGS: Final = (
    "xp.autograd.grad(x.sum(), x, retain_graph={})",
    "xp.autograd.grad(x.sum(), x, create_graph={})[0].requires_grad",
    "xp.autograd.grad(x.sum(), x, allow_unused={})",
    "xp.autograd.grad(x.sum(), x, retain_graph={}, create_graph=None)",
    "x.sum().backward(retain_graph={})",
    "x.sum().backward(create_graph={}, retain_graph=False)",
    "xp.autograd.backward(x.sum(), retain_graph={})",
)

#: In place, of a tensor that keeps its gradient.
_CHANGES: Final = (
    *("y.unsqueeze_(0)", "y.add_(1)", "y.squeeze_()", "y.detach_()", "y[0].mul_(2)"),
    *("y.view(-1).mul_(2)", "y.t_()", "y.set_(xp.ones(1))", "y.copy_(xp.ones(2))"),
)
#: Results whose derivative is not implemented, and what has no gradient among their inputs.
_UNDERIVABLE: Final = (
    *("x.scatter(0, i, x * 2, reduce='add')", "x.scatter(0, i, 3.0, reduce='multiply')"),
    *("x.scatter(0, i, c, reduce='add')", "c.scatter(0, i, x, reduce='add')"),
    *("xp.bincount(i, x)", "x.heaviside(c)", "c.heaviside(x)", "x.heaviside(x * 2)"),
)

_FUNCTION: Final = (
    "class Fn(xp.autograd.Function):\n"
    "    @staticmethod\n"
    "    def forward(ctx, a, b):\n"
    "        {}\n"
    "        return a * 2\n"
    "    @staticmethod\n"
    "    def backward(ctx, g):\n"
    "        return g, {}\n"
    f"{_LEAF}"
)
#: What is asked of the node of a user's function.
_NODE: Final = (
    *("n(xp.ones(2))", "n()", "n.materialize_grads", "isinstance(n._input_metadata, tuple)"),
    *("[type(m).__name__ for m in n._input_metadata]", "n._input_metadata[0].shape"),
    *("(n._input_metadata[0].dtype, n._input_metadata[0].device)", "n.name()"),
)

_ELSEWHERE: Final = (
    "xp.autograd.graph.Node()",
    "xp.is_anomaly_enabled(), xp.is_anomaly_check_nan_enabled()",
    "with xp.autograd.set_detect_anomaly(True, False):\n"
    "    y = xp.is_anomaly_enabled(), xp.is_anomaly_check_nan_enabled()\n"
    "y",
    "xp._C._set_grad_enabled(False), xp.is_grad_enabled(), xp._C._set_grad_enabled(True)",
    "xp._C._set_grad_enabled(1)",
    "xp.autograd.set_multithreading_enabled(None)",
    "xp.autograd.set_multithreading_enabled(xp.tensor(True))",
    f"{_LEAF}xp.autograd.grad(x.sum(), [xp.autograd.graph.GradientEdge(3, 0)])",
    f"{_LEAF}y = x * 2\ny.grad\ny.grad",
)

_LATE_HOOK: Final = (
    "seen = []\n"
    "def unpack(saved):\n"
    "    xp._C._current_autograd_node().register_hook(lambda i, o: seen.append((i, o)))\n"
    "    return saved\n"
    f"{_LEAF}"
    "with xp.autograd.graph.saved_tensors_hooks(lambda saved: saved, unpack):\n"
    "    y = x.exp()\n"
    "{}"
    "y.sum().backward()\n"
    "(x.grad, seen)"
)
"""A hook that a node is given while it runs."""
_EARLY_HOOK: Final = "y.grad_fn.register_hook(lambda i, o: None)\n"


def texts() -> Iterator[Text]:
    for call, flag in product(_TAKES_FLAGS, _FLAGS):
        yield "flags", f"{_LEAF}{call.format(flag)}"
    for made in _UNDERIVABLE:
        given = f"{_LEAF}i = xp.tensor([0, 1])\nc = xp.ones(2)\n"
        yield "not implemented", f"{given}n = ({made}).grad_fn\n(n, n.next_functions)"
    for one, two in product(_CHANGES, _CHANGES):
        kept = f"{_LEAF}y = x * 2\ny.retain_grad()\n{one}\n"
        yield "retain_grad", f"{kept}{two}\n(y.grad_fn, y.retains_grad)"
        tried = f"try: {two}\nexcept RuntimeError: pass\n"
        yield "retain_grad", f"{kept}{tried}y.sum().backward()\n(y.grad, x.grad, y.retains_grad)"
    for said in ("'x'", "1", "None", "False"):
        body = _FUNCTION.format(f"ctx.set_materialize_grads({said})", "None")
        yield "Function", f"{body}Fn.apply(x, 3).sum().backward()"
    for given in ("3", "None", "[x]"):
        yield "Function", f"{_FUNCTION.format('pass', 'g')}Fn.apply(x, {given}).sum().backward()"
    for asked in _NODE:
        yield (
            "Function",
            f"{_FUNCTION.format('pass', 'None')}y = Fn.apply(x, 3)\nn = y.grad_fn\n{asked}",
        )
        yield "nodes", f"{_LEAF}n = (x * 2).grad_fn\n{asked}"
    yield "Function", f"{_FUNCTION.format('ctx.mark_shared_storage((a, a))', 'None')}Fn.apply(x, 3)"
    for text in _ELSEWHERE:
        yield "odd calls", text
    for other in ("", _EARLY_HOOK):
        yield "late hooks", _LATE_HOOK.format(other)
