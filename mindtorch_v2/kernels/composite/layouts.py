"""What a tensor's layout has: dimensions with indices and with values, and these parts.

Mirrors ``sparse_dim_default`` and its siblings of
``aten/src/ATen/native/sparse/SparseTensor.cpp`` and ``SparseCsrTensor.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.dtype import CPP_LAYOUTS, sparse_coo, strided
from mindtorch_v2.tensor.tensor import Tensor

_KEYS: Final = (
    "CompositeExplicitAutograd",
    "SparseCPU",
    "SparseMeta",
    "SparseCsrCPU",
    "SparseCsrMeta",
)
_COALESCE: Final = OperatorHandle("aten::_coalesce")
_IS_COALESCED: Final = OperatorHandle("aten::is_coalesced")

_PARTS: Final = {
    "is_coalesced": "sparse coordinate tensor",
    "indices": "sparse coordinate tensor",
    "values": "sparse tensor",
    "crow_indices": "sparse row compressed tensor",
    "col_indices": "sparse row compressed tensor",
    "ccol_indices": "sparse column compressed tensor",
    "row_indices": "sparse column compressed tensor",
}
"""What has them; of every other tensor the operator refuses."""


@kernel("aten::sparse_dim", keys=_KEYS)
def sparse_dim(self: Tensor) -> int:
    if self._layout is strided:
        return 0
    return len(self._sizes) if self._layout is sparse_coo else 2  # dense dimensions are left out


@kernel("aten::dense_dim", keys=_KEYS)
def dense_dim(self: Tensor) -> int:
    return len(self._sizes) if self._layout is strided else 0


@kernel("aten::coalesce", key="CompositeImplicitAutograd")
def coalesce(self: Tensor) -> Any:
    if self._layout is not sparse_coo:
        raise _expected("coalesce", "sparse coordinate tensor", self)
    return self if _IS_COALESCED(self) else _COALESCE(self)


def _expected(name: str, layout: str, given: Tensor) -> RuntimeError:
    got = CPP_LAYOUTS[given._layout]
    return RuntimeError(f"{name} expected {layout} layout but got {got}")


def _refusing(name: str, layout: str) -> Callable[[Tensor], NoReturn]:
    def refuse(self: Tensor) -> NoReturn:
        raise _expected(name, layout, self)

    return refuse


for _name, _layout in _PARTS.items():
    kernel(f"aten::{_name}", key="CompositeExplicitAutograd")(_refusing(_name, _layout))
