"""Kernels that a user puts in an operator's place, seen from the operators that call it.

A kernel that calls an operator on its own tensor does so by the dispatcher, so who registers
another kernel for that is called too.  Each program notes for every call how often that was.  What
CPU kernels call of operators to compute with, and not to make views, is torch's own affair: those
calls are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

INNER: Final = {
    **dict.fromkeys(("as_strided", "transpose.int", "alias", "slice.Tensor", "view"), "a[0]"),
    **dict.fromkeys(("split.Tensor", "split_with_sizes", "unbind.int"), "[a[0]]"),
    **dict.fromkeys(
        ("expand", "permute", "unsqueeze", "squeeze.dim", "diagonal", "detach"), "a[0]"
    ),
    "_local_scalar_dense": "1",
}
"""Operators, and what the user's kernels answer for arguments ``a``."""

OUTER: Final = (
    *("x[0:1]", "x[:, ::2]", "x.t()", "x.T", "x.mT", "x.transpose(0, 1)", "x.swapaxes(0, 1)"),
    *("x.transpose(1, 1)", "x.unsqueeze(0)", "x.squeeze()", "x.squeeze(0)", "x.squeeze((0,))"),
    *("x.permute(1, 0)", "x.movedim(0, 1)", "x.expand(2, 2, 3)", "x.expand_as(x)", "x.diagonal()"),
    *("x.unfold(0, 1, 1)", "x.narrow(0, 0, 1)", "x.view(6)", "x.view_as(x)", "x.reshape(6)"),
    *("x.flatten()", "x.unflatten(1, (3, 1))", "x.detach()", "x.as_strided((2,), (1,))"),
    *("x.split(1)", "x.split([1, 1])", "x.chunk(2)", "x.tensor_split(2)", "x.unbind()"),
    *(
        "x.unsafe_split(1)",
        "x.unsafe_split_with_sizes([1, 1])",
        "x.unsafe_chunk(2)",
        "x.contiguous()",
    ),
    *("x.real", "x.conj()", "xp.ops.aten.alias(x)", "xp.atleast_3d(x)", "x.ravel()", "x.item()"),
    *(
        "bool(x[0, 0])",
        "float(one)",
        "int(one)",
        "one.item()",
        "xp.zeros(two)",
        "x.expand(two, 2, 3)",
    ),
)

_PROGRAM: Final = """\
log = []
x, one, two = xp.ones(2, 3, device={device!r}), xp.ones(()), xp.tensor(2)
def kernel(*a, **k):
    log.append(1)
    return {answer}
def calls(run):
    log.clear()
    try: run()
    except Exception as error: return len(log), type(error).__name__
    return len(log)
runs = [{runs}]
before = [calls(run) for run in runs]
lib = xp.library.Library("aten", "IMPL")
lib.impl({name!r}, kernel, {key!r})
under = [calls(run) for run in runs]
lib._destroy()
(before, under, [calls(run) for run in runs])"""


def texts() -> Iterator[Text]:
    """A program for each operator, a backend, and some at a time of the calls."""
    for (name, answer), key in product(INNER.items(), ("CPU", "Meta")):
        for start in range(0, len(OUTER), 10):
            runs = ", ".join(f"lambda: {call}" for call in OUTER[start : start + 10])
            text = _PROGRAM.format(name=name, key=key, device=key.lower(), answer=answer, runs=runs)
            yield "kernels of others", text
