"""Questions about simulated quantization and what stands beside it, for ``neural.json``: see
:mod:`conformance.extract.neural`."""

from collections.abc import Callable

import torch

from conformance.extract import said, takes

A = torch.ops.aten
ONE = torch.ones(1)
ZERO = torch.zeros(1, dtype=torch.int32)


def zero(dtype: torch.dtype) -> torch.Tensor:
    return torch.zeros(1, dtype=dtype)


def meta(*sizes: int) -> torch.Tensor:
    return torch.zeros(sizes, device="meta")


#: Calls with switches over dtypes.
CALLS: tuple[Callable[[torch.dtype], object], ...] = (
    lambda dtype: A.fake_quantize_per_tensor_affine_cachemask(zero(dtype), 1.0, 0, 0, 1),
    lambda dtype: A.fake_quantize_per_channel_affine_cachemask(zero(dtype), ONE, ZERO, 0, 0, 1),
)

HABITS: dict[str, Callable[[], object]] = {
    "a fake quantization clamps before it has integers": lambda: (
        torch.fake_quantize_per_tensor_affine(ONE * float("inf"), 1.0, 0, 0, 1).item() == 1
    ),
    "a fake quantization takes bfloat16 scales": lambda: (
        "BFloat16" in said(lambda: torch.fake_quantize_per_channel_affine(ONE, ZERO, ZERO, 0, 0, 1))
    ),
    "learnable fake quantization takes bfloat16": lambda: takes(
        lambda: A._fake_quantize_learnable_per_tensor_affine_backward(*[ONE.bfloat16()] * 4, 0, 1)
    ),
    "a product with bytes on meta looks at sizes": lambda: not takes(
        lambda: A._weight_int8pack_mm(meta(1, 2), meta(1, 1).char(), meta(1))
    ),
    "sizes of a sparse tensor are told by name": lambda: (
        "len(size)"
        in said(lambda: A._validate_sparse_coo_tensor_args(torch.zeros(2, 1).long(), ONE, [2]))
    ),
    "a sparse matrix has no negative number of rows": lambda: not takes(
        lambda: A._convert_indices_from_coo_to_csr(ZERO[:0], -1)
    ),
    "a product with bytes takes rows apart": lambda: takes(
        lambda: A._weight_int8pack_mm(torch.ones(2, 4)[:, :2], torch.ones(1, 2).char(), ONE)
    ),
    "choose_qparams_optimized looks at the dtype first": lambda: (
        "Float" in said(lambda: A.choose_qparams_optimized(ONE.double(), 9, 1, 0.5, 2))
    ),
}
