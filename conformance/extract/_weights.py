"""Questions about weights of a given length and attention on meta, for ``neural.json``: see
:mod:`conformance.extract.neural`."""

from collections.abc import Callable

import torch

from conformance.extract import said, takes
from conformance.extract._asking import is_reached, meta

A = torch.ops.aten


def norms_on_meta(*sizes: int, dtype: torch.dtype) -> torch.Tensor:
    """Of weights of that shape, for each place in their first dimension."""
    norms: torch.Tensor = A._weight_norm_interface(
        *[torch.ones(sizes, dtype=dtype, device="meta")] * 2
    )[1]
    return norms


def said_of_gradients(key: torch.Tensor, value: torch.Tensor, **options: object) -> str:
    """Of efficient attention, of two queries of three heads."""
    query, other = meta((1, 2, 3, 4)), meta(())
    rest = (None, other, None, None, 2, 2, other, 0.0, other, other, 0, False)
    return said(lambda: A._efficient_attention_backward(query, query, key, value, *rest, **options))


def said_of_shared(key: torch.Tensor, value: torch.Tensor) -> str:
    """The same where they share memory."""
    return said_of_gradients(key, value, shared_storage_dqdkdv=True)


HABITS: dict[str, Callable[[], bool]] = {
    "a weight norm on meta keeps norms of bfloat16 in floats": lambda: (
        A._weight_norm_interface(*[torch.ones(2, 2, dtype=torch.bfloat16, device="meta")] * 2)[
            1
        ].dtype
        is torch.float32
    ),
    "a weight norm of float16 is one kernel": lambda: is_reached(
        A._weight_norm_interface.default,
        lambda: torch._weight_norm(*[torch.ones(2, 2, dtype=torch.half, device="meta")] * 2),
    ),
    "flash attention on meta lies as its queries do": lambda: (
        A._scaled_dot_product_flash_attention_backward(
            *[torch.ones(1, 1, 1, 1, device="meta").expand(1, 2, 3, 1)] * 5,
            *[torch.ones(1, 2, 3, device="meta")] * 3,
            *(3, 3, 0.0, False, *[torch.ones((), device="meta")] * 2),
        )[0].stride(1)
        == 3
    ),
    "a weight norm on meta keeps norms in its kernel's dtype": lambda: (
        norms_on_meta(2, 2, dtype=torch.half).dtype is torch.float32
    ),
    "a weight norm on meta of a vector is of each number": lambda: (
        norms_on_meta(2, dtype=torch.float32).shape[0] == 2
    ),
    "flash attention on meta is as wide as its values": lambda: takes(
        lambda: A._scaled_dot_product_flash_attention(
            *[meta((1, 1, 1, 2))] * 2, meta((1, 1, 1, 3))
        )[0][..., 2]
    ),
    "attention on meta lies as its queries do at any rank": lambda: takes(
        lambda: A._scaled_dot_product_fused_attention_overrideable(
            *[meta((1, 1, 2))] * 2, meta((1, 1, 3))
        )
    ),
    "gradients of attention on meta have heads of their own": lambda: (
        A._scaled_dot_product_efficient_attention_backward(
            *(meta((1, 2, 1, 1)), meta((1, 2, 1, 1)), *[meta((1, 1, 1, 1))] * 2, None),
            *(*[meta(())] * 4, 0.0, [True] * 4),
        )[1].shape[1]
        == 1
    ),
    "gradients of attention that share memory share heads": lambda: (
        "heads" in said_of_shared(*[meta((1, 2, 1, 4))] * 2)
    ),
    "gradients of attention that share memory look at values": lambda: (
        "embedding" in said_of_shared(meta((1, 2, 3, 4)), meta((1, 2, 3, 1)))
    ),
    "efficient attention's gradient on meta takes its options": lambda: (
        not said_of_gradients(*[meta((1, 2, 3, 4))] * 2, scale=0.5)
    ),
    "attention on meta compares lengths of keys and values": lambda: (
        "length"
        in said(
            lambda: A._scaled_dot_product_fused_attention_overrideable(
                *[meta((1, 1, 1, 1))] * 2, meta((1, 1, 2, 1))
            )
        )
    ),
    "attention for MPS on meta broadcasts its batches": lambda: (
        "broadcast"
        in said(
            lambda: A._scaled_dot_product_attention_math_for_mps(
                *[meta((2, 1, 1, 1))] * 2, meta((3, 1, 1, 1))
            )
        )
    ),
}
