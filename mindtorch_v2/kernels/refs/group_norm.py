"""The reference functions of normalized groups of channels.

Mirrors ``torch/_refs/__init__.py`` and ``torch/_decomp/decompositions.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.views import infer_size


@body("torch._refs.native_group_norm")
def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    batch_size: int,
    num_channels: int,
    flattened_inner_size: int,
    num_groups: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    if len(input._sizes) < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {len(input._sizes)}"
        )
    if num_channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {input._sizes} and num_groups = {num_groups}"
        )
    shape = batch_size, num_groups, num_channels // num_groups, flattened_inner_size
    infer_size(shape, numel(input._sizes))
    groups = (batch_size, num_groups)
    mean, rstd = (new_tensor(groups, input._dtype, input._device) for _ in range(2))
    return new_tensor(input._sizes, input._dtype, input._device), mean, rstd


@body("torch._decomp.decompositions.native_group_norm_backward")
def native_group_norm_backward(
    grad_output: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    gamma: Tensor | None,
    N: int,  # noqa: N803 (torch's name)
    C: int,  # noqa: N803
    HxW: int,  # noqa: N803
    group: int,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    if numel(input._sizes) != N * C * HxW:
        raise RuntimeError(f"Expect input to have {N * C * HxW} elements")
    if tuple(mean._sizes) != (N, group):
        raise RuntimeError(f"Expect mean to have shape ({N}, {group}, but got {mean._sizes}")
    if gamma is not None and numel(gamma._sizes) != C:
        raise RuntimeError(f"Expect gamma to have {C} elements but got {numel(gamma._sizes)}")
    sizes = (tuple(input._sizes), (C,), (C,))
    made = [
        new_tensor(size, input._dtype, input._device) if wanted else None
        for size, wanted in zip(sizes, output_mask, strict=True)
    ]
    return made[0], made[1], made[2]
