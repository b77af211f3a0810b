"""Rows of a tensor, chosen or added up by a matrix.

Mirrors ``aten/src/ATen/native/FunctionOfAMatrixUtils.cpp`` and ``RowwisePrune.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.binding.values import dtype_of_value
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.pointwise import as_array, rounded
from mindtorch_v2.kernels.promotion import BOOL
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import ALL_TYPES, COMPLEX_TYPES, HALVES, not_implemented
from mindtorch_v2.kernels.tensor_iterator import Config, TensorIterator
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES, int64
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_ADDED: Final = Config(check_mem_overlap=False, check_all_same_dtype=False, resize_outputs=False)
_COMBINED: Final = ALL_TYPES | COMPLEX_TYPES | HALVES | {BOOL}
_PRUNED: Final = ALL_TYPES | HALVES
_INDEX_DTYPES: Final = (DTYPES["int32"], int64)
_AS_STRIDED: Final = OperatorHandle("aten::as_strided")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_ZEROS: Final = OperatorHandle("aten::zeros")


@kernel("aten::_compute_linear_combination")
def compute_linear_combination(input: Tensor, coefficients: Any) -> Any:
    if not input._sizes or not numel(input._sizes):
        raise RuntimeError("Empty tensor not supported")
    sizes = [coefficients.size(0), *input._sizes[1:]]
    output = _ZEROS(sizes, dtype=input._dtype, layout=input._layout, device=input._device)
    return compute_linear_combination_out(input, coefficients, output)


@kernel("aten::_compute_linear_combination.out")
def compute_linear_combination_out(input: Tensor, coefficients: Any, out: Tensor) -> Tensor:
    """Added to what is in the output, which is neither resized nor set to nought."""
    rows, count = coefficients.size(0), coefficients.size(1)
    sums, parts = (_with_one(_UNSQUEEZE(out, 1)), _with_one(_UNSQUEEZE(input, 0)))
    more = len(input._sizes) - 1
    strides = [coefficients._strides[0], 0, *[0] * more]
    factors = _AS_STRIDED(coefficients, [rows, 1, *[1] * more], strides)
    TensorIterator(_ADDED, (sums,), (parts, factors))
    dtype = out._dtype
    if dtype not in _COMBINED:
        raise not_implemented("_compute_linear_combination_cpu", dtype)
    total, values = as_array(out, dtype), as_array(input, dtype)
    factor = as_array(coefficients, coefficients._dtype)
    shape = (-1, *[1] * more)
    with np.errstate(all="ignore"):
        for place in range(count):
            product = rounded(values[place] * factor[:, place].reshape(shape), dtype)
            total = rounded(np.asarray(total + product), dtype)
    store(out, total)
    return out


def _with_one(tensor: Tensor) -> Any:
    """A second dimension of one, which the kernel goes along by itself."""
    sizes, strides = list(tensor._sizes), list(tensor._strides)
    sizes[1], strides[1] = 1, 0
    return _AS_STRIDED(tensor, sizes, strides)


@kernel("aten::_rowwise_prune", key="CompositeImplicitAutograd")
def rowwise_prune(
    weight: Tensor, mask: Tensor, compressed_indices_dtype: int
) -> tuple[Tensor, Tensor]:
    """The rows that a mask keeps, and where each of all rows is among them: -1 for nowhere.

    Rows are taken as they lie in memory, whatever the strides.
    """
    if len(weight._sizes) != 2:
        raise RuntimeError("'weights' should have 2 dimensions.")
    rows, columns = weight._sizes
    if numel(mask._sizes) != rows:
        raise RuntimeError(
            "Number of elements in 'mask' should be equivalent to the number of rows in 'weights'."
        )
    index_dtype = dtype_of_value(compressed_indices_dtype)
    if index_dtype not in _INDEX_DTYPES:
        raise RuntimeError("compressed_indices_dtype should be either int(int32) or long(int64).")
    check_pointers(BOOL, mask)
    kept = value_array(mask).reshape(-1)
    found = new_tensor((int(kept.sum()), columns), weight._dtype, weight._device)
    if weight._dtype not in _PRUNED:
        raise not_implemented("rowwise_prune_helper", weight._dtype)
    mapping = new_tensor((rows,), index_dtype, Device("cpu"))
    store(mapping, np.where(kept, np.cumsum(kept) - 1, -1))
    in_memory: Any = _AS_STRIDED(weight, [rows, columns], [columns, 1])
    store(found, value_array(in_memory)[kept])
    return found, mapping
