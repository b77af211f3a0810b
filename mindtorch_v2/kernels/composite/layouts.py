"""How many dimensions a tensor has indices for, and how many its values have.

Mirrors ``sparse_dim_default`` and its siblings of
``aten/src/ATen/native/sparse/SparseTensor.cpp`` and ``SparseCsrTensor.cpp``.
"""

from __future__ import annotations

from typing import Final

from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.dtype import sparse_coo, strided
from mindtorch_v2.tensor.tensor import Tensor

_KEYS: Final = (
    "CompositeExplicitAutograd",
    "SparseCPU",
    "SparseMeta",
    "SparseCsrCPU",
    "SparseCsrMeta",
)


@kernel("aten::sparse_dim", keys=_KEYS)
def sparse_dim(self: Tensor) -> int:
    if self._layout is strided:
        return 0
    return len(self._sizes) if self._layout is sparse_coo else 2  # dense dimensions are left out


@kernel("aten::dense_dim", keys=_KEYS)
def dense_dim(self: Tensor) -> int:
    return len(self._sizes) if self._layout is strided else 0
