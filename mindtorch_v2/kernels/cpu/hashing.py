"""``hash_tensor``: one number for what a tensor holds, the same in whatever order it is read.

Mirrors ``hash_tensor`` of ``aten/src/ATen/native/ReduceOps.cpp`` and ``xor_sum_kernel_impl`` of
``cpu/ReduceOpsKernel.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.extremes import check_no_dim_empty
from mindtorch_v2.kernels.cpu.reductions import reduced_dims, reduced_shape, with_repeated
from mindtorch_v2.kernels.elementwise.promotion import BOOL
from mindtorch_v2.kernels.outputs import set_output
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import ALL_TYPES, HALVES, dispatch_over
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_XOR_SUM: Final = 0
"""The only ``HashMode``."""


@structured.structured("aten::hash_tensor")
def hash_tensor(
    outputs: Outputs, self: Tensor, dim: Sequence[int], keepdim: bool, mode: int
) -> tuple[Tensor, ...]:
    dtype, given = DTYPES["uint64"], outputs[0]
    if given is not None and given._dtype is not dtype:
        raise RuntimeError(
            f"Expected result to be of dtype uint64, but got {CPP_NAMES[given._dtype]}"
        )
    if not numel(self._sizes):
        check_no_dim_empty("hash_tensor", self, dim)
    dims = reduced_dims(dim, len(self._sizes))
    shape = reduced_shape(self._sizes, dims, keepdim=keepdim)
    output = set_output(given, shape, dtype, self._device)
    if output.is_meta:
        return (output,)
    if mode != _XOR_SUM:
        raise RuntimeError(f"Unknown hash_tensor mode: {mode}")
    if numel(self._sizes):
        dispatch_over(ALL_TYPES | HALVES | {BOOL}, "xor_sum_cpu", self._dtype)
        dims, left = with_repeated(output, len(self._sizes), dims, keepdim=keepdim)
        hashed = np.bitwise_xor.reduce(_bits(value_array(self)), axis=dims)
        store(output, np.asarray(hashed, np.uint64).reshape(left))
    return (output,)


def _bits(values: Array) -> Array:
    """Of floats in double precision; integers with their sign in all 64."""
    if values.dtype.kind == "f":
        return values.astype(np.float64).view(np.uint64)
    return values.astype(np.int64).view(np.uint64)
