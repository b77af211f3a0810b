"""Optimizers for the area programs: their options, groups, steps, states and hooks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_HEAD: Final = (
    "o = xp.optim\n"
    "p, q = xp.nn.Parameter(xp.tensor([1.0, -2.0])), xp.ones(1, requires_grad=True)\n"
    "p.grad, q.grad = xp.tensor([0.5, -3.0]), xp.tensor([2.0])\n"
)
_NAMES: Final = ("SGD", "Adam", "AdamW")
_OPTIONS: Final = (
    *("", "maximize=True", "foreach=True", "fused=True", "differentiable=True"),
    *("weight_decay=0.1", "weight_decay=0", "weight_decay=0.1, fused=True"),
    *("fused=True, foreach=True", "fused=True, differentiable=True", "foreach=False"),
    *("lr=xp.tensor(0.1)", "lr=xp.tensor([0.1])", "lr=xp.tensor([0.1, 0.1])", "lr=xp.tensor(-1.0)"),
    *("lr=xp.tensor(0.1), foreach=True", "lr=0.1, fused=True, maximize=True"),
)
_OF_ADAM: Final = (
    *("amsgrad=True", "amsgrad=True, maximize=True", "amsgrad=True, fused=True"),
    *("capturable=True", "capturable=True, foreach=True", "capturable=True, fused=True"),
    *("decoupled_weight_decay=True", "decoupled_weight_decay=True, weight_decay=0.1", "nosuch=1"),
    *("betas=(xp.tensor(0.9), 0.99)", "betas=(xp.tensor(0.9), xp.tensor([0.9, 0.9]))"),
    *("betas=[0.9, 0.99]", "betas=(0.9, 1)", "betas=(xp.tensor(0.9), xp.tensor(0.99))"),
)
_OF_SGD: Final = (
    *("momentum=0.9", "momentum=0.9, nesterov=True", "momentum=0.9, fused=True"),
    *("momentum=0.9, dampening=0.5", "momentum=0.9, foreach=True, weight_decay=0.1"),
    "momentum=0.9, nesterov=True, foreach=True",
    "momentum=0.5, dampening=0.1, foreach=True, maximize=True, weight_decay=0.1",
)
_STEPPED: Final = (
    "a.step()\na.step()\n"
    "[t.grad for t in (p, q)], [t.detach() for t in (p, q)], p._version, q._version, "
    "[[(k, s, s._version) for k, s in v.items()] for v in a.state.values()]"
)
_USES: Final = (
    _STEPPED,
    "repr(a), list(a.state_dict()['param_groups'][0].items())",
)
_GROUPS: Final = (
    *("[p, p]", "[{'params': [p, p]}]", "[{'params': [p]}, q]", "[{'params': [p]}, 3]"),
    *("[('a', p), ('b', q)]", "[('a', p), q]", "[p, ('b', q)]", "[('a', p, 1)]", "[('a', 3)]"),
    *("[{'params': [('a', p)]}, {'params': [q]}]", "[{'params': [p]}, {'params': [('b', q)]}]"),
    *("[{'params': [('a', p)]}, {'params': [('b', q)]}]", "xp.nn.Linear(1, 1).named_parameters()"),
    *("{'a': p}", "[[p]]", "[{'lr': 1}]", "iter([p, q])", "None", "[p * 2]"),
)
_OTHERS: Final = (
    "a = o.AdamW([p])\na.param_groups.clear()\nrepr(a)",
    *(f"o.{name}([p], 0.1, foreach=True, differentiable=True).step()" for name in _NAMES),
    *(
        f"a = o.{name}([p], 0.1)\na.register_step_pre_hook(lambda *given: ((lambda: 5,), {{}}))\n"
        "a.step()"
        for name in _NAMES
    ),
    *(
        f"a = o.{name}([p], 0.1)\na.register_step_pre_hook(lambda *given: 1)\na.step()"
        for name in _NAMES
    ),
    "a = o.SGD([p], 0.1, momentum=0.9, differentiable=True)\n"
    "try: a.step()\nexcept RuntimeError: pass\na.state_dict()",
    "a = o.SGD([p, p], 0.1, weight_decay=0.1, foreach=True)\na.step()\np.detach()",
    "o.Optimizer([p], {}).step()",
    "o.Optimizer([p], {'x': 1}).param_groups[0]['x']",
    "isinstance(o.AdamW([p]), o.Adam), o.AdamW.__module__.split('.')[1:]",
    "g = {'params': p}\na = o.SGD([g])\nsorted(g), a.param_groups[0] is g",
    "r = p.clone()\nr.retain_grad()\nr.sum().backward()\na = o.SGD([r], 0.1)\na.step()\nr",
    "r = p.clone()\nr.grad = xp.ones(2)\na = o.SGD([r], 0.1, differentiable=True)\na.step()\n"
    "r, type(r.grad_fn).__name__",
    "r = p.clone()\nr.grad = xp.ones(2)\na = o.AdamW([r], 0.1, differentiable=True)\na.step()\n"
    "r, type(r.grad_fn).__name__",
    "r = p.clone()\nr.grad = xp.ones(2)\n"
    "a = o.Adam([r], 0.1, differentiable=True, amsgrad=True)\na.step()\nr, a.state[r]['step']",
    "z = xp.ones(2, device='meta', requires_grad=True)\nz.grad = xp.ones(2, device='meta')\n"
    "o.AdamW([z], fused=True).step()",
    "z = xp.ones(2, device='meta', requires_grad=True)\nz.grad = xp.ones(2, device='meta')\n"
    "o.SGD([z], fused=True).step()",
    "z = xp.ones(2, dtype=xp.complex64, requires_grad=True)\nz.grad = z.detach() * 1j\n"
    "a = o.AdamW([z], 0.1, amsgrad=True)\na.step()\na.step()\nz, list(a.state[z].values())",
)
_STATES: Final = (
    "a.state_dict()",
    "a.step()\na.state_dict()",
    "s = a.state_dict()\ns['state'] = {7: 'a', 'x': 3}\na.load_state_dict(s)\ndict(a.state)",
    "s = a.state_dict()\ns['state'] = {0: {'x': [1, 2], 'y': (p.detach().double(),)}}\n"
    "a.load_state_dict(s)\nlist(a.state.values())",
    "s = a.state_dict()\ns['state'] = {1: 5}\na.load_state_dict(s)\nlist(a.state.values())",
    "s = a.state_dict()\ns['param_groups'][0]['lr'] = 7\na.load_state_dict(s)\na",
    "s = a.state_dict()\ns['param_groups'][0].pop('maximize')\na.load_state_dict(s)\na",
    "s = a.state_dict()\ns['param_groups'][0]['params'] = [5, 3]\na.load_state_dict(s)\n"
    "a.state_dict()['param_groups'][0]['params'], a.param_groups[0]['params']",
    "a.load_state_dict({})",
    "a.load_state_dict({'param_groups': [], 'state': {}})",
    "a.load_state_dict({'param_groups': [{'params': [0]}], 'state': {}})",
)
_HOOKED: Final = (
    "a.register_step_pre_hook(lambda *g: told.append(g[1:]))\na.step()\ntold[0][1:]",
    "a.register_step_pre_hook(lambda s, g, k: (g + (lambda: 5,), k))\na.step()",
    "a.register_step_post_hook(lambda s, g, k: told.append((len(g), k, p.detach())))\n"
    "a.step(lambda: 3), told",
    "a.register_state_dict_pre_hook(lambda s: told.append(1))\n"
    "a.register_state_dict_pre_hook(lambda s: told.append(2), prepend=True)\n"
    "a.state_dict()\ntold",
    "a.register_state_dict_post_hook(lambda s, d: {'x': 1})\n"
    "a.register_state_dict_post_hook(lambda s, d: told.append(d))\na.state_dict(), told",
    "h = a.register_step_post_hook(lambda s, g, k: told.append(1))\nh.remove()\na.step()\ntold",
)


def texts() -> Iterator[Text]:
    for name in _NAMES:
        own = _OF_SGD if name == "SGD" else _OF_ADAM
        for options, use in product((*_OPTIONS, *own), _USES):
            for params in ("[p, q]",) if use == _USES[1] else ("[p]", "[p, q]"):
                yield "optimizers", f"{_HEAD}a = o.{name}({params}, {options})\n{use}"
        for params in _GROUPS:
            yield "optimizers", f"{_HEAD}a = o.{name}({params})\nrepr(a), a.state_dict()"
        for text in (*_STATES, *_HOOKED):
            yield "optimizers", f"{_HEAD}told, a = [], o.{name}([p, q], 0.1)\n{text}"
    for text in _OTHERS:
        yield "optimizers", _HEAD + text
