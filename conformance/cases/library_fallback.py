"""Operators without a kernel at Autograd, whose tensors require grad.

A case defines one, gives the CPU a kernel that records or does not, calls it with leaves, results
and views, which may have hooks, in one of the fallback's modes, and goes backward.  The warnings
are part of the outcome.  Others drop libraries, whose registrations end at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import Final

from conformance.area import Text
from conformance.cases.pools import STEP

_PRELUDE: Final = (
    """\
C, log = xp._C, []
"""
    + STEP
    + """\
def shown(v):
    if isinstance(v, xp.Tensor):
        node = v.grad_fn
        return (v.detach().tolist(), v.requires_grad, v.is_leaf, node and (node.name(),
            str(type(node)), [e and e.name() for e, _ in node.next_functions]))
    if isinstance(v, (list, tuple)): return [shown(each) for each in v]
    return str(v)
def hook(v):
    v.register_hook(lambda grad: log.append(("hook", grad.tolist())))
    return v
def total(v):
    if isinstance(v, xp.Tensor): return v.sum() if v.requires_grad else 0
    return sum(map(total, v)) if isinstance(v, (list, tuple)) else 0
w = xp.arange(4.0).requires_grad_()
z, u, n = w * 2, xp.ones(4), xp.arange(4)
"""
)

_KERNELS: Final[dict[str, tuple[str, ...]]] = {
    "(Tensor x) -> Tensor": (
        *("x.detach() * 2", "x * 3", "x", "xp.arange(2)", "x[1:]", "w", "u.clone()"),
    ),
    "(Tensor? x) -> Tensor": ("u * 2 if x is None else x.neg()", "u"),
    "(Tensor(a) x) -> Tensor(a)": ("x.view(-1)", "x.detach()", "x"),
    "(Tensor(a!) x) -> Tensor(a!)": ("x", "x.mul_(2)", "x.detach().mul_(2)"),
    "(Tensor(a!) x) -> ()": ("None", "x.mul_(2) and None"),
    "(Tensor x) -> (Tensor, Tensor)": ("(x * 3, x.detach())", "(x, xp.arange(2))", "(x * x, x)"),
    "(Tensor x) -> Tensor[]": ("[x * 3, x.detach()]", "[]", "list(x.unbind())"),
    "(Tensor x) -> int": ("3",),
    "(Tensor[] x) -> Tensor": ("x[0].detach() * 3", "x[0] * 3"),
    "(Tensor?[] x) -> Tensor": ("x[0].detach() * 3", "x[0] * 3"),
}
_VALUES: Final = ("w", "z", "z[1:]", "w[0]", "hook(w)", "hook(z)", "hook(z[1:])", "u", "u[1:]", "n")
_MODES: Final = ("warn", "nothing", "error", "nosuch", "")


def _program(schema: str, kernel: str, value: str, *around: str) -> str:
    given = f"[{value}]" if "[]" in schema.partition(")")[0] else value
    return "\n".join(
        (
            _PRELUDE + 'lib = xp.library.Library("t", "FRAGMENT")',
            f'lib.define("f{schema}")',
            f'lib.impl("f", lambda x: {kernel}, "CPU")',
            *around,
            f"v = {given}",
            "r = step(lambda: xp.ops.t.f(v))",
            "log.append(shown([v, z, w]))",
            "step(lambda: total(r).backward(retain_graph=True))",
            "step(lambda: total([v, z]).backward())",
            "step(lambda: w.grad)",
            "step(lambda: w.sum().backward())",
            "log",
        )
    )


def _fallen_back() -> Iterator[Text]:
    for schema, kernels in _KERNELS.items():
        for kernel, value in product(kernels, _VALUES):
            yield "fallback", _program(schema, kernel, value)
        for kernel, value in product(kernels[:2], _VALUES[:3]):
            mode = 'C._set_autograd_fallback_mode("nothing")'
            yield "fallback", _program(schema, kernel, value, mode)
    for mode, value in product(_MODES, _VALUES[:3]):
        lines = (
            f"step(lambda: C._set_autograd_fallback_mode({mode!r}))",
            "step(C._get_autograd_fallback_mode)",
        )
        yield "fallback", _program("(Tensor x) -> Tensor", "x * 3", value, *lines)
    for call in ("1", "None", '"warn", 1', "", 'mode="warn"'):
        yield "fallback", f"xp._C._set_autograd_fallback_mode({call})"


# --- libraries that go ------------------------------------------------------------------------

_USES: Final = (
    'lib.impl("f", lambda x: x, "CPU")',
    'xp.library.impl("t::f", "CPU", lambda x: x, lib=lib)',
    'xp.library.register_kernel("t::f", "cpu", lambda x: x, lib=lib)',
    'xp.library.register_fake("t::f", lambda x: x, lib=lib)',
    'xp.library.register_autograd("t::f", lambda ctx, g: g, lib=lib)',
    'xp.library.register_vmap("t::f", lambda i, d, x: (x, d[0]), lib=lib)',
    'xp.library.register_torch_dispatch("t::f", Mode, lambda m, f, t, a, k: 1, lib=lib)',
    "xp.ops.t.f(xp.ones(1))",
)


def _dropped() -> Iterator[Text]:
    for use, again in product(_USES, _USES[:5]):
        text = (
            "log = []\nclass Mode(xp.utils._python_dispatch.TorchDispatchMode): pass\n"
            "def run(use):\n"
            '    lib = xp.library.Library("t", "FRAGMENT")\n'
            "    try:\n"
            '        lib.define("f(Tensor x) -> Tensor")\n'
            "        use(lib)\n"
            "    except Exception as error: log.append((str(type(error)), str(error)))\n"
            '    log.append(xp._C._dispatch_dump("t::f"))\n'
            f"run(lambda lib: {use})\n"
            'log.append(xp._C._dispatch_dump("t::f"))\n'
            f"run(lambda lib: {again})\n"
            'log.append(xp._C._dispatch_dump("t::f"))\n'
            "log"
        )
        yield "dropped", text


def texts() -> Iterator[Text]:
    """Every third of the first kind, which is no multiple of what varies."""
    yield from islice(_fallen_back(), 0, None, 3)
    yield from _dropped()
