"""Sparse tensors: the values that are not zero, and where they stand.

Mirrors ``c10/core/SparseTensorImpl.h``, ``aten/src/ATen/SparseCsrTensorImpl.h`` and the
conversions of ``aten/src/ATen/native/TensorConversions.cpp``.  Dense dimensions, blocks and
batches are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import LAYOUTS, DType, Layout, int64, sparse_coo
from mindtorch_v2.tensor.elements import Array

if TYPE_CHECKING:
    from mindtorch_v2.tensor.tensor import Tensor


class Coordinates(NamedTuple):
    """Of the layout sparse_coo: a column of indices for each value."""

    indices: Tensor
    values: Tensor


class Compressed(NamedTuple):
    """Of a compressed layout: where each row (or column) begins, and the other index."""

    compressed: Tensor
    plain: Tensor
    values: Tensor


BY_ROWS: Final = (LAYOUTS["sparse_csr"], LAYOUTS["sparse_bsr"])
"""The compressed layouts that compress rows; the others compress columns."""


def coordinates(tensor: Tensor) -> Coordinates:
    """The parts of a sparse_coo tensor."""
    if not isinstance(tensor._content, Coordinates):
        rank = len(tensor._sizes)
        tensor._content = Coordinates(
            _part(tensor, (rank, 0), int64), _part(tensor, (0,), tensor.dtype)
        )
    return tensor._content


def compressed(tensor: Tensor) -> Compressed:
    """The parts of a compressed tensor."""
    if not isinstance(tensor._content, Compressed):
        lines = tensor._sizes[-2 if tensor.layout in BY_ROWS else -1]
        tensor._content = Compressed(
            _part(tensor, (*tensor._sizes[:-2], lines + 1), int64),
            _part(tensor, (*tensor._sizes[:-2], 0), int64),
            _part(tensor, (*tensor._sizes[:-2], 0), tensor.dtype),
        )
    return tensor._content


def _part(tensor: Tensor, shape: tuple[int, ...], dtype: DType) -> Tensor:
    return type(tensor)._make(shape, dtype, device=tensor.device)


def inferred_size(layout: Layout, indices: Sequence[Tensor], values: Tensor) -> list[int]:
    """The least size that has room for all indices; RuntimeError if they cannot be indices."""
    if layout is sparse_coo:
        return _inferred_from_coordinates(indices[0], values)
    lines, plain = indices
    across = int(value_array(plain).max()) + 1 if 0 not in plain._sizes else 0
    batch, along = lines._sizes[:-1], lines._sizes[-1] - 1
    return [*batch, *((along, across) if layout in BY_ROWS else (across, along))]


def _inferred_from_coordinates(indices: Tensor, values: Tensor) -> list[int]:
    if len(indices._sizes) != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices._sizes)}")
    rows = value_array(indices)
    sizes = [0] * len(rows)
    if rows.size:
        for dim, least in enumerate(rows.min(1)):
            if least < 0:
                raise RuntimeError(f"found negative index {least} for dim {dim}")
        sizes = [int(most) + 1 for most in rows.max(1)]
    return [*sizes, *values._sizes[1:]]


def count_stored(tensor: Tensor) -> int:
    """``_nnz``: how many values are stored."""
    if tensor.layout is sparse_coo:
        return coordinates(tensor).values._sizes[0]
    return compressed(tensor).values._sizes[-1]


def from_dense(target: Tensor, dense: Tensor) -> None:
    """Make of ``target`` the sparse tensor with the values of a dense one."""
    if target.is_meta or dense.is_meta:
        return
    values = value_array(dense)
    found = np.nonzero(values) if values.ndim else (np.empty(0, np.int64),)
    if target.layout is sparse_coo:
        indices = np.stack(found) if values.ndim else np.empty((0, int(bool(values))), np.int64)
        stored = values[found] if values.ndim else values.reshape(1)[: indices.shape[1]]
        target._content = Coordinates(
            _filled(target, indices, int64), _filled(target, stored, target.dtype)
        )
    else:
        target._content = _compress(target, values)


def _compress(target: Tensor, values: Array) -> Compressed:
    lines = values if target.layout in BY_ROWS else values.T
    line, place = np.nonzero(lines)
    starts = np.searchsorted(line, np.arange(lines.shape[0] + 1))
    return Compressed(
        _filled(target, starts, int64),
        _filled(target, place, int64),
        _filled(target, lines[line, place], target.dtype),
    )


def _filled(target: Tensor, values: Array, dtype: DType) -> Tensor:
    made = _part(target, values.shape, dtype)
    store(made, values)
    return made


def to_dense(target: Tensor, source: Tensor) -> None:
    """Put the stored values of a sparse tensor into a dense one of zeros; doubles add up."""
    if target.is_meta:
        return
    if source.layout is sparse_coo:
        indices, stored = map(value_array, coordinates(source))
        if not len(indices):  # nothing says where they are: each is the whole tensor
            store(target, stored.sum(0, dtype=stored.dtype))
            return
        where = tuple(indices)
    else:
        starts, place, stored = map(value_array, compressed(source))
        line = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        where = (line, place) if source.layout in BY_ROWS else (place, line)
    dense = np.zeros(target._sizes, stored.dtype)
    np.add.at(dense, where, stored)
    store(target, dense)


def copy_parts(target: Tensor, source: Tensor) -> None:
    """Parts of their own for a tensor of the same layout, values converted to its dtype."""
    if source.layout is sparse_coo:
        held = coordinates(source)
        target._content = Coordinates(
            _copied(target, held.indices), _converted(target, held.values)
        )
    else:
        parts = compressed(source)
        target._content = Compressed(
            _copied(target, parts.compressed),
            _copied(target, parts.plain),
            _converted(target, parts.values),
        )


def _converted(target: Tensor, values: Tensor) -> Tensor:
    return values._converted(target.device, target.dtype, copy=True)


def _copied(target: Tensor, indices: Tensor) -> Tensor:
    return indices._converted(target.device, indices.dtype, copy=True)
