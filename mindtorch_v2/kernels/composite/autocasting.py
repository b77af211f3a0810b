"""Casts that a traced program has where autocasting is written out.

Mirrors ``_autocast_to_reduced_precision`` and its counterpart in
``aten/src/ATen/native/TensorConversions.cpp``.  Here no tensor is on CUDA.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.kernels.factories.conversions import to_dtype
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_FLOAT: Final = DTYPES["float32"]
_REDUCED: Final = (DTYPES["float16"], DTYPES["bfloat16"])


def _is_cast(tensor: Tensor, cpu_enabled: bool) -> bool:
    return cpu_enabled and tensor._device.type == "cpu"


@kernel("aten::_autocast_to_reduced_precision", key=_IMPLICIT)
def autocast_to_reduced_precision(
    self: Tensor, cuda_enabled: bool, cpu_enabled: bool, cuda_dtype: int, cpu_dtype: int
) -> Any:
    if self._dtype is not _FLOAT or not _is_cast(self, cpu_enabled):
        return self
    return to_dtype(self, cpu_dtype, False, False, None)


@kernel("aten::_autocast_to_full_precision", key=_IMPLICIT)
def autocast_to_full_precision(self: Tensor, cuda_enabled: bool, cpu_enabled: bool) -> Any:
    if self._dtype not in _REDUCED or not _is_cast(self, cpu_enabled):
        return self
    return to_dtype(self, enum_value(_FLOAT), False, False, None)
