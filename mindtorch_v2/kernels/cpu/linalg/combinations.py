"""Linear combinations of the parts of a tensor along its first dimension.

Mirrors ``aten/src/ATen/native/FunctionOfAMatrixUtils.cpp`` and what it calls in ``cpu``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.elementwise.pointwise import rounded
from mindtorch_v2.kernels.elementwise.promotion import to_opmath
from mindtorch_v2.kernels.elementwise.tensor_iterator import Config, TensorIterator
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import ALL_TYPES, COMPLEX_TYPES, HALVES, dispatch_over
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import store, value_array, zero
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_CONFIG: Final = Config(check_mem_overlap=False, check_all_same_dtype=False, resize_outputs=False)
_CASES: Final = ALL_TYPES | COMPLEX_TYPES | HALVES | {DTYPES["bool"]}
_AS_STRIDED: Final = OperatorHandle("aten::as_strided")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")


@kernel("aten::_compute_linear_combination")
def compute_linear_combination(input: Tensor, coefficients: Tensor) -> Tensor:
    if not input._sizes or not numel(input._sizes):
        raise RuntimeError("Empty tensor not supported")
    sizes = (size_at(coefficients, 0), *input._sizes[1:])
    output = new_tensor(sizes, input._dtype, input._device)
    zero(output)
    return compute_linear_combination_out(input, coefficients, output)


@kernel("aten::_compute_linear_combination.out")
def compute_linear_combination_out(input: Tensor, coefficients: Tensor, out: Tensor) -> Tensor:
    """What an output holds is added to."""
    size_at(coefficients, 0)
    count = size_at(coefficients, 1)
    written = _with_one(_UNSQUEEZE(out, 1))
    read = _with_one(_UNSQUEEZE(input, 0))
    ones = [1] * len(input._sizes)
    strides = [coefficients._strides[0], *(0 for _ in ones)]
    factor = _AS_STRIDED(coefficients, [coefficients._sizes[0], *ones], strides)
    TensorIterator(_CONFIG, (written,), (read, factor))
    dispatch_over(_CASES, "_compute_linear_combination_cpu", out._dtype)
    if not numel(out._sizes):
        return out
    dtype = out._dtype
    kind = elements_of(to_opmath(dtype)).computed
    total = value_array(written).astype(kind)
    with np.errstate(all="ignore"):
        for place in range(count):
            part = value_array(_moved(read, place * input._strides[0])).astype(kind)
            share = value_array(_moved(factor, place * coefficients._strides[1]))
            total = _added(total, part, share, dtype)
    store(written, total)
    return out


def _added(total: Array, part: Array, share: Array, dtype: DType) -> Array:
    """Each step is a value of the dtype; complex numbers have real shares."""
    kind = total.dtype
    if kind.kind == "b":
        return total | (part & share)
    product = part * (share if kind.kind == "c" else share.astype(kind))
    if dtype not in HALVES:
        return np.asarray(total + product, kind)
    return rounded(total + rounded(product, dtype).astype(kind), dtype).astype(kind)


def _with_one(tensor: Tensor) -> Any:
    """The same with one element along the dimension that is summed over, the second."""
    sizes, strides = list(tensor._sizes), list(tensor._strides)
    sizes[1], strides[1] = 1, 0
    return _AS_STRIDED(tensor, sizes, strides)


def _moved(tensor: Tensor, steps: int) -> Tensor:
    return tensor._as_view(tensor._sizes, tensor._strides, tensor._storage_offset + steps)
