"""Tensors of one element as numbers.

Mirrors ``aten/src/ATen/native/Scalar.cpp`` and ``is_nonzero`` of
``aten/src/ATen/native/prim_native_functions.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor import conversions
from mindtorch_v2.tensor.custom import own
from mindtorch_v2.tensor.dtype import strided
from mindtorch_v2.tensor.tensor import Tensor

_ITEM: Final = OperatorHandle("aten::item")
_LOCAL_SCALAR_DENSE: Final = OperatorHandle("aten::_local_scalar_dense")


@kernel("aten::item", key="CompositeImplicitAutograd")
def item(self: Tensor) -> Any:
    count = self._sym_numel()
    if count != 1:
        raise RuntimeError(f"a Tensor with {count} elements cannot be converted to Scalar")
    if own(self, "_layout") is not strided or self._dtype._is_quantized:
        return conversions.item(self)
    return _LOCAL_SCALAR_DENSE(self)


@kernel("aten::_local_scalar_dense", keys=("CPU", "Meta"))
def local_scalar_dense(self: Tensor) -> Any:
    """Of several elements the first."""
    count = self._numel()
    if count == 0 and not self.is_meta:
        raise RuntimeError("_local_scalar_dense: Empty tensor not supported")
    if count != 1:
        self = self._as_view((), (), self._storage_offset)
    return conversions.item(self)


@kernel("aten::is_nonzero", key="CompositeImplicitAutograd")
def is_nonzero(self: Tensor) -> Any:
    return conversions.truth(self, _ITEM)
