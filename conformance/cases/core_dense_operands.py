"""Operators of sparse and nested tensors given dense ones.

What they refuse, and in which order they look; on meta some answer what they were given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.area import Text

_CALLS: Final = (
    "copy_sparse_to_sparse_(xp.ones(2, 3, device='meta'), xp.ones(2, device='meta'))",
    "copy_sparse_to_sparse_(xp.ones(2, 3), xp.ones(2))",
    "copy_sparse_to_sparse(xp.ones(2, 3, device='meta'), xp.ones(2, device='meta'))",
    "_coalesced(xp.ones(2, 3, device='meta'), True)",
    "sparse_resize(xp.ones(2, 3, device='meta'), [4, 3], 2, 0)",
    "resize_as_sparse(xp.ones(2, 3, device='meta'), xp.ones(2, device='meta'))",
    "resize(xp.ones(2, 3, device='meta'), [3])",
    "_spdiags(xp.ones(2), xp.ones(2), [1])",
    "_sparse_compressed_tensor_with_dims(0, 0, [2, 2], [], xp.int64)",
    "_sparse_compressed_tensor_with_dims(0, 0, [2, 2], [], xp.int64, layout=xp.strided)",
    "_sparse_compressed_tensor_with_dims(0, 1, [2, 2], [], xp.int64, layout=xp.sparse_csr)",
    "_sparse_compressed_tensor_with_dims(-1, 0, [2, 2], [], xp.int64, layout=xp.sparse_csr)",
    "_sparse_compressed_tensor_with_dims(0, 0, [2, 2], [1], xp.int64, layout=xp.sparse_csr)",
    "_sparse_compressed_tensor_with_dims(0, 0, [2, 2], [], xp.int64, layout=xp.sparse_bsr)",
    "_sparse_compressed_tensor_with_dims(0, 0, [2, 2], [2, 3], xp.int64, layout=xp.sparse_bsr)",
    "_sparse_compressed_tensor_with_dims(0, 0, [2, 2], [], xp.float32, layout=xp.sparse_csr)",
    "_sparse_sum(xp.ones(2, 3))",
    "_sparse_sum.dtype(xp.ones(2, 3), dtype=xp.float64)",
    "_sparse_sum.dim(xp.ones(2, 3), [0])",
    "_sparse_sum.dim_dtype(xp.ones(2, 3), [0], dtype=xp.float64)",
    "_sparse_sum.dim(xp.ones(2, 3), [5])",
    "_sparse_sum.dim(xp.ones(2, 3), [0, 0])",
    "_sparse_softmax.int(xp.ones(2, 3), 1)",
    "_sparse_log_softmax.int(xp.ones(2, 3), 1)",
    "_sparse_softmax.int(xp.ones(2, 3), 1, dtype=xp.float64)",
    "_sparse_broadcast_to_copy(xp.ones(2, 3), [2, 2, 3])",
    "_nested_tensor_from_mask_left_aligned(xp.ones(2, 3, 4), xp.tensor([[True, True, False], "
    "[True, False, False]]))",
    "_nested_tensor_from_mask_left_aligned(xp.ones(2, 3, 4), xp.tensor([[True, False, True], "
    "[True, False, False]]))",
    "_nested_tensor_from_mask_left_aligned(xp.ones(2, 3, 4), xp.ones(2, 3).bool())",
    "_nested_tensor_from_mask_left_aligned(xp.ones(2, 3, 4), xp.ones(2, 2).bool())",
    "_nested_tensor_from_mask_left_aligned(xp.ones(2, 3), xp.ones(2, 3).bool())",
    "_nested_tensor_from_mask_left_aligned(xp.ones(2, 3), xp.ones(2, 3))",
    "_nested_tensor_from_mask_left_aligned(xp.ones(2, 3, 4), xp.ones(2).bool())",
    "_nested_tensor_from_mask_left_aligned(xp.ones(0, 3, 4), xp.ones(0, 3).bool())",
    "_nested_tensor_from_mask_left_aligned(xp.ones(2, 0, 4), xp.ones(2, 0).bool())",
    "_nested_tensor_from_mask_left_aligned(xp.ones(2, 3, 4, device='meta'), xp.ones(2, 3, "
    "device='meta').bool())",
    "_nested_tensor_from_mask(xp.ones(2, 3, 4), xp.ones(2, 3))",
    "_nested_tensor_from_mask(xp.ones(2, 3, 4), xp.ones(3).bool())",
    "_nested_tensor_from_mask(xp.ones(2, 3), xp.ones(2, 3).bool())",
    "_nested_tensor_from_mask(xp.ones(2, 3, 4), xp.ones(2, 2).bool())",
    "_nested_tensor_from_mask(xp.ones(2, 3, 4), xp.tensor([[True, False, True], [True, False, "
    "False]]))",
    "_nested_tensor_from_mask(xp.ones(2, 0, 4), xp.ones(2, 0).bool())",
    "_nested_compute_contiguous_strides_offsets(xp.tensor([[2, 3], [4, 5]]))",
    "_nested_compute_contiguous_strides_offsets(xp.tensor([[2, 3, 4], [4, 0, 5]]))",
    "_nested_compute_contiguous_strides_offsets(xp.tensor([[2], [4]]))",
    "_nested_compute_contiguous_strides_offsets(xp.ones(2, 2))",
    "_nested_compute_contiguous_strides_offsets(xp.ones(2, 2).int())",
    "_nested_compute_contiguous_strides_offsets(xp.tensor([[2, 3], [4, 5], [6, 7]]).t())",
    "_nested_from_padded(xp.ones(2, 3, 4), xp.ones(2, 2))",
    "_nested_from_padded(xp.ones(2, 3, 4), xp.ones(2, 2).int())",
    "nested_to_padded_tensor(xp.ones(2, 3), 0.)",
    "nested_to_padded_tensor(xp.ones(2, 3, device='meta'), 0.)",
    "_nested_tensor_size(xp.ones(2))",
    "_nested_select_backward(xp.ones(2), xp.ones(2), 0, 0)",
    "_nested_sum_backward(xp.ones(2), xp.ones(2), [0])",
    "_nested_from_padded_and_nested_example(xp.ones(2, 3), xp.ones(2, 3))",
    "to_padded_tensor(xp.ones(2, 3), 0.)",
    "_nested_get_values(xp.ones(2))",
    "_nested_from_padded(xp.ones(2, 3, 4), xp.ones(2, 3).long())",
    "_nested_from_padded(xp.ones(2, 3, 4), xp.ones(()).long())",
    "_nested_from_padded(xp.ones(2, 3, 4), xp.ones(2, 2).long(), True)",
    "_nested_from_padded(xp.ones(2, 3, 4, 5), xp.ones(2, 3).long(), True)",
    "_nested_from_padded(xp.ones(2, 3, 4, 5), xp.ones(2, 2).int(), True)",
    "_spdiags(xp.ones(3, 3), xp.tensor([0, 1]), (3, 3))",
    "_spdiags(xp.ones(2, 3), xp.tensor([0, 0]), (3, 3))",
    "_spdiags(xp.ones(2, 3), xp.tensor([0., 1.]), (3, 3))",
    "_spdiags(xp.ones(2, 3), xp.tensor([[0, 1]]), (3, 3))",
    "_spdiags(xp.ones(3), xp.tensor([0, 1]), (3, 3))",
    "_spdiags(xp.ones(1, 2, 3), xp.tensor([0]), (3, 3))",
    "_spdiags(xp.ones(()), xp.tensor([0]), (3, 3))",
    "_spdiags(xp.ones(1, 3), xp.tensor([0]), (3, ))",
    "_spdiags(xp.ones(1, 3), xp.tensor([0]), (3, 3), layout=xp.strided)",
    "_spdiags(xp.ones(1, 3), xp.tensor([0]), (3, 3), layout=xp.sparse_bsr)",
    "_spdiags(xp.ones(3, 3, device='meta'), xp.tensor([0, 1], device='meta'), (3, 3))",
    "_sparse_compressed_tensor_with_dims(0, 0, [2, 2], [0, 1], xp.int64, layout=xp.sparse_bsr)",
    "_sparse_compressed_tensor_with_dims(0, 0, [2, 2], [-1, 1], xp.float64, layout=xp.sparse_bsr)",
    "_sparse_compressed_tensor_with_dims(0, 0, [3, 2], [2, 1], xp.float64, layout=xp.sparse_bsc)",
    "_sparse_compressed_tensor_with_dims(0, 1, [2, 4, 3], [2, 1], xp.float64, "
    "layout=xp.sparse_bsr)",
    "_sparse_compressed_tensor_with_dims(0, 0, [4, 2, 3], [2, 1], xp.float64, "
    "layout=xp.sparse_bsr)",
    "_sparse_compressed_tensor_with_dims(0, 1, [4, 2, 3], [2, 3], xp.int64, layout=xp.sparse_bsr)",
    "_sparse_compressed_tensor_with_dims(1, 0, [2, 2], [2, 1, 1], xp.int64, layout=xp.sparse_bsr)",
    "_sparse_compressed_tensor_with_dims(-1, 5, [2, 2], [2, 1, 1], xp.int64, layout=xp.sparse_bsr)",
    "_sparse_compressed_tensor_with_dims(0, 5, [2, 2], [2, 1, 1], xp.int64, layout=xp.sparse_csr)",
    "_sparse_compressed_tensor_with_dims(0, 0, [2, 2], [2, 1, 1], xp.float32, "
    "layout=xp.sparse_csr)",
    "sparse_resize_(xp.ones(2, 3), [2], 1, 1)",
    "resize_as_sparse_(xp.ones(2, 3), xp.ones(2))",
    "_coalesced_(xp.ones(2, 3, device='meta', requires_grad=True), True)",
    "_coalesced_(xp.ones(2, 3, device='meta', requires_grad=True)*1, True)",
    "copy_sparse_to_sparse_(xp.ones(2, 3, device='meta'), xp.ones(2))",
    "copy_sparse_to_sparse_(xp.ones(2, 3), xp.ones(2, device='meta'))",
    "resize_as_sparse_(xp.ones(2, 3), xp.ones(2, device='meta'))",
    "resize_as(xp.ones(2, 3, device='meta'), xp.ones(2, device='meta'))",
    "resize_as(xp.ones(2, 3, device='meta'), xp.ones(2, 3, 4, 5, "
    "device='meta').to(memory_format=xp.channels_last), "
    "memory_format=xp.preserve_format).stride()",
    "resize_as(xp.ones(2, 3, device='meta'), xp.ones(2, 3, 4, 5, device='meta'), "
    "memory_format=xp.channels_last).stride()",
    "resize_as(xp.ones(2, 3, device='meta'), xp.ones(2, 3, device='meta').t()).stride()",
    "resize_as(xp.ones(2, 3, device='meta'), xp.ones(2, 3))",
    "resize_as.out(xp.ones(2, 3, device='meta'), xp.ones(2, device='meta'), out=xp.ones(1, "
    "device='meta'))",
)
_OTHERS: Final = (
    "xp.ones(2, 3, device='meta').resize_as_sparse_(xp.ones(2, device='meta'))",
    "xp.ones(2, 3, device='meta').sparse_resize_([2, 3], 1, 1)",
    "xp.ones(2, 3, device='meta').sparse_resize_([4, 3], 2, 0)",
    "xp.ones(2, 3, device='meta').sparse_resize_([4], 2, 0)",
    "xp.ones(2, 3, device='meta').sparse_resize_and_clear_([4], 2, 0)",
    "xp.ones(2, 3, device='meta').sparse_resize_and_clear_([4, 5], 2, 0)",
    "xp.ones(2, 3, device='meta')._coalesced_(True)",
    "xp.ones(2, 3, device='meta')._to_sparse()",
    "x = xp.ones(2, device='meta')\nxp.ops.aten._coalesced_(x, True)\nx._version",
)


def texts() -> Iterator[Text]:
    """Cases of this module."""
    for call in _CALLS:
        yield "dense operand", f"xp.ops.aten.{call}"
    for text in _OTHERS:
        yield "dense operand", text
