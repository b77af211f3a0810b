"""Products of floats and of integers that are scaled.

Mirrors ``_weight_int8pack_mm_cpu`` of ``aten/src/ATen/native/LinearAlgebra.cpp``.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.geometry import is_contiguous, numel
from mindtorch_v2.tensor.tensor import Tensor

_FLOATS: Final = tuple(DTYPES[name] for name in ("bfloat16", "float16", "float32"))
_NAME: Final = "_weight_int8pack_mm_cpu"
_TAKES_ROWS: Final = HABITS["a product with bytes takes rows apart"]


def _expect(what: str, is_met: bool) -> None:
    if not is_met:
        raise RuntimeError(f"{_NAME} : expect {what}")


@kernel("aten::_weight_int8pack_mm")
def weight_int8pack_mm(self: Tensor, mat2: Tensor, scales: Tensor) -> Tensor:
    rows, columns, inner = size_at(self, 0), size_at(mat2, 0), size_at(self, 1)
    _expect("A to be either 32-bit or 16-bit float tensor.", self._dtype in _FLOATS)
    if not _TAKES_ROWS:
        _expect("A to be contiguous.", is_contiguous(self._sizes, self._strides))
    _expect("A to be 2D tensor.", len(self._sizes) == 2)
    if _TAKES_ROWS and self._strides[1] != 1:
        raise RuntimeError(f"{_NAME} : A must be contiguous on the last dimension.")
    _expect("B to be int8 tensor.", mat2._dtype is DTYPES["int8"])
    _expect("B to be contiguous.", is_contiguous(mat2._sizes, mat2._strides))
    if size_at(mat2, 1) != inner:
        raise RuntimeError(f"{_NAME} : expect B.size(1) == {inner}")
    if tuple(scales._sizes) != (columns,):
        raise RuntimeError(f"{_NAME} : expect scales to be 1d tensor with size {columns}")
    output = new_tensor((rows, columns), self._dtype, self._device)
    check_pointers(self._dtype, scales)
    if numel(output._sizes):
        with np.errstate(all="ignore"):
            weights = value_array(mat2).astype(np.float32).reshape(columns, -1)[:, :inner]
            product = as_array(self, self._dtype) @ weights.T
            store(output, rounded(product * as_array(scales, scales._dtype), self._dtype))
    return output
