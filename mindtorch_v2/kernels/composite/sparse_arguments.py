"""What the parts of a sparse tensor have to be.

Mirrors ``aten/src/ATen/native/sparse/SparseTensor.cpp`` and ``SparseCsrTensor.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_v2.binding.values import layout_of_value
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import add, kernel
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import CPP_LAYOUTS, DTYPES, strided
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_EXPAND: Final = OperatorHandle("aten::expand")
_MAX: Final = OperatorHandle("aten::max.dim")
_ITEM: Final = OperatorHandle("aten::item")
_MIN_ALL: Final = OperatorHandle("aten::min")
_MIN: Final = OperatorHandle("aten::min.dim")
_VALIDATE: Final = OperatorHandle("aten::_validate_compressed_sparse_indices")
_INDICES: Final = (DTYPES["int32"], DTYPES["int64"])


class _Words(NamedTuple):
    """What a layout calls its parts."""

    compressed: str
    plain: str
    dim: str
    is_crow: bool
    is_block: bool


_ROWS: Final = ("crow_indices", "col_indices")
_COLUMNS: Final = ("ccol_indices", "row_indices")
_WORDS: Final = {
    "SparseCsr": _Words(*_ROWS, "row", is_crow=True, is_block=False),
    "SparseBsr": _Words(*_ROWS, "row block", is_crow=True, is_block=True),
    "SparseCsc": _Words(*_COLUMNS, "column", is_crow=False, is_block=False),
    "SparseBsc": _Words(*_COLUMNS, "column block", is_crow=False, is_block=True),
}
"""By what C++ calls the layout."""


def _list(sizes: Sequence[int]) -> str:
    return str(list(sizes))


def _stride(tensor: Tensor) -> int:
    """That of the last dimension; IndexError, as ``stride(-1)`` raises, if there is none."""
    size_at(tensor, -1)
    return tensor._strides[-1]


def _check_layouts(words: _Words, compressed: Tensor, plain: Tensor, values: Tensor) -> None:
    named = ((words.plain, plain), (words.compressed, compressed), ("values", values))
    for name, tensor in named:
        if tensor._layout is not strided:
            found = CPP_LAYOUTS[tensor._layout]
            raise RuntimeError(f"expected {name} to be a strided tensor but got {found} tensor")


def _check_ranks(
    words: _Words, compressed: Tensor, plain: Tensor, values: Tensor, size: Sequence[int]
) -> tuple[int, int]:
    """The number of a batch's dimensions, and of those of each element."""
    batch = len(compressed._sizes) - 1
    block = 2 if words.is_block else 0
    dense = len(values._sizes) - batch - block - 1
    if batch < 0:
        raise RuntimeError(f"{words.compressed} must have dimensionality >= 1 but got {batch + 1}")
    if len(compressed._sizes) != len(plain._sizes):
        raise RuntimeError(
            f"{words.compressed} and {words.plain} dimensionalities must be equal but got "
            f"{len(compressed._sizes)} and {len(plain._sizes)}, respectively"
        )
    if dense < 0:
        raise RuntimeError(
            "values must have dimensionality > sum of batch and block dimensionalities "
            f"(={batch} + {block}) but got {len(values._sizes)}"
        )
    for name, tensor in ((words.plain, plain), (words.compressed, compressed)):
        if _stride(tensor) != 1:
            raise RuntimeError(f"expected {name} to be a contiguous tensor per batch")
    if len(size) != batch + 2 + dense:
        raise RuntimeError(
            "tensor dimensionality must be sum of batch, base, and dense dimensionalities "
            f"(={batch} + 2 + {dense}) but got {len(size)}"
        )
    return batch, dense


def _check_sizes(
    words: _Words, parts: Sequence[Tensor], size: Sequence[int], batch: int
) -> tuple[int, int, int]:
    """The sizes of the compressed dimension and of the other one, and the number of elements."""
    compressed, plain, values = parts
    blocks = [max(1, each) for each in values._sizes[batch + 1 : batch + 3]]
    if not words.is_block:
        blocks = [1, 1]
    batches = [tuple(each._sizes[:batch]) for each in parts]
    wanted = tuple(size[:batch])
    if any(each != wanted for each in batches):
        one, two, three = map(_list, batches)
        raise RuntimeError(
            f"all batch dimensions of {words.compressed} (={one}), {words.plain} (={two}), and "
            f"values (={three}) must be equal to tensor batch dimensions (={_list(wanted)})"
        )
    for place, block in enumerate(blocks if words.is_block else ()):
        if size[batch + place] % block:
            raise RuntimeError(
                f"tensor shape[{batch + place}] (={size[batch + place]}) must be divisible with "
                f"blocksize[{place}] (={block}) as defined by values shape"
            )
    rows, columns = (size[batch + place] // blocks[place] for place in range(2))
    long, wide = (rows, columns) if words.is_crow else (columns, rows)
    count = values._sizes[batch]
    if size_at(compressed, -1) != long + 1:
        raise RuntimeError(
            f"{words.compressed}.shape[-1] must be equal to the number of {words.dim}s + 1 "
            f"(={long + 1}), but got {size_at(compressed, -1)}"
        )
    if size_at(plain, -1) != count:
        raise RuntimeError(
            f"{words.plain}.shape[-1] must be equal to nnz (={count}) as defined by "
            f"values.shape[{batch}], but got {size_at(plain, -1)}"
        )
    return long, wide, count


def _check_dtypes(words: _Words, compressed: Tensor, plain: Tensor) -> None:
    one, two = compressed._dtype, plain._dtype
    if one is not two:
        raise RuntimeError(
            f"{words.compressed} and {words.plain} must have the same dtype, bot got "
            f"{CPP_NAMES[one]} and {CPP_NAMES[two]}, respectively"
        )
    if one not in _INDICES:
        raise RuntimeError(
            f"{words.compressed} and {words.plain} dtype must be Int or Long, but got "
            f"{CPP_NAMES[one]}"
        )


def _check_devices(words: _Words, compressed: Tensor, plain: Tensor, values: Tensor) -> None:
    for name, other in (("values", values), (words.plain, plain)):
        if _number(compressed) != _number(other):
            raise RuntimeError(
                f"device of {words.compressed} (={compressed._device}) must match device of "
                f"{name} (={other._device})"
            )


def _number(tensor: Tensor) -> int:
    """``get_device``: meta has one, the CPU has none."""
    index = tensor._device.index
    return -1 if index is None else int(index)


def _validate(
    layout: str,
    compressed: Tensor,
    plain: Tensor,
    values: Tensor,
    size: Sequence[int],
    *rest: object,
) -> None:
    """``_validate_sparse_compressed_tensor_args_worker``.

    ``rest`` is whether releases that let that be chosen look at pinned memory, which nobody has.
    """
    words = _WORDS[layout]
    _check_layouts(words, compressed, plain, values)
    batch, _ = _check_ranks(words, compressed, plain, values, size)
    long, wide, count = _check_sizes(words, (compressed, plain, values), size, batch)
    _check_dtypes(words, compressed, plain)
    if not compressed.is_meta:
        _VALIDATE(words.is_crow, compressed, plain, long, wide, count)
    elif count:
        raise RuntimeError(
            f"expected nnz to be 0 for sparse {layout[6:].upper()} meta tensor but got {count}"
        )
    _check_devices(words, compressed, plain, values)


for _layout in _WORDS:
    add(
        f"aten::_validate_sparse_{_layout.removeprefix('Sparse').lower()}_tensor_args",
        _IMPLICIT,
        partial(_validate, _layout),
    )


@kernel("aten::_validate_sparse_compressed_tensor_args", key=_IMPLICIT)
def validate_sparse_compressed_tensor_args(
    compressed: Tensor,
    plain: Tensor,
    values: Tensor,
    size: Sequence[int],
    layout: int,
    *rest: object,
) -> None:
    name = CPP_LAYOUTS[layout_of_value(layout)]
    if name not in _WORDS:
        raise RuntimeError(
            "validate_sparse_compressed_tensor_args expected sparse compressed tensor layout but "
            f"got {name}"
        )
    _validate(name, compressed, plain, values, size)


@kernel("aten::_validate_sparse_coo_tensor_args", key=_IMPLICIT)
def validate_sparse_coo_tensor_args(
    indices: Tensor,
    values: Tensor,
    size: Sequence[int],
    is_coalesced: bool | None = None,
    *rest: object,
) -> None:
    if not values._sizes:
        values = _EXPAND(values, [1])
    if len(indices._sizes) != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {_list(indices._sizes)}")
    if indices._layout is not strided:
        raise RuntimeError(
            "expected indices to be a dense tensor, but got indices of layout "
            f"{CPP_LAYOUTS[indices._layout]}"
        )
    sparse, dense = indices._sizes[0], len(values._sizes) - 1
    if len(size) != sparse + dense:
        if HABITS["sizes of a sparse tensor are told by name"]:
            raise RuntimeError(
                "'len(size) == sparse_dim + dense_dim' is not satisfied: "
                f"len(size) = {len(size)}, sparse_dim = {sparse}, dense_dim = {dense}"
            )
        raise RuntimeError(
            f"number of dimensions must be sparse_dim ({sparse}) + dense_dim ({dense}), but got "
            f"{len(size)}"
        )
    if not numel(indices._sizes):
        return
    least, most = (each(indices, 1, False)[0] for each in (_MIN, _MAX))
    _check_accessed(least, most)
    for dim, (low, high) in enumerate(zip(_numbers(least), _numbers(most), strict=True)):
        if low < 0:
            raise RuntimeError(f"found negative index {low} for dim {dim}")
        if high >= size[dim]:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {size[dim]} but found "
                f"index {high}"
            )
    if is_coalesced and values._sizes[0] > 1:
        _check_coalesced(value_array(indices), size)


def _check_accessed(*tensors: Tensor) -> None:
    """``accessor<int64_t, 1>``."""
    for tensor in tensors:
        if tensor._dtype is not DTYPES["int64"]:
            raise RuntimeError(f"expected scalar type Long but found {CPP_NAMES[tensor._dtype]}")


def _numbers(tensor: Tensor) -> list[Any]:
    return list(value_array(tensor).tolist())


def _check_coalesced(indices: Any, size: Sequence[int]) -> None:
    """Of a single index there is no least distance, which is refused."""
    places = np.zeros(indices.shape[1], np.int64)
    for one, length in zip(indices, size, strict=False):
        places = places * length + one
    distances = new_tensor((len(places) - 1,), DTYPES["int64"], Device("cpu"))
    store(distances, np.diff(places))
    if _ITEM(_MIN_ALL(distances)) <= 0:
        raise RuntimeError(
            "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor"
        )
