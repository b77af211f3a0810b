"""Modules for the area programs: what they register, refuse, convert, call, save and load."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_HEAD: Final = (
    "nn = xp.nn\n"
    "class Net(xp.nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.branch = nn.Linear(2, 2)\n"
    "        self.gain = nn.Parameter(xp.ones(2))\n"
    "        self.register_buffer('tally', xp.ones(2))\n"
    "        self.register_buffer('unkept', xp.zeros(()), persistent=False)\n"
    "        self.rectify = nn.ReLU()\n"
    "    def forward(self, x, scale=1):\n"
    "        return self.rectify(x * self.gain * scale)\n"
    "m = Net()\n"
    "with xp.no_grad():\n    m.branch.weight.fill_(1), m.branch.bias.zero_()\n"
)
_PARTS: Final = (
    "[n for n, p in m.named_parameters()], [n for n, t in m.named_buffers()], "
    "list(m.state_dict()), repr(m)"
)

#: What is put where something else may be.
_ASSIGNED: Final = tuple(
    f"m.{name} = {value}"
    for name, value in product(
        ("branch", "gain", "tally", "unkept", "fresh"),
        (
            *("nn.Tanh()", "nn.Parameter(xp.zeros(1))", "xp.zeros(3)", "None", "3"),
            *("nn.Buffer(xp.zeros(3))", "nn.Buffer(xp.zeros(3), persistent=False)"),
        ),
    )
)
_REGISTERED: Final = tuple(
    f"m.{method}({name}, {value})"
    for (method, right), name in product(
        (
            ("register_parameter", "nn.Parameter(xp.zeros(1))"),
            ("register_buffer", "xp.zeros(1)"),
            ("add_module", "nn.Tanh()"),
            ("register_module", "nn.Tanh()"),
        ),
        (
            "'fresh'",
            "'x.y'",
            "''",
            "'train'",
            "3",
            "'branch'",
            "'gain'",
            "'tally'",
            "'training'",
            "None",
        ),
    )
    for value in (right, "None", "xp.ones(1)", "3")
)
_REFUSED: Final = (
    "m.register_parameter('x', m.gain * 2)",
    "m.fresh = nn.Buffer()",
    "del m.unkept\nm.unkept = xp.ones(1)",
    "del m.tally\nm.register_buffer('tally', xp.ones(1))",
    "del m.rectify\nm.rectify = nn.Tanh()",
)
#: What a module is asked, and what it is told to be.
_ASKED: Final = (
    *("m.get_parameter('gain')", "m.get_parameter('branch.weight')", "m.get_parameter('branch')"),
    *(
        "m.get_parameter('x.y')",
        "m.get_parameter('')",
        "m.get_buffer('tally')",
        "m.get_buffer('gain')",
    ),
    *("m.get_buffer('branch.b')", "m.get_submodule('branch.')", "m.get_submodule('')"),
    "m.call_super_init",
    *("m.get_extra_state()", "m.set_extra_state(1)", "nn.Module(1)", "nn.Module(x=1)"),
    "nn.Sequential(m, m)",
    "q = nn.ModuleList([m.branch, m.branch])\n"
    "[n for n, p in q.named_parameters(remove_duplicate=False)]",
    "q = nn.ModuleList([m.branch, m.branch])\n"
    "[n for n, p in q.named_modules(remove_duplicate=False)]",
    "m.fresh = m.tally\nm.register_buffer('b3', m.tally)\n"
    "[n for n, p in m.named_buffers(remove_duplicate=False)]",
    "class Shown(xp.nn.Module):\n    def extra_repr(self):\n        return 'a\\n\\nb'\n"
    "nn.Sequential(Shown())",
    "class Free(xp.nn.Module):\n    call_super_init = True\nFree()",
)
_CONVERTED: Final = tuple(
    f"m(xp.ones(2)).sum().backward()\ng = m.gain.grad\nk = m.{call}\n"
    "k is m, m.gain.grad is g, "
    "[(t.dtype, t.device) for t in (m.gain, m.tally, m.unkept, m.gain.grad)]"
    for call in (
        *("half()", "bfloat16()", "double()", "float()", "cpu()", "type(xp.float64)"),
        *("type('torch.DoubleTensor')", "to(xp.int64)", "to(xp.complex64)", "to(xp.float16)"),
        *("to('meta')", "to_empty(device='meta')", "to_empty(device='cpu', recurse=False)"),
        *("to(xp.ones(1).double())", "to(xp.ones(1).int())", "to()", "xpu()"),
        *("to(memory_format=xp.channels_last)", "to('cpu', xp.float64, True)", "to(copy=True)"),
        *("to('meta').to('cpu')", "to(dtype=xp.bool)"),
    )
)
_CALLED: Final = tuple(
    f"told = []\n{hooks}"
    for hooks in (
        *(
            f"m.register_forward_pre_hook(lambda s, a, k: {answer}, with_kwargs=True)\n"
            "m(xp.ones(2), scale=2)"
            for answer in (
                "None",
                "3",
                "(a, {'scale': 5})",
                "(a, k, 1)",
                "[a, k]",
                "told.append(k)",
            )
        ),
        "m.register_forward_hook(lambda s, a, k, o: (o, k), with_kwargs=True)\n"
        "m(xp.ones(2), scale=2)",
        "m.register_forward_hook(lambda s, a, o: told.append(1))\n"
        "m.register_forward_hook(lambda s, a, o: told.append(2), prepend=True)\n"
        "m(xp.ones(2))\ntold",
        "m.register_forward_pre_hook(lambda s, a: told.append(1))\n"
        "m.register_forward_pre_hook(lambda s, a: told.append(2), prepend=True)\n"
        "m(xp.ones(2))\ntold",
        "m.register_forward_hook(lambda s, a, o: told.append(o), always_call=True)\n"
        "try:\n    m(xp.ones(3))\nexcept RuntimeError as e:\n    told.append(str(e))\ntold",
        "m.register_forward_hook(lambda s, a, o: o.nosuch, always_call=True)\nm(xp.ones(3))",
        "h = m.register_forward_hook(lambda s, a, k, o: told.append(k), with_kwargs=True)\n"
        "m(xp.ones(2), scale=2)\nh.remove()\nm(xp.ones(2))\ntold",
        "m.register_backward_hook(lambda s, i, o: told.append((i, o)))\n"
        "m(xp.ones(2)).sum().backward()\ntold",
        "m.branch.register_backward_hook(lambda s, i, o: told.append((i, o)))\n"
        "m.branch(xp.ones(1, 2, requires_grad=True)).sum().backward()\ntold",
        "m.rectify.register_backward_hook(lambda s, i, o: (i[0] * 3,))\n"
        "m(xp.ones(2)).sum().backward()\nm.gain.grad",
        "m.register_backward_hook(lambda s, i, o: None)\n"
        "m.register_full_backward_hook(lambda s, i, o: None)",
        "m.register_full_backward_hook(lambda s, i, o: None)\n"
        "m.register_backward_hook(lambda s, i, o: None)",
    )
)
_SAVED: Final = (
    "list(m.state_dict({}, 'q.'))",
    "d = {}\nm.state_dict(destination=d, prefix='q.') is d, list(d)",
    "[t.requires_grad for t in m.state_dict(keep_vars=True).values()]",
    "m.state_dict({}, 'q.', True)['q.gain'].requires_grad",
    "list(m.state_dict()._metadata.items())",
    "list(nn.Sequential(nn.BatchNorm1d(2)).state_dict()._metadata.items())",
    "s = m.state_dict()\ns['gain'] = xp.zeros(2)\nr = m.load_state_dict(s, assign=True)\n"
    "repr(r), m.gain, m.tally is s['tally'], type(m.branch.weight).__name__",
    "m.load_state_dict({**m.state_dict(), 'tally': xp.zeros(2)}, True, True)\nm.tally",
    "m.register_buffer('fresh', xp.zeros(()))\n"
    "m.load_state_dict({'fresh': xp.ones(1)}, strict=False)\nm.fresh",
    "m.register_buffer('fresh', xp.zeros(()))\n"
    "m.load_state_dict({'fresh': xp.ones(3)}, strict=False)\nm.fresh",
    "m.load_state_dict({'tally': xp.ones(2, dtype=xp.complex64) * 1j}, strict=False)",
    "m.load_state_dict({**m.state_dict(), 'branch.x.y': xp.ones(1), 'd.x': 1, 'unkept': 2})",
    "m.to('meta').load_state_dict({'gain': xp.ones(2)}, strict=False)\nm.gain",
    "n = nn.BatchNorm1d(2)\ns = dict(n.state_dict())\ns.pop('num_batches_tracked')\n"
    "repr(n.load_state_dict(s))",
    "n = nn.BatchNorm1d(2)\ns = n.state_dict()\ns.pop('num_batches_tracked')\n"
    "repr(n.load_state_dict(s))",
    "told = []\nm.register_state_dict_pre_hook(lambda *a: told.append(a[1:]))\n"
    "m.state_dict()\ntold",
    "class Extra(xp.nn.Module):\n    def get_extra_state(self):\n        return 7\n"
    "    def set_extra_state(self, state):\n        self.seen = state\n"
    "e = nn.Sequential(Extra())\ns = e.state_dict()\ns['0._extra_state'] = 8\n"
    "r = e.load_state_dict(s)\nlist(s), repr(r), e[0].seen",
    "class Extra(xp.nn.Module):\n    def set_extra_state(self, state):\n        self.seen = state\n"
    "Extra().load_state_dict({})",
    "m.load_state_dict({**m.state_dict(), '_extra_state': 1})",
)
_ROW: Final = "s = nn.{}nn.Tanh(), nn.ReLU(), nn.GELU(){}\n"
_CONTAINERS: Final = tuple(
    _ROW.format(*kind) + f"r = {call}\n(r if r is None else repr(r)), repr(s), len(s)"
    for kind, calls in (
        (
            ("Sequential(", ")"),
            (
                *("s.insert(0, nn.SiLU())", "s.insert(-1, nn.SiLU())", "s.insert(9, nn.SiLU())"),
                *("s.insert(0, 3)", "s.pop(1)", "s.pop(-1)", "s.pop(3)", "s.pop(slice(1, 3))"),
                *("s + s", "s + [nn.Tanh()]", "s.__iadd__(nn.Sequential(nn.SiLU()))", "s * 2"),
                *("2 * s", "s * 0", "s * 1.5", "s.__imul__(2)", "s.__delitem__(0)"),
                *("s.__delitem__(slice(0, 2))", "s.__setitem__(0, nn.SiLU())"),
                *("s.__setitem__(0, 3)", "s.__setitem__(0, None)", "s.append(3)", "s.extend(3)"),
                *("s.extend([nn.SiLU()])", "nn.Sequential([nn.Tanh()])", "s.__iadd__([])"),
            ),
        ),
        (
            ("ModuleList([", "])"),
            (
                *("s.insert(0, nn.SiLU())", "s.insert(-1, nn.SiLU())", "s.insert(9, nn.SiLU())"),
                *("s.pop(1)", "s.pop(-1)", "s.pop(3)", "s.pop(slice(1, 3))", "s + s"),
                *("s + [nn.Tanh()]", "s.__iadd__([nn.SiLU()])", "s.__iadd__(3)", "s.extend(3)"),
                *("s.__delitem__(-1)", "s.__delitem__(slice(0, 2))", "s.append(3)"),
                *("nn.ModuleList([3])", "nn.ModuleList(3)", "nn.ModuleList(s)", "s + 3"),
                *("s.__setitem__(-1, nn.SiLU())", "nn.ModuleList(())", "nn.ModuleList({'a': 1})"),
            ),
        ),
        (
            ("ModuleDict(dict(zip('abc', [", "])))"),
            (
                *("s['b']", "s['x']", "s.pop('b')", "s.clear()", "'a' in s", "list(s.keys())"),
                *("s.update({'b': nn.SiLU()})", "s.update([('d', nn.SiLU())])", "s.update(3)"),
                *("s.update([3])", "s.update([(1, 2, 3)])", "s.update(s)", "s.__delitem__('a')"),
                *("s.__setitem__('a.b', nn.SiLU())", "s.__setitem__('keys', nn.SiLU())"),
                *("list(s.items())", "list(s.values())", "list(s)", "nn.ModuleDict()"),
            ),
        ),
    )
    for call in calls
)
_MADE: Final = (
    *("nn.Linear(0, 2)", "nn.Linear(3, 0)", "nn.Linear(0, 0, bias=False)"),
    "nn.Linear(0, 2)(xp.ones(3, 0)).shape",
    "s = nn.Sequential(nn.Linear(1, 1), nn.ReLU())\ns[0] = nn.Tanh()\n(s, s(xp.tensor([-1.0])))",
)


def texts() -> Iterator[Text]:
    for change in (*_ASSIGNED, *_REGISTERED, *_REFUSED):
        yield "modules", f"{_HEAD}{change}\n{_PARTS}"
    for text in (*_ASKED, *_CONVERTED, *_CALLED, *_SAVED):
        yield "modules", _HEAD + text
    for text in (*_CONTAINERS, *_MADE):
        yield "modules", f"nn = xp.nn\n{text}"
