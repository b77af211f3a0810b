"""The programs of area ``functionalize``: a function of a tensor, and a way to run it.

What is logged of a program and what its value is says :mod:`conformance.functionalized`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Final

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
m.def_("maybe(Tensor x, Tensor(a!)? y) -> Tensor")
m.def_("each_(Tensor(a!)[] x) -> ()")
m.def_("pair_(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))")
m.def_("into(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
m.def_("same(Tensor x) -> Tensor")
m.def_("steps(Tensor x) -> Tensor")
i = xp._C._dispatch_library("IMPL", {namespace!r}, "")
i.impl("one", "CPU", lambda x, y=1: x * 2 + y)
i.impl("many", "CPU", lambda x, y=None: [each + 1 for each in x])
i.impl("two", "CPU", lambda x, y: (x + 1, x - 1))
i.impl("made", "BackendSelect", lambda n: xp.ones(n))
i.impl("change_", "CPU", lambda x: x.add_(1))
i.impl("change", "CPU", lambda x: None)
i.impl("part", "CPU", lambda x: x[0])
i.impl("composite", "CompositeImplicitAutograd", lambda x: x.mul_(2))
i.impl("maybe", "CPU", lambda x, y: x + 1)
i.impl("each_", "CPU", lambda x: None)
i.impl("pair_", "CPU", lambda x, y: (x, y))
i.impl("into", "CPU", lambda x, out: out.copy_(x))
i.impl("same", "CPU", lambda x: x)
i.impl("steps", "CompositeImplicitAutograd", lambda x: x.add(1).mul_(2))
ops = xp.ops.{namespace}"""


def program(base: str, lines: Iterable[str], way: str, *, operators: bool = False) -> str:
    """The text of a case: ``lines`` are the body of a function of ``x``, which is ``base``.

    ``way`` is one of `conformance.functionalized.WAYS`; with ``operators`` the function may call
    those of its own.
    """
    body = "\n".join(f"    {line}" for line in lines)
    parts = ["log = []"]
    if operators:
        digest = zlib.crc32(f"{base}{body}{way}".encode())
        parts.append(_OPERATORS.format(namespace=f"functionalized{digest:x}"))
    run = f"functionalized(f, x, {way!r}, log)"
    return "\n".join((*parts, f"x = {base}", f"def f(x):\n{body}", run))
