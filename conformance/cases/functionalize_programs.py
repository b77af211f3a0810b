"""The programs of area ``functionalize``: a function of a tensor, ways to run it, what is kept.

A program logs every operator that reaches ``__torch_dispatch__`` below functionalization, with the
geometry of its tensors; its value is the log, what the function returned or raised, the argument
afterwards, and how often that was changed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

_PRELUDE: Final = """\
log = []
def show(value):
    if isinstance(value, (list, tuple)): return "[%s]" % ", ".join([show(each) for each in value])
    if not isinstance(value, xp.Tensor): return repr(value)
    shape = list(value.shape)
    return "%s %s %s %s" % (value.dtype, shape, value.stride(), value.storage_offset())
class M(xp.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        named = kwargs or {}
        answer = func(*args, **named)
        more = ["%s=%s" % (key, show(named[key])) for key in sorted(named)]
        log.append("%s %s %s = %s" % (func, show(args), more, show(answer)))
        return answer"""

_WRAPPED: Final = """\
def unwrapped(value):
    if isinstance(value, (list, tuple)): return [unwrapped(each) for each in value]
    if not isinstance(value, xp.Tensor) or not xp._is_functional_tensor(value): return value
    xp._sync(value)
    return xp._from_functional_tensor(value)
def run(x):
    w = xp._to_functional_tensor(x)
    xp._enable_functionalization(reapply_views={})
    try: y = f(w)
    finally: xp._disable_functionalization()
    log.append((xp._functionalize_has_data_mutation(w), xp._functionalize_has_metadata_mutation(w)))
    log.append((w._version, w.shape, w.stride(), w.storage_offset()))
    return unwrapped(y), unwrapped(w)"""

WAYS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "eager": "run = f",
        "mutations": "run = xp.func.functionalize(f)",
        "mutations_and_views": "run = xp.func.functionalize(f, remove='mutations_and_views')",
        "wrapped": _WRAPPED.format(True),
        "wrapped, copies": _WRAPPED.format(False),
    }
)
"""How a program runs its function, by what reports call it."""

_OPERATORS: Final = """\
m = xp._C._dispatch_library("FRAGMENT", {namespace!r}, "")
m.def_("one(Tensor x, int y=1) -> Tensor")
m.def_("many(Tensor[] x, Tensor? y=None) -> Tensor[]")
m.def_("two(Tensor x, Tensor?[] y) -> (Tensor, Tensor)")
m.def_("made(int n) -> Tensor")
m.def_("change_(Tensor(a!) x) -> Tensor(a!)")
m.def_("change(Tensor(a!) x) -> ()")
m.def_("part(Tensor(a) x) -> Tensor(a)")
m.def_("composite(Tensor(a!) x) -> Tensor(a!)")
i = xp._C._dispatch_library("IMPL", {namespace!r}, "")
i.impl("one", "CPU", lambda x, y=1: x * 2 + y)
i.impl("many", "CPU", lambda x, y=None: [each + 1 for each in x])
i.impl("two", "CPU", lambda x, y: (x + 1, x - 1))
i.impl("made", "BackendSelect", lambda n: xp.ones(n))
i.impl("change_", "CPU", lambda x: x.add_(1))
i.impl("change", "CPU", lambda x: None)
i.impl("part", "CPU", lambda x: x[0])
i.impl("composite", "CompositeImplicitAutograd", lambda x: x.mul_(2))
ops = xp.ops.{namespace}"""

_RUN: Final = """\
try:
    with M(): found = run(x)
except Exception as error: found = (type(error).__name__, str(error))
(log, found, x, x._version)"""


def program(base: str, lines: Iterable[str], way: str, *, operators: bool = False) -> str:
    """The text of a case: ``lines`` are the body of a function of ``x``, which is ``base``."""
    body = "\n".join(f"    {line}" for line in lines)
    parts = [_PRELUDE]
    if operators:
        digest = zlib.crc32(f"{base}{body}{way}".encode())
        parts.append(_OPERATORS.format(namespace=f"functionalized{digest:x}"))
    return "\n".join((*parts, f"x = {base}", f"def f(x):\n{body}", WAYS[way], _RUN))
