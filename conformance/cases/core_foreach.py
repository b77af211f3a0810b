"""Operators of lists of tensors for the area core-ops: what each does is what the operator of one
tensor does, so here are the lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.area import Text
from conformance.cases.pairwise import pairwise
from mindtorch_v2.profile import Profile

_UNARY: Final = (
    *("abs", "exp", "log", "neg", "sqrt", "rsqrt", "sin", "cos", "tanh", "sigmoid", "sign"),
    *("reciprocal", "floor", "ceil", "round", "trunc", "expm1", "log1p"),
)
_BINARY: Final = ("add", "sub", "mul", "div", "maximum", "minimum", "clamp_min", "clamp_max", "pow")
_LISTS: Final = (
    "[xp.ones(2), xp.arange(3.0) + 1]",
    "[xp.arange(6).view(2, 3), xp.ones((), dtype=xp.float64)]",
    "[xp.ones(2, device='meta'), xp.ones(3, 1, device='meta')]",
    "(xp.ones(3),)",
    "[]",
)
_SECOND: Final = (
    *("2", "[2, 3.5]", "[1]", "b", "[b[0] * 2]", "[]", "xp.tensor(2.0)", "xp.ones(1)", "'x'"),
    *("[xp.ones(2)] * 2", "True"),
)
_ADDED: Final = ("2", "[2, 3]", "xp.tensor([2.0, 0.5])", "xp.ones(1)", "xp.ones(2, 1)", "[1]")
_MARKS: Final = ("", "_")


def texts(profile: Profile) -> Iterator[Text]:
    functions = profile.signatures["modules"]["torch"]
    known = [name for name in _UNARY if f"_foreach_{name}" in functions]
    for name, lists, mark in pairwise(known, _LISTS, _MARKS):
        yield _call(f"_foreach_{name}{mark}", lists, "")
    for name, lists, second, mark in pairwise(_BINARY, _LISTS, _SECOND, _MARKS):
        yield _call(f"_foreach_{name}{mark}", lists, f", {second}")
    for name, lists, added, mark in pairwise(("addcmul", "addcdiv"), _LISTS[::2], _ADDED, _MARKS):
        yield _call(f"_foreach_{name}{mark}", lists, f", b, b, {added}")
    for name, lists, mark in pairwise(("add", "sub"), _LISTS, _MARKS):
        yield _call(f"_foreach_{name}{mark}", lists, ", b, alpha=3")
    for lists in _LISTS:
        for rest in ("", ", 1", ", float('inf')", ", dtype=xp.float64"):
            yield _call("_foreach_norm", lists, rest)
        yield _call("_foreach_zero_", lists, "")
        yield _call("_foreach_copy_", lists, ", b")
    for call in (
        *("xp._foreach_exp([x])", "xp._foreach_mul([x, w], [w, x])", "xp._foreach_add([x, w], 2)"),
        *("xp._foreach_sqrt((x, w))", "xp._foreach_div([x], [w])", "xp._foreach_norm([x, w])"),
        *(
            "xp._foreach_add_([x], 1)",
            "xp._foreach_mul_([x * 2], [w])",
            "xp._foreach_neg_([x * 1])",
        ),
        *("xp._foreach_exp_([x * 1, w * 2])", "xp._foreach_addcmul([x], [w], [x], 2)"),
    ):
        leaves = "x, w = (xp.ones(2) * 2).requires_grad_(), (xp.ones(2) * 3).requires_grad_()\n"
        yield "autograd", f"{leaves}y = {call}\n(y, [a.grad_fn for a in y])"
        yield (
            "autograd",
            f"{leaves}y = {call}\nsum(a.sum() for a in y).backward()\n(x.grad, w.grad)",
        )


def _call(name: str, lists: str, rest: str) -> Text:
    return name, f"a, b = {lists}, {lists}\ny = xp.{name}(a{rest})\n(y, a, y is a)"
