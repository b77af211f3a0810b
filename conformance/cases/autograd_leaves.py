"""Programs for the area autograd about how long what a graph holds is there.

A leaf's node is that of all graphs that lead to it, knows the leaf as it was when the first of them
was made, and goes with the last; the next graph has another.  A node's saved values go with its
first backward, and the second is refused.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from conformance.area import Text
from conformance.cases.autograd_pools import COMPLEX, COMPLEX_LEAF, LEAF, UNARY

LEAVES: Final = 2_000
"""How many programs are drawn."""

_TWICE: Final = (
    "y.sum().abs().backward()\ny.sum().abs().backward()\n",
    "y.sum().abs().backward(retain_graph=True)\n" + "y.sum().abs().backward()\n" * 2,
)


def texts() -> Iterator[Text]:
    for made in UNARY:
        for backward in _TWICE:
            yield made, f"{LEAF}y = {made}\n{backward}x.grad"
    for made in COMPLEX:
        yield made, f"{COMPLEX_LEAF}y = {made}\n{_TWICE[0]}z.grad"
    for number in range(LEAVES):
        yield "leaves", program(random.Random(number))


_START: Final = """\
log = []
x, w = xp.ones(2, requires_grad=True), xp.full((2,), 3.0, requires_grad=True)
y, z = x + 1, x * w
n = m = None
"""
#: What becomes of a leaf, of which all graphs are.
_LEAF_CHANGES: Final = (
    "{leaf}.data = xp.ones(3)",
    "{leaf}.data = {leaf}.data.double()",
    "{leaf}.requires_grad_(False)\nlog.append(({leaf} + 1).requires_grad)\n{leaf}.requires_grad_()",
    "with xp.no_grad(): {leaf}.add_(1)",
    "{leaf}.register_hook(lambda grad: log.append(grad.tolist()))",
    "{leaf}.register_post_accumulate_grad_hook(lambda leaf: log.append(leaf.grad.tolist()))",
    "{leaf}.grad = None",
    "x, w = w, x",
    "x = xp.ones(2, requires_grad=True)",
)
_GRAPHS: Final = (
    *(
        "{graph} = {leaf} + 1",
        "{graph} = x * w",
        "{graph} = {leaf}.view(-1)",
        "{graph} = {leaf} - w",
    ),
    *("{graph} = {graph} * 2", "{graph} = {graph} + {leaf}", "{graph} = {leaf}.sum()"),
    "{graph} = xp.zeros(4)\n{graph}[:2].mul_({leaf})",
    "with xp.autograd.set_detect_anomaly(True): {graph} = {leaf} + 1",
    "{graph} = {leaf}.detach().requires_grad_() * {leaf}",
)
_ENDS: Final = ("{graph} = {leaf}.detach()", "y = z", "n = None", "m = n")
_SHOWN: Final = (
    "n = {leaf}.view_as({leaf}).grad_fn.next_functions[0][0]",
    "m = {leaf}.view_as({leaf}).grad_fn.next_functions[0][0]",
    "n = {graph}.grad_fn.next_functions[0][0]",
    "log.append([f and (f is n, f is m) for f, _ in {graph}.grad_fn.next_functions])",
    "log.append({leaf}.view_as({leaf}).grad_fn.next_functions[0][0] is n)",
    "log.append(n and n.variable.shape)",
    "log.append(n and len(n.metadata))",
    "if n is not None: n.metadata['seen'] = 1",
    "_ = n and n.register_hook(lambda new, old: log.append(len(old)))",
    "log.append([f and f.name() for f, _ in {graph}.grad_fn.next_functions])",
)
_BACKWARDS: Final = (
    "{graph}.sum().backward(retain_graph=True)",
    "{graph}.sum().backward()",
    "log.append(xp.autograd.grad({graph}.sum(), {leaf}, retain_graph=True, allow_unused=True))",
    "with xp.autograd.set_multithreading_enabled(False): {graph}.sum().backward(retain_graph=True)",
)
#: As often as the weights say.
_STEPS: Final = ((_GRAPHS, 5), (_SHOWN, 5), (_LEAF_CHANGES, 3), (_ENDS, 2), (_BACKWARDS, 2))
_MOST: Final = 10


def program(draw: random.Random) -> str:
    """A few steps, of which an error ends the program, and what they have seen."""
    kinds = [kind for kind, often in _STEPS for _ in range(often)]
    lines = []
    for _ in range(draw.randint(3, _MOST)):
        step = draw.choice(draw.choice(kinds))
        lines.append(step.format(leaf=draw.choice("xw"), graph=draw.choice("yz")))
    return _START + "\n".join(lines) + "\n(log, x.grad, w.grad, n and n.name())"
