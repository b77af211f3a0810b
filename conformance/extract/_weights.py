"""Questions about weights of a given length and attention on meta, for ``neural.json``: see
:mod:`conformance.extract.neural`."""

from collections.abc import Callable

import torch

from conformance.extract._asking import is_reached

A = torch.ops.aten


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
}
