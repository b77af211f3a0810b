"""Texts of area ``modes`` about tensors that wrap others: which object a call answers.

A tensor that an override has made is an object already.  Whether it may be what a constructor, a
``Parameter`` or ``as_subclass`` answers depends on its class; what is made of a tensor in C++ has
no object yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_PRELUDE: Final = """\
C = xp._C
log = []
class L(xp.Tensor):
    def __repr__(self, *, tensor_contents=None): return "an L of " + repr(self.elem)
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        log.append(str(func))
        given = [each.elem if isinstance(each, L) else each for each in args]
        found = func(*given, **(kwargs or {}))
        return wrapped(found) if isinstance(found, xp.Tensor) else found
class M(L): pass
class Plain(xp.Tensor): pass
def wrapped(elem, cls=L):
    made = xp.Tensor._make_wrapper_subclass(
        cls, elem.size(), dtype=elem.dtype, requires_grad=elem.requires_grad
    )
    made.elem = elem.detach() if elem.requires_grad else elem
    return made
class PassOn(xp.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
class Wrap(xp.utils._python_dispatch.TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        return wrapped(found) if isinstance(found, xp.Tensor) else found
def step(run):
    try:
        found = run()
        log.append((str(type(found)), C._dispatch_keys(found), found.requires_grad, found.is_leaf))
    except Exception as error: log.append((type(error).__name__, str(error)))
x, w, m, p = xp.ones(2), wrapped(xp.ones(2)), wrapped(xp.ones(2), M), Plain([3.0, 4.0])"""

_MAKERS: Final = (
    *("Plain([1.0, 2.0])", "Plain(2, 3)", "Plain()", "Plain({0})", "Plain(data={0})"),
    *("xp.Tensor({0})", "xp.FloatTensor({0})", "L({0})", "M({0})"),
    *("xp.nn.Parameter({0})", "xp.nn.Parameter({0}, False)", "{0}.as_subclass(Plain)"),
    *("{0}.as_subclass(xp.Tensor)", "{0}.as_subclass(L)", "{0}.as_subclass(M)"),
    *("xp.Tensor._make_subclass(Plain, {0})", "xp.Tensor._make_subclass(L, {0}, True)"),
    *("xp.Tensor._make_subclass(xp.Tensor, {0})", "xp.Tensor._make_subclass(M, {0})"),
    *("{0}.new([1.0])", "{0}.new(2)", "p.new({0})", "{0}.detach()", "{0}.data"),
    *("{0}.t()", "{0}[0]", "{0}.view(2, 1)", "{0}.clone()", "{0}.requires_grad_()"),
)
_CONTEXTS: Final = ("if True", "with PassOn()", "with Wrap()", "with xp.no_grad()")
_CHANGES: Final = (
    "{0}.data = xp.zeros(3)",
    "{0}.data = w",
    "x.data = {0}",
    "{0}.set_(xp.zeros(3))",
    "{0}.requires_grad_()",
)
_QUESTIONS: Final = (
    *("repr({0})", "str(type({0}))", "C._dispatch_keys({0})", "isinstance({0}, xp.nn.Parameter)"),
    *("{0}.data_ptr() == 0", "{0}.shape", "{0}.detach().shape", "{0}.data.shape", "{0}.is_leaf"),
)


def texts() -> Iterator[Text]:
    for maker, context, tensor in product(_MAKERS, _CONTEXTS, ("x", "w", "m", "p")):
        if tensor == "x" or "{0}" in maker:
            call = maker.format(tensor)
            yield "objects", f"{_PRELUDE}\n{context}: step(lambda: {call})\nlog"
    for change, tensor in product(_CHANGES, ("x", "w", "m", "p", "xp.nn.Parameter(w)")):
        if change == "{0}.data = w" and tensor in ("x", "p"):
            continue  # torch reads the elements that it has not, and crashes
        asked = "\n".join(_tried(question.format("y")) for question in _QUESTIONS)
        line = _tried(change.format("y"), is_statement=True)
        yield "objects", f"{_PRELUDE}\ny = {tensor}\n{line}\n{asked}\nlog"


def _tried(text: str, *, is_statement: bool = False) -> str:
    run = text if is_statement else f"log.append({text})"
    return f"try: {run}\nexcept Exception as error: log.append((type(error).__name__, str(error)))"
