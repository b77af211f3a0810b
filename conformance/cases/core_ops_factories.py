"""Factories for the area core-ops: what makes, fills, copies and converts tensors.

Through ``torch.ops``, whose calls have no constructor of Python's before them.

Not here yet: what functions in Python, which torch has at Meta, say of sizes below zero, of steps
that an integer does not have, of outputs of another size, and of tensors for ``linspace.out``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from conformance.area import Text
from conformance.cases.core_ops_pools import LAYOUTS, NUMBERS, SHAPES, pools_of
from conformance.cases.pairwise import pairwise

DEVICES: Final = ("cpu", "meta")
_DTYPES: Final = ("float32", "float64", "int64", "uint8", "bool", "complex64", "float16")
_SIZES: Final = ("[]", "[3]", "[2, 3]", "[0, 2]", "[2, 1, 2]", "[-1]", "[2, -3]")

_OF_SIZE: Final = ("zeros({0}{1})", "ones({0}{1})", "full({0}, 2{1})", "full({0}, True{1})")
_OF_NUMBERS: Final = (
    *("arange(5{0})", "arange(2.5{0})", "arange.start(1, 4{0})", "arange.start_step(5, 1, -2{0})"),
    *("arange.start_step(0, 1, 0.25{0})", "arange.start_step(0, 5, 1.5{0})", "eye(3{0})"),
    *("eye.m(2, 3{0})", "scalar_tensor(2{0})"),
    *("scalar_tensor(2.5{0})", "scalar_tensor(True{0})"),
    *("linspace(0, 1, 5{0})", "linspace(3, -2.5, 8{0})", "linspace(-3, 200, 4{0})"),
    *("linspace(1j, 2, 3{0})", "linspace(0.5, 1, 1{0})", "linspace(0, 1, 0{0})"),
    *("linspace(0, 1, -1{0})", "linspace.Tensor_Scalar(xp.tensor(1.5), 4, 3{0})"),
    *(
        "linspace.Scalar_Tensor(1, xp.tensor(4), 3{0})",
        "linspace.Tensor_Scalar(xp.ones(1), 2, 3{0})",
    ),
    "linspace.Tensor_Tensor(xp.tensor(0.5), xp.tensor([4]), 3{0})",
)
_OUT_OF_NUMBERS: Final = (
    *("arange.out(5{0})", "arange.start_out(1, 4, 2{0})", "arange.start_out(5, 1, -2{0})"),
    *("arange.out(2.5{0})", "arange.out(-1{0})", "arange.start_out(0, 1, 0{0})"),
    *("linspace.out(0, 5, 4{0})", "linspace.out(2.5, 1, 1{0})", "linspace.out(0, 1j, 3{0})"),
    *("linspace.Tensor_Scalar_out(xp.tensor(2), 1, 3{0})", "linspace.out(0, 1, -1{0})"),
    *("eye.out(3{0})", "eye.m_out(2, 3{0})", "eye.m_out(3, 0{0})", "eye.out(-1{0})"),
)
_OUTPUTS: Final = ("zeros(0{})", "zeros(3{})", "ones(5{})", "zeros((3, 3){})", "ones((2, 3){})")
_LIKE: Final = (
    *("zeros_like(x{0})", "ones_like(x{0})", "full_like(x, 3{0})", "new_zeros(x, [2, 2]{0})"),
    *("new_ones(x, [3]{0})", "new_full(x, [2], 4{0})", "full_like(x, 2.5{0})"),
)
_EMPTY: Final = ("empty_like(x)", "new_empty(x, [2, 3])", "new_empty_strided(x, [2, 3], [1, 2])")
_ORDERS: Final = ("[]", "[0]", "[1, 0]", "[2, 0, 1]", "[0, 0]", "[-1, 0]", "[0, 2]")
_CHANGES: Final = ("fill_(x, {0})", "fill_(x, xp.tensor({0}))", "fill(x, {0})")


def texts(dtypes: Sequence[str]) -> Iterator[Text]:
    sized = [*pairwise(_SIZES, ("", *dtypes), DEVICES)]
    for call, (size, dtype, device) in product(_OF_SIZE, sized):
        if device == "meta" and "-" in size:
            continue
        yield _case(call.format(size, _options(dtype, device)))
    for call, dtype, device in product(_OF_NUMBERS, ("", *dtypes), DEVICES):
        if device == "meta" and "0.25" in call:
            continue
        yield _case(call.format(_options(dtype, device)))
    outputs = [*pairwise(_OUTPUTS, _DTYPES, DEVICES)]
    for call, (made, dtype, device) in product(_OUT_OF_NUMBERS, outputs):
        wrong = "-1{" in call or ", 0{" in call or "xp.tensor" in call
        if device == "meta" and (made != _OUTPUTS[0] or wrong):
            continue
        out = made.format(_options(dtype, device))
        yield _case(call.format(", out=y"), f"y = xp.{out}")
    for size, dtype, device in product(_SIZES, dtypes, DEVICES):
        call = f"empty.memory_format({size}{_options(dtype, device)})"
        yield _shape(f"xp.ops.aten.{call}", call)
    for size, order, device in pairwise(_SIZES, _ORDERS, DEVICES):
        call = f"empty_permuted({size}, {order}{_options('', device)})"
        yield _shape(f"xp.ops.aten.{call}", call)
    for call, (one, two, device) in product(_LIKE, [*pairwise(dtypes, ("", *_DTYPES), DEVICES)]):
        made = f"x = xp.ones((2, 3), dtype=xp.{one}, device='{device}')"
        yield _case(call.format(_options(two, "")), made)
    for call, layout, device in product((*_LIKE, *_EMPTY), LAYOUTS, DEVICES):
        call = call.format("")
        made = f"x = {layout.format(device)}\n"
        if call in _EMPTY:
            yield _shape(f"{made}xp.ops.aten.{call}", call)
        else:
            yield _case(call, made.rstrip())
    yield from _filled(dtypes)
    yield from _copied(dtypes)
    yield from _converted(dtypes)


def _filled(dtypes: Sequence[str]) -> Iterator[Text]:
    for call, (dtype, number, device) in product(_CHANGES, [*pairwise(dtypes, NUMBERS, DEVICES)]):
        made = f"x = xp.zeros(2, dtype=xp.{dtype}, device='{device}')"
        yield call.partition("(")[0], f"{made}\ny = xp.ops.aten.{call.format(number)}\n(y, x)"
    for layout, device in product(LAYOUTS, DEVICES):
        for call in ("fill_(x, 3)", "fill_(x, xp.ones(2))", "zero_(x)", "fill_(x, x)"):
            made = f"x = {layout.format(device)}"
            yield call.partition("(")[0], f"{made}\ny = xp.ops.aten.{call}\n(y is x, x, x._version)"


def _copied(dtypes: Sequence[str]) -> Iterator[Text]:
    for one, two in product(dtypes, dtypes):
        values = ", ".join(pools_of(two)[0])
        if pools_of(one)[0][0] == pools_of("uint8")[0][0] and "-" in values and "uint" in one:
            continue  # whatever the processor makes of a negative float as an unsigned number
        made = f"x = xp.zeros(3, dtype=xp.{one})\ns = xp.tensor([{values}], dtype=xp.{two})"
        yield "copy_", f"{made}\ny = xp.ops.aten.copy_(x, s)\n(y is x, x)"
    for one, two, shape in product(DEVICES, DEVICES, SHAPES):
        made = f"x = xp.zeros((2, 3), device='{one}')\ns = xp.ones({shape}, device='{two}')"
        yield "copy_", f"{made}\nxp.ops.aten.copy_(x, s)\n(x, x._version)"
    for one, two, device in product(LAYOUTS, LAYOUTS, DEVICES):
        made = f"x = {one.format(device)}\ns = {two.format(device)}"
        yield "copy_", f"{made}\nxp.ops.aten.copy_(x, s)\nx"


def _converted(dtypes: Sequence[str]) -> Iterator[Text]:
    for one, two, device in product(dtypes, dtypes, DEVICES):
        made = f"x = xp.ones((2, 3), dtype=xp.{one}, device='{device}').t()"
        call = f"xp.ops.aten.to.dtype(x, xp.{two})"
        yield "to", f"{made}\ny = {call}\n(y, y is x)"
    for layout, device, rest in product(LAYOUTS, DEVICES, ("", ", False, True")):
        for dtype in ("float32", "int8"):
            made = f"x = {layout.format(device)}"
            yield "to", f"{made}\ny = xp.ops.aten.to.dtype(x, xp.{dtype}{rest})\n(y, y is x)"
    for dtype in dtypes:
        values = pools_of(dtype)[0][1]
        yield "item", f"xp.ops.aten.item(xp.tensor({values}, dtype=xp.{dtype}))"


def _options(dtype: str, device: str) -> str:
    named = [("dtype", f"xp.{dtype}" if dtype else ""), ("device", device and f"'{device}'")]
    return "".join(f", {name}={value}" for name, value in named if value and value != "'cpu'")


def _case(call: str, made: str = "") -> Text:
    name = call.partition("(")[0].partition(".")[0]
    return name, "\n".join(line for line in (made, f"xp.ops.aten.{call}") if line)


def _shape(text: str, call: str) -> Text:
    """Of what nobody has put values in, only the shape."""
    *before, last = text.split("\n")
    shown = "(y.shape, y.stride(), y.dtype, y.device, y.layout)"
    return call.partition("(")[0].partition(".")[0], "\n".join((*before, f"y = {last}", shown))
