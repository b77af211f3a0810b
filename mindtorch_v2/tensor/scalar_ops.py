"""Tensors without dimensions that C++ makes of numbers.

Mirrors ``at::detail::scalar_tensor_static`` in ``aten/src/ATen/ScalarOps.cpp``.
"""

from __future__ import annotations

from typing import Any

from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.scalars import scalar_of_one
from mindtorch_v2.tensor.support import check_dtype
from mindtorch_v2.tensor.tensor import Tensor


def scalar_tensor_static(number: Any, dtype: DType) -> Tensor:
    """A tensor on the CPU; RuntimeError for a number out of range, or a dtype without kernel."""
    check_dtype("fill_out", dtype)
    made = Tensor._make((), dtype)
    store(made, np.asarray(scalar_of_one(number, dtype)))
    return made
