"""Dimensions that ``vmap`` of old counts by levels.

Mirrors ``_remove_batch_dim`` in ``aten/src/ATen/native/LegacyBatching.cpp``.  No tensor has such a
dimension here.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.tensor import Tensor

_EXPAND: Final = OperatorHandle("aten::expand")


@kernel("aten::_remove_batch_dim", key="CompositeImplicitAutograd")
def remove_batch_dim(self: Tensor, level: int, batch_size: int, out_dim: int) -> Any:
    """A dimension that is not there is what the tensor is the same along."""
    sizes = list(self._sizes)
    sizes.insert(out_dim, batch_size)
    return _EXPAND(self, sizes)
