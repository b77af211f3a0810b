"""Operators that gather, scatter, order and rearrange elements, for the area core-ops.

Not here: flips, stacks and multiples of dtypes without arithmetic, which depend on how memory is
gone through.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from conformance.area import Text
from conformance.cases.core_ops_pools import pools_of
from conformance.cases.pairwise import pairwise

_X: Final = "xp.arange(6.0{0}).view(2, 3)"
_INDEX: Final = "xp.tensor([0, 1]{0})"
_INDICES: Final = "xp.tensor([[0, 1, 0], [1, 0, 1]]{0})"
_MASK: Final = "xp.tensor([True, False, True]{0})"

#: Calls of a tensor of two rows and three columns, indices in a row or like it, and a mask.
GOOD: Final = (
    *("{x}.gather(0, {indices})", "{x}.gather(1, {indices})", "{x}.take({index})"),
    *("{x}.scatter(0, {indices}, {x})", "{x}.scatter(1, {indices}, 2.5)"),
    *("{x}.scatter_add(0, {indices}, {x})", "{x}.scatter(0, {indices}, True)"),
    *("{x}.index_select(0, {index})", "{x}.index_select(-1, {index})"),
    *("{x}.index_add(0, {index}, {x})", "{x}.index_add(0, {index}, {x}, alpha=2)"),
    *("{x}.put({index}, {x}[0, :2])", "{x}.put({index}, {x}[0, :2], True)"),
    *("{x}.put({indices}, {x})", "{x}.put({indices}, {x}.t().reshape(2, 3).t(), True)"),
    *("{x}[0].clone().put_({indices}, {x})", "{x}.put({indices}.t(), {x}.t())"),
    *("{x}.put_({index}, {x}[0, :2])", "{x}[:1].expand(2, 3).put_({index}, {x}[0, :2])"),
    *("{x}.masked_scatter({mask}, {x})", "{x}.clone().masked_scatter_({mask}, {x})"),
    *("{x}.clone().put_({index}, {x}[0, :2])", "{x}.clone().index_add_(1, {index}, {x}[:, :2])"),
    *("{x}.clone().scatter_(0, {indices}, {x})", "{x}.clone().scatter_add_(1, {indices}, {x})"),
    *("{x}.flip(0)", "{x}.flip(0, 1)", "{x}.roll(1, 1)", "{x}.roll(2)", "{x}.repeat(2, 1, 2)"),
    *("{x}.sort()", "{x}.sort(0, True)", "{x}.sort(dim=1, stable=True)", "{x}.argsort(0)"),
    *("{x}.topk(2)", "{x}.topk(1, 0, False)", "xp.cat([{x}, {x}])", "xp.stack([{x}, {x}], 1)"),
    *("{x}[{index}]", "{x}[:, {index}]"),
    *("{x}.index_fill(0, {index}, 7)", "{x}.clone().index_fill_(-1, {index}, True)"),
    *("{x}.index_fill(1, {index}, {x}[0, 0])", "{x}.index_copy(0, {index}, {x} * 2)"),
    *("{x}.clone().index_copy_(1, {index}, {x}[:, 1:])", "{x}.index_fill(1, {index}[0], 2)"),
)
#: Changes of a tensor of two rows and three columns at places of which some are there twice.
CHANGES: Final = (
    *(
        "{x}.put_({i}, {y})",
        "{x}.put_({i}, {y}, True)",
        "{x}.scatter_(0, {i}, {y})",
        "{x}[{i}[0]] = 7",
    ),
    *("{x}.scatter_(1, {i}, 9)", "{x}.scatter_add_(1, {i}, {y})", "{x}.index_add_(1, {i}[1], {y})"),
    *("{x}[0].index_put_([{i}], {y})", "{x}.index_put_([None, {i}], {y}[:, None], True)"),
    *("{x}.index_put_([{i}[0], {i}[1]], {y}[0])", "{x}.index_add_(0, {i}[1], {y}.t(), alpha=2)"),
    *(
        "xp.gather({y}, 1, {i}, out={x}.resize_(2, 3).zero_())",
        "{x}.index_add_(0, {i}[1], xp.ones(3, 3))",
        "{x}.index_put_([{i}.t()], xp.arange(18.).view(3, 3, 2).transpose(1, 2))",
    ),
)
_TARGETS: Final = ("xp.zeros(2, 3)", "xp.zeros(3, 2).t()", "xp.zeros(1, 3)", "xp.ones(())")
_SOURCES: Final = ("xp.arange(6.).view(2, 3)", "xp.arange(6.).view(3, 2).t()")
_WRITTEN_TO: Final = ("xp.tensor([[0, 1, 0], [1, 0, 1]])", "xp.tensor([[0, 1, 0], [1, 7, 0]])")
#: What has a shape that depends on values.
OF_VALUES: Final = (
    *("{x}.masked_select({mask})", "{x}.nonzero()", "xp.where({x})", "{x}[{x} > 1]"),
)

#: Calls with a dimension or a number, of a tensor and what stands for indices.
CALLS: Final = (
    *("{x}.gather({n}, {i})", "{x}.scatter({n}, {i}, {x})", "{x}.scatter_add({n}, {i}, {x})"),
    *("{x}.index_select({n}, {i})", "{x}.index_add({n}, {i}, {x})", "{x}.scatter({n}, {i}, 1)"),
    *("{x}.sort({n})", "{x}.topk({n})", "{x}.topk(1, {n})", "{x}.argsort({n})", "{x}.flip({n})"),
    *("{x}.roll(1, {n})", "{x}.put({i}, {x})", "{x}.take({i})", "{x}.masked_scatter({i} > 0, {x})"),
    *("{x}.index_fill({n}, {i}, 5)", "{x}.index_fill({n}, {i}, 2j)"),
    *("{x}.clone().index_fill_({n}, {i}, {x})", "{x}.clone().index_copy_({n}, {i}, {x})"),
    *("{x}.index_copy({n}, {i}, {x} * 2)", "{x}.expand(2, 3).index_fill_(0, {i}, {n})"),
    *("xp.cat([{x}, {x}], {n})", "xp.stack([{x}, {x}], {n})", "{x}.masked_select({i} > 0)"),
)
#: Calls with an argument that says how elements are put together.
REDUCED: Final = (
    *("{x}.scatter({n}, {i}, 2, reduce={r})", "{x}.clone().scatter_({n}, {i}, 2, reduce={r})"),
    "{x}.scatter({n}, {i}, {x} + 1, reduce={r})",
)
_TENSORS: Final = (
    *("xp.ones(())", "xp.ones(3)", "xp.ones(0)", "xp.arange(6.0).view(2, 3)", "xp.ones(2, 0)"),
    *("xp.arange(6.0).view(3, 2).t()", "xp.arange(12.0).view(2, 6)[:, ::2]", "xp.ones(2, 2, 2)"),
)
_PLACES: Final = (
    *("xp.tensor(0)", "xp.tensor([0, 1])", "xp.tensor([[0, 1, 0]])", "xp.tensor([5])"),
    *("xp.tensor([-1])", "xp.tensor([], dtype=xp.int64)", "xp.tensor([0], dtype=xp.int32)"),
    *("xp.tensor([1.0])", "xp.tensor([True])", "xp.tensor([[[0]]])"),
)
PLAIN: Final = (
    *("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32"),
    *("float64", "complex64", "complex128"),
)
"""Dtypes that every kernel takes."""
_NUMBERS: Final = ("0", "1", "-1", "2", "-3")
_TIES: Final = (
    *("[3, 1, 2, 3, 1, 2, 3]", "[1, 1, 1, 1]", "[True, False, True, False]", "[]", "[5]"),
    *("[float('nan'), 1.0, float('inf'), float('nan'), -1.0]", "[[2.0, 1.0], [1.0, 2.0]]"),
)
_ORDERS: Final = (
    *("{x}.sort()", "{x}.sort(descending=True)", "{x}.sort(stable=True)", "{x}.argsort()"),
    *("{x}.argsort(stable=True, descending=True)", "{x}.topk(1)", "{x}.topk(3, largest=False)"),
    *("{x}.topk(3, sorted=False)", "{x}.topk(0)", "{x}.sort(0)", "{x}.argsort(descending=True)"),
)


_RARE: Final = ("uint16", "uint32", "uint64", "float8_e5m2", "float8_e4m3fn")
"""Dtypes in which tensors are made, and for which few kernels are compiled."""
_PUT_AT: Final = ("[0, 2]", "[]", "[7]", "[True, False, True, False]")


def _rarely_put() -> Iterator[Text]:
    for dtype, places, accumulate in product(_RARE, _PUT_AT, ("False", "True")):
        index = "xp.tensor([], dtype=xp.int64)" if places == "[]" else f"xp.tensor({places})"
        count = 2 if "," in places else places.count("7")
        values = f"xp.ones({count}).to(xp.{dtype})"
        made = f"xp.zeros(4, dtype=xp.{dtype})"
        yield "index_put_", f"{made}.index_put_(({index},), {values}, {accumulate})"


def texts(dtypes: Sequence[str]) -> Iterator[Text]:
    for call, device in product(GOOD, ("cpu", "meta")):
        where = "" if device == "cpu" else f", device='{device}'"
        operands = [text.format(where) for text in (_X, _INDEX, _INDICES, _MASK)]
        yield _target(call), _filled(call, *operands)
    for call, dtype in product((*GOOD, *OF_VALUES), dtypes):
        if any(each in call for each in ("flip", "alpha", "stack")) and dtype not in PLAIN:
            continue
        values = ", ".join(pools_of(dtype)[0])
        made = f"xp.tensor([[{values}], [{values}]], dtype=xp.{dtype})"
        index, indices, mask = (text.format("") for text in (_INDEX, _INDICES, _MASK))
        yield _target(call), _filled(call, made, index, indices, mask)
    yield from _rarely_put()
    for call in CALLS:
        for made, places, number, device in pairwise(_TENSORS, _PLACES, _NUMBERS, ("cpu", "meta")):
            if device == "cpu" or "masked_select" not in call:  # whose shape depends on values
                yield _target(call), call.format(x=on(device, made), i=on(device, places), n=number)
    for call, (made, number) in product(REDUCED, product(_TENSORS, _NUMBERS)):
        for reduce, device in product(("add", "multiply", "mean"), ("cpu", "meta")):
            places = on(device, "xp.tensor([[0, 1, 0]])")
            made_there = on(device, made)
            yield "scatter", call.format(x=made_there, i=places, n=number, r=repr(reduce))
    for call, row in product(_ORDERS, _TIES):
        yield _target(call), call.format(x=f"xp.tensor({row})")

    for x, y, i, call in product(_TARGETS, _SOURCES, _WRITTEN_TO, CHANGES):
        change = (
            f"try: {call.format(x='x', y=y, i=i)}\nexcept Exception as error: found = str(error)"
        )
        yield _target(call), f"x, found = {x}, None\n{change}\n(x, found)"


def on(device: str, made: str) -> str:
    """What is made, on a device."""
    return made if device == "cpu" else f"{made}.to('{device}')"


def _filled(call: str, made: str, index: str, indices: str, mask: str) -> str:
    return call.format(x=made, index=index, indices=indices, mask=mask)


def _target(call: str) -> str:
    name = call.removeprefix("{x}").removeprefix(".clone()").partition("(")[0]
    return name.removeprefix("xp.").removeprefix(".") if not name.startswith("[") else "index"
