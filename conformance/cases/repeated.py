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


_REFUSED: Final = (
    *("1 << 70", "None", "y, y", "'", "sub", "s, ", "[x, 1]", "x, 0, 7", "xp.ones(3)", "[]"),
    *("alpha=2.0", "0, 5", "0, 1, 2", "0.0", "2, 2", "x, 0, 1.5"),
)


def _is_refused(arguments: str) -> bool:
    """Whether a call in this way is refused, or asks others: then it cannot come often."""
    alone = arguments in ("x", "0", "3", "True", "x, 0", "s")
    return alone or any(each in arguments for each in _REFUSED)
