"""Calls that come often, and then one that is another: in arguments, in state, in what is defined.

A subject may remember how a call went, as mindtorch_v2 does for calls that come often; what it
remembers must be good for those calls and for no other.  So a case makes one call many times before
it makes another one, whose answer is the case's.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Final

from conformance.area import Text

OFTEN: Final = 12

_PRELUDE: Final = """\
x, y = xp.ones(2, 2), xp.full((2, 2), 3.0)
n, s = xp.ones(2, 2, dtype=xp.int64), xp.tensor(1)
class Sub(xp.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None): return "asked"
sub = x.as_subclass(Sub)
"""

_BINARY: Final = ("x, y", "x, 2", "n, n", "n, 1 << 70", "x, s", "x, sub", "x", "x, None", "x, y, y")

ARGUMENTS: Final[dict[str, tuple[str, ...]]] = {
    "xp.add": (*_BINARY, "x, y, alpha=2", "n, n, alpha=2.0", "x, y, out=x", "x, other=y"),
    "xp.mul": (*_BINARY, "x, True", "x, 2j"),
    "x.view": ("4", "2, 2", "[4]", "(1, 4)", "xp.int32", "s, 4", "1 << 70", "[]", "True", "3"),
    "x.select": ("0, 1", "0, s", "s, 0", "'N', 0", "0, 1 << 70", "dim=0, index=1", "0", "0.0, 1"),
    "x.transpose": ("0, 1", "0, s", "0, 1, 2", "dim0=0, dim1=1", "0, None", "0, 5"),
    "x.sum": ("", "0", "(0, 1)", "0, True", "axis=0", "dtype=xp.int8", "0, dtype=None", "[]", "s"),
    "xp.pow": ("x, 2", "2, x", "x, y", "x, s", "2, 2", "x, 'x'"),
    "x.add_": ("y", "2", "y, alpha=2", "s", "sub", "y, y", "xp.ones(3)"),
    "xp.cat": ("[x, y]", "(x, y), 1", "[x, 1]", "[x, sub]", "x", "[]"),
    "xp.ops.aten.add.Tensor": (*_BINARY, "x, y, alpha=2", "x, y, alpha='x'", "x, other=y"),
    "xp.ops.aten.add": (*_BINARY, "x, y, alpha=2", "x, y, alpha='x'", "x, y, out=x"),
    "xp.ops.aten.select.int": ("x, 0, 1", "x, 0, s", "sub, 0, 1", "x, 0", "x, 0, 1.5", "x, 0, 7"),
    "xp.ops.aten.sum.dim_IntList": ("x, [0]", "x, None", "x, (0,), True", "x, 0", "x, ['0']"),
}
"""By what is called, ways to call it."""

_CALLED: Final = """\
C, K = xp._C, xp._C.DispatchKey
below = C.DispatchKeySet(K.CPU)
log = []
def cpu(x, n=1):
    log.append(("cpu", n))
    return x
def other(x, n=1):
    log.append(("other", n))
    return xp.ones(3)
lib = xp.library.Library("often", "DEF")
lib.define("f(Tensor x, int n=1) -> Tensor")
lib.impl("f", cpu, "CPU")
f = xp.ops.often.f.default
x = xp.zeros(2)
class Mode(xp.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        log.append(str(func))
        return func(*args, **(kwargs or {{}}))
class Asked(xp.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        log.append(str(func))
        return func(*args, **(kwargs or {{}}))
for i in range({often}): {call}
log.clear()
"""

CHANGES: Final = (
    "lib.impl('f', other, 'AutogradCPU')",
    "lib.impl('f', lambda x, n=1: 3, 'AutogradCPU')",
    "lib.impl('f', other, 'CompositeImplicitAutograd')",
    "more = xp.library.Library('often', 'FRAGMENT'); more.impl('f', other, 'Autograd'); del more",
    "x = xp.zeros(2, requires_grad=True)",
    "x = xp.zeros(2, device='meta')",
    "x = xp.zeros(2).to_sparse()",
    "x = None",
    "x = [x]",
)
STATES: Final = (
    "C._ExcludeDispatchKeyGuard(C.DispatchKeySet(K.AutogradCPU))",
    "C._ExcludeDispatchKeyGuard(C.DispatchKeySet(K.CPU))",
    "C._IncludeDispatchKeyGuard(K.Meta)",
    "xp.no_grad()",
    "xp.inference_mode()",
    "Mode()",
    "Asked()",
)
CALLS: Final = ("f(x)", "f(x, 2)", "f(x, n=3)", "xp.ops.often.f(x)", "f.redispatch(below, x)")


def arguments() -> Iterator[Text]:
    """A call in one way often, then in another."""
    for function, ways in ARGUMENTS.items():
        for usual, other in permutations(ways, 2):
            if _is_refused(usual):
                continue
            text = f"{_PRELUDE}for i in range({OFTEN}): {function}({usual})\n{function}({other})"
            yield function.removeprefix("xp."), text


def changes() -> Iterator[Text]:
    """A call often, then the same after a change, or in another state."""
    for call in CALLS:
        start = _CALLED.format(often=OFTEN, call=call)
        for change in CHANGES:
            yield "often", f"{start}{change}\n{call}, log"
        for state in STATES:
            yield "often", f"{start}with {state}: answer = {call}\nanswer, {call}, log"


OTHERS: Final = (
    "xp.full((2, 2), 2.0, dtype=xp.float64)",
    "xp.full((2, 2), 2 + 1j)",
    "xp.full((2, 2), 2 + 1j).conj()",
    "xp.full((2, 2), 2 + 1j).conj().imag",
    "xp.full((2, 2), 2, dtype=xp.int8)",
    "xp.ones(2, 2, dtype=xp.bool)",
    "xp.arange(4.0).view(2, 2).t()",
    "xp.arange(8.0).view(2, 4)[:, 1:3]",
    "xp.arange(6.0)[2:].view(2, 2)",
    "xp.ones(2).expand(2, 2)",
    "xp.ones(1, 2)",
    "xp.ones(0, 2)",
    "xp.tensor(2.0)",
    "y[:]",
    "y",
    "xp.ones(2, 2, device='meta')",
    "xp.ones(2, 2, device='cpu:0')",
    "xp.ones(2, 2, requires_grad=True)",
    "xp.ones(2, 2, requires_grad=True) * 2",
    "xp.nn.Parameter(xp.ones(2, 2))",
    "xp._to_functional_tensor(xp.ones(2, 2))",
    "xp._neg_view(xp.ones(2, 2))",
    "inferred",
    "sub",
)
"""Tensors of another kind than most."""
OF_TENSORS: Final = (
    *("xp.add(t, y)", "xp.add(y, t)", "t.add_(y)", "y.mul_(t)", "xp.sub(t, y, alpha=2)"),
    *("t.view(4)", "t.select(0, 1)", "t.transpose(0, 1)", "t.expand(2, 2)", "xp.neg(t)"),
)
AROUND: Final = (
    "xp.inference_mode()",
    "xp.no_grad()",
    "xp.autograd.graph.saved_tensors_hooks(lambda t: log.append('pack') or t, lambda t: t)",
    "xp._C._ExcludeDispatchKeyGuard(S(K.ADInplaceOrView))",
    "xp._C._ExcludeDispatchKeyGuard(S(K.AutogradCPU))",
)

_OF_TENSORS: Final = """\
{prelude}K, S = xp._C.DispatchKey, xp._C.DispatchKeySet
with xp.inference_mode(): inferred = xp.ones(2, 2)
log = []
for t in [xp.ones(2, 2) for i in range({often})]: {call}
y = xp.full((2, 2), 3.0)
t = {other}
{called}
shown = [r, t, y] if type(t) is not Sub else [r]
[(a, a.requires_grad, a.grad_fn, a._is_view(), a.is_inference()) for a in shown], log, \
[a._version for a in shown if not a.is_inference()]
"""


def kinds() -> Iterator[Text]:
    """A call of tensors that lie alike often, then of one of another kind, or in another state."""
    given = ("xp.ones(2, 2)", "xp.ones(2, 2, requires_grad=True)")
    for call in OF_TENSORS:
        ways = [(other, f"r = {call}") for other in OTHERS]
        for block in AROUND:
            ways += [(each, f"with {block}: r = {call}") for each in given]
        for other, called in ways:
            yield (
                "kinds",
                _OF_TENSORS.format(
                    prelude=_PRELUDE, often=OFTEN, call=call, other=other, called=called
                ),
            )


_HANDLERS: Final = {
    "declines": "return NotImplemented",
    "answers": "return 3",
    "refuses": "raise ValueError('no')",
    "excludes": "C._dispatch_tls_set_dispatch_key_excluded(K.CPU, True); return func(*args)",
    "includes": "C._dispatch_tls_set_dispatch_key_included(K.Meta, True); return func(*args)",
    "pops": "log.append(C._len_torch_dispatch_stack()); return C._pop_torch_dispatch_stack(None)",
    "enters": "\n        with Mode(): return func(*args)",
}
"""What a mode may do that most do not."""
_STACKS: Final = ("{0}()", "Mode(), {0}()", "{0}(), Mode()")

_UNDER: Final = """\
{start}class Other(xp.utils._python_dispatch.TorchDispatchMode):
    {decorator}def __torch_dispatch__(self, func, types, args=(), kwargs=None): {body}
for i in range({often}):
    with Mode(): {call}
log.clear()
try:
    with {stack}: log.append({call})
except Exception as error: log.append((str(type(error)), str(error)))
log, C._len_torch_dispatch_stack(), C._dispatch_tls_local_include_set(), \
C._dispatch_tls_local_exclude_set()
"""

_BLOCKS: Final = (
    "g.__enter__(); g.__enter__(); g.__exit__(None, None, None)",
    "g.__enter__(); del g",
    "g.__enter__(3)",
    "g.__exit__(None)",
    "g.__exit__(None, None, None, None)",
    "g.__exit__(kind=None)",
    "g.__exit__(None, None, None)",
    "\n    with g: C._dispatch_tls_set_dispatch_key_{kind}d(K.{key}, False)",
    "\n    with g: C._dispatch_tls_set_dispatch_key_{kind}d(K.Meta, True)",
    "\n    with g, C._{name}({given}): pass",
)
"""What may be done with a guard, besides entering a block."""
_GUARDS: Final = (
    ("exclude", "ExcludeDispatchKeyGuard", "AutogradCPU", "C.DispatchKeySet(K.AutogradCPU)"),
    ("exclude", "ExcludeDispatchKeyGuard", "CPU", "C.DispatchKeySet(K.CPU)"),
    ("include", "IncludeDispatchKeyGuard", "Meta", "K.Meta"),
    ("include", "IncludeDispatchKeyGuard", "Python", "K.Python"),
)


def blocks() -> Iterator[Text]:
    """Blocks of a mode or a guard often, then one in which something else happens."""
    start = _CALLED.format(often=OFTEN, call="f(x)")
    for call in CALLS[:2]:
        for body in _HANDLERS.values():
            for stack in _STACKS:
                around = stack.format("Other")
                text = {"start": start, "often": OFTEN, "call": call, "stack": around}
                yield "modes", _UNDER.format(**text, body=body, decorator="")
        text = {"start": start, "often": OFTEN, "call": call, "stack": "Other()"}
        yield "modes", _UNDER.format(**text, body="return 3", decorator="@classmethod\n    ")
    for kind, name, key, given in _GUARDS:
        for block in _BLOCKS:
            done = block.format(kind=kind, key=key, name=name, given=given)
            yield (
                "guards",
                "C, K = xp._C, xp._C.DispatchKey\n"
                f"for i in range({OFTEN}):\n    with C._{name}({given}): pass\n"
                f"log, g = [], C._{name}({given})\n"
                f"try: {done}\n"
                "except TypeError as error: log.append(str(error))\n"
                "log, C._dispatch_tls_local_include_set(), C._dispatch_tls_local_exclude_set()",
            )


_REFUSED: Final = (
    *("1 << 70", "None", "y, y", "'", "sub", "s, ", "[x, 1]", "x, 0, 7", "xp.ones(3)", "[]"),
    *("alpha=2.0", "0, 5", "0, 1, 2", "0.0", "2, 2", "x, 0, 1.5"),
)


def _is_refused(arguments: str) -> bool:
    """Whether a call in this way is refused, or asks others: then it cannot come often."""
    alone = arguments in ("x", "0", "3", "True", "x, 0", "s")
    return alone or any(each in arguments for each in _REFUSED)
