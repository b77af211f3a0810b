"""Programs under ``torch.autocast``: what operators cast, and what contexts refuse."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

DTYPES: Final = ("float32", "bfloat16", "float16", "float64", "int64", "complex64")

TWO: Final = (
    *("xp.mm(a, b)", "a @ b", "xp.ops.aten.mm.default(a, b)", "xp.nn.functional.linear(a, b)"),
    *("xp.addmm(a, b, a)", "xp.bmm(a[None], b[None])", "a + b", "xp.nn.functional.mse_loss(a, b)"),
    *("xp.cat([a, b])", "xp.stack([a, b, a])", "xp.cat((b, b))", "a.index_copy(0, i, b)"),
)
"""Calls with two tensors; what autocast does to them, and what it leaves alone."""
ONE: Final = ("a.prod()", "a.prod(0)", "a.neg()", "a.trace()", "a.sum(0, dtype=xp.float64)")

CONTEXTS: Final = (
    *("'cpu'", "'cpu', xp.float16", "'cpu', enabled=False", "'cpu', xp.bfloat16, True, False"),
    *("'cpu', xp.float32", "'cuda'", "'meta'", "1", "'cpu:0'", "", "'cpu', 1", "'bad'", "None"),
)

_LOGGED: Final = """\
log = []
class Mode(xp.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        log.append(str(func))
        return func(*args, **(kwargs or {}))
"""

PROGRAMS: Final = (
    # Casts of weights are kept until the outermost context closes.
    f"""{_LOGGED}w, x = xp.ones(2, 2, requires_grad=True), xp.ones(2, 2)
with Mode():
    with xp.autocast('cpu'):
        x @ w, x @ w, x @ w.detach()
        with xp.autocast('cpu', cache_enabled=False): x @ w
        with xp.autocast('cpu'): x @ w
    with xp.autocast('cpu'): x @ w
log""",
    """w, x = xp.ones(3, 2, requires_grad=True), xp.ones(2, 3)
with xp.autocast('cpu', xp.float16):
    y, z = x @ w, x @ w
    s = (y.float() + z).sum()
s.backward()
(y, w.grad, y.grad_fn, s)""",
    """with xp.autocast('cpu'):
    with xp.autocast('cpu', enabled=False): r = xp.ones(2, 2) @ xp.ones(2, 2)
    q = xp.ones(2, 2) @ xp.ones(2, 2)
    keys = xp._C._dispatch_tls_local_exclude_set()
(r, q, keys, xp._C._dispatch_tls_local_exclude_set())""",
    """a, b = xp.ones(2, 3), xp.ones(3, 2)
library = xp.library.Library("aten", "IMPL")
library.impl("mm", xp.library.fallthrough_kernel, "AutocastCPU")
with xp.autocast("cpu"): found = [xp.mm(a, b).dtype, xp.matmul(a, b).dtype]
library._destroy()
with xp.autocast("cpu"): found.append(xp.mm(a, b).dtype)
found""",
    "def f(x): return x @ x\nxp.autocast('cpu')(f)(xp.ones(2, 2))",
    "xp.autocast('cpu')(3)",
    "with xp.autocast('cpu') as entered: pass\nstr(type(entered))",
    "with xp.autocast('cpu'): xp.mm(xp.ones(2, 2), xp.ones(3, 2))",
    "with xp.autocast('cpu'): r = xp.mm(*[xp.ones(2, 2, device='meta')] * 2)\nr",
)

FUNCTIONS: Final = ("xp.is_autocast_enabled({})", "xp.get_autocast_dtype({})")
DEVICES: Final = ("'cpu'", "'cuda'", "'meta'", "'xla'", "'cpu:0'", "'bad'", "3", "None", "''")

DEPRECATED: Final = (
    *("is_autocast_{0}_enabled()", "get_autocast_{0}_dtype()", "is_autocast_{0}_enabled(1)"),
    *("set_autocast_{0}_enabled(True)", "set_autocast_{0}_enabled(1)"),
    *("set_autocast_{0}_enabled()", "set_autocast_{0}_dtype(xp.float64)"),
    *("set_autocast_{0}_dtype('float16')", "set_autocast_{0}_dtype()"),
)
"""Functions of a single device, each of which one that takes the device has replaced."""
DEPRECATED_DEVICES: Final = ("cpu", "gpu", "ipu", "xla", "hpu", "xpu")


def texts() -> Iterator[Text]:
    for context in ("xp.autocast('cpu')", "xp.autocast('cpu', xp.float16)"):
        for one, call in product(DTYPES, ONE):
            yield "autocast", f"a = xp.ones(2, 2, dtype=xp.{one})\nwith {context}: r = {call}\nr"
        for one, two, call in product(DTYPES, DTYPES, TWO):
            made = f"a, b = xp.ones(2, 2, dtype=xp.{one}), xp.ones(2, 2, dtype=xp.{two})"
            yield "autocast", f"i = xp.tensor([1, 0])\n{made}\nwith {context}: r = {call}\nr"
    for arguments in CONTEXTS:
        inside = "r = (xp.is_autocast_enabled('cpu'), xp.get_autocast_dtype('cpu'))"
        yield "autocast", f"with xp.autocast({arguments}): {inside}\nr"
    for program in PROGRAMS:
        yield "autocast", program
    for function, device in product(FUNCTIONS, DEVICES):
        yield "autocast", function.format(device)
    yield "autocast", "xp.is_autocast_enabled()"
    yield "autocast", "xp.get_autocast_dtype()"
    for call, device in product(DEPRECATED, DEPRECATED_DEVICES):
        yield "autocast, deprecated", f"xp.{call.format(device)}"
        known = "(xp.is_autocast_enabled('cpu'), xp.get_autocast_dtype('cpu'))"
        yield (
            "autocast, deprecated",
            f"try: xp.{call.format(device)}\nexcept TypeError: pass\n{known}",
        )
