"""What PyTorch registers on meta for gradients of other libraries, and for rows of unlike lengths.

Mirrors ``torch/_meta_registrations.py`` and ``torch/_decomp/decompositions.py``; a function is
named as it is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

from mindtorch_v2.autograd.at import CONTIGUOUS, call
from mindtorch_v2.autograd.operators import div, mul, sub
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import (
    assertion,
    get_computation_dtype,
)
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."


def _new(like: Tensor, *sizes: int) -> Tensor:
    return new_tensor(sizes, like._dtype, like._device)


@body(_META + "linear_backward")
def linear_backward(
    input_: Tensor, grad_output_: Tensor, weight_: Tensor, output_mask: Sequence[bool]
) -> tuple[Any, Any, Any]:
    of_input = _new(grad_output_, *input_._sizes) if output_mask[0] else None
    if not (output_mask[1] or output_mask[2]):
        return of_input, None, None
    columns = size_at(grad_output_, -1)
    of_weight = _new(grad_output_, columns, size_at(input_, -1))
    return of_input, of_weight, _new(grad_output_, columns)


@body(_META + "meta_masked_scatter_backward")
def meta_masked_scatter_backward(self: Tensor, mask: Tensor, sizes: Sequence[int]) -> Tensor:
    return _new(self, *sizes)


@body(_META + "meta__jagged_to_padded_dense_forward")
def meta__jagged_to_padded_dense_forward(
    values: Tensor,
    offsets: Sequence[Tensor],
    max_lengths: Sequence[int],
    padding_value: float = 0.0,
) -> Tensor:
    for name, given in (("offsets", offsets), ("max_lengths", max_lengths)):
        if len(given) != 1:
            raise assertion(f"Only one jagged dim is supported, got {len(given)} {name}")
    sizes = tuple(offsets[0]._sizes)
    return _new(values, sizes[0] - 1, max_lengths[0], *values._sizes[1:])


@body("torch._decomp.decompositions._fused_rms_norm_backward")
def _fused_rms_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: Sequence[int],
    rstd: Tensor,
    weight: Tensor | None,
    output_mask: Sequence[bool],
) -> tuple[Any, ...]:
    computed = get_computation_dtype(input._dtype)
    grad, values, scale = (
        None if each is None else call("to", each, computed, memory_format=CONTIGUOUS)
        for each in (grad_out, input, weight)
    )
    sizes, rank = tuple(input._sizes), len(input._sizes)
    axis = rank - len(normalized_shape)
    outer, inner = sizes[:axis], sizes[axis:]
    if not (prod(outer) and prod(inner)):
        return tuple(
            call("new_zeros", input, shape) if asked else None
            for asked, shape in zip(output_mask, (sizes, inner), strict=False)
        )
    while len(rstd._sizes) < rank:
        rstd = call("unsqueeze", rstd, -1)
    of_scaled = grad if scale is None else mul(grad, scale)
    scaled = mul(values, rstd)
    of_input = of_weight = None
    if output_mask[0]:
        dims = [dim for dim in range(rank) if dim >= axis]
        total = call("sum", mul(scaled, of_scaled), dims, True)
        of_input = mul(sub(of_scaled, mul(div(scaled, prod(inner)), total)), rstd)
    if output_mask[1] and scale is not None:
        of_weight = mul(grad, scaled)
        dims = [dim for dim in range(rank) if dim < axis]
        if dims:
            of_weight = call("sum", of_weight, dims, False)
    dtype = input._dtype
    one, two = (None if each is None else call("to", each, dtype) for each in (of_input, of_weight))
    return one, two
