"""The rows of a tensor that a mask keeps.

Mirrors ``aten/src/ATen/native/RowwisePrune.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.binding.values import dtype_of_value
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.promotion import BOOL
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import ALL_TYPES, HALVES, not_implemented
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES, int64
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_PRUNED: Final = ALL_TYPES | HALVES
_INDEX_DTYPES: Final = (DTYPES["int32"], int64)
_AS_STRIDED: Final = OperatorHandle("aten::as_strided")


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
