"""The gradient of a conversion to a sparse layout, which comes back to the layout it was of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.autograd.at import call
from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.tensor.dtype import LAYOUTS, Layout, strided
from mindtorch_v2.tensor.tensor import Tensor

_BLOCKED: Final = (LAYOUTS["sparse_bsr"], LAYOUTS["sparse_bsc"])


def getSymIntBlockSize(self: Tensor) -> list[int] | None:  # noqa: N802 (the C++ name)
    """Of the layouts with blocks, of which this package has no values; of others none."""
    if self._layout in _BLOCKED:
        raise NotImplementedError("mindtorch_v2 has no sparse tensors with blocks yet")
    return None


def to_sparse_backward(grad: Any, self_layout: Layout, self_blocksize: Sequence[int] | None) -> Any:
    if self_layout is strided:
        return call("to_dense", grad)
    return call("to_sparse", grad, layout=enum_value(self_layout), blocksize=self_blocksize)
