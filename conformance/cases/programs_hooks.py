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

#: Hooks of all modules; each is taken back at the end.
_OF_ALL: Final = (
    "forward_pre_hook(lambda m, i: told.append((type(m).__name__, i)))",
    "forward_pre_hook(lambda m, i: i[0] * 2)",
    "forward_hook(lambda m, i, o: told.append((type(m).__name__, o)))",
    "forward_hook(lambda m, i, o: o * 2)",
    "forward_hook(lambda m, i, o: told.append('always'), always_call=True)",
    "full_backward_hook(lambda m, i, o: told.append((type(m).__name__, i, o)))",
    "full_backward_hook(lambda m, i, o: tuple(g and g * 2 for g in i))",
    "full_backward_pre_hook(lambda m, o: told.append((type(m).__name__, o)))",
    "parameter_registration_hook(lambda m, name, p: told.append(name))",
    "parameter_registration_hook(lambda m, name, p: xp.nn.Parameter(p * 2))",
    "buffer_registration_hook(lambda m, name, b: told.append((name, b)))",
    "buffer_registration_hook(lambda m, name, b: b + 1)",
    "module_registration_hook(lambda m, name, n: told.append((name, type(n).__name__)))",
    "module_registration_hook(lambda m, name, n: xp.nn.Identity())",
)
_SEEN_BY_ALL: Final = (
    "m(x).sum().backward()",
    "m(1)",
    "m.gain = xp.nn.Linear(2, 1)",
    "m.register_buffer('c', xp.zeros(1))",
    "m.add_module('d', xp.nn.Tanh())",
    "m.gain = xp.nn.Parameter(xp.ones(1))",
    "xp.nn.Sequential(m, xp.nn.ReLU())",
)
#: Modules at paths, and hooks of states.
_OF_MODULES: Final = (
    *(
        f"m.set_submodule({given})\nm"
        for given in (
            *("'0', xp.nn.ReLU()", "'1.0', xp.nn.ReLU()", "'5', xp.nn.ReLU()", "'', xp.nn.ReLU()"),
            *("'5', xp.nn.ReLU(), strict=True", "'0', 1", "'a.b', xp.nn.ReLU()"),
            "'0.weight', xp.nn.ReLU()",
        )
    ),
    "m.register_state_dict_post_hook(lambda m, s, p, l: s.clear())\nm.state_dict()",
    "m.register_state_dict_post_hook(lambda m, s, p, l: s)\nm.state_dict()",
    "def hook(m, s, p, l): pass\nm.register_state_dict_post_hook(hook)\n"
    "m._register_state_dict_hook(hook)",
    *("m.forward(x=1)", "xp.nn.Module()(1, k=2)", "xp.nn.Module().forward()"),
)


def _of_all() -> Iterator[Text]:
    for hook, seen in product(_OF_ALL, _SEEN_BY_ALL):
        yield (
            "hooks of all modules",
            "xp.manual_seed(3)\nm = xp.nn.Sequential(xp.nn.Linear(2, 2), xp.nn.BatchNorm1d(2))\n"
            f"told = []\nh = xp.nn.modules.module.register_module_{hook}\n"
            f"x = xp.tensor([[1.0, 2.0], [3.0, 0.0]], requires_grad=True)\n"
            f"try:\n    {seen}\nfinally:\n    h.remove()\n(told, x.grad, m, m.state_dict())",
        )
    for use in _OF_MODULES:
        made = "m = xp.nn.Sequential(xp.nn.Linear(2, 2), xp.nn.Sequential(xp.nn.Tanh()))"
        yield "modules at paths", f"xp.manual_seed(3)\n{made}\n{use}"


def texts() -> Iterator[Text]:
    yield from _of_all()
    for layer, hook, given, use in product(_LAYERS, _HOOKS, _INPUTS, _USES):
        if use == _USES[0] or hook == _HOOKS[0]:
            made = f"xp.manual_seed(3)\nm = {layer}\ntold = []"
            yield "hooks", f"{made}\n{hook}\nx = {given}\n{use}"
