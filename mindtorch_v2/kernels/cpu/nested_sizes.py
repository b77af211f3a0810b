"""What nested tensors are made of, as far as that is dense.

Mirrors ``aten/src/ATen/native/nested/NestedTensorMath.cpp`` and ``construct_nested_strides`` and
``construct_offsets`` in ``aten/src/ATen/NestedTensorImpl.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NoReturn

import numpy as np

from mindtorch_v2.kernels.elementwise.promotion import BOOL
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES, int64
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_INT: Final = DTYPES["int32"]
_AS_STRIDED: Final = OperatorHandle("aten::as_strided")
_ARGMIN: Final = OperatorHandle("aten::argmin")
_CAT: Final = OperatorHandle("aten::cat")
_CUMSUM: Final = OperatorHandle("aten::cumsum")
_EQUAL: Final = OperatorHandle("aten::equal")
_SELECT: Final = OperatorHandle("aten::select.int")
_PERMUTE: Final = OperatorHandle("aten::permute")
_TO: Final = OperatorHandle("aten::to.dtype")
_TO_PADDED: Final = OperatorHandle("aten::to_padded_tensor")
_ZEROS: Final = OperatorHandle("aten::zeros")


@kernel("aten::_nested_tensor_from_mask_left_aligned")
def is_left_aligned(t: Tensor, mask: Tensor) -> Any:
    """Whether each row of a mask is true up to a place and false from there on."""
    if mask._dtype is not BOOL:
        raise RuntimeError(
            f"Expected mask to be of ScalarType Bool, but got {CPP_NAMES[mask._dtype]} instead."
        )
    if len(mask._sizes) != 2:
        raise RuntimeError("Padding mask should be 2D")
    if len(t._sizes) != 3:
        raise RuntimeError("Input should be a 3D tensor, N * L * D")
    if tuple(t._sizes[:2]) != tuple(mask._sizes):
        raise RuntimeError("Mask size should match input size")
    rows, length = mask._sizes
    end = _ZEROS([rows, 1], dtype=BOOL, layout=mask._layout, device=mask._device)
    first_false = _ARGMIN(_TO(_CAT([mask, end], 1), _INT), 1)
    trues = _SELECT(_CUMSUM(mask, 1), 1, length - 1)
    return _EQUAL(trues, _TO(first_false, int64))


@kernel("aten::_nested_tensor_from_mask")
def nested_tensor_from_mask(t: Tensor, mask: Tensor, mask_check: bool) -> NoReturn:
    if not is_left_aligned(t, mask) and mask_check:
        raise RuntimeError("Mask must be left-aligned without gaps")
    raise NotImplementedError("mindtorch_v2 has no nested tensors yet")


@kernel("aten::_nested_compute_contiguous_strides_offsets")
def contiguous_strides_and_offsets(nested_size: Tensor) -> tuple[Tensor, Tensor]:
    """Of tensors, of whose sizes there is a row each, that lie one after the other.

    The sizes are read as they lie in memory, whatever the strides.
    """
    check_pointers(int64, nested_size)
    rows, rank = nested_size._sizes
    in_memory: Any = _AS_STRIDED(nested_size, [rows, rank], [rank, 1])
    sizes = value_array(in_memory)
    trailing = np.cumprod(sizes[:, :0:-1], 1)[:, ::-1]
    strides = new_tensor(nested_size._sizes, int64, nested_size._device)
    store(strides, np.concatenate([trailing, np.ones_like(sizes[:, :1])], 1))
    offsets = new_tensor(nested_size._sizes[:1], int64, nested_size._device)
    ends = np.cumsum(sizes.prod(1))
    store(offsets, np.concatenate([np.zeros_like(ends[:1]), ends[:-1]]))
    return strides, offsets


@kernel("aten::_nested_from_padded")
def nested_from_padded(
    padded: Tensor, cpu_nested_shape_example: Tensor, fuse_transform_0213: bool
) -> NoReturn:
    rank = len(padded._sizes)
    if fuse_transform_0213:
        rank = len(_PERMUTE(padded, [0, 2, 1, 3])._sizes) - 1
    sizes = cpu_nested_shape_example._sizes
    check_pointers(int64, cpu_nested_shape_example if sizes else None)
    if rank - 1 != (count := sizes[1] if sizes else 0):
        raise RuntimeError(f"dim: {rank}target_size: {count}")
    raise NotImplementedError("mindtorch_v2 has no nested tensors yet")


@kernel("aten::nested_to_padded_tensor", key="CompositeImplicitAutograd")
def nested_to_padded_tensor(self: Tensor, padding: float, output_size: Sequence[int] | None) -> Any:
    return _TO_PADDED(self, padding, output_size)
