"""What indices of a compressed sparse matrix have to be.

Mirrors ``aten/src/ATen/native/sparse/ValidateCompressedIndicesCommon.h``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import dispatch_over
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import value_array
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_INT: Final = DTYPES["int32"]
_INDEX_TYPES: Final = frozenset((_INT, DTYPES["int64"]))
_NAME: Final = "compressed_index_invariance_checks_cpu"


def _check_shapes(words: dict[str, str], cidx: Tensor, idx: Tensor, cdim: int, nnz: int) -> None:
    for name, tensor, size, shown in (
        ("c{long}_indices", cidx, cdim + 1, "n{long}s + 1"),
        ("{wide}_indices", idx, nnz, "nnz"),
    ):
        if size_at(tensor, -1) != size:
            name, shown = name.format(**words), shown.format(**words)
            raise RuntimeError(
                f"{name} have wrong shape: {name}.shape[-1] = {size_at(tensor, -1)} is not equal "
                f"to {shown} = {size}"
            )


def _check_overflow(words: dict[str, str], idx: Tensor, cdim: int, dim: int, nnz: int) -> None:
    """Sizes that indices of 32 bits cannot count."""
    dispatch_over(_INDEX_TYPES, _NAME, idx._dtype)
    bits = 8 * idx._dtype.itemsize
    names = {"row": "row dimension", "col": "column dimension"}
    for name, number in ((names[words["wide"]], dim), (names[words["long"]], cdim), ("nnz", nnz)):
        if not -(1 << bits - 1) <= number < 1 << bits - 1:
            raise RuntimeError(f"{bits}-bit integer overflow in {name} = {number}")


def _other_dtype(cidx: Tensor, idx: Tensor) -> RuntimeError:
    """What the iterator says of an output that has the dtype of the compressed indices."""
    found, wanted = CPP_NAMES[cidx._dtype], CPP_NAMES[idx._dtype]
    return RuntimeError(f"Found dtype {found} but expected {wanted}")


def _fail(invariant: str, words: dict[str, str]) -> RuntimeError:
    return RuntimeError(invariant.format(**words) + " is not satisfied.")


def _check_row(row: Any, plain: Any, dim: int, nnz: int, words: dict[str, str]) -> None:
    """The invariants of one batch, each element looked at for all of them before the next one."""
    first, last = row[0], row[-1]
    for begin, end in pairwise(row):
        if first != 0:
            raise _fail("`c{long}_indices[..., 0] == 0`", words)
        if last != nnz:
            raise _fail("`c{long}_indices[..., -1] == nnz`", words)
        if not 0 <= end - begin <= dim:
            raise _fail(
                "`0 <= c{long}_indices[..., 1:] - c{long}_indices[..., :-1] <= n{wide}s`", words
            )
        part = plain[begin:end]
        if not bool((part[:-1] < part[1:]).all()):
            raise _fail(
                "`{wide}_indices[..., c{long}_indices[..., i - 1]:c{long}_indices[..., i]] for "
                "all i = 1, ..., n{long}s are sorted and distinct along the last dimension "
                "values`",
                words,
            )


@kernel("aten::_validate_compressed_sparse_indices")
def validate_compressed_sparse_indices(
    is_crow: bool,
    compressed_idx: Tensor,
    plain_idx: Tensor,
    cdim: int,
    dim: int,
    nnz: int,
) -> None:
    long, wide = ("row", "col") if is_crow else ("col", "row")
    words = {"long": long, "wide": wide}
    _check_shapes(words, compressed_idx, plain_idx, cdim, nnz)
    _check_overflow(words, plain_idx, cdim, dim, nnz)
    if compressed_idx._dtype is not plain_idx._dtype:
        raise _other_dtype(compressed_idx, plain_idx)
    plain = value_array(plain_idx)
    if not bool(((plain >= 0) & (plain < dim)).all()):
        raise _fail("`0 <= {wide}_indices < n{wide}s`", words)
    check_pointers(plain_idx._dtype, plain_idx)
    rows = value_array(compressed_idx).reshape(-1, cdim + 1).astype(np.int64)
    count = numel(compressed_idx._sizes[:-1])
    found = plain.reshape(count, nnz) if plain.size == count * nnz else None
    for place, row in enumerate(rows):
        part = plain.reshape(-1) if found is None else found[place]
        _check_row(row, part, dim, nnz, words)
