"""Operators that make or add up sparse tensors, as far as what they refuse.

Mirrors ``spdiags`` in ``aten/src/ATen/native/sparse/SparseFactories.cpp``,
``_sparse_compressed_tensor_with_dims`` in ``SparseCsrTensor.cpp`` and ``_sparse_sum`` and the
softmaxes of sparse tensors in ``SparseTensorMath.cpp`` and ``SoftMax.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

from mindtorch_v2.binding.values import dtype_of_value, layout_of_value
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import add, kernel
from mindtorch_v2.tensor.dtype import (
    CPP_LAYOUTS,
    DTYPES,
    LAYOUTS,
    int64,
    sparse_compressed,
    sparse_coo,
)
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_COALESCE: Final = OperatorHandle("aten::coalesce")
_INDICES: Final = OperatorHandle("aten::_indices")
_SUM: Final = OperatorHandle("aten::sum")
_SUM_TO: Final = OperatorHandle("aten::_sparse_sum.dim")
_TO: Final = OperatorHandle("aten::to.dtype")
_UNIQUE: Final = OperatorHandle("aten::_unique")
_VALUES: Final = OperatorHandle("aten::values")

_BLOCKS: Final = (LAYOUTS["sparse_bsr"], LAYOUTS["sparse_bsc"])
_DIAGONAL: Final = (sparse_coo, LAYOUTS["sparse_csc"], LAYOUTS["sparse_csr"])
_INDEX_DTYPES: Final = (DTYPES["int32"], int64)
_WITH_DIMS: Final = "sparse_compressed_tensor_with_dims"


@kernel("aten::_spdiags", key="CPU")
def spdiags(diagonals: Tensor, offsets: Any, shape: Sequence[int], layout: int | None) -> NoReturn:
    count = diagonals._sizes[0] if len(diagonals._sizes) == 2 else 1
    if len(diagonals._sizes) not in (1, 2):
        raise RuntimeError("Diagonals must be vector or matrix")
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if len(offsets._sizes) > 1:
        raise RuntimeError("Offsets must be scalar or vector")
    places = numel(offsets._sizes)
    if count != places:
        raise RuntimeError(
            f"Number of diagonals ({count}) does not match the number of offsets ({places})"
        )
    if layout is not None and layout_of_value(layout) not in _DIAGONAL:
        got = CPP_LAYOUTS[layout_of_value(layout)]
        raise RuntimeError(
            f"Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {got}"
        )
    if offsets._dtype is not int64:
        got = CPP_NAMES[offsets._dtype]
        raise RuntimeError(f"Offset Tensor must have dtype Long but got {got}")
    if places != numel(_UNIQUE(offsets)[0]._sizes):
        raise RuntimeError("Offset tensor contains duplicate values")
    raise NotImplementedError("mindtorch_v2 has no sparse tensors of diagonals yet")


@kernel("aten::_sparse_compressed_tensor_with_dims", key="CompositeExplicitAutograd")
def sparse_compressed_tensor_with_dims(
    nnz: int,
    dense_dim: int,
    size: Sequence[int],
    blocksize: Sequence[int],
    index_dtype: int,
    dtype: int | None,
    layout: int | None,
    *options: Any,
) -> NoReturn:
    if layout is None:
        raise RuntimeError(f"{_WITH_DIMS}: expected sparse compressed tensor layout but got none")
    wanted = layout_of_value(layout)
    name = CPP_LAYOUTS[wanted]
    if wanted not in sparse_compressed:
        raise RuntimeError(f"{_WITH_DIMS} expected sparse compressed tensor layout but got {name}")
    _check_dims(nnz, dense_dim, size, blocksize, name, wanted in _BLOCKS)
    if dtype_of_value(index_dtype) not in _INDEX_DTYPES:
        got = CPP_NAMES[dtype_of_value(index_dtype)]
        raise RuntimeError(f"indices dtype must be Int or Long, but got {got}")
    raise NotImplementedError("mindtorch_v2 has no compressed tensors without elements yet")


def _check_dims(
    nnz: int,
    dense_dim: int,
    size: Sequence[int],
    blocksize: Sequence[int],
    layout: str,
    has_blocks: bool,
) -> None:
    if len(size) < dense_dim + 2:
        raise RuntimeError(
            f"{_WITH_DIMS}: dimensionality must be at least dense_dim(={dense_dim}) + "
            f"sparse_dim(=2), but got {len(size)}"
        )
    if nnz < 0:
        raise RuntimeError(f"{_WITH_DIMS}: nnz must be non-negative, got {nnz}")
    if not has_blocks:
        if blocksize:
            raise RuntimeError(
                f"{_WITH_DIMS}: blocksize cannot be specified for non-block layout {layout}"
            )
        return
    if len(blocksize) != 2:
        raise RuntimeError(
            f"{_WITH_DIMS}: blocksize needs to be a tuple of size 2, but got {len(blocksize)}"
        )
    first = len(size) - dense_dim - 2
    if min(blocksize) <= 0:
        raise RuntimeError(
            f"{_WITH_DIMS}: blocksize needs to be positive, but got {list(blocksize)}"
        )
    for place in (0, 1) if layout == "SparseBsr" else (1, 0):
        block = blocksize[place]
        if size[first + place] % block:
            raise RuntimeError(
                f"{_WITH_DIMS}: dimension {first + place} must be multiple of "
                f"blocksize[{place}](={block}) but got {size[first + place]}"
            )


# --- of what is given -------------------------------------------------------------------------


@kernel("aten::_sparse_sum", key=_IMPLICIT)
def sparse_sum(input: Tensor) -> Any:
    return _SUM(_VALUES(_COALESCE(input)))


@kernel("aten::_sparse_sum.dtype", key=_IMPLICIT)
def sparse_sum_dtype(input: Tensor, dtype: int) -> Any:
    return _SUM(_VALUES(_COALESCE(input)), dtype=dtype_of_value(dtype))


@kernel("aten::_sparse_sum.dim_dtype", key=_IMPLICIT)
def sparse_sum_dim_dtype(input: Tensor, dim: Sequence[int], dtype: int) -> Any:
    return _SUM_TO(_TO(input, dtype_of_value(dtype)), dim)


@kernel("aten::_sparse_sum.dim", key="CompositeExplicitAutograd")
def sparse_sum_dim(input: Tensor, dim: Sequence[int]) -> NoReturn:
    seen = set()
    for each in dim:
        wrapped = wrap_dim(each, len(input._sizes))
        if wrapped in seen:
            raise RuntimeError(f"dim {wrapped} appears multiple times in the list of dims")
        seen.add(wrapped)
    _INDICES(input)
    raise NotImplementedError("mindtorch_v2 has no sums of sparse tensors yet")


def _softmax(name: str) -> Callable[..., Any]:
    run = OperatorHandle(f"aten::{name}")

    def softmax(self: Tensor, dim: int, dtype: int | None) -> Any:
        given = self if dtype is None else _TO(self, dtype_of_value(dtype))
        return run(given, dim, False)

    return softmax


for _name in ("_sparse_softmax", "_sparse_log_softmax"):
    add(f"aten::{_name}.int", _IMPLICIT, _softmax(_name))
