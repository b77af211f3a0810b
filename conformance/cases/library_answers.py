"""What becomes of a kernel's answer that is not what the schema returns.

C++ converts it or refuses it; where the dispatch is by Python objects nobody does.  So a case calls
its operator on all ways that lead to the kernel: by itself, through the packet, with gradients,
under a mode, from below, and as a result of functionalization.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import Final

from conformance.area import Text

_PRELUDE: Final = """\
C, log = xp._C, []
x, g = xp.ones(2), xp.ones(2, requires_grad=True)
class Mode(xp.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
class Sub(xp.Tensor):
    @staticmethod
    def __new__(cls, elem): return xp.Tensor._make_subclass(cls, elem)
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        with C._DisableTorchDispatch(): return func(*args, **(kwargs or {}))
def keys(first, second=None):
    found = C.DispatchKeySet(first)
    return found if second is None else found | C.DispatchKeySet(second)
def shown(v):
    if isinstance(v, xp.Tensor):
        return (v.tolist(), v.requires_grad, v.grad_fn and v.grad_fn.name())
    if isinstance(v, (list, tuple)): return (type(v).__name__, [shown(each) for each in v])
    return (type(v).__name__, str(v))
def step(run):
    try: log.append(shown(run()))
    except Exception as error: log.append((str(type(error)), str(error)))
def under(run):
    with Mode(): return run()
"""
_RETURNS: Final = (
    *("Tensor", "(Tensor, Tensor)", "()", "Tensor?", "Tensor[]", "int", "(Tensor, int)"),
    *("float", "bool", "str", "Scalar", "int[]"),
)
_ANSWERS: Final = (
    *("a * 2", "3", "None", "1.5", "True", "'s'", "[a * 2]", "(a * 2,)", "(a * 2, a * 3)", "()"),
    *("[a * 2, a * 3]", "(a * 2, 3)", "(a * 2, a * 3, a * 4)", "xp.float32", "[1, 2]", "object()"),
)
_MAKINGS: Final = (
    'op = xp.library.custom_op("t::f", lambda a: {answer}, mutates_args=(), schema="{schema}")',
    'lib = xp.library.Library("t", "FRAGMENT")\nlib.define("f{schema}")\n'
    'lib.impl("f", lambda a: {answer}, "CPU")',
)
_CALLS: Final = (
    *("xp.ops.t.f.default(x)", "xp.ops.t.f(x)", "xp.ops.t.f.default(g)", "f(Sub(x))"),
    'f.redispatch(keys("CPU"), x)',
    'f.redispatch(keys("AutogradCPU", "CPU"), g)',
    "under(lambda: f(x))",
    "xp.func.functionalize(f)(x)",
    "xp.no_grad()(f)(g)",
    "xp.inference_mode()(f)(x)",
    "f(x, x)",
    'f.redispatch(keys("CPU"))',
    'f.redispatch(keys("CPU"), x, 3, y=None)',
    "f.redispatch(3, x)",
)


def texts() -> Iterator[Text]:
    """Every third: each answer comes to a third of the kinds of results."""
    yield from islice(_every(), 0, None, 3)


def _every() -> Iterator[Text]:
    for making, returned, answer in product(_MAKINGS, _RETURNS, _ANSWERS):
        if returned == "(Tensor, Tensor)" and "4" in answer:
            continue  # where these are counted, torch reads what is not there
        made = making.format(answer=answer, schema=f"(Tensor a) -> {returned}")
        # Of a number of results that is wrong, functionalization reads where nothing is.
        counts = returned.startswith("(") and "functionalize"
        calls = (f"step(lambda: {call})" for call in _CALLS if not counts or counts not in call)
        yield "answer", "\n".join((_PRELUDE + made, "f = xp.ops.t.f.default", *calls, "log"))
