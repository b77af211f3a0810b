"""Histograms, and reductions of segments, for the area core-ops: edges that are odd, dtypes that
round, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_X: Final = "xp.tensor([1., 2, 1, 4, 7, 3.5, -2])"
_HISTOGRAMS: Final = (
    *(f"{_X}, {bins}" for bins in ("3", "0", "3, density=True", "3, range=(0., 4.)")),
    *(f"{_X}, 3, range={ends}" for ends in ("(2., 2.)", "(3., 2.)", "(3., float('inf'))", "(3.,)")),
    *(
        f"{_X}, xp.tensor({edges})"
        for edges in (
            *("[0., 1, 4, 9]", "[4., 1, 0, 9]", "[0, 1, 4, 9]", "[[0., 1, 4, 9]]", "[]", "[1.]"),
            *("1.", "[0., 1, 4, 9]), density=True, weight=xp.arange(7."),
            *("[0., 4, 9]), weight=xp.arange(6.", "[0., 4, 9]), weight=xp.arange(7"),
        )
    ),
    *("xp.tensor([1., float('nan'), 2]), 4", "xp.arange(5), 3", "xp.arange(5.).half(), 3"),
    *("xp.full((3000,), 1.).half(), 1, range=(0., 2.)", "xp.empty(0), 3", "xp.tensor(2.), 3"),
    "xp.arange(5.).bfloat16(), 3, range=(0., 4.), weight=xp.arange(5.).bfloat16() / 3",
    "xp.arange(12.).view(3, 4).t(), 3, weight=xp.arange(12.).view(4, 3)",
    *("xp.ones(4, device='meta'), 3", "xp.ones(4, requires_grad=True), 3", "xp.arange(5.), 3.5"),
    "xp.arange(5.), 3, out=(xp.empty(7), xp.empty(7))",
    "xp.arange(5.), 3, out=(xp.empty(0).double(), xp.empty(0))",
    "xp.arange(5.), 3, out=(xp.empty(0), xp.empty(0).double())",
    "xp.arange(1000).double() * 0.1, 100, range=(0., 100.)",
)
_POINTS: Final = "(xp.arange(12.) % 5).view(6, 2)"
_IN_SEVERAL: Final = (
    *(f"{_POINTS}, {bins}" for bins in ("[2, 3]", "2", "[2]", "[2, 0]", "[2, 3], density=True")),
    *(
        f"{_POINTS}, 2, range={ends}"
        for ends in ("(0., 1., 2., 3.)", "(0., 1.)", "(1., 0., 2., 2.)")
    ),
    *(f"{_POINTS}, 2, weight={weight}" for weight in ("xp.arange(6.)", "xp.arange(5.)")),
    *(
        f"{_POINTS}, [xp.tensor([0., 1, 4]){other}]"
        for other in (", xp.tensor([0., 3])", "", ", xp.tensor([0, 3])", ", xp.tensor([1.])")
    ),
    *(
        "xp.arange(4.), 2",
        "xp.tensor(1.), 2",
        "xp.arange(24.).view(2, 3, 4), 2",
        "xp.empty(0, 2), 2",
    ),
    *("xp.empty(3, 0), []", "xp.arange(4).view(2, 2), 2", "xp.ones(2, 2, device='meta'), 2"),
)

_ROWS: Final = "xp.arange(1., 13).view(6, 2)"
_LENGTHS: Final = "xp.tensor([2, 0, 3, 1])"
_REDUCTIONS: Final = ("sum", "mean", "max", "min", "prod")
_BY: Final = (
    *(
        f"lengths={_LENGTHS}",
        "offsets=xp.tensor([0, 2, 2, 5, 6])",
        f"lengths={_LENGTHS}, initial=3",
    ),
)
_SEGMENTS: Final = (
    *(
        f"{_ROWS}, 'sum'",
        f"{_ROWS}, 'nosuch', lengths={_LENGTHS}",
        f"{_ROWS}.long(), 'sum', {_BY[0]}",
    ),
    f"{_ROWS}, 'sum', {_BY[0]}, indices={_LENGTHS}",
    *(
        f"{_ROWS}, 'sum', lengths={lengths}"
        for lengths in (
            *("xp.tensor([4, 1])", "xp.tensor([4, 1]), unsafe=True", "xp.tensor([7, -1])"),
            *("xp.tensor([7, -1]), unsafe=True", "xp.tensor([4., 2])", "xp.tensor([4, 2]).int()"),
            *("xp.tensor([4, 2]).short()", "xp.tensor(6)", "xp.tensor([], dtype=xp.int64)"),
            *("xp.tensor([4, 2]), axis=1", "xp.tensor([[1, 1]] * 6), axis=1"),
            *("xp.tensor([[2, 1]] * 6), axis=1", "xp.tensor([4, 2]), initial=1j"),
        )
    ),
    f"{_ROWS}.to('meta'), 'sum', lengths=xp.tensor([[2, 1, 3]] * 2).to('meta'), axis=1",
    f"{_ROWS}.to('meta'), 'sum', offsets={_LENGTHS}.to('meta')",
    f"{_ROWS}.to('meta'), 'sum', offsets={_LENGTHS}.to('meta'), axis=4",
)
_TO_DERIVE: Final = (
    "xp.tensor([1., 2, 2, 0, 5, 0, 7])",
    "xp.tensor([1., 2, float('nan'), 0, 5, 0, 7])",
    "xp.tensor([1., 2, 2, 3, 5, -1, 7]).bfloat16()",
)


def texts() -> Iterator[Text]:
    for given in _HISTOGRAMS:
        yield "histogram", f"xp.histogram({given})"
    for given in _IN_SEVERAL:
        yield "histogramdd", f"xp.histogramdd({given})"
    yield "histogramdd", f"xp.ops.aten.histogramdd({_POINTS}, [2, 3])"
    for given in _SEGMENTS:
        yield "segment_reduce", f"xp.segment_reduce({given})"
    for reduction, by in product(_REDUCTIONS, _BY):
        yield "segment_reduce", f"xp.segment_reduce({_ROWS}.half() / 3, '{reduction}', {by})"
    for reduction, data in product(_REDUCTIONS, _TO_DERIVE):
        yield "segment_reduce", _derived(data, reduction)


def _derived(data: str, reduction: str) -> str:
    """With weights, one of them below zero, which extremes that are equal do not share."""
    return (
        f"x = {data}.requires_grad_()\n"
        f"y = xp.segment_reduce(x, '{reduction}', lengths=xp.tensor([3, 0, 4]), initial=2)\n"
        "(y * xp.tensor([-1., 2, 3])).sum().backward()\n(y.grad_fn, x.grad)"
    )
