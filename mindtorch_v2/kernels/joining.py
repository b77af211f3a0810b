"""Tensors put together: ``cat`` and ``stack``.

Mirrors ``cat`` and ``stack`` in ``aten/src/ATen/native/TensorShape.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.elementwise.promotion import can_cast, result_type
from mindtorch_v2.kernels.elementwise.tensor_iterator import is_standing_for_cpu
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import resize_output, set_output
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap, assert_no_overlap
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs, structured
from mindtorch_v2.kernels.switches import dispatch
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS, DType, memory_format
from mindtorch_v2.tensor.experimental import warn_of_copy
from mindtorch_v2.tensor.geometry import (
    CHANNELS_LAST,
    channels_last_strides,
    is_contiguous,
    numel,
    suggest_memory_format,
    wrap_dim,
)
from mindtorch_v2.tensor.support import CPP_NAMES, worded
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.views import view_strides

_CAT: Final = OperatorHandle("aten::cat")
_CAT_OUT: Final = OperatorHandle("aten::cat.out")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_VIEW: Final = OperatorHandle("aten::view")


@structured("aten::cat")
def cat(outputs: Outputs, tensors: Sequence[Tensor], dim: int) -> tuple[Tensor, ...]:
    for place, tensor in enumerate(tensors):
        if not tensor._sizes:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {place}) cannot be concatenated"
            )
    shaped = [tensor for tensor in tensors if not _is_skipped(tensor)]
    first = shaped[0] if shaped else None
    dim = wrap_dim(dim, len(first._sizes)) if first is not None else dim
    if not tensors:
        raise worded("cat of nothing")
    (given,) = outputs
    dtype = _dtype(tensors, given)
    sizes = [0]
    if first is not None:
        _check_sizes(tensors, first, dim)
        sizes = list(first._sizes)
        sizes[dim] = sum(tensor._sizes[dim] for tensor in shaped)
    strides = _strides_in(sizes, _output_format(tensors))
    source = tensors[0] if first is None else first
    output = set_output(given, sizes, dtype, source._device, strides)
    if given is not None and shaped:
        assert_no_internal_overlap(output)
        for tensor in tensors:
            assert_no_overlap(output, tensor)
    if not output.is_meta and shaped and numel(sizes):
        everything = (output, *tensors)
        is_plain = all(is_contiguous(each._sizes, each._strides) for each in everything)
        if dtype.is_floating_point and is_plain and {each._dtype for each in tensors} == {dtype}:
            dispatch("cat_serial_kernel", dtype)
        else:
            for tensor in shaped:  # each is a loop of its own, which computes in the tensor's dtype
                warn_of_copy(dtype, tensor._dtype)
        store(output, np.concatenate([value_array(tensor) for tensor in shaped], axis=dim))
    return (output,)


def _is_skipped(tensor: Tensor) -> bool:
    """An empty tensor of one dimension goes with anything, as it always did."""
    return tuple(tensor._sizes) == (0,)


def _dtype(tensors: Sequence[Tensor], given: Tensor | None) -> DType:
    promoted = result_type(tensors)
    if given is None:
        return promoted
    if not can_cast(promoted, given._dtype):
        raise worded("cat into a narrower dtype", Int=CPP_NAMES[given._dtype])
    return given._dtype


def _check_sizes(tensors: Sequence[Tensor], first: Tensor, dim: int) -> None:
    for place, tensor in enumerate(tensors):
        if _is_skipped(tensor):
            continue
        if len(tensor._sizes) != len(first._sizes):
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {len(first._sizes)} and "
                f"{len(tensor._sizes)}"
            )
        for at, (wanted, size) in enumerate(zip(first._sizes, tensor._sizes, strict=True)):
            if at != dim and wanted != size:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size "
                    f"{wanted} but got size {size} for tensor number {place} in the list."
                )


def _output_format(tensors: Sequence[Tensor]) -> memory_format:
    """That of the first tensor that is not skipped, if all have it."""
    found = None
    for tensor in tensors:
        suggested = suggest_memory_format(tensor._sizes, tensor._strides)
        if suggested is MEMORY_FORMATS["contiguous_format"]:
            return suggested
        if found is not None and found is not suggested:
            return MEMORY_FORMATS["contiguous_format"]
        found = suggested
    return found or MEMORY_FORMATS["contiguous_format"]


def _strides_in(sizes: Sequence[int], format: memory_format) -> tuple[int, ...] | None:
    order = CHANNELS_LAST.get(format)
    if order is None or len(order) != len(sizes):
        return None
    return channels_last_strides(sizes, order)


# --- stack ------------------------------------------------------------------------------------


@kernel("aten::stack", key="CompositeExplicitAutograd")
def stack(tensors: Sequence[Tensor], dim: int) -> Any:
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    rank = len(tensors[0]._sizes)
    wrapped = wrap_dim(dim, rank + 1)
    _check_equal_sizes(tensors)
    if wrapped == rank:
        return _CAT([_UNSQUEEZE(tensor, dim) for tensor in tensors], dim)
    sizes = list(tensors[0]._sizes)
    sizes.insert(wrapped, len(tensors))
    return _VIEW(_CAT(tensors, wrapped), sizes)


@kernel("aten::stack", key="Meta")
def stack_meta(tensors: Sequence[Tensor], dim: int) -> Any:
    """Leaves it to ``cat`` to compare sizes of what has a dimension more."""
    rank = len(tensors[0]._sizes) if tensors else 0
    if not tensors or wrap_dim(dim, rank + 1) < rank or is_standing_for_cpu():
        return stack(tensors, dim)
    return _CAT([_UNSQUEEZE(tensor, rank) for tensor in tensors], dim)


@kernel("aten::stack.out", keys=("Meta", "CompositeExplicitAutograd"))
def stack_out(tensors: Sequence[Tensor], dim: int, out: Tensor) -> Any:
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    rank = len(tensors[0]._sizes)
    wrapped = wrap_dim(dim, rank + 1)
    _check_equal_sizes(tensors)
    if wrapped < rank:
        sizes = list(tensors[0]._sizes)
        sizes.insert(wrapped, len(tensors))
        resize_output(out, sizes)
        joined = list(tensors[0]._sizes)  # once more: an input that is the output was resized
        joined[wrapped] *= len(tensors)
        if view_strides(out._sizes, out._strides, joined) is not None:
            _CAT_OUT(tensors, wrapped, out=_VIEW(out, joined))
            return out
    return _CAT_OUT([_UNSQUEEZE(tensor, dim) for tensor in tensors], dim, out=out)


@kernel("aten::_stack", keys=("CPU", "CompositeExplicitAutograd"))
def stack_of_backend(tensors: Sequence[Tensor], dim: int) -> Any:
    return _CAT(_stack_inputs(tensors, dim), dim)


@kernel("aten::_stack.out")
def stack_of_backend_out(tensors: Sequence[Tensor], dim: int, out: Tensor) -> Any:
    return _CAT_OUT(_stack_inputs(tensors, dim), dim, out=out)


@kernel("aten::_stack.out", key="CompositeExplicitAutograd")
def _stack_out(tensors: Sequence[Tensor], dim: int, out: Tensor) -> Any:
    """Takes the tensors for what has been unsqueezed."""
    return _CAT_OUT(tensors, dim, out=out)


def _stack_inputs(tensors: Sequence[Tensor], dim: int) -> list[Any]:
    """``get_stack_inputs``."""
    first = _UNSQUEEZE(tensors[0], dim)
    _check_equal_sizes(tensors)
    return [first, *(_UNSQUEEZE(tensor, dim) for tensor in tensors[1:])]


def _check_equal_sizes(tensors: Sequence[Tensor]) -> None:
    wanted = tensors[0]._sizes
    for place, tensor in enumerate(tensors):
        if tensor._sizes != wanted:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(wanted)} at entry 0 "
                f"and {list(tensor._sizes)} at entry {place}"
            )
