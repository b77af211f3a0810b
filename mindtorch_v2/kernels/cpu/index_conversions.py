"""Indices of the rows of a sparse matrix, told for each element or for each row.

Mirrors ``aten/src/ATen/native/sparse/SparseCsrTensorMath.cpp``.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mindtorch_v2.kernels.outputs import set_output
from mindtorch_v2.kernels.structured import Outputs, structured
from mindtorch_v2.kernels.switches import HABITS, dispatch_over
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.tensor.copying import store, value_array, zero
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import is_contiguous, numel
from mindtorch_v2.tensor.tensor import Tensor

_INT: Final = DTYPES["int32"]
_LONG: Final = DTYPES["int64"]
_INTEGRAL: Final = frozenset(DTYPES[name] for name in ("uint8", "int8", "int16", "int32", "int64"))
_COUNTS_ROWS: Final = HABITS["a sparse matrix has no negative number of rows"]
_KEYS: Final = ("CPU", "Meta", "CompositeExplicitAutogradNonFunctional")


def _dtype(out_int32: bool) -> DType:
    return _INT if out_int32 else _LONG


@structured("aten::_convert_indices_from_coo_to_csr", keys=_KEYS)
def convert_indices_from_coo_to_csr(
    outputs: Outputs, self: Tensor, size: int, out_int32: bool
) -> tuple[Tensor, ...]:
    """Of rows in their order: how many elements are in the rows before each."""
    rank = len(self._sizes)
    if rank > 1:
        raise RuntimeError(f"Input is supposed to be a vector, but got {rank} dimensional tensor.")
    if _COUNTS_ROWS and size < 0:
        raise RuntimeError(f"size must be non-negative, got {size}")
    output = set_output(outputs[0], (size + 1,), _dtype(out_int32), self._device)
    if output.is_meta:
        return (output,)
    dispatch_over(_INTEGRAL, "convert_indices_from_coo_to_csr_cpu", self._dtype)
    rows = _in_memory(self)
    highest = np.maximum.accumulate(rows)  # that was seen, where rows are in no order
    counts = np.searchsorted(highest, np.arange(size + 1), side="left")
    if rows.size:
        counts[rows[-1] + 1 :] = rows.size
    store(output, counts)
    return (output,)


def _in_memory(self: Tensor) -> Array:
    """So many integers as lie in memory from the first on, whatever the stride.

    Where there are not so many, what is read is nobody's: the tensor's own stand for them.
    """
    count, start, size = numel(self._sizes), self._storage_offset, self._dtype.itemsize
    if (start + count) * size <= self.untyped_storage().nbytes():
        self = self._as_view((count,), (1,), start)
    return value_array(self).reshape(-1).astype(np.int64)


@structured("aten::_convert_indices_from_csr_to_coo", keys=_KEYS)
def convert_indices_from_csr_to_coo(
    outputs: Outputs,
    crow_indices: Tensor,
    col_indices: Tensor,
    out_int32: bool,
    transpose: bool,
) -> tuple[Tensor, ...]:
    """Both ranks that are told are the first one's."""
    rank = len(crow_indices._sizes)
    if rank != len(col_indices._sizes):
        raise RuntimeError(
            "crow_indices and col_indices are supposed to have the same dimensionality, but got "
            f"{rank} and {rank} dimensional tensors, respectively."
        )
    count = numel(col_indices._sizes)
    output = set_output(outputs[0], (rank + 1, count), _dtype(out_int32), crow_indices._device)
    if output.is_meta:
        return (output,)
    dispatch_over(_INTEGRAL, "convert_indices_from_csr_to_coo_cpu", crow_indices._dtype)
    if size_at(crow_indices, -1) == 1 or not size_at(col_indices, -1):
        zero(output)
        return (output,)
    if not is_contiguous(output._sizes, output._strides):
        asserted = internal_assert("indices.is_contiguous()", "convert_indices_from_csr_to_coo_cpu")
        raise RuntimeError(asserted)
    if count:
        store(output, _coordinates(crow_indices, col_indices, transpose))
    return (output,)


def _coordinates(crow_indices: Tensor, col_indices: Tensor, transpose: bool) -> Array:
    """Of each element the place in the batch, the row and the column."""
    *batch, each = col_indices._sizes
    starts = value_array(crow_indices).astype(np.int64).reshape(-1, crow_indices._sizes[-1])
    found = [np.repeat(np.arange(row.size - 1), np.diff(row)) for row in starts]
    rows, columns = np.concatenate(found), value_array(col_indices).reshape(-1)
    if transpose:
        rows, columns = columns, rows
    places = [one.reshape(-1).repeat(each) for one in np.indices(tuple(batch))]
    return np.asarray([*places, rows, columns]).astype(np.int64)
