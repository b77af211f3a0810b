"""Programs of area ``registration``: what every one of them begins with, and what it notes.

After each step, whether it was refused or not, a program notes what the dispatcher then says of the
operators it is about: dumps, tables, answers for keys, invariants, schemas.  What is as it was is
noted as that, so the state after a refused step is seen to be the state before it.

Five things keep a program deterministic, in a torch that frees what it points to:

-   A name of ``xp.ops`` keeps its first answer, and torch's answer points into an operator.  When
    that operator has gone entirely, definitions and kernels, a call through it reads freed memory
    (2.4.1 crashes, 2.13.0 finds what lies there by now).  So ``packet`` and what ``keep`` has kept
    are refused from then on, on both sides.  As long as a kernel keeps the operator, they are used,
    with its schema gone and with another one.
-   A library has a file name of more than fifteen characters.  2.9, 2.10 and 2.11 print freed
    memory for a shorter one, ``/dev/null`` among them, as soon as more libraries have been made.
-   A kernel answers what it is given, so autograd of torch's own has nothing to record.
-   What prints a keyset prints what is left of it at the kernel.
-   A kernel that calls itself again gives up: else Python's stack decides how often it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.cases.pools import C

OPERATORS: Final = ("t::a", "t::b", "t::b.out", "s::a", "aten::erfinv")
"""The operators that programs are about."""

PRELUDE: Final = f"""\
C = {C}
log, ran, kept, seen, gone, last = [], [], {{}}, {{}}, set(), {{}}
computed = C._dispatch_has_computed_kernel_for_dispatch_key
def library(kind, name, key, linenum=0):
    return C._dispatch_library(kind, name, key, "a program of registrations", linenum)
keys = "CPU CUDA QuantizedCPU SparseCPU Meta AutogradCPU AutogradOther AutogradNestedTensor"
keys = (keys + " BackendSelect Python AutocastCPU FuncTorchBatched").split()
def f(*args): ran.append("f"); return args[0] if len(args) > 0 else None
def g(*args, **kwargs): ran.append(("g", len(args), sorted(kwargs))); return args[0]
def two(*args): ran.append("two"); return args[0], args[0]
def odd(*args): ran.append("odd"); return "odd"
def bad(*args): ran.append("bad"); raise ValueError("bad kernel")
def ks(keyset, *args): ran.append(str(keyset)); return args[0]
def down(keyset, *args):
    ran.append("down")
    if ran.count("down") > 4: raise ValueError("down again")
    return packet("t::a").default.redispatch(keyset & C._after_autograd_keyset, *args)
def fb(op, *args, **kwargs): ran.append(("fb", str(op))); return args[0]
def fk(keyset, op, *args, **kwargs): ran.append(("fk", str(keyset), str(op))); return args[0]
def told(key): ran.append(("told", key))
thru = xp.library.fallthrough_kernel
x, m, r = xp.ones(2), xp.empty(2, device="meta"), xp.ones(2, requires_grad=True)
L = {{"d": library("FRAGMENT", "t", ""), "e": library("FRAGMENT", "t", "", linenum=7)}}
L.update(i=library("IMPL", "t", ""), j=library("IMPL", "t", "CPU", linenum=8))
L.update(w=library("IMPL", "_", ""), v=library("IMPL", "_", "Meta"))
L.update(s=library("FRAGMENT", "s", ""), p=library("IMPL", "s", ""), m=library("IMPL", "aten", ""))
ops = {{"t::a": lambda: xp.ops.t.a, "t::b": lambda: xp.ops.t.b, "s::a": lambda: xp.ops.s.a}}
overloads = {{"t::a": ("t::a",), "t::b": ("t::b", "t::b.out"), "s::a": ("s::a",)}}
def living(name): return [each for each in overloads[name] if C._dispatch_has_kernel(each)]
def packet(name):
    if name in gone: raise LookupError(name)
    found = ops[name]()
    if name not in seen: seen[name] = living(name)
    return found
def keep(as_name, name, get): kept[as_name] = (get(), living(name))
def again(as_name): return kept[as_name][0]
def under(guard, run):
    with guard: return run()
def mark():
    for name, held in seen.items():
        if not all(C._dispatch_has_kernel(each) for each in held): gone.add(name)
    for name in list(kept):
        if not all(C._dispatch_has_kernel(each) for each in kept[name][1]): kept.pop(name)
def state(name):
    if not C._dispatch_has_kernel(name): return (name, "none", C._dispatch_dump(name))
    has = [computed(name, key) for key in keys]
    try: C._dispatch_check_invariants(name)
    except Exception as error: has.append(str(error))
    return (C._dispatch_dump(name), C._dispatch_dump_table(name), has)
def note():
    mark()
    now = {{name: state(name) for name in {OPERATORS}}}
    now["dangling"] = sorted(C._dispatch_find_dangling_impls())
    for name in overloads: now[name, 0] = list(map(str, C._jit_get_schemas_for_operator(name)))
    changed = {{name: now[name] for name in now if now[name] != last.get(name)}}
    last.update(now)
    log.append(changed or "as before")
def shown(value):
    if isinstance(value, xp.Tensor): return "tensor"
    if isinstance(value, (list, tuple)): return [shown(each) for each in value]
    if value is None or isinstance(value, (bool, int, str)): return value
    return type(value).__name__
def step(run):
    ran.clear()
    try: log.append(shown(run()))
    except Exception as error: log.append((type(error).__name__, str(error)))
    if ran: log.append(list(ran))
    note()
note()
"""


def program(steps: Sequence[str]) -> str:
    """The case that takes these steps."""
    lines = "\n".join(f"step(lambda: {step})" for step in steps)
    return f"{PRELUDE}{lines}\nlog"
