"""Gradients of changes of a layout, and of embeddings whose table gets a sparse one.

Mirrors ``to_dense_backward`` and ``to_mkldnn_backward`` of
``aten/src/ATen/native/TensorConversions.cpp`` and ``embedding_sparse_backward`` of
``Embedding.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.autograd.at import call
from mindtorch_v2.kernels.cpu.embedding import check_indices
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.dtype import strided
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"


@kernel("aten::to_dense_backward", key=_IMPLICIT)
def to_dense_backward(grad: Tensor, input: Tensor, masked_grad: bool | None) -> Any:
    if input._layout is not strided:
        raise NotImplementedError(
            f"mindtorch_v2 has no kernel for aten::to_dense_backward of {input._layout} yet"
        )
    return call("to_dense", grad, input._dtype, masked_grad=masked_grad)


@kernel("aten::to_mkldnn_backward", key=_IMPLICIT)
def to_mkldnn_backward(grad: Tensor, input: Tensor) -> Any:
    return call("to_dense", grad, input._dtype)


@kernel("aten::embedding_sparse_backward", key=_IMPLICIT)
def embedding_sparse_backward(
    grad: Tensor, indices: Tensor, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    """As far as it is dense."""
    check_indices(indices, 2, "embedding_backward")
    if scale_grad_by_freq:
        raise RuntimeError(
            "embedding_backward: scale_grad_by_freq not supported with sparse gradients"
        )
    raise NotImplementedError(
        "mindtorch_v2 has no kernel for aten::embedding_sparse_backward of sparse tensors yet"
    )
