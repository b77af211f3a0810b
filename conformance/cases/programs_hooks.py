"""Programs whose modules tell hooks of their gradients, and hooks that answer others."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_LAYERS: Final = (
    "xp.nn.Linear(2, 2)",
    "xp.nn.Linear(2, 3, bias=False)",
    "xp.nn.LayerNorm(2)",
    "xp.nn.Tanh()",
    "xp.nn.ReLU(inplace=True)",
    "xp.nn.Sequential(xp.nn.Linear(2, 3), xp.nn.GELU())",
)
_HOOKS: Final = (
    "m.register_full_backward_hook(lambda m, i, o: told.append((i, o)))",
    "m.register_full_backward_pre_hook(lambda m, o: told.append(o))",
    "m.register_full_backward_hook(lambda m, i, o: [None if g is None else g * 3 for g in i])",
    "m.register_full_backward_pre_hook(lambda m, o: (o[0] * 3,))",
    "m.register_full_backward_hook(lambda m, i, o: (1, 2))",
    "m.register_full_backward_pre_hook(lambda m, o: ())",
    "m.register_full_backward_hook(lambda m, i, o: (None,))",
    "m.register_full_backward_hook(lambda m, i, o: told.append(1)).remove()",
    "m.register_full_backward_hook(lambda m, i, o: told.append(1))\n"
    "m.register_full_backward_hook(lambda m, i, o: told.append(2), prepend=True)",
    "m.register_full_backward_hook(lambda m, i, o: told.append(i))\n"
    "m.register_full_backward_pre_hook(lambda m, o: (o[0] * 2,))",
)
_INPUTS: Final = ("xp.ones(1, 2, requires_grad=True)", "xp.ones(1, 2)")
_USES: Final = (
    "m(x).sum().backward()\n(told, x.grad, [p.grad for p in m.parameters()])",
    "y = m(x)\n(type(y.grad_fn).__name__, y._is_view())",
    "y = m(x)\ny.mul_(2)",
)


def texts() -> Iterator[Text]:
    for layer, hook, given, use in product(_LAYERS, _HOOKS, _INPUTS, _USES):
        if use == _USES[0] or hook == _HOOKS[0]:
            made = f"xp.manual_seed(3)\nm = {layer}\ntold = []"
            yield "hooks", f"{made}\n{hook}\nx = {given}\n{use}"
