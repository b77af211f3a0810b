"""Questions about attention, bags of embeddings and distances, for ``neural.json``: see
:mod:`conformance.extract.neural`."""

from collections.abc import Callable
from typing import Any

import torch

from conformance.extract import takes
from conformance.extract._asking import error_of, is_reached

A = torch.ops.aten
LABELS = torch.zeros(2, dtype=torch.int64)
ROWS = torch.zeros(2, 2)


def zeros(dtype: torch.dtype, *sizes: int) -> torch.Tensor:
    return torch.zeros(sizes, dtype=dtype)


def attention_with(bias_k: Any = None, **options: Any) -> object:
    """Of two queries by one head."""
    return torch.nn.functional.multi_head_attention_forward(
        *([ROWS] * 3), 2, 1, torch.ones(6, 2), None, bias_k, None, False, 0.0, ROWS, None, **options
    )


def fuses_groups() -> bool:
    """Whether heads that share keys are for the one kernel of attention, if they may share any."""
    heads = torch.ones(1, 2, 1, 1)
    try:
        choice: int = A._fused_sdp_choice(heads, *[heads[:, :1]] * 2, enable_gqa=True)
    except RuntimeError:
        return False
    return choice == 1


def divides_by_own_counts() -> bool:
    """Whether the gradient of a row that two have before it in order is that of one which occurs
    once."""
    weight = torch.ones(4, 1, requires_grad=True)
    rows, bags = torch.tensor([0, 2, 1, 0, 3]), torch.tensor([0])
    torch.embedding_bag(weight, rows, bags, True)[0].sum().backward()
    assert weight.grad is not None
    return bool(weight.grad[1].item() == 1)


HABITS: dict[str, Callable[[], bool]] = {
    "attention lies as its queries do": lambda: (
        A._scaled_dot_product_flash_attention_for_cpu(*[torch.ones(1, 2, 3, 1)] * 3)[0].stride(1)
        == 3
    ),
    "attention of groups of heads is fused": fuses_groups,
    "attention of halves is in floats": lambda: is_reached(
        A._to_copy.default,
        lambda: torch.nn.functional.scaled_dot_product_attention(*[zeros(torch.half, 2, 2)] * 3),
    ),
    "a bag divides its rows by their own counts": divides_by_own_counts,
    "attention that is causal takes no mask": lambda: (
        not takes(
            lambda: torch.nn.functional.scaled_dot_product_attention(
                *[ROWS[None, None]] * 3, ROWS, is_causal=True
            )
        )
    ),
    "attention to nothing is zero": lambda: is_reached(
        A.zeros.default,
        lambda: torch.nn.functional.scaled_dot_product_attention(*[ROWS[:0]] * 3),
    ),
    "attention by no features is zero": lambda: is_reached(
        A.zeros.default,
        lambda: torch.nn.functional.scaled_dot_product_attention(*[ROWS[:, :0]] * 2, ROWS),
    ),
    "attention on meta has sums of doubles": lambda: (
        A._scaled_dot_product_flash_attention_for_cpu(
            *[torch.ones(1, 1, 1, 1, dtype=torch.float64, device="meta")] * 3
        )[1].dtype
        is torch.float64
    ),
    "attention rounds products of halves": lambda: (
        A._scaled_dot_product_flash_attention_for_cpu(
            *[torch.arange(384.0).remainder(7).div(7).half().view(2, 6, 4, 8)] * 3
        )[0][0, 0, 0, 1].item()
        == 0.3388671875
    ),
    "attention tells which bias is missing": lambda: (
        "bias_v is None" in error_of(lambda: attention_with(bias_k=ROWS))[1]
    ),
    "attention tells a mask's sizes apart": lambda: (
        "shape[1]" in error_of(lambda: attention_with(key_padding_mask=ROWS[0, :1] == 0))[1]
    ),
    "attention fills its mask": lambda: is_reached(
        A.masked_fill_.Scalar,
        lambda: torch.nn.functional.scaled_dot_product_attention(
            ROWS.clone().requires_grad_(), ROWS, ROWS, is_causal=True
        ),
    ),
    "attention without a batch is attention of one": lambda: is_reached(
        A.unsqueeze.default,
        lambda: torch.nn.functional.scaled_dot_product_attention(*[torch.ones(1, 2, 2)] * 3),
    ),
    "attention reshapes its rows": lambda: is_reached(
        A._unsafe_view.default,
        lambda: torch.nn.functional.multi_head_attention_forward(
            *([torch.ones(2, 4)] * 3),
            *(4, 2, torch.ones(12, 4), torch.ones(12), None, None, False, 0.0),
            *(torch.ones(4, 4), None),
        ),
    ),
    "bags on meta are weighed in one dtype": lambda: not takes(
        lambda: A._embedding_bag(
            *(ROWS.to("meta"), LABELS, LABELS),
            per_sample_weights=torch.ones(2, dtype=torch.float64, device="meta"),
        )
    ),
    "bags of one length have no last offset": lambda: (
        len(torch.nn.functional.embedding_bag(LABELS[None], ROWS, include_last_offset=True)) == 1
    ),
    "cdist on meta tells a dtype": lambda: (
        "torch" in error_of(lambda: torch.cdist(*[LABELS[None].to("meta")] * 2))[1]
    ),
    "cdist on meta takes mode 0": lambda: takes(
        lambda: A._cdist_forward(*[ROWS.to("meta")] * 2, 1.0, 0)
    ),
    "lengths of a cosine are bounded by no negative number": lambda: not takes(
        lambda: torch.cosine_similarity(torch.ones(1), torch.ones(1), 0, -1.0)
    ),
    "lengths of a cosine are bounded by a tensor": lambda: is_reached(
        A.clamp_min_.Tensor, lambda: torch.cosine_similarity(ROWS, ROWS)
    ),
}
