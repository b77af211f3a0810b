"""Programs for the area autograd in which many nodes are ready at once: which of them runs first.

Leaves have the same number, and what is ready lies in a heap, in which a backward within another
one leaves its traces.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_HOOKED: Final = "_ = [t.register_hook(lambda g, i=i: seen.append(i)) for i, t in enumerate({})]\n"
_LEAVES: Final = (
    "seen = []\n"
    "a = [xp.ones(2, requires_grad=True) for _ in range({count})]\n" + _HOOKED.format("a")
)
_JOINED: Final = (
    "xp.cat(a).sum()",
    "xp.stack(a[::-1]).sum()",
    "xp.cat([t if i % 2 else t * 2 for i, t in enumerate(a)]).sum()",
    "xp.cat(a).sum() + xp.stack(a[::2]).sum()",
    "(xp.cat(a) * xp.cat(a[1:] + a[:1])).sum()",
    "xp.cat([F.apply(t) if i % 3 == 1 else t for i, t in enumerate(a)]).sum()",
)
_REENTRANT: Final = """\
class F(xp.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, g):
        with xp.enable_grad():
            b = [xp.ones(1, requires_grad=True) for _ in range(5)]
            _ = [t.register_hook(lambda g, i=i: seen.append(-i)) for i, t in enumerate(b)]
            xp.cat(b).sum().backward()
        return g
"""
_FORETOLD: Final = """\
w = a[0].sum()
y = {joined}
leaves = [t.view_as(t).grad_fn.next_functions[0][0] for t in a]
def first(g):
    order = xp._C._current_graph_task_execution_order()
    seen.append([node.name() for node in order])
    seen.append([order.index(leaf) if leaf in order else None for leaf in leaves])
y.register_hook(first)
with xp.autograd.set_multithreading_enabled({threads}):
    {backward}
seen"""
_BACKWARDS: Final = (
    "y.backward()",
    "xp.autograd.grad(y, a[1:])",
    "xp.autograd.backward([w, y])",
)


def texts() -> Iterator[Text]:
    for count, joined in product((3, 4, 5, 6, 9, 16), _JOINED):
        made = _REENTRANT + _LEAVES.format(count=count)
        yield "order", _in_thread(f"{made}y = {joined}\ny.backward()\nseen")
    for count, joined, backward in product((2, 5, 8), _JOINED[:-1], _BACKWARDS):
        asked = _FORETOLD.format(joined=joined, threads=False, backward=backward)
        yield "order", _in_thread(_LEAVES.format(count=count) + asked)
    asked = _FORETOLD.format(joined=_JOINED[0], threads=True, backward=_BACKWARDS[0])
    yield "order", _in_thread(_LEAVES.format(count=2) + asked)
    yield "order", "xp._C._current_graph_task_execution_order()"


def _in_thread(program: str) -> str:
    """In a thread of its own, whose heap has nothing of what failed in earlier cases."""
    body = "\n    ".join(program.removesuffix("seen").splitlines())
    return f"def run():\n    {body}\n    return seen\nin_thread(run)"
