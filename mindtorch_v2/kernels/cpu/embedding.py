"""Rows of a table by their numbers, and the derivative of that.

Mirrors ``aten/src/ATen/native/Embedding.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.elementwise.pointwise import as_array, element, rounded
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.indexing.accumulating import add_in_turn
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.factories import zeros
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_string import type_string
from mindtorch_v2.tensor.views import infer_size

_INDICES: Final = (DTYPES["int64"], DTYPES["int32"])
_ITEM: Final = OperatorHandle("aten::item")
_MUL_: Final = OperatorHandle("aten::mul_.Tensor")
_NORM: Final = OperatorHandle("aten::norm.Scalar")
_SELECT: Final = OperatorHandle("aten::select.int")
_INDEX_SELECT: Final = OperatorHandle("aten::index_select")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_VIEW: Final = OperatorHandle("aten::view")
_DENSE_BACKWARD: Final = OperatorHandle("aten::embedding_dense_backward")


def check_indices(indices: Tensor, place: int, function: str) -> None:
    """``checkScalarTypes``."""
    if indices._dtype not in _INDICES:
        raise RuntimeError(
            f"Expected tensor for argument #{place} 'indices' to have one of the following scalar "
            f"types: Long, Int; but got {type_string(indices)} instead (while checking arguments "
            f"for {function})"
        )


@kernel("aten::embedding", key="CompositeExplicitAutograd")
def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Any:
    if len(weight._sizes) != 2:
        raise RuntimeError("'weight' must be 2-D")
    check_indices(indices, 1, "embedding")
    if len(indices._sizes) == 1:
        return _INDEX_SELECT(weight, 0, indices)
    rows = _INDEX_SELECT(weight, 0, _RESHAPE(indices, [-1]))
    return _VIEW(rows, [*indices._sizes, weight._sizes[1]])


@kernel("aten::embedding", key="Meta")
def embedding_on_meta(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Tensor:
    rank = len(weight._sizes)
    if rank != 2:
        counted = HABITS["functions on meta count dimensions"]
        raise AssertionError("'weight' must be 2-D" + f", got {rank}-D" * counted)
    shape = (*indices._sizes, weight._sizes[1])
    return new_tensor(shape, weight._dtype, weight._device)


@kernel("aten::embedding_renorm_")
def embedding_renorm_(self: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    if len(self._sizes) != 2:
        raise RuntimeError(
            "Expected 2-dimensional tensor, but got "
            f"{len(self._sizes)}-dimensional tensor for argument #1 'self' (while checking "
            "arguments for embedding_renorm_)"
        )
    check_indices(indices, 2, "embedding_renorm_")
    for place in sorted(set(value_array(indices).reshape(-1).tolist())):
        row = _SELECT(self, 0, place)
        norm = float(_ITEM(_NORM(row, norm_type)))
        if norm > max_norm:  # the factor is a tensor of the row's dtype
            _MUL_(row, element(max_norm / (norm + 1e-7), self._dtype).item())
    return self


@kernel("aten::embedding_backward", key="CompositeImplicitAutograd")
def embedding_backward(
    grad: Tensor,
    indices: Tensor,
    num_weights: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> Any:
    if sparse:
        check_indices(indices, 2, "embedding_backward")
        if scale_grad_by_freq:
            raise RuntimeError(
                "embedding_backward: scale_grad_by_freq not supported with sparse gradients"
            )
        raise NotImplementedError("mindtorch_v2 has no sparse gradients of embedding yet")
    return _DENSE_BACKWARD(grad, indices, num_weights, padding_idx, scale_grad_by_freq)


@kernel("aten::embedding_dense_backward", keys=("CPU", "Meta"))
def embedding_dense_backward(
    grad_output: Tensor,
    indices: Tensor,
    num_weights: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
) -> Tensor:
    if not grad_output.is_meta:
        check_indices(indices, 2, "embedding_backward")
    dtype = grad_output._dtype
    width = size_at(grad_output, -1)
    made = zeros((num_weights, width), dtype=dtype, device=grad_output._device)
    if made.is_meta:
        return made
    rows = value_array(indices).reshape(-1)
    viewed = infer_size([rows.size, width], numel(grad_output._sizes))
    grads = as_array(grad_output, dtype).reshape(viewed)
    kept = (rows != padding_idx) & (rows >= 0) & (rows < num_weights)
    rows, grads = rows[kept], grads[kept]
    if scale_grad_by_freq and rows.size:
        counts = np.bincount(rows, minlength=num_weights)
        scale = rounded(np.asarray(1 / counts[rows], grads.dtype), dtype)
        grads = rounded(grads * scale[:, None], dtype)
    summed = np.zeros((num_weights, width), grads.dtype)
    if numel(made._sizes):
        add_in_turn(summed, rows, grads, dtype)
    store(made, summed)
    return made
