"""Helpers of views, and of operators that put tensors together and apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mindtorch_v2.autograd.at import TensorOptions, call
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like


def unsqueeze_multiple(tensor: Any, dims: Any, rank: int) -> Any:
    """A dimension of size 1 at each of the places; at all of ``rank`` without any."""
    if dims is not None and len(dims) == 1:
        return call("unsqueeze", tensor, dims[0])
    places = range(rank) if dims is None else [wrap_dim(dim, rank) for dim in dims]
    for place in sorted(places):
        tensor = call("unsqueeze", tensor, place)
    return tensor


def unsqueeze_to(tensor: Any, *dims_and_sizes: Any) -> Any:
    """Dimensions that ``squeeze`` took: all of size 1, or those of some that were named."""
    *dims, sizes = dims_and_sizes
    named = range(len(sizes))
    if dims:
        given: Iterable[int] = dims[0] if isinstance(dims[0], (list, tuple)) else (dims[0],)
        named = [wrap_dim(dim, len(sizes)) for dim in given]  # type: ignore[assignment]
    for place, size in enumerate(sizes):
        if size == 1 and place in named:
            tensor = call("unsqueeze", tensor, place)
    return tensor


def permute_backwards(grad: Any, dims: Sequence[int]) -> Any:
    rank = len(dims)
    inverse = [0] * rank
    for place, dim in enumerate(dims):
        inverse[wrap_dim(dim, rank)] = place
    return call("permute", grad, inverse)


def sum_to(grad: Any, sizes: Sequence[int]) -> Any:
    """``at::sum_to``: undoes broadcasting; an alias where nothing was broadcast."""
    shape = list(sizes)
    if not shape:
        return call("sum", grad)
    missing = len(grad._sizes) - len(shape)
    dims = list(range(missing)) + [
        place
        for place in range(missing, len(grad._sizes))
        if shape[place - missing] == 1 and grad._sizes[place] != 1
    ]
    if dims:
        grad = call("sum", grad, dims, True)
    return call("view", grad, shape) if missing > 0 else grad


def slice_backward_wrapper(
    grad: Any, sizes: Sequence[int], dim: int, start: Any, end: Any, step: int
) -> Any:
    first = 0 if start is None else start
    last = 2**63 - 1 if end is None else end
    return call("slice_backward", grad, list(sizes), dim, first, last, step)


def split_with_sizes_backward(
    grads: Sequence[Any], lengths: Sequence[int], dim: int, sizes: Sequence[int], options: Any
) -> Any:
    dim = wrap_dim(dim, len(sizes))
    parts = []
    for grad, length in zip(grads, lengths, strict=True):
        if grad is None:
            grad = call("zeros", [*sizes[:dim], length, *sizes[dim + 1 :]], options)
        parts.append(grad)
    return call("cat", parts, dim)


def split_backward(
    grads: Sequence[Any], length: int, dim: int, sizes: Sequence[int], options: Any
) -> Any:
    dim = wrap_dim(dim, len(sizes))
    lengths = [length] * len(grads)
    lengths[-1] = length - (length * len(grads) - sizes[dim])
    return split_with_sizes_backward(grads, lengths, dim, sizes, options)


def unbind_backward(grads: Sequence[Any], dim: int) -> Any:
    like = next(grad for grad in grads if grad is not None)
    parts = []
    for grad in grads:
        if grad is None:
            grad = call("expand", call("zeros", (), TensorOptions.of(like)), list(like._sizes))
        parts.append(grad)
    return call("stack", parts, dim)


def to_args_sizes(tensors: Sequence[Any]) -> list[tuple[int, ...]]:
    return [tuple(tensor._sizes) for tensor in tensors]


to_args_sizes_symint = to_args_sizes


def to_args_scalartypes(tensors: Sequence[Any]) -> list[Any]:
    return [tensor._dtype for tensor in tensors]


def cat_tensors_backward(
    grad: Any, sizes: Sequence[Sequence[int]], dtypes: Sequence[Any], dim: int
) -> list[Any]:
    if grad is None:
        return [None] * len(sizes)
    ranks = [len(shape) for shape in sizes if len(shape) != 1 or shape[0] != 0]
    dim = wrap_dim(dim, ranks[0]) if ranks else dim
    found, start = [], 0
    for shape, dtype in zip(sizes, dtypes, strict=True):
        part = _real_for(dtype, grad)
        if len(shape) == 1 and shape[0] == 0:
            found.append(call("zeros", [0], TensorOptions.of(part)))
            continue
        found.append(call("narrow", part, dim, start, shape[dim]))
        start += shape[dim]
    return found


def stack_tensors_backward(grad: Any, dim: int, dtypes: Sequence[Any]) -> list[Any]:
    if grad is None:
        return [None] * len(dtypes)
    return [
        _real_for(dtype, call("select", grad, dim, place)) for place, dtype in enumerate(dtypes)
    ]


def block_diag_backward(
    grad: Any, sizes: Sequence[Sequence[int]], dtypes: Sequence[Any]
) -> list[Any]:
    if grad is None:
        return [None] * len(sizes)
    found, row, column = [], 0, 0
    for shape, dtype in zip(sizes, dtypes, strict=True):
        part = _real_for(dtype, grad)
        if len(shape) == 1 and shape[0] == 0:
            found.append(call("zeros", [0], TensorOptions.of(part)))
            continue
        rows, columns = (1,) * (2 - len(shape)) + tuple(shape)
        block = call("slice", part, 0, row, row + rows)
        block = call("slice", block, 1, column, column + columns)
        for _ in range(2 - len(shape)):
            block = call("squeeze", block, -1)
        found.append(block)
        row, column = row + rows, column + columns
    return found


def _real_for(dtype: Any, grad: Any) -> Any:
    is_real = not dtype.is_complex and grad._dtype.is_complex
    return call("real", grad) if is_real else grad


def repeat_backward(grad: Any, repeats: Sequence[int], sizes: Sequence[int]) -> Any:
    if 0 in repeats:
        return call("zeros", list(sizes), TensorOptions.of(grad))
    missing = len(repeats) - len(sizes)
    for _ in range(missing):
        grad = call("sum", grad, [0], False)
    shape: list[int] = []
    dims: list[int] = []
    for count, size in zip(repeats[missing:], sizes, strict=True):
        if count != 1:
            dims.append(len(shape))
            shape.append(count)
        shape.append(size)
    return call("sum", call("reshape", grad, shape), dims) if dims else grad


def reverse_list(values: Sequence[int]) -> list[int]:
    return list(reversed(values))


reverse_list_symint = reverse_list


def index_backward(zeros_like_self: Any, indices: Any, grad: Any) -> Any:
    seen = (zeros_like_self, grad, *(each for each in indices if each is not None))
    if any(map(is_tensor_subclass_like, seen)):
        return call("index_put", zeros_like_self, indices, grad, True)
    return call("_index_put_impl_", zeros_like_self, indices, grad, True, True)


def index_select_backward(grad: Any, sizes: Sequence[int], dim: int, index: Any) -> Any:
    index_add = "index_add" if is_tensor_subclass_like(index) else "index_add_"
    zeros = call("new_zeros", grad, list(sizes), TensorOptions.of(grad))
    return call(index_add, zeros, dim, index, grad)


def gather_backward(grad: Any, self: Any, dim: int, index: Any, sparse_grad: bool) -> Any:
    if sparse_grad:
        return call("_gather_sparse_backward", self, dim, index, grad)
    is_like = any(map(is_tensor_subclass_like, (index, grad)))
    zeros = call("new_zeros", grad, list(self._sizes))
    return call("scatter_add" if is_like else "scatter_add_", zeros, dim, index, grad)


def take_backward(grad: Any, self: Any, index: Any) -> Any:
    is_like = any(map(is_tensor_subclass_like, (grad, index)))
    return call("put" if is_like else "put_", call("zeros_like", self), index, grad, True)


def masked_select_backward(grad: Any, input: Any, mask: Any) -> Any:
    is_like = any(map(is_tensor_subclass_like, (grad, mask)))
    expanded = call("expand", input, _broadcast(input, mask))
    zeros = call("zeros_like", expanded, MEMORY_FORMATS["preserve_format"])
    return call("masked_scatter" if is_like else "masked_scatter_", zeros, mask, grad)


def _broadcast(one: Any, two: Any) -> list[int]:
    from mindtorch_v2.kernels.elementwise.broadcasting import infer_size

    return list(infer_size(one._sizes, two._sizes))


def constant_pad_nd_backward(grad: Any, pad: Sequence[int]) -> Any:
    return call("constant_pad_nd", grad, [-each for each in pad], 0)


def strides_or_error(tensor: Any, name: str) -> tuple[int, ...]:
    """The strides of a dense tensor; a sparse one has none that a formula reads."""
    return () if tensor._storage is None else tensor._strides
