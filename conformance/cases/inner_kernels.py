"""Kernels that a user puts in an operator's place, seen from the operators that call it.

A kernel that calls an operator on its own tensor does so by the dispatcher, so who registers
another kernel for that is called too.  Each program notes for every call how often that was.  What
operators kernels of a backend compute with, on meta those in Python too, is torch's own affair:
such calls are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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

MAKERS: Final = {
    **dict.fromkeys(("zero_", "fill_.Scalar", "copy_", "_to_copy", "clone"), "a[0]"),
    **dict.fromkeys(("empty.memory_format", "empty_like"), "x"),
    **dict.fromkeys(("uniform_", "normal_", "mul.Tensor", "sub.Tensor", "mm", "eq.Tensor"), "a[0]"),
}
"""The same of what makes tensors, fills them and computes."""

MADE: Final = (
    *("xp.zeros(2)", "xp.ones(2)", "xp.full((2,), 3.0)", "xp.empty(2)", "xp.eye(2)", "xp.rand(2)"),
    *("xp.randn(2)", "xp.randint(3, (2,))", "xp.zeros_like(x)", "xp.ones_like(x)"),
    *("xp.full_like(x, 2)", "xp.empty_like(x)", "xp.rand_like(x)", "xp.randn_like(x)"),
    *("x.new_zeros(2)", "x.new_ones(2)", "x.new_full((2,), 1)", "x.new_empty(2)", "x.clone()"),
    *("x.to(xp.float64)", "x.half()", "x.type(xp.int64)", "x.to(x.dtype)", "x.cpu()", "x.copy_(x)"),
    *("x.detach()", "x.square()", "x @ x.t()", "xp.outer(x[0], x[0])", "x.ne(x)"),
    *("x.zero_()", "x.fill_(1)", "xp.outer(x[0], x[1])", "xp.einsum('ij,kj', x, x)"),
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
    yield from _programs(INNER, OUTER, ("CPU", "Meta"))
    yield from _programs(MAKERS, MADE, ("CPU",))


def _programs(
    inner: Mapping[str, str], outer: Sequence[str], keys: Sequence[str]
) -> Iterator[Text]:
    for (name, answer), key in product(inner.items(), keys):
        for start in range(0, len(outer), 10):
            runs = ", ".join(f"lambda: {call}" for call in outer[start : start + 10])
            text = _PROGRAM.format(name=name, key=key, device=key.lower(), answer=answer, runs=runs)
            yield "kernels of others", text
