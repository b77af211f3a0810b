"""Functions of the user for the area ``autograd``: ``forward``, ``backward``, and their context.

What a node answers when the tensor whose history it is has gone is left out: in older releases
Python's object outlives the node in C++.
"""

from __future__ import annotations

from itertools import product
from typing import Final

_X: Final = "x = xp.tensor([1.0, 2.0], requires_grad=True)\n"


def _function(forward: str, backward: str, more: str = "") -> str:
    """A class with these bodies; statements are separated by ``; ``."""

    def body(text: str) -> str:
        return "\n        ".join(text.split("; "))

    return (
        f"class F(xp.autograd.Function):\n{more}    @staticmethod\n    def forward(ctx, a, b=2):\n"
        f"        {body(forward)}\n    @staticmethod\n    def backward(ctx, *grads):\n"
        f"        {body(backward)}\n"
    )


_FORWARDS: Final = (
    "return a * b",
    "return a",
    "return a.view(2)",
    "return a, a * 2",
    "return a * 2, 3",
    "return 3",
    "return None",
    "return ()",
    "return [a]",
    "ctx.save_for_backward(a); return a * b",
    "ctx.save_for_backward(a, None); return a * b",
    "ctx.save_for_backward(1); return a * b",
    "out = a * 2; ctx.save_for_backward(out); return out",
    "ctx.mark_dirty(a); return a.mul_(2)",
    "ctx.mark_dirty(a); a.mul_(2); return a * 1",
    "ctx.mark_dirty(1); return a",
    "ctx.mark_dirty(a, 1.5); return a",
    "out = a * 2; ctx.mark_dirty(out); return out",
    "out = a > 1; ctx.mark_non_differentiable(out); return out",
    "out = a * 2; ctx.mark_non_differentiable(out); return out",
    "out = a * 2; ctx.mark_non_differentiable(out); return out, a * 3",
    "ctx.mark_non_differentiable(a); return a",
    "ctx.mark_non_differentiable(1); return a * 1",
    "ctx.mark_non_differentiable(a, 'b'); return a * 1",
    "ctx.set_materialize_grads(False); return a * 2, a * 3",
    "return a.long()",
    "return a.detach()",
    "ctx.seen = b; return a * ctx.seen",
    "raise ValueError('stop')",
    "return a.unbind()",
    "return a[0]",
)
_BACKWARDS: Final = (
    "return grads[0] * 2, None",
    "return grads[0] * 2",
    "return grads[0], grads[0]",
    "return grads[0], None, None",
    "return grads[0], None, 1",
    "return None, None",
    "return 1, None",
    "return grads[0].sum(), None",
    "return grads[0].double(), None",
    "return xp.ones(3), None",
    "return sum(ctx.saved_tensors), None",
    "return ctx.saved_tensors[0] * grads[0], None",
    "return (grads, ctx.needs_input_grad)",
    "raise ValueError('stop')",
)
_USES: Final = (
    "y = F.apply(x)\ny",
    "y = F.apply(x, 3.0)\n(y, y.grad_fn.name(), y.grad_fn.next_functions)",
    "y = F.apply(x.clone())\ny.sum().backward()\nx.grad",
    "y = F.apply(x.detach())\ny",
)

_SHORT: Final = (
    "F.apply(x, b=3)",
    "F.apply()",
    "F.apply(1)",
    "F.apply(x, x)",
    "F(x)",
    "F()(x)",
    "F.forward(None, x, 3)",
    "y = F.apply(x)\ny.sum().backward()\ny.sum().backward()",
    "y = F.apply(x)\ny.grad_fn.saved_tensors",
    "y = F.apply(x)\ny.sum().backward()\ny.grad_fn.saved_tensors",
    "y = F.apply(x)\n(y.grad_fn.needs_input_grad, y.grad_fn.metadata, y.grad_fn.requires_grad)",
    "y = F.apply(x)\ny.mul_(2)\ny.sum().backward()\nx.grad",
    "y = F.apply(x.clone())\nxp.autograd.grad(y.sum(), x, create_graph=True)",
    "y = F.apply(x.clone())\n(g,) = xp.autograd.grad(y.sum(), x, create_graph=True)\n"
    "xp.autograd.grad(g.sum(), x)",
    "with xp.no_grad():\n    y = F.apply(x)\ny",
    "y = F.apply(x)\ny.register_hook(lambda g: g * 5)\ny.sum().backward()\nx.grad",
    "y = F.apply(x)\ny.grad_fn.register_hook(lambda i, o: None)\ny.sum().backward()\nx.grad",
    "y = x.clone()\nv = y[0:1]\nF.apply(v)\n(y.grad_fn, v.grad_fn)",
    "y = x.clone()\nz = F.apply(y)\n(z is y, y._version, y.grad_fn)",
    "xp.autograd.Function.apply(x)",
    "class G(F):\n    pass\ny = G.apply(x)\ny.grad_fn",
    "y = F.apply(x)\n(F.__name__, y.grad_fn.name())",
)
_SIGNATURES: Final = ("a", "a, b", "a, b=2, c=3", "a, *, k=1", "a, **k", "*a", "a, /, b=2")
_KEYWORDS: Final = (
    *("a=x", "x, a=x", "x, b=1", "b=1", "b=1, a=x", "x, c=4", "x, 1, b=2", "x, k=1", "k=2"),
    *("x, ctx=3", "x, zz=1", "x, 1, 2, 3, c=1"),
)
#: A function whose signature is asked by calls with keywords, with and without ``setup_context``.
_BY_KEYWORDS: Final = (
    "class F(xp.autograd.Function):\n    @staticmethod\n    def forward({}): return xp.ones(2)\n"
    "{}    @staticmethod\n    def backward(ctx, *grads): return grads\n"
    "y = F.apply({})\ny.grad_fn.needs_input_grad"
)
_SETS_UP: Final = "    @staticmethod\n    def setup_context(ctx, inputs, output): pass\n"
_COMPLEX: Final = (
    "class F(xp.autograd.Function):\n    @staticmethod\n    def forward(ctx, a): return a * 2\n"
    "    @staticmethod\n    def backward(ctx, g): return {}\n"
    "z = xp.ones(2, dtype=xp.complex64, requires_grad=True)\n"
    "F.apply(z.clone()).abs().sum().backward({})\nz.grad"
)
#: Gradients of a complex tensor; some of what makes them warns.
_OF_COMPLEX: Final = ("g.long()", "g.real", "g.bool()", "g.to(xp.complex128)", "g.long() * 1j")

_ONCE: Final = (
    "back = xp.autograd.function.once_differentiable(lambda ctx, g: g * 2)\n"
    "class F(xp.autograd.Function):\n    @staticmethod\n    def forward(ctx, a):\n"
    "        return a * 2\n    @staticmethod\n    def backward(ctx, g):\n"
    "        return back(ctx, g)\n"
)
_SETUP: Final = (
    "class F(xp.autograd.Function):\n    @staticmethod\n    def forward(a, b=2):\n"
    "        return {}\n    @staticmethod\n    def setup_context(ctx, inputs, output):\n"
    "        ctx.save_for_backward({})\n    @staticmethod\n    def backward(ctx, g):\n"
    "        return g * 3, None\n"
)
_OF_TWO: Final = (
    "ctx.mark_dirty(a); return a.add_(b)",
    "ctx.mark_dirty(a); a.add_(b); return a, a * b",
    "ctx.mark_dirty(b); return b.mul_(a)",
    "out = a * 3; out.add_(b); ctx.mark_dirty(out); return out",
    "return a.add_(b)",
    "return a",
    "return b",
    "return a, b",
    "return a * b, a",
)
_INPUTS: Final = (
    *("x", "x.clone()", "x.clone().view_as(x)", "x.clone()[:]", "x.clone()[:1]", "x.detach()"),
    *("x.clone().split(1)[0]", "x.clone().unbind()[0]", "x.detach()[:]", "xp.nn.Parameter(x)"),
    *("x.as_subclass(K)", "x.clone().as_subclass(K)", "x.clone().t().view(2)"),
)
_USE_OF_TWO: Final = """\
class K(xp.Tensor): pass
b = xp.tensor([3.0, 4.0], requires_grad=True).clone()
b.retain_grad()
v = {}
made = F.apply(v, b)
made = made if isinstance(made, tuple) else (made,)
log = [(y is v, y is b, y._is_view(), y._version, y.grad_fn, str(type(y))) for y in made]
sum([y.sum() for y in made]).backward()
(log, x.grad, b.grad)"""
_EMPTY: Final = (
    "class F(xp.autograd.Function):\n    pass\n",
    "class F(xp.autograd.Function):\n    @staticmethod\n    def forward(ctx, a):\n"
    "        return a * 2\n",
)

_ATTRIBUTES: Final = (
    *("next_functions", "name()", "metadata", "saved_tensors", "requires_grad", "needs_input_grad"),
    *("register_hook(str)", "register_prehook(str)", "_register_hook_dict(x)"),
    *("maybe_clear_saved_tensors()", "maybe_clear_saved_tensors(1)", "saved_for_forward"),
    *("_register_hook_dict(1)", "dirty_tensors", "materialize_grads"),
)
_BARE: Final = ("F()", "xp._C._FunctionBase()", "y.grad_fn")

FUNCTIONS: Final = (
    *(
        f"{_X}x.register_hook(lambda g: g)\n"
        + _function("ctx.save_for_backward(a); return a * b", "return grads[0], None")
        + f"y = F.apply(x)\nbare = {bare}\nstr(bare.{attribute}).split(' at 0x')[0]"
        for bare, attribute in product(_BARE, _ATTRIBUTES)
    ),
    *(
        _X
        + _function(
            "ctx.save_for_backward(a); return a * b",
            "log.append(ctx.maybe_clear_saved_tensors()); log.append(len(ctx.saved_tensors)); "
            "return grads[0], None",
        )
        + f"log = []\ny = F.apply(x)\ny.sum().backward(retain_graph={kept})\nlog"
        for kept in (True, False)
    ),
    *(
        _X + _function(forward, backward) + use
        for forward, backward, use in product(_FORWARDS, _BACKWARDS, _USES)
    ),
    *(
        _X + _function(forward, "return grads[0] * 2, None") + use
        for forward, use in product(_FORWARDS, _SHORT)
    ),
    *(
        _X + _function(forward, "return sum(grads), sum(grads) * 2") + _USE_OF_TWO.format(given)
        for forward, given in product(_OF_TWO, _INPUTS)
    ),
    *(
        _X + _ONCE + use
        for use in (
            "F.apply(x).sum().backward()\nx.grad",
            "(g,) = xp.autograd.grad(F.apply(x).sum(), x, create_graph=True)\n(g, g.grad_fn)",
            "y = F.apply(x * x)\n(g,) = xp.autograd.grad((y * y).sum(), x, create_graph=True)\n"
            "g.sum().backward()",
        )
    ),
    *(
        _X
        + _ONCE.replace("g * 2", answer)
        + "xp.autograd.grad(F.apply(x).sum(), x, create_graph=True)"
        for answer in ("[g]", "(g,)", "1", "None", "(g, None)", "g.long()")
    ),
    *(
        _X + _BY_KEYWORDS.format(f"ctx, {signature}", "", given)
        for signature, given in product(_SIGNATURES, _KEYWORDS)
    ),
    *(
        _X + _BY_KEYWORDS.format(signature, _SETS_UP, given)
        for signature, given in product(_SIGNATURES, _KEYWORDS)
    ),
    *(
        _COMPLEX.format(answer, options)
        for answer, options in product(_OF_COMPLEX, ("", "create_graph=True"))
    ),
    *(
        _X + _SETUP.format(returned, saved) + use
        for returned, saved, use in product(
            ("a * b", "a", "(a, a * 2)"),
            ("inputs[0]", "output", "*inputs"),
            ("F.apply(x)", "F.apply(x, b=3)", "F.apply(x).sum().backward()\nx.grad", "F.apply()"),
        )
    ),
    *(_X + empty + use for empty, use in product(_EMPTY, (*_USES, "F.apply(x).sum().backward()"))),
)
