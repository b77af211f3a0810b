"""Questions about pooling, for ``neural.json``: see :mod:`conformance.extract.neural`."""

from collections.abc import Callable

import torch
from torch.nn import functional

from conformance.extract import said, takes
from conformance.extract._asking import in_a_fork

A = torch.ops.aten
NUMBER = torch.ones(1, 1, 1)
PLACE = torch.zeros(1, 1, 1, dtype=torch.int64)


def meta(*sizes: int) -> torch.Tensor:
    return torch.zeros(sizes, device="meta")


def zero(dtype: torch.dtype, rank: int) -> torch.Tensor:
    return torch.zeros((1,) * rank, dtype=dtype)


#: Calls with switches over dtypes.
CALLS: tuple[Callable[[torch.dtype], object], ...] = (
    lambda dtype: A.adaptive_max_pool3d(zero(dtype, 4), [1, 1, 1]),
    lambda dtype: A.adaptive_max_pool3d_backward(*[zero(dtype, 4)] * 2, PLACE[None]),
    lambda dtype: A.max_unpool2d(zero(dtype, 3), PLACE, [1, 1]),
    lambda dtype: A.max_unpool3d(zero(dtype, 4), PLACE[None], [1, 1, 1], [1, 1, 1], [0, 0, 0]),
)

HABITS: dict[str, Callable[[], object]] = {
    "a pool tells which dimension is empty": lambda: (
        "being empty" in said(lambda: A.avg_pool3d(torch.ones(1, 0, 1, 1), [1, 1, 1]))
    ),
    "the reach of a pool's windows may not overflow": lambda: (
        "overflows" in said(lambda: A.max_pool1d(NUMBER, [3], [], [0], [1 << 62]))
    ),
    "unpooling of volumes tells the dtype of places": lambda: (
        "got"
        in said(
            lambda: A.max_unpool3d(NUMBER[None], PLACE[None].int(), [1, 1, 1], [1, 1, 1], [0, 0, 0])
        )
    ),
    "the gradient of an adaptive max pool looks at its places": lambda: (
        not takes(lambda: A.adaptive_max_pool3d_backward(*[NUMBER[None]] * 2, PLACE[None, None]))
    ),
    "the gradient of a fractional max pool of images looks at all sizes": lambda: (
        "sizes"
        in said(lambda: A.fractional_max_pool2d_backward(NUMBER, NUMBER, [1, 1], [2, 1], PLACE))
    ),
    "max_unpool takes no sizes below zero": lambda: (
        "non-negative" in said(lambda: A.max_unpool2d(NUMBER, PLACE, [-1, 2]))
    ),
    "max_unpool counts dimensions before sizes": lambda: in_a_fork(
        lambda: "Input to" in said(lambda: A.max_unpool2d(NUMBER[0, 0], PLACE[0, 0], []))
    ),
    "max_unpool of torch.nn takes no sizes below zero": lambda: (
        "non-negative" in said(lambda: functional.max_unpool2d(NUMBER, PLACE, (1, 3), 1, 1))
    ),
    "max_unpool on meta takes no sizes below zero": lambda: (
        "non-negative" in said(lambda: A.max_unpool2d(meta(1, 1, 1), PLACE.to("meta"), [-1, 1]))
    ),
    "max_unpool closes what it opens": lambda: (
        said(lambda: A.max_unpool2d(NUMBER, PLACE - 1, [1, 1])).endswith(")")
    ),
    "fractional_max_pool2d on meta has words for all it refuses": lambda: (
        "non-zero"
        in said(lambda: A.fractional_max_pool2d(meta(1, 0, 1), [1, 1], [1, 1], meta(1, 1, 2)))
    ),
    "avg_pool3d on meta divides by nothing": lambda: takes(
        lambda: A.avg_pool3d(meta(1, 1, 1, 1), [1], divisor_override=0)
    ),
    "a max pool on meta sees how one volume lies": lambda: (
        not takes(lambda: torch.max_pool3d(meta(2, 2, 2, 2).permute(3, 0, 1, 2), 1))
    ),
}
