"""Programs for the area autograd in which many nodes are ready at once: which of them runs first.

Leaves have the same number, and what is ready lies in a heap that a backward within another one
uses, too.  Of one that failed nothing is left there: what comes next runs as if it had not been.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_LEAVES: Final = """\
seen = []
failing, caught = None, ValueError
def leaves(count, sign):
    made = [xp.ones(2, requires_grad=True) for _ in range(count)]
    _ = [t.register_hook(lambda g, i=i: seen.append(sign * i)) for i, t in enumerate(made)]
    return made
def fails(g):
    raise ValueError('no')
class F(xp.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, g):
        with xp.enable_grad():
            b = leaves(5, -1)
            c = [t * 2 for t in b]
            if failing is not None:
                (b + c)[failing].register_hook(fails)
            try:
                xp.cat(c[1:] + b).sum().backward()
            except caught:
                seen.append('caught')
        return g
"""
_JOINED: Final = (
    "xp.cat(a).sum()",
    "xp.stack(a[::-1]).sum()",
    "xp.cat([t if i % 2 else t * 2 for i, t in enumerate(a)]).sum()",
    "xp.cat(a).sum() + xp.stack(a[::2]).sum()",
    "(xp.cat(a) * xp.cat(a[1:] + a[:1])).sum()",
)
_WITHIN: Final = "xp.cat([F.apply(t) if i % 3 == 1 else t for i, t in enumerate(a)]).sum()"
_FAILED: Final = """\
try:
    {joined}.backward()
except ValueError:
    seen.append('failed')
xp.cat(leaves(7, 1)).sum().backward()
seen"""
_FAILING: Final = (("a[0]", "a"), ("a[2]", "a"), ("b[-1]", "b"), ("b[0]", "b[1:] + a + b[:1]"))
_FORETOLD: Final = """\
w = a[0].sum()
y = {joined}
nodes = [t.view_as(t).grad_fn.next_functions[0][0] for t in a]
def first(g):
    order = xp._C._current_graph_task_execution_order()
    seen.append([node.name() for node in order])
    seen.append([order.index(node) if node in order else None for node in nodes])
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
    def program(count: int, rest: str) -> Text:
        return "order", f"{_LEAVES}a = leaves({count}, 1)\n{rest}"

    for count, joined in product((3, 4, 5, 6, 9, 16), _JOINED):
        yield program(count, f"({joined}).backward()\nseen")
    for count, (failing, joined) in product((4, 7, 9), _FAILING):
        made = f"b = [t * 2 for t in a]\n{failing}.register_hook(fails)\n"
        yield program(count, made + _FAILED.format(joined=f"xp.cat({joined}).sum()"))
    for count, place, error in product((4, 6, 9), (None, 3, -1), ("ValueError", "TypeError")):
        made = f"failing, caught = {place}, {error}\n"
        yield program(count, made + _FAILED.format(joined=_WITHIN))
    for count, joined, backward in product((2, 5, 8), _JOINED, _BACKWARDS):
        asked = _FORETOLD.format(joined=joined, threads=False, backward=backward)
        yield program(count, asked)
    asked = _FORETOLD.format(joined=_JOINED[0], threads=True, backward=_BACKWARDS[0])
    yield program(2, asked)
    yield "order", "xp._C._current_graph_task_execution_order()"
