"""Area ``autograd``: gradients, the graph, and what may not be done to either.

Gradients of every differentiable operator that this package runs, and gradients of those; names
and edges of nodes, and how long they live; what nodes save; changes in place, of leaves, views and
what was saved; flags, hooks, modes and functions of the user; every wrong call of ``backward`` and
``grad``; and generated programs of operations, views, changes in place and backward.

What becomes of a leaf's gradient is asked of every tensor that is made of it, with a fifth of the
ways in which gradients arrive, another fifth for the next; the whole product can be drawn.

Floats that are computed compare by the rule of :mod:`conformance.closeness`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product
from typing import Final

from hypothesis import strategies as st

from conformance.area import Area, Text, made_once
from conformance.cases import (
    autograd_graph,
    autograd_leaves,
    autograd_masks,
    autograd_nn,
    autograd_odd_calls,
    autograd_odd_gradients,
    autograd_order,
)
from conformance.cases.autograd_functions import FUNCTIONS
from conformance.cases.autograd_pools import (
    ASKED,
    CALLS,
    COMPLEX,
    COMPLEX_LEAF,
    FLAGS,
    INPLACE,
    LEAF,
    UNARY,
    VIEWS,
    WITH_OUT,
)
from conformance.cases.autograd_programs import HOOKS, MODES, program
from mindtorch_v2.profile import Profile

COLUMN_MAJOR: Final = (
    "x = xp.tensor([[1.0, 4.0], [2.0, 0.5], [3.0, 2.0]], dtype=xp.float64).t().requires_grad_()\n"
)
LEAVES: Final = (LEAF, COLUMN_MAJOR)

#: The graph below a tensor, as names and numbers of outputs.
WALK: Final = (
    "def walk(node, depth):\n"
    "    if node is None or depth == 0:\n"
    "        return node and node.name()\n"
    "    return node.name(), [(walk(f, depth - 1), i) for f, i in node.next_functions]\n"
)

PROGRAMS: Final = 10_000
#: One of so many ways in which a gradient arrives is asked of each tensor.
SHARE: Final = 5


@made_once()
def texts(profile: Profile) -> Iterator[Text]:
    yield from _gradients()
    yield from _saved(profile)
    yield from _kept()
    yield from _layouts()
    yield from _copies()
    yield from _changes()
    yield from _calls()
    yield from autograd_nn.texts()
    yield from autograd_masks.texts()
    yield from autograd_graph.texts()
    for text in (*HOOKS, *MODES):
        yield "hooks and modes", text
    for text in FUNCTIONS:
        yield "Function", text
    yield from autograd_odd_calls.texts()
    yield from autograd_order.texts()
    yield from autograd_leaves.texts()
    yield from autograd_odd_gradients.texts()
    for number in range(PROGRAMS):
        yield "programs", program(random.Random(number))


def _gradients() -> Iterator[Text]:
    for leaf, made in product((LEAF, COLUMN_MAJOR), UNARY):
        yield made, f"{leaf}y = {made}\n(y, y.requires_grad, y.grad_fn)"
        yield made, f"{leaf}y = {made}\ny.sum().backward()\nx.grad"
        yield (
            made,
            (
                f"{leaf}y = {made}\n(g,) = xp.autograd.grad((y * y).sum(), x, create_graph=True)\n"
                "g, xp.autograd.grad((g * g).sum(), x, allow_unused=True)"
            ),
        )
    for made in UNARY:
        yield made, f"{LEAF}{WALK}y = {made}\nwalk(y.grad_fn, 3)"
        yield made, f"{LEAF}with xp.no_grad():\n    y = {made}\n(y, y.requires_grad, y.grad_fn)"
        yield made, f"{LEAF}y = {made}\ny.backward(xp.ones_like(y), retain_graph=True)\nx.grad"
        meta = LEAF.replace("dtype", "device='meta', dtype")
        yield made, f"{meta}y = {made}\ny.sum().backward()\n(y.grad_fn, x.grad)"
    for made in COMPLEX:
        yield made, f"{COMPLEX_LEAF}y = {made}\n(y, y.requires_grad, y.grad_fn)"
        yield made, f"{COMPLEX_LEAF}y = {made}\ny.backward(xp.ones_like(y))\nz.grad"
        yield made, f"{COMPLEX_LEAF}{WALK}y = {made}\nwalk(y.grad_fn, 3)"


def _saved(profile: Profile) -> Iterator[Text]:
    """Of each node what it shows that it has saved, before and after backward."""
    names = sorted(
        {
            entry[0]
            for facts in profile.derivatives["nodes"].values()
            for entry in (*facts["saved_inputs"], *facts["saved_outputs"])
        }
    )
    common = [name for name in names if len(name) < 24 and not name.startswith("save")]
    for made in UNARY:
        for name in ("self", "other", "result", "dim", "self_sym_sizes", "exponent", "alpha"):
            yield made, f"{LEAF}y = {made}\ny.grad_fn._saved_{name}"
        yield made, f"{LEAF}y = {made}\ny.sum().backward()\ny.grad_fn._saved_self"
    some = ("x * x", "x.sum(1)", "x.pow(2)", "x.narrow(1, 0, 2)", "x.clamp(1.5, 3.0)", "x.t()")
    for made, name in product(some, common):
        yield made, f"{LEAF}y = {made}\ny.grad_fn._saved_{name}"


#: What becomes of the gradient of a leaf: its version and strides tell whether it was copied.
KEPT: Final = "(x.grad, x.grad._version, x.grad.stride(), x.grad.storage_offset())"
#: Ways in which gradients arrive at a leaf ``x``, of which ``y`` is made.
ARRIVALS: Final = (
    "y.sum().backward()",
    "y.backward(xp.ones_like(y))",
    "g = xp.ones_like(y)\ny.backward(g)",
    "(y + x).sum().backward()",
    "(y * x + x * 3).sum().backward()",
    "y.sum().backward(retain_graph=True)\ny.sum().backward()",
    "y.sum().backward(create_graph=True)",
    "x.register_hook(lambda grad: None)\ny.sum().backward()",
    "x.register_hook(lambda grad: grad * 2)\ny.sum().backward()",
    "seen = []\nx.register_hook(seen.append)\ny.sum().backward()",
    "seen = []\ny.register_hook(seen.append)\ny.sum().backward()",
    "y.retain_grad()\ny.sum().backward()",
    "x.register_post_accumulate_grad_hook(lambda leaf: None)\ny.sum().backward()",
    "node = y.grad_fn\nnode.register_hook(lambda new, old: None)\ny.sum().backward()",
    "seen = []\nnode = y.grad_fn\nnode.register_hook(lambda *grads: seen.append(grads))\n"
    "y.sum().backward()",
)


def _kept() -> Iterator[Text]:
    for (row, leaf), (column, made) in product(enumerate(LEAVES), enumerate(UNARY)):
        for arrival in ARRIVALS[(column + 2 * row) % SHARE :: SHARE]:
            yield _kept_gradient(leaf, made, arrival)


def _kept_gradient(leaf: str, made: str, arrival: str) -> Text:
    return "kept gradients", f"{leaf}y = {made}\n{arrival}\n{KEPT}"


#: Where a leaf's elements are, and those of the gradient that it has.
LAYOUTS: Final = (
    *("xp.ones(2, 3)", "xp.ones(3, 2).t()", "xp.ones(2, 6)[:, ::2]", "xp.ones(3).expand(2, 3)"),
)
#: Ways in which another gradient is added to that, which ``node`` does.
ADDITIONS: Final = (
    "node(xp.ones(3, 2).t())",
    "with xp.no_grad(): node(xp.ones(2, 3))",
    "(x * 2).sum().backward()",
)


def _layouts() -> Iterator[Text]:
    """What is added to a gradient that does not lie as its leaf does."""
    for leaf, grad, addition in product(LAYOUTS, LAYOUTS, ADDITIONS):
        made = f"x = {leaf}.requires_grad_()\nx.grad = {grad}.clone() + 1\n"
        if grad != LAYOUTS[-1]:
            made = f"x = {leaf}.requires_grad_()\nx.grad = {grad}\n"
        node = "((node, _),) = x.sum().grad_fn.next_functions\n" if "node" in addition else ""
        yield "kept gradients", f"{made}{node}{addition}\n{KEPT}"


#: Copies of a leaf that has the data of an inference tensor: autograd sees how they are filled.
COPIES: Final = (
    *("x.clone()", "x.t().clone()", "x[0].clone()", "x.clone(memory_format=xp.contiguous_format)"),
    *("x.t().contiguous()", "xp.clone(x.detach())"),
)


def _copies() -> Iterator[Text]:
    for copy in COPIES:
        made = "with xp.inference_mode(): x.data = x.detach().clone()"
        yield (
            "copies of inference tensors",
            f"{LEAF}{made}\ny = {copy}\n(y, y._version, y.is_inference())",
        )


_REFUSED_BY_VIEWS: Final = ("v.view(-1, 5)", "v.select(9, 0)", "v.expand(7)", "v + 1")
"""Of a view whose history is refused, which a node asks for before the kernel looks."""


def _changes() -> Iterator[Text]:
    for change in INPLACE:
        yield change, f"{LEAF}x.{change}\nx"
        yield change, f"{LEAF}with xp.no_grad():\n    x.{change}\n(x, x.grad_fn, x._version)"
        yield change, f"{LEAF}y = x * 2\ny.{change}\n(y, y.grad_fn, y._version, y.is_leaf)"
        yield change, f"{LEAF}y = x * 2\ny.{change}\ny.sum().backward()\nx.grad"
        yield change, f"{LEAF}y = x.exp()\ny.{change}\ny.sum().backward()\nx.grad"
        yield change, f"{LEAF}y = x.clone()\nz = y * y\ny.{change}\nz.sum().backward()\nx.grad"
        yield change, f"x = xp.ones(2, 3)\nx.{change}\n(x, x.requires_grad, x.grad_fn, x._version)"
    for view, change in product(VIEWS, INPLACE):
        flat = view.replace("x", "y", 1)
        yield view, f"{LEAF}v = {view}\nv.{change}\nv"
        yield (
            view,
            (
                f"{LEAF}{WALK}y = x.clone()\nv = {flat}\nv.{change}\n"
                "(v, v._version, y._version, walk(v.grad_fn, 2), walk(y.grad_fn, 3))"
            ),
        )
        yield (
            view,
            (
                f"{LEAF}y = x.clone()\nv = {flat}\nv.{change}\n"
                "(y.sum() + v.sum()).backward()\nx.grad"
            ),
        )
        yield view, f"{LEAF}y = x.clone()\nv = {flat}\ny.{change}\n(v.grad_fn, v._base is y, v)"
        yield (
            view,
            (f"{LEAF}with xp.no_grad():\n    v = {view}\nv.{change}\n(v, v.grad_fn, x._version)"),
        )
    for view, asked in product(VIEWS, ASKED):
        yield asked, f"{LEAF}v = {view}\nv.{asked}"
        yield asked, f"x = xp.ones(2, 3)\nv = {view}\nv.{asked}"
        yield asked, f"{LEAF}with xp.no_grad():\n    v = {view}\nv.{asked}"
        yield asked, f"{LEAF}with xp.inference_mode():\n    v = {view}\nv.{asked}"
    for view, refused in product(VIEWS, _REFUSED_BY_VIEWS):
        made = f"y = x.clone()\nwith xp.no_grad():\n    v = {view.replace('x', 'y', 1)}"
        yield view, f"{LEAF}{made}\ny.mul_(2)\n{refused}"
    for one, two in product(VIEWS, VIEWS):
        inner = two.replace("x", "v", 1)
        yield (
            one,
            (f"{LEAF}v = {one}\nw = {inner}\n(w._base is x, w.is_leaf, w.grad_fn, w._version)"),
        )


def _calls() -> Iterator[Text]:
    for call in CALLS:
        yield call, f"{LEAF}y = x * x\n({call}, x.grad, y.grad)"
    for flag in FLAGS:
        yield flag, f"{LEAF}y = x * x\n{flag}\n(y.grad_fn, y.requires_grad, y.is_leaf)"
        yield flag, f"{LEAF}y = x * x\n{flag}\n(x, x.grad, x.requires_grad, x._version)"
    for asked in ASKED:
        for made in ("x", "x * 2", "x.detach()", "x.sum()", "x.clone()", "xp.ones(2)"):
            yield asked, f"{LEAF}y = {made}\ny.{asked}"
    for made, out in product(("x", "x.detach()"), ("xp.empty(0)", "x", "(x * 2)")):
        for name in ("add", "mul", "sub", "div"):
            yield "out", f"{LEAF}xp.{name}({made}, {made}, out={out})"
        yield "out", f"{LEAF}with xp.no_grad():\n    y = xp.add({made}, 1, out={out})\ny"
        for call in WITH_OUT:
            yield "out", f"{LEAF}xp.{call.format(made)}, out={out})"


def strategy(profile: Profile) -> st.SearchStrategy[Text]:
    """Programs beyond those of every run, and any gradient that a leaf is given."""
    numbers = st.integers(PROGRAMS, 2**40)
    programs = numbers.map(lambda number: ("programs", program(random.Random(number))))
    kept = st.builds(_kept_gradient, *map(st.sampled_from, (LEAVES, UNARY, ARRIVALS)))
    return st.integers(0, 9).flatmap(lambda number: programs if number else kept)


def compares_warnings(text: str) -> bool:
    """Not with the traceback of a forward call: its frames are those of whoever runs the case."""
    return "detect_anomaly" not in text


AREA: Final = Area("autograd", texts, strategy, warnings=compares_warnings, close=True)
