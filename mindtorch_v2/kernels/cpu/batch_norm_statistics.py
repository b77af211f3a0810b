"""What a batch norm learns, without the norm; and a norm that learns, into tensors that are given.

Mirrors ``batch_norm_update_stats_cpu`` and ``_batch_norm_with_update_cpu_out`` of
``aten/src/ATen/native/Normalization.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.cpu.batch_norm import (
    all_but_channels,
    check_accessors,
    is_dense,
    run_into,
    statistics_about,
    statistics_of,
    store_as,
)
from mindtorch_v2.kernels.cpu.mixed_data_type import checked_parameter_dtype
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HALVES, dispatch_over
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_MEAN: Final = OperatorHandle("aten::mean.dim")


@kernel("aten::batch_norm_update_stats")
def batch_norm_update_stats(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, momentum: float
) -> tuple[Any, Any]:
    """Mean and variance, which move the running ones as well, whatever the schema says of those."""
    dispatch_over(FLOATING_TYPES | HALVES, "batch_norm_update_stats_cpu", input._dtype)
    learned = checked_parameter_dtype(input, running_mean, running_var)
    channels = size_at(input, 1)
    dense = is_dense(input)
    mean: Any = None
    if not dense:
        mean = _MEAN(input, all_but_channels(input), False, dtype=learned)
    else:
        mean = new_tensor((channels,), learned, input._device)
    variance = new_tensor((channels,), learned, input._device)
    if not numel(input._sizes):
        raise RuntimeError(
            "input tensor must have at least one element, but got input_sizes = "
            f"{list(input._sizes)}"
        )
    check_accessors(learned, mean, variance, running_mean, running_var)
    with np.errstate(all="ignore"):
        found = statistics_of(input, learned) if dense else statistics_about(mean, input)
        if dense:
            store_as(mean, found.mean)
        store_as(variance, found.variance())
        found.update(running_mean, running_var, momentum)
    return mean, variance


@kernel("aten::_batch_norm_with_update.out")
def batch_norm_with_update_out(*stack: Any) -> tuple[Any, ...]:
    """Nothing is reserved."""
    input, weight, bias, running_mean, running_var, momentum, eps, *outputs = stack
    out, save_mean, save_invstd, reserve = outputs
    parameters = (weight, bias, running_mean, running_var)
    run_into((out, save_mean, save_invstd), input, *parameters, True, momentum, eps)
    return out, save_mean, save_invstd, reserve
