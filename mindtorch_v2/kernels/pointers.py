"""What asking a tensor for a pointer to elements of a C++ type says where it has others, and for an
accessor of so many dimensions.

Mirrors ``data_ptr<T>`` of ``aten/src/ATen/core/Tensor.cpp`` and ``accessor`` of ``TensorBase.h``.
"""

from __future__ import annotations

from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor


def check_pointers(dtype: DType, *tensors: Tensor | None) -> None:
    """RuntimeError for the first tensor that has another dtype; there need not be one."""
    for each in tensors:
        if each is not None and each._dtype is not dtype:
            wanted, found = CPP_NAMES[dtype], CPP_NAMES[each._dtype]
            raise RuntimeError(f"expected scalar type {wanted} but found {found}")


def check_accessor(dtype: DType, rank: int, tensor: Tensor) -> None:
    """What ``accessor<dtype, rank>`` asks: so many dimensions, and then what a pointer does."""
    found = len(tensor._sizes)
    if found != rank:
        raise RuntimeError(f"TensorAccessor expected {rank} dims but tensor has {found}")
    check_pointers(dtype, tensor)
