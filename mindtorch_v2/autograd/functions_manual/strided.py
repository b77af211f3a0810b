"""The gradient of ``as_strided``: elements that lie in one place share what arrives.

See Note [as_strided Backward and layout-aware/agnostic autograd] in FunctionsManual.cpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_v2.autograd.at import TensorOptions, call
from mindtorch_v2.autograd.operators import div_
from mindtorch_v2.autograd.variable import TensorGeometry
from mindtorch_v2.tensor.dtype import DTYPES

Extent = tuple[list[int], list[int]]
"""Sizes and strides of the dimensions that count."""


def as_strided_backward(
    grad: Any,
    geometry: TensorGeometry,
    sizes: Sequence[int],
    strides: Sequence[int],
    storage_offset: int | None,
) -> Any:
    offset = geometry.storage_offset if storage_offset is None else storage_offset
    if 0 in sizes or 0 in geometry.sizes:
        return call("zeros", list(geometry.sizes), TensorOptions.of(grad))
    grad, output = _without_trivial_dims(grad, sizes, strides)
    source = _dims_that_count(geometry.sizes, geometry.strides)
    shared = min(geometry.storage_offset, offset)
    source_offset, output_offset = geometry.storage_offset - shared, offset - shared
    count = max(_min_storage_size(source, source_offset), _min_storage_size(output, output_offset))
    storage = call("new_zeros", grad, [count])
    overlaps = _maybe_overlapping(*output), _maybe_overlapping(*source)
    places = None
    if any(overlaps):
        options = TensorOptions.of(grad)._replace(dtype=DTYPES["int64"])
        places = call("arange", 0, count, options)
    if overlaps[0]:
        strided = call("as_strided", places, *output, output_offset)
        received = call("reshape", grad, [-1])
        call("index_add_", storage, 0, call("reshape", strided, [-1]), received)
    else:
        call("copy_", call("as_strided", storage, *output, output_offset), grad)
    if overlaps[1]:
        counts = call("zeros_like", storage)
        index = call("reshape", call("as_strided", places, *source, source_offset), [-1])
        ones = call("expand_as", call("ones", [1], TensorOptions.of(grad)), index)
        call("index_add_", counts, 0, index, ones)
        div_(storage, counts)
    return call("as_strided", storage, list(geometry.sizes), list(geometry.strides), source_offset)


def as_strided_scatter_backward(
    grad: Any,
    input_geometry: TensorGeometry,
    src_geometry: TensorGeometry,
    sizes: Sequence[int],
    strides: Sequence[int],
    storage_offset: int | None,
) -> Any:
    """See Note [as_strided_scatter backward support]: what was scattered into is contiguous."""
    grad = call("contiguous", grad)
    place = list(sizes), list(strides), storage_offset
    scattered = call("as_strided", grad, *place)
    found = call("new_zeros", grad, list(input_geometry.sizes))
    result = call("as_strided", found, list(input_geometry.sizes), list(input_geometry.strides))
    call("copy_", call("as_strided", found, *place), scattered)
    return result


def _without_trivial_dims(
    grad: Any, sizes: Sequence[int], strides: Sequence[int]
) -> tuple[Any, Extent]:
    """Dimensions of size 1 go, those of stride 0 are summed up."""
    kept: Extent = ([], [])
    for dim in range(len(sizes) - 1, -1, -1):
        if sizes[dim] == 1:
            grad = call("squeeze", grad, dim)
        elif strides[dim] == 0:
            grad = call("sum", grad, [dim], False)
        else:
            kept[0].insert(0, sizes[dim])
            kept[1].insert(0, strides[dim])
    return grad, kept


def _dims_that_count(sizes: Sequence[int], strides: Sequence[int]) -> Extent:
    pairs = [pair for pair in zip(sizes, strides, strict=True) if pair[0] != 1]
    return [size for size, _ in pairs], [stride for _, stride in pairs]


def _maybe_overlapping(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether, as far as a quick look tells, elements may lie in one place."""
    reach = 0
    for stride, size in sorted(zip(strides, sizes, strict=True)):
        if stride <= reach:
            return True
        reach += (size - 1) * stride
    return False


def _min_storage_size(extent: Extent, offset: int) -> int:
    return offset + 1 + sum((size - 1) * stride for size, stride in zip(*extent, strict=True))
