"""Questions about attention by kernels that others have, on meta, for ``neural.json``: see
:mod:`conformance.extract.neural`."""

from collections.abc import Callable

import torch

from conformance.extract._asking import holds

A = torch.ops.aten


def meta(*sizes: int) -> torch.Tensor:
    return torch.zeros(sizes, device="meta")


HEADS = [meta(1, 2, 3, 4)] * 3
"""Queries, keys and values."""
TURNED = [meta(1, 2, 4, 3).mT, *HEADS[1:]]
NARROW = [*HEADS[:2], meta(1, 2, 3, 2)]

HABITS: dict[str, Callable[[], bool]] = {
    "the seed of flash attention on meta is two numbers": lambda: holds(
        lambda: A._scaled_dot_product_flash_attention(*HEADS)[6].shape == (2,)
    ),
    "sums of unlike sequences on meta are in rows": lambda: holds(
        lambda: (
            A._flash_attention_forward(
                *[meta(3, 1, 1)] * 3, *[meta(2)] * 2, *(3, 3, 0.0, False, False)
            )[1].dim()
            == 2
        )
    ),
    "fused attention on meta lies as its queries do": lambda: holds(
        lambda: (
            A._scaled_dot_product_cudnn_attention(*TURNED, None, False)[0].stride()
            == TURNED[0].stride()
        )
    ),
    "sums of cuDNN's attention on meta are columns": lambda: holds(
        lambda: A._scaled_dot_product_cudnn_attention(*HEADS, None, False)[1].dim() == 4
    ),
    "fused attention on meta may have no batch": lambda: holds(
        lambda: (
            A._scaled_dot_product_fused_attention_overrideable(*[meta(2, 3, 4)] * 3)[0].dim() == 3
        )
    ),
    "attention for MPS on meta is as wide as its values": lambda: holds(
        lambda: A._scaled_dot_product_attention_math_for_mps(*NARROW)[0].size(-1) == 2
    ),
}
