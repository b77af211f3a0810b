"""Programs for the area ``autograd``: operations, views, changes in place, and backward.

A program has a few leaves and steps that name earlier results.  The generator knows shapes, so
that most steps are possible; what a step is refused for ends the program and is its outcome.

Steps compute what floats hold exactly, but for quotients: sums that cancel would make a difference
in the last digit one that no tolerance knows.  What is put into a tensor is a copy, since of memory
that overlaps the result hangs on how many elements a processor takes at once.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

Shape = tuple[int, ...]

_LEAVES: Final = (
    ("xp.tensor([[1.0, 2.0, 3.0], [4.0, 0.5, 2.0]], requires_grad=True)", (2, 3)),
    ("xp.tensor([0.5, 1.5, 2.5], requires_grad=True)", (3,)),
    ("xp.tensor(2.0, requires_grad=True)", ()),
    ("xp.tensor([[1.0, 2.0], [3.0, 4.0]])", (2, 2)),
    ("xp.tensor([[3.0, 1.0, 2.0], [0.5, 1.0, 4.0]], dtype=xp.float64, requires_grad=True)", (2, 3)),
)

_SAME: Final = (
    *("{} * 2", "{} + 1", "-{}", "{}.reciprocal()", "{}.abs()", "{} ** 2", "{} * {}", "{} / {}"),
    *("{}.clone()", "{}.detach()", "{} / 2", "1 - {}", "{}.relu()", "{} - 1", "{}.view_as({})"),
    *("xp.where({} > 1, {}, {} * 2)", "{}.clamp(max=2.0)", "{}.neg()", "{}.square()"),
)
_CHANGES: Final = (
    *("{}.add_(1)", "{}.mul_(2)", "{}.neg_()", "{}.zero_()", "{}.sub_(0.5)", "{}.div_(2)"),
    *("{}.fill_(1.5)", "{}.relu_()", "{}.pow_(2)", "{}.abs_()", "{}.clamp_(min=0.5)"),
)


def _view(generator: random.Random, shape: Shape) -> tuple[str, Shape]:
    """A view and the shape that it has."""
    rank = len(shape)
    choices: list[Callable[[], tuple[str, Shape]]] = [
        lambda: ("{}.unsqueeze(0)", (1, *shape)),
        lambda: ("{}[...]", shape),
        lambda: ("{}.expand(2, *{}.shape)", (2, *shape)),
        lambda: ("{}.view(-1)", (_count(shape),)),
    ]
    if rank:
        dim = generator.randrange(rank)
        size = shape[dim]
        place = generator.randrange(size) if size else 0
        less = (*shape[:dim], *shape[dim + 1 :])
        part = (*shape[:dim], max(size - 1, 0), *shape[dim + 1 :])
        choices += [
            lambda: (f"{{}}.select({dim}, {place})", less),
            lambda: (f"{{}}.unbind({dim})[{place}]", less),
            lambda: (f"{{}}.narrow({dim}, 0, {max(size - 1, 0)})", part),
            lambda: (f"{{}}.split(1, {dim})[0]", (*shape[:dim], 1, *shape[dim + 1 :])),
            lambda: ("{}[0:1]", (1, *shape[1:])),
            lambda: (f"{{}}.transpose({dim}, 0)", _swapped(shape, dim)),
        ]
    if rank == 2:
        choices += [
            lambda: ("{}.t()", (shape[1], shape[0])),
            lambda: ("{}.diagonal()", (min(shape),)),
            lambda: ("{}.permute(1, 0)", (shape[1], shape[0])),
        ]
    return generator.choice(choices)()


def _count(shape: Shape) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _swapped(shape: Shape, dim: int) -> Shape:
    sizes = list(shape)
    sizes[0], sizes[dim] = sizes[dim], sizes[0]
    return tuple(sizes)


def _reduced(generator: random.Random, shape: Shape) -> tuple[str, Shape]:
    if not shape:
        return "{}.sum()", ()
    dim = generator.randrange(len(shape))
    less = (*shape[:dim], *shape[dim + 1 :])
    kept = (*shape[:dim], 1, *shape[dim + 1 :])
    return generator.choice(
        [("{}.sum()", ()), (f"{{}}.sum({dim})", less), (f"{{}}.mean({dim}, True)", kept)]
    )


def _fits(one: Shape, two: Shape) -> bool:
    """Whether ``two`` broadcasts to ``one``."""
    pairs = zip(reversed(one), reversed(two), strict=False)
    return len(two) <= len(one) and all(b in (1, a) for a, b in pairs)


class Writer:
    """Lines, and the shape of every name."""

    def __init__(self, generator: random.Random) -> None:
        self.generator = generator
        self.lines: list[str] = []
        self.shapes: dict[str, Shape] = {}

    def define(self, expression: str, shape: Shape, margin: str = "") -> str:
        name = f"t{len(self.shapes)}"
        self.lines.append(f"{margin}{name} = {expression}")
        self.shapes[name] = shape
        return name

    def pick(self) -> str:
        """A name; the later ones more often."""
        names = list(self.shapes)
        return self.generator.choice(names + names[len(names) // 2 :])

    def step(self) -> None:
        kind = self.generator.random()
        name = self.pick()
        shape = self.shapes[name]
        margin = ""
        if kind > 0.93:
            mode = self.generator.choice(["no_grad", "enable_grad", "no_grad", "inference_mode"])
            self.lines.append(f"with xp.{mode}():")
            margin, kind = "    ", kind % 0.3 + 0.1
        if kind < 0.25:
            expression, new = _view(self.generator, shape)
            self.define(expression.replace("{}", name), new, margin)
        elif kind < 0.45:
            change = self.generator.choice(_CHANGES)
            self.lines.append(margin + change.replace("{}", name))
        elif kind < 0.6:
            self.define(self.generator.choice(_SAME).replace("{}", name), shape, margin)
        elif kind < 0.7:
            expression, new = _reduced(self.generator, shape)
            self.define(expression.replace("{}", name), new, margin)
        else:
            self.pair(name, kind < 0.82)

    def pair(self, name: str, in_place: bool) -> None:
        """Two tensors that fit each other."""
        shape = self.shapes[name]
        fitting = [other for other, of in self.shapes.items() if _fits(shape, of)]
        other = self.generator.choice(fitting)
        if in_place:
            change = self.generator.choice(["add_", "mul_", "copy_", "sub_"])
            self.lines.append(f"{name}.{change}({other}.clone())")
            return
        mark = self.generator.choice(["+", "*", "-"])
        self.define(f"{name} {mark} {other}", shape)

    def finish(self) -> None:
        last = list(self.shapes)[-1]
        loss = self.generator.choice([last, self.pick()])
        leaves = [line.partition(" ")[0] for line in self.lines if "requires_grad=True" in line]
        everything = ", ".join(self.shapes)
        state = f"[(t, t._version, t.is_leaf, t.grad_fn, t._is_view()) for t in [{everything}]]"
        grads = ", ".join(f"{leaf}.grad" for leaf in leaves)
        ending = self.generator.random()
        if ending < 0.2:
            self.lines.append(state)
        elif ending < 0.85:
            self.lines.append(f"{loss}.sum().backward()")
            self.lines.append(f"[{grads}]" if ending < 0.7 else f"[{grads}], {state}")
        else:
            wanted = f"[{', '.join(leaves)}]"
            options = "create_graph=True, allow_unused=True"
            self.lines.append(f"xp.autograd.grad({loss}.sum(), {wanted}, {options})")


def program(generator: random.Random) -> str:
    """The text of one."""
    writer = Writer(generator)
    for leaf in generator.sample(_LEAVES, generator.randint(1, 2)):
        writer.define(*leaf)
    if generator.random() < 0.7:
        writer.define(f"{writer.pick()}.clone()", writer.shapes["t0"])
        first = writer.lines[-1].partition("= ")[2].partition(".")[0]
        writer.shapes[f"t{len(writer.shapes) - 1}"] = writer.shapes[first]
    for _ in range(generator.randint(2, 7)):
        writer.step()
    writer.finish()
    return "\n".join(writer.lines)


_X: Final = "x = xp.tensor([1.0, 2.0], requires_grad=True)\n"

HOOKS: Final = tuple(
    _X + text
    for text in (
        "seen = []\nx.register_hook(seen.append)\n(x * x).sum().backward()\n(seen, x.grad)",
        "seen = []\ny = x * x\ny.register_hook(seen.append)\ny.sum().backward()\n(seen, x.grad)",
        "x.register_hook(lambda g: g * 2)\n(x * x).sum().backward()\nx.grad",
        "y = x * x\ny.register_hook(lambda g: g * 2)\ny.sum().backward()\nx.grad",
        "h = x.register_hook(lambda g: g * 2)\nh.remove()\n(x * x).sum().backward()\nx.grad",
        "x.register_hook(lambda g: 1)\n(x * x).sum().backward()\nx.grad",
        "x.register_hook(lambda g: g.double())\n(x * x).sum().backward()\nx.grad",
        "x.register_hook(lambda g: g.sum())\n(x * x).sum().backward()\nx.grad",
        "x.register_hook(lambda: 1)\n(x * x).sum().backward()\nx.grad",
        "def hook(g):\n    raise ValueError('stop')\nx.register_hook(hook)\n"
        "(x * x).sum().backward()",
        "y = x * x\ny.retain_grad()\ny.sum().backward()\n(y.grad, y.retains_grad, x.grad)",
        "y = x * x\ny.retain_grad()\ny.mul_(2)\ny.sum().backward()\n(y.grad, x.grad)",
        "y = x * x\ny.retain_grad()\nz = y * 2\nz.retain_grad()\nz.sum().backward()\n"
        "(y.grad, z.grad)",
        "y = x * x\ny.retain_grad()\ny.sum().backward(retain_graph=True)\n"
        "y.sum().backward()\ny.grad",
        "y = x * x\ny.grad_fn.register_hook(lambda i, o: tuple(g * 2 for g in i))\n"
        "y.sum().backward()\nx.grad",
        "y = x * x\ny.grad_fn.register_hook(lambda i, o: (None,))\ny.sum().backward()\nx.grad",
        "y = x * x\ny.grad_fn.register_hook(lambda i, o: 1)\ny.sum().backward()\nx.grad",
        "y = x * x\ny.grad_fn.register_prehook(lambda o: (o[0] * 3,))\ny.sum().backward()\nx.grad",
        "y = x * x\ny.grad_fn.register_prehook(lambda o: ())\ny.sum().backward()\nx.grad",
        "y = x * x\nseen = []\ny.grad_fn.register_hook(lambda i, o: seen.append((i, o)))\n"
        "y.sum().backward()\nseen",
        "x.register_post_accumulate_grad_hook(lambda t: None)\n(x * x).sum().backward()\nx.grad",
        "x.register_post_accumulate_grad_hook(lambda t: 1)\n(x * x).sum().backward()\nx.grad",
        "def hook(t):\n    t.grad = None\nx.register_post_accumulate_grad_hook(hook)\n"
        "(x * x).sum().backward()\nx.grad",
        "y = x * x\ny.grad_fn(xp.ones(2))",
        "y = x * x\ny.grad_fn(xp.ones(2), xp.ones(2))",
        "y = x * x\ny.grad_fn(1)",
        "y = x * x\ny.grad_fn(None)",
        "y = x.sum()\ny.grad_fn(xp.ones(()))",
        "y = x * x\ny.grad_fn.next_functions[0][0].variable is x",
        "y = x * x\ny.grad_fn.next_functions[0][0].name()",
        "y = x * x\ny.grad_fn._sequence_nr() < (y * 2).grad_fn._sequence_nr()",
        "y = x * x\n(x.grad_fn, y.grad_fn.next_functions[0][0] is y.grad_fn.next_functions[1][0])",
        "y = x * x\nz = x.exp()\ny.grad_fn.next_functions[0][0] is z.grad_fn.next_functions[0][0]",
        "with xp.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):\n    y = x * x\n"
        "y.sum().backward()\nx.grad",
        "with xp.autograd.graph.saved_tensors_hooks(lambda t: 1, lambda t: 1):\n    y = x * x\n"
        "y.sum().backward()\nx.grad",
        "with xp.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):\n"
        "    y = x.exp()\ny",
        "y = x.exp()\ny.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t * 2)\n"
        "y.sum().backward()\nx.grad",
        "y = x * 2\ny.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)\ny",
        "with xp.autograd.graph.disable_saved_tensors_hooks('no'):\n"
        "    with xp.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):\n        x * x",
        "xp.autograd.graph.increment_version(x)\nx._version",
        "y = x * x\nxp.autograd.graph.increment_version(x)\ny.sum().backward()",
        "y = x * x\nx.data.mul_(2)\ny.sum().backward()\n(x.grad, x._version)",
        "y = x * x\nx.detach().mul_(2)\ny.sum().backward()\nx.grad",
        "y = x * x\nz = y.detach()\nz.mul_(2)\n(y, y._version, z._version, z._is_view())",
        "with xp.autograd.set_detect_anomaly(True):\n    y = (x * 0 / 0).sum()\n"
        "    y.backward()\nx.grad",
        "y = x.exp()\ny.mul_(2)\nwith xp.autograd.set_detect_anomaly(True):\n"
        "    y.sum().backward()",
    )
)

_THREADS: Final = (
    *("with xp.inference_mode():", "with xp.inference_mode(False):", "with xp.no_grad():"),
    *(f"with xp.autograd.set_multithreading_enabled({on}):" for on in (True, False)),
)

MODES: Final = tuple(
    _X + text
    for text in (
        "with xp.no_grad():\n    y = x * 2\n(y.requires_grad, xp.is_grad_enabled())",
        "with xp.no_grad():\n    with xp.enable_grad():\n        y = x * 2\n"
        "(y, xp.is_grad_enabled())",
        "with xp.set_grad_enabled(False):\n    y = x * 2\ny",
        "xp.set_grad_enabled(False)\ny = x * 2\nxp.set_grad_enabled(True)\n(y, x * 2)",
        "xp.set_grad_enabled(1)",
        "xp.set_grad_enabled(True)",
        "f = xp.no_grad()(lambda t: t * 2)\nf(x)",
        "f = xp.no_grad(lambda t: t * 2)\nf(x)",
        "f = xp.inference_mode(lambda t: t * 2)\ny = f(x)\n(y, y.is_inference())",
        "f = xp.enable_grad(lambda t: t * 2)\nwith xp.no_grad():\n    y = f(x)\ny",
        "f = xp.set_grad_enabled(False)(lambda t: t * 2)\n(f(x), xp.is_grad_enabled())",
        "try:\n    with xp.no_grad():\n        1 / 0\nexcept ZeroDivisionError:\n    pass\n"
        "xp.is_grad_enabled()",
        "with xp.inference_mode():\n    y = x * 2\n(y, y.is_inference(), y.requires_grad)",
        "with xp.inference_mode():\n    y = x * 2\ny * x",
        "with xp.inference_mode():\n    y = x * 2\ny.mul_(2)",
        "with xp.inference_mode():\n    y = x * 2\ny.requires_grad_()",
        "with xp.inference_mode():\n    y = x * 2\ny.requires_grad = True",
        "with xp.inference_mode():\n    y = x * 2\nz = y.view(2)\n(z._base, z._is_view(), z + x)",
        "with xp.inference_mode():\n    y = x.view(2)\n(y.is_inference(), y._base is x, y.grad_fn)",
        "with xp.inference_mode():\n    y = x.view(2)\ny.mul_(2)",
        "with xp.inference_mode():\n    y = xp.ones(2)\n    y.mul_(2)\n    z = y._version",
        "with xp.inference_mode():\n    x.mul_(2)\n(x, x._version)",
        "with xp.inference_mode():\n    with xp.inference_mode(False):\n        y = x * 2\ny",
        "with xp.inference_mode(False):\n    y = x * 2\ny",
        *(
            f"{outer}\n    {inner}\n        seen = xp.autograd.is_multithreading_enabled()\n"
            "(seen, xp.autograd.is_multithreading_enabled())"
            for outer in _THREADS
            for inner in _THREADS
        ),
        "with xp.inference_mode():\n"
        "    y = (xp.is_grad_enabled(), xp.is_inference_mode_enabled())\ny",
        "with xp.no_grad():\n    y = x.view(2)\n(y, y.requires_grad, y.grad_fn, y.is_leaf)",
        "with xp.no_grad():\n    y = x.view(2)\n    y.mul_(2)\n(x, y, x._version)",
        "with xp.no_grad():\n    x.mul_(2)\n(x * x).sum().backward()\n(x.grad, x._version)",
        "y = x * 2\nwith xp.no_grad():\n    v = y[0]\nv.mul_(2)\ny",
        "y = x * 2\nwith xp.no_grad():\n    v = y[0]\ny.mul_(2)\nv.grad_fn",
        "y = x * 2\nwith xp.no_grad():\n    v = y[0]\ny.mul_(2)\nv",
        "y = x * 2\na, b = y.unbind()\na.mul_(2)",
        "y = x * 2\na, b = y.unbind()\ny.mul_(2)\na.grad_fn",
        "y = x * 2\na, b = y.unbind()\nwith xp.no_grad():\n    a.mul_(2)\n(y, a)",
        "y = x * 2\na, b = y.unbind()\nc = a.view(1)\nc.mul_(2)",
        "y = xp.ones(2)\na, b = y.unbind()\na.mul_(x[0])\na",
        "y = xp.ones(2)\na = y[0]\na.mul_(x[0])\n(y.grad_fn, a.grad_fn, y.requires_grad)",
        "y = xp.ones(2)\ny[0] = x[1]\ny.sum().backward()\nx.grad",
        "y = x.clone()\ny[0] = 3.0\n(y * y).sum().backward()\nx.grad",
        "y = x.clone()\ny[0:1] = y[1:2]\n(y * y).sum().backward()\nx.grad",
        "y = x.clone()\nv = y[0:1]\ny.mul_(2)\n(v * 3).sum().backward()\nx.grad",
        "y = x.clone()\nv = y.view(2, 1)\nw = v.t()\nw.mul_(x)\n"
        "(y.sum() + w.sum()).backward()\nx.grad",
        "y = x.clone()\nv = y.detach()\nv.mul_(2)\ny.exp().sum().backward()\n(x.grad, y._version)",
        "y = x.clone()\nz = y.exp()\nv = y.detach()\nv.mul_(2)\nz.sum().backward()\nx.grad",
        "y = x * x\ny.detach_()\n(y, y.grad_fn, y.is_leaf)",
        "y = x.view(2)\ny.detach_()",
        "y = x * x\nz = y * y\ny.detach_()\nz.sum().backward()",
        "y = (x * x).sum()\ny.backward()\ny.backward()",
        "y = (x + 1).sum()\ny.backward()\ny.backward()\nx.grad",
        "y = x.exp().sum()\ny.backward(retain_graph=True)\ny.backward()\nx.grad",
        "y = x * x\ny.sum().backward()\ny.grad_fn._saved_self",
        "(x * x).sum().backward(create_graph=True)\n(x.grad, x.grad.grad_fn)",
        "(x * x).sum().backward()\ng = x.grad\n(x * x).sum().backward()\n(g is x.grad, g)",
        "(x * 2).sum().backward(create_graph=True)\n(x.grad, x.grad.requires_grad)",
        "y = x * x\nx.data = xp.zeros(2)\ny.sum().backward()\nx.grad",
        "w = x[0]\nfor i in range(50):\n    w = w * 1.01\nw.backward()\nx.grad",
        "y = x * x\ny.sum().backward()\nx.grad.zero_()\n(y + 1, x.grad)",
    )
)
