"""Programs for the area autograd about the graph: what is saved, edges, hooks of several tensors.

Tensors saved under hooks belong to the same leaves; what a hook does to the hooks that are in force
lasts no longer than the node that called it; what changes after it was saved was copied before.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_X: Final = "x = xp.tensor([1.0, 2.0], requires_grad=True)\n"
_HOOKS: Final = "xp.autograd.graph.saved_tensors_hooks({}, lambda t: t)"

#: Hooks that keep the tensor, a tensor computed of it, and the same in other memory.
_PACKS: Final = ("lambda t: t", "lambda t: t * 2", "lambda t: t.clone()", "lambda t: t.detach()")

#: What is computed while they are in force, and asked of it.
_TWICE: Final = (
    "y = x ** 3\nz = y.sum()\n",
    "y = x * x\nz = y.sum()\n",
    "y = (x * 1).exp()\nz = y.sum()\n",
)
_ASKED: Final = (
    "g, = xp.autograd.grad(z, (x,), create_graph=True)\ng.sum().backward()\n(g, x.grad)",
    "z.backward(create_graph=True)\nx.grad.sum().backward()\nx.grad",
)

_SAVED: Final = (
    f"with {_HOOKS.format('lambda t: t')}: y = x ** 3\nz = y.grad_fn._saved_self\n"
    "(z.requires_grad, z is x, z.exp().grad_fn.next_functions[0][0] is "
    "x.exp().grad_fn.next_functions[0][0])",
    "y = x ** 3\ny.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)\n"
    "g, = xp.autograd.grad(y.sum(), (x,), create_graph=True)\ng.sum().backward()\n"
    "(g, x.grad, y.grad_fn._saved_self is x)",
    *(
        f"y = x * x\ny.grad_fn._raw_saved_self.register_hooks({hooks})"
        for hooks in (
            *("", "1, 2", "lambda t: t", "pack=1, unpack=2", "lambda t: t, None", "None, None"),
            *("lambda t: t, lambda t: t, 3", "int, 3", "int, int"),
        )
    ),
    "y = x * x\ns = y.grad_fn._raw_saved_self\n(s.data, s.unpack_hook, s.unpack() is x)",
    "y = x.exp()\ns = y.grad_fn._raw_saved_result\n(s.data, s.data is y)",
    "y = x.exp()\ns = y.grad_fn._raw_saved_result\ns.unpack()",
    "y = x * x\ns = y.grad_fn._raw_saved_self\ns.unpack(1)",
    "y = x * x\ns = y.grad_fn._raw_saved_self\ns.data = 3",
    "y = x * x\ns = y.grad_fn._raw_saved_self\n"
    "s.register_hooks(lambda t: (t, 3), lambda t: t[0] * t[1])\n(s.data, s.unpack())",
    "y = x * x\ns = y.grad_fn._raw_saved_self\ny.sum().backward()\n(s.data, s.unpack_hook)",
    "y = x * x\ns = y.grad_fn._raw_saved_self\ny.sum().backward()\ns.unpack()",
    *(
        f"with xp.autograd.graph.saved_tensors_hooks({hooks}):\n    x * x"
        for hooks in ("1, 2", "lambda t: t, None", "int, lambda t: t", "None, None")
    ),
    "with xp.autograd.graph.disable_saved_tensors_hooks(3):\n    x * x",
    "with xp.autograd.graph.disable_saved_tensors_hooks(None):\n    x * x",
    "with xp.no_grad(): y = x.numpy()\ny",
    "x.numpy()",
    "del x._backward_hooks",
    "h = x.register_hook(lambda g: g * 2)\nx._backward_hooks = None\nx.sum().backward()\nx.grad",
)

_EDGES: Final = (
    "y = x.sin()\ne = xp.autograd.graph.get_gradient_edge(y)\n"
    "xp.autograd.grad(e, (x,), grad_outputs=(xp.ones(2),))",
    "y = x.sin()\ne = xp.autograd.graph.get_gradient_edge(y)\n"
    "xp.autograd.backward(e, xp.ones(2))\nx.grad",
    "e = xp.autograd.graph.get_gradient_edge(x.sin())\n(e, len(e))",
    "class F(xp.autograd.Function):\n    @staticmethod\n    def forward(ctx, x): return x * 2\n"
    "    @staticmethod\n    def backward(ctx, g): return g\ny = F.apply(x)\n"
    "e = xp.autograd.graph.get_gradient_edge(y)\n(e, len(e), xp.autograd.grad(y.sum(), e))",
)

_UNSEEN: Final = """\
class F(xp.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        a, b = x.clone(), x.clone()
        ctx.mark_non_differentiable(b)
        ctx._materialize_non_diff_grads = {}
        return a, b
    @staticmethod
    def backward(ctx, a, b): return a * (2 if b is None else 3)
F.apply(x)[0].sum().backward()
x.grad"""

#: A graph in which what was saved changes afterwards, in one way or another.
_RECORDED: Final = (
    "y = x.clone()\nz = (y ** 2).sum()\n",
    "y = x.clone()\nv = y[1:]\nz = (v ** 2).sum() + (y ** 2).sum()\n",
    "y = x.clone()\nw = y.sin()\nz = (w * y).sum()\n",
)
_CHANGED: Final = (
    *("y.sin_()", "y[0] = 3", "y.view(2, 1).mul_(2)", "xp.add(xp.ones(2), 1, out=y.data)"),
    *("y.mul_(2)\n    y.mul_(2)", "y = y + 1", "xp._foreach_mul_([y], 2.0)"),
)

_FUNCTION: Final = (
    "class F(xp.autograd.Function):\n    @staticmethod\n    def forward(ctx, a): return a * 2\n"
    "    @staticmethod\n    def backward(ctx, g): return g\n"
)

#: Hooks of several tensors, and where backward goes.
_BACKWARDS: Final = (
    *("(c.sum() + d.sum()).backward()", "c.sum().backward()", "d.sum().backward(inputs=[y])"),
    *("c.sum().backward(inputs=[x])", "c.backward(xp.ones(2), inputs=[c])"),
    "c.sum().backward(retain_graph=True)\nd.sum().backward()",
)


#: Hooks of a leaf, of which each sees what the one before has left.
_OF_LEAVES: Final = (
    *("lambda t: seen.append(t.grad)", "lambda t: t.grad", "lambda t: 1", "lambda t: t"),
    *("lambda t: t.grad.double()", "lambda t: xp.ones(3)"),
)
#: What arrives at the leaf, if anything.
_ARRIVES: Final = (
    "",
    "y.grad_fn.register_hook(lambda new, old: (None,) * len(new))\n",
    "y.grad_fn.register_prehook(lambda old: (None,))\n",
    "x.requires_grad_(False)\n",
)
#: What a hook may answer that is of another type.
_OTHER_TYPES: Final = (
    *("g.to('meta')", "g.double()", "g.to_sparse()", "g.to(xp.complex64)", "g[:1]", "g.bool()"),
)
_HOOKED: Final = (
    "x.register_hook(lambda g: {})",
    "y.grad_fn.register_hook(lambda i, o: ({}, None))",
)


def _hooks() -> Iterator[Text]:
    for one, two, arrives in product(_OF_LEAVES, _OF_LEAVES, _ARRIVES):
        hooks = "".join(f"x.register_post_accumulate_grad_hook({hook})\n" for hook in (one, two))
        yield (
            "hooks",
            f"{_X}y = x * 2\nseen = []\n{arrives}{hooks}y.sum().backward()\n(seen, x.grad)",
        )
    for hooked, answer in product(_HOOKED, _OTHER_TYPES):
        shown = answer if "lambda g" in hooked else answer.replace("g", "i[0]", 1)
        yield "hooks", f"{_X}y = x * 2\n{hooked.format(shown)}\ny.sum().backward()\nx.grad"


#: What nodes do not let be done with them.
_REFUSED: Final = ("deepcopy({})", "{}._register_hook_dict({{}})", "deepcopy([{}])")
_NODES: Final = ("x.exp()", "x.t()", "x.view(2)", "F.apply(x)", "x.unbind()[0]", "xp.cat([x, x])")


def texts() -> Iterator[Text]:
    yield from _hooks()
    for made, refused in product(_NODES, _REFUSED):
        yield "nodes", f"{_X}{_FUNCTION}node = {made}.grad_fn\n{refused.format('node')}"
    for pack, recorded, asked in product(_PACKS, _TWICE, _ASKED):
        yield "saved", f"{_X}with {_HOOKS.format(pack)}:\n    {_indented(recorded)}\n{asked}"
    for text in (*_SAVED, *_EDGES, *map(_UNSEEN.format, ("True", "False"))):
        yield "graph", _X + text
    allowed = "xp.autograd.graph.allow_mutation_on_saved_tensors()"
    for recorded, changed in product(_RECORDED, _CHANGED):
        program = f"with {allowed}:\n    {_indented(recorded)}\n    {changed}\n    z.backward()"
        yield "allow_mutation_on_saved_tensors", f"{_X}{program}\n(x.grad, y)"
    yield "allow_mutation_on_saved_tensors", f"with {allowed}:\n    with {allowed}: pass"
    yield (
        "allow_mutation_on_saved_tensors",
        f"{_X}with {allowed}: y = x.clone()\n{_indented('z = (y ** 2).sum()', 0)}\nz.backward()",
    )
    yield (
        "allow_mutation_on_saved_tensors",
        f"{_X}with {allowed}: z = (x ** 2).sum()\nz.backward()",
    )
    made = f"{_X}y = xp.ones(2, requires_grad=True)\nc, d = x * y, x * y\nseen = []\n"
    for mode, backward in product(("", ", mode='all'", ", mode='any'"), _BACKWARDS):
        hook = f"xp.autograd.graph.register_multi_grad_hook((x, y, c, d), seen.append{mode})\n"
        yield "register_multi_grad_hook", f"{made}h = {hook}{backward}\nseen"
    yield (
        "register_multi_grad_hook",
        f"{made}h = xp.autograd.graph.register_multi_grad_hook((x, c), seen.append)\nh.remove()\n"
        "c.sum().backward()\nseen",
    )
    for wrong in (
        "(x,), seen.append, mode='some'",
        "(xp.ones(1),), seen.append",
        "(), seen.append",
    ):
        yield (
            "register_multi_grad_hook",
            f"{made}xp.autograd.graph.register_multi_grad_hook({wrong})\nx.sum().backward()\nseen",
        )


def _indented(text: str, depth: int = 1) -> str:
    return text.strip().replace("\n", "\n" + "    " * depth)
