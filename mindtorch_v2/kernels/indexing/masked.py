"""Indexing that a mask keeps from elements which are not there.

Mirrors ``_unsafe_masked_index`` and ``_unsafe_masked_index_put_accumulate`` of
``aten/src/ATen/native/TensorAdvancedIndexing.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.elementwise.promotion import Number
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.dtype import DTYPES, int64
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_EXPLICIT: Final = "CompositeExplicitAutograd"
_CLAMP: Final = OperatorHandle("aten::clamp")
_CLONE: Final = OperatorHandle("aten::clone")
_INDEX: Final = OperatorHandle("aten::_unsafe_index.Tensor")
_INDEX_PUT: Final = OperatorHandle("aten::_unsafe_index_put")
_MASKED_FILL: Final = OperatorHandle("aten::masked_fill.Scalar")
_NEW_FULL: Final = OperatorHandle("aten::new_full")
_NOT: Final = OperatorHandle("aten::logical_not")

Indices = Sequence[Tensor | None]


@kernel("aten::_unsafe_masked_index", key=_EXPLICIT)
def _unsafe_masked_index(self: Tensor, mask: Tensor, indices: Indices, fill: Number) -> Any:
    clamped = _clamped(self, indices)
    if not numel(self._sizes):  # as large as something would be that has elements to be found
        places = zip(self._sizes, indices, strict=False)
        sizes = [1 if index is not None and not size else size for size, index in places]
        sizes += [0] * (len(self._sizes) - len(sizes))
        return _INDEX(_NEW_FULL(self, sizes, fill), clamped)
    return _MASKED_FILL(_INDEX(self, clamped), _NOT(mask), fill)


@kernel("aten::_unsafe_masked_index_put_accumulate", key=_EXPLICIT)
def _unsafe_masked_index_put_accumulate(
    self: Tensor, mask: Tensor, indices: Indices, values: Tensor
) -> Any:
    if not numel(self._sizes):
        return _CLONE(self)
    clamped = _clamped(self, indices)
    return _INDEX_PUT(self, clamped, _MASKED_FILL(values, _NOT(mask), 0), True)


def _clamped(self: Tensor, indices: Indices) -> list[Any]:
    """Indices that are in bounds, whatever the mask says of them.  Those without a dimension are
    looked at as well, before anybody counts them."""
    found = list(indices)
    for dim, index in enumerate(indices):
        if index is None:
            continue
        if index._dtype not in (int64, DTYPES["int32"]):
            raise RuntimeError(
                f"_unsafe_masked_index found unexpected index type {CPP_NAMES[index._dtype]}"
            )
        if dim < len(self._sizes):
            size = self._sizes[dim]
            found[dim] = _CLAMP(index, -size, size - 1)
    return found
