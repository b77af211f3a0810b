"""Speed of calls as a ratio to real torch, measured in one process: what a program pays for each.

Operators with a kernel in Python that does nothing show the dispatcher alone, tensors of one
element the dispatcher and the shortest of kernels.  Rows and bars are data; both sides run the same
statement by turns, as in :mod:`benchmarks.dispatch`.
"""

from __future__ import annotations

import argparse
import timeit
from types import ModuleType
from typing import Any, Final, NamedTuple

from benchmarks.dispatch import measure_by_turns
from benchmarks.results import Result, Row
from conformance.oracle import choose_profile, live, prepare

SETUP: Final = """\
C, K, S = xp._C, xp._C.DispatchKey, xp._C.DispatchKeySet
library = xp.library.Library("bench_calls", "DEF")
library.define("noop(Tensor x) -> Tensor")
library.impl("noop", lambda x: x, "CPU")
library.define("two(Tensor x, Tensor y) -> Tensor")
library.impl("two", lambda x, y: x, "CPU")
library.define("scaled(Tensor x, *, float scale=1.0) -> Tensor")
library.impl("scaled", lambda x, scale=1.0: x, "CPU")
library.define("composite(Tensor x) -> Tensor")
library.impl("composite", lambda x: x, "CompositeImplicitAutograd")
ops = xp.ops.bench_calls
noop, packet = ops.noop.default, ops.noop
two, scaled, composite = ops.two, ops.scaled, ops.composite
cpu, autograd = S(K.CPU), S(K.AutogradCPU)
class Mode(xp.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
mode = Mode()
add, add_tensor = xp.add, xp.ops.aten.add.Tensor
add_packet = xp.ops.aten.add
x, y, g = xp.ones(1), xp.ones(1), xp.ones(1, requires_grad=True)
def refused(call):
    try:
        call(x, "s")
    except (TypeError, RuntimeError):
        pass
"""


class Call(NamedTuple):
    """A statement, and what its ratio shall be at most."""

    what: str
    statement: str
    bar: float


CALLS: Final = (
    Call("no-op kernel: overload", "noop(x)", 0.5),
    Call("no-op kernel: packet", "packet(x)", 0.5),
    Call("no-op kernel: keyword", "scaled(x, scale=2.0)", 0.5),
    Call("no-op kernel: two tensors", "two(x, y)", 0.5),
    Call("no-op kernel: composite", "composite(x)", 0.5),
    Call("redispatch below autograd", "noop.redispatch(cpu, x)", 0.5),
    Call("under a TLS guard", "with C._ExcludeDispatchKeyGuard(autograd): noop(x)", 0.5),
    Call("under a Python mode", "with mode: noop(x)", 0.5),
    Call("add: function", "add(x, y)", 1.0),
    Call("add: operator", "x + y", 1.0),
    Call("add: overload", "add_tensor(x, y)", 1.0),
    Call("add: recorded", "add(g, y)", 1.2),
    Call("add_", "x.add_(y)", 1.2),
    Call("view", "x.view(1, 1)", 1.2),
    Call("transpose", "x.transpose(0, 0)", 1.2),
    Call("select", "x.select(0, 0)", 1.2),
    Call("refused: Python parser", "refused(add)", 1.0),
    Call("refused: overload", "refused(add_tensor)", 1.0),
    Call("refused: packet", "refused(add_packet)", 1.0),
)


def add_arguments(parser: argparse._ArgumentGroup) -> None:
    """The subject is that of :mod:`benchmarks.dispatch`."""


def measure(options: argparse.Namespace) -> Result:
    """Every call in both sides."""
    choose_profile()
    scopes = tuple(scope_of(prepare(name)) for name in ("torch", options.subject))
    rows = [_row(call, scopes) for call in CALLS]
    title = f"calls: {options.subject} and torch {live().release}"
    return Result(f"calls-{live().release}", title, rows, {"torch": live().version})


def scope_of(xp: ModuleType) -> dict[str, Any]:
    """The names of the statements in one side."""
    scope: dict[str, Any] = {"xp": xp, "__name__": __name__}
    exec(SETUP, scope)
    return scope


def _row(call: Call, scopes: tuple[dict[str, Any], ...]) -> Row:
    torch, subject = (timeit.Timer(call.statement, globals=scope) for scope in scopes)
    return measure_by_turns(call.what, (torch, subject), call.bar)
