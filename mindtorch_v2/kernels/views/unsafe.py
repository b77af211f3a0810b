"""Parts of a tensor that share its elements, and of which autograd knows nothing.

Mirrors ``unsafe_split`` and its like of ``aten/src/ATen/native/TensorShape.cpp``: what changes the
parts is counted for each of them from here on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views.composite import chunked
from mindtorch_v2.kernels.views.strided import called, split, split_with_sizes
from mindtorch_v2.tensor.tensor import Tensor

_BACKENDS: Final = "CompositeExplicitAutograd"
_SPLIT: Final = OperatorHandle("aten::split.Tensor")
_SPLIT_WITH_SIZES: Final = OperatorHandle("aten::split_with_sizes")
_UNSAFE_SPLIT: Final = OperatorHandle("aten::unsafe_split.Tensor")
_UNSAFE_SPLIT_WITH_SIZES: Final = OperatorHandle("aten::unsafe_split_with_sizes")


@kernel("aten::unsafe_split.Tensor", key=_BACKENDS)
def unsafe_split(self: Tensor, split_size: int, dim: int) -> list[Tensor]:
    return _counted_apart(split(self, split_size, dim))


@kernel("aten::unsafe_split.Tensor", key="Meta")
def unsafe_split_on_meta(self: Tensor, split_size: int, dim: int) -> list[Tensor]:
    return called(_SPLIT, split, self, split_size, dim)


@kernel("aten::unsafe_split_with_sizes", key=_BACKENDS)
def unsafe_split_with_sizes(self: Tensor, split_sizes: Sequence[int], dim: int) -> list[Tensor]:
    return _counted_apart(split_with_sizes(self, split_sizes, dim))


@kernel("aten::unsafe_split_with_sizes", key="Meta")
def unsafe_split_with_sizes_on_meta(
    self: Tensor, split_sizes: Sequence[int], dim: int
) -> list[Tensor]:
    return called(_SPLIT_WITH_SIZES, split_with_sizes, self, split_sizes, dim)


def _counted_apart(parts: list[Tensor]) -> list[Tensor]:
    for part in parts:
        part._versions = part._new_counter()
    return parts


@kernel("aten::unsafe_chunk", key="CompositeImplicitAutograd")
def unsafe_chunk(self: Tensor, chunks: int, dim: int) -> Any:
    return chunked(_UNSAFE_SPLIT, _UNSAFE_SPLIT_WITH_SIZES, self, chunks, dim)
