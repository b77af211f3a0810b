"""Windows that divide an image or a volume into so many parts: their means and largest values.

Mirrors ``AdaptiveAveragePooling.cpp``, ``AdaptiveAveragePooling3d.cpp``,
``AdaptiveMaxPooling2d.cpp``, ``AdaptiveMaxPooling3d.cpp``, ``AdaptivePooling.h`` and their CPU
kernels in ``aten/src/ATen/native``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np

from mindtorch_v2.autograd.at import CONTIGUOUS, suggest_memory_format
from mindtorch_v2.kernels.cpu.pools.pooling import (
    check_grad_dtype,
    largest,
    sent_back,
    steps_between,
)
from mindtorch_v2.kernels.cpu.pools.windows import crossed, flat_places, resized, strides_of
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.elementwise.promotion import to_opmath
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, set_output
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs, structured
from mindtorch_v2.kernels.switches import (
    FLOATING_TYPES,
    HABITS,
    HALVES,
    dispatch,
    dispatch_over,
)
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS, DType, int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.support import TYPE_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_RESIZE_: Final = OperatorHandle("aten::resize_")
_CHANNELS_LAST: Final = MEMORY_FORMATS["channels_last"]
_FLOATS: Final = FLOATING_TYPES | HALVES
_COUNTS_DIMENSIONS: Final = HABITS["an adaptive average pool's gradient has as many dimensions"]
_LOOKS_AT_PLACES: Final = HABITS["the gradient of an adaptive max pool looks at its places"]


def _bounds(size: int, count: int) -> list[tuple[int, int]]:
    """``start_index`` and ``end_index`` of each window."""
    return [(at * size // count, -(-(at + 1) * size // count)) for at in range(count)]


def _windows(
    sizes: Sequence[int], output: Sequence[int]
) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...], list[int]]]:
    """Of each window where its result is, where its elements are, and how many along each
    dimension."""
    bounds = [_bounds(size, count) for size, count in zip(sizes, output, strict=True)]
    for result in product(*map(range, output)):
        ends = [each[place] for each, place in zip(bounds, result, strict=True)]
        elements = tuple(slice(*each) for each in ends)
        yield (..., *result), (..., *elements), [end - start for start, end in ends]


def _means(values: Array, output: Sequence[int], dtype: DType) -> Array:
    """The mean of each window, of which each sum and each quotient is a value of ``dtype``."""
    dims = len(output)
    found = np.zeros((*values.shape[:-dims], *output), values.dtype)
    for result, elements, counts in _windows(values.shape[-dims:], output):
        mean = _total(values[elements].reshape(*values.shape[:-dims], prod(counts)), dtype)
        for count in counts:
            mean = rounded(np.asarray(mean / values.dtype.type(count)), dtype)
        found[result] = mean
    return found


def _total(values: Array, dtype: DType) -> Array:
    """The sum of each row, one after the other."""
    if to_opmath(dtype) is dtype:
        return np.asarray(np.add.accumulate(values, axis=-1)[..., -1])
    total = np.zeros(values.shape[:-1], values.dtype)
    for place in range(values.shape[-1]):
        total = rounded(total + values[..., place], dtype)
    return total


def _shared_out(grads: Array, sizes: Sequence[int], dims: int, dtype: DType) -> Array:
    """The derivative of the means: of each window to its elements what one of them has a part."""
    found = np.zeros(tuple(sizes), grads.dtype)
    for result, elements, counts in _windows(sizes[-dims:], grads.shape[-dims:]):
        part = grads[result]
        for count in counts:
            part = rounded(np.asarray(part / count), dtype)
        part = part.reshape(*part.shape, *(1,) * dims)
        found[elements] = rounded(found[elements] + part, dtype)
    return found


def _check_out_dtype(self: Tensor, out: Tensor) -> None:
    if out._dtype is not self._dtype:
        raise RuntimeError(
            f"expected dtype {TYPE_NAMES[self._dtype]} for `output` but got dtype "
            f"{TYPE_NAMES[out._dtype]}"
        )


def _check_not_empty(name: str, self: Tensor, dims: Sequence[int]) -> None:
    for dim in dims:
        if not self._sizes[dim]:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but "
                f"input has sizes {list(self._sizes)} with dimension {dim} being empty"
            )


def _check_gradient_not_empty(name: str, grad: Tensor) -> None:
    """``adaptive_pool_empty_output_check``."""
    for dim, size in enumerate(grad._sizes[1:], 1):
        if not size:
            raise RuntimeError(
                f"{name}(): Expected grad_output to have non-zero size for non-batch dimensions, "
                f"but grad_output has sizes {list(grad._sizes)} with dimension {dim} being empty"
            )


def _formatted(sizes: Sequence[int], like: Tensor) -> Tensor:
    """``resize_`` of an empty tensor to a memory format."""
    channels_last = len(sizes) == 4 and suggest_memory_format(like) is _CHANNELS_LAST
    strides = strides_of(sizes, channels_last=channels_last)
    return new_tensor(sizes, like._dtype, like._device, strides)


# --- means of images --------------------------------------------------------------------------


@kernel("aten::_adaptive_avg_pool2d")
def adaptive_avg_pool2d(self: Tensor, output_size: Sequence[int]) -> Tensor:
    _check_image(self, output_size)
    output = _formatted((*self._sizes[:-2], *output_size), self)
    return _average_image(output, self, output_size)


@kernel("aten::adaptive_avg_pool2d.out")
def adaptive_avg_pool2d_out(self: Tensor, output_size: Sequence[int], out: Tensor) -> Tensor:
    _check_image(self, output_size)
    _check_out_dtype(self, out)
    format = suggest_memory_format(self) if len(self._sizes) == 4 else None
    _RESIZE_(out, [*self._sizes[:-2], *output_size], memory_format=format)
    return _average_image(out, self, output_size)


def _check_image(self: Tensor, output_size: Sequence[int]) -> None:
    if len(output_size) != 2:
        raise RuntimeError("adaptive_avg_pool2d: output_size must be 2")
    rank = len(self._sizes)
    if rank not in (3, 4):
        raise RuntimeError(
            f"adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got {list(self._sizes)}"
        )
    _check_not_empty("adaptive_avg_pool2d", self, (rank - 2, rank - 1))


def _average_image(output: Tensor, self: Tensor, output_size: Sequence[int]) -> Tensor:
    if numel(output._sizes):
        _dispatch_image("adaptive_avg_pool2d", self)
        means = _means(as_array(self, self._dtype), output_size, to_opmath(self._dtype))
        store(output, rounded(means, self._dtype))
    return output


def _dispatch_image(name: str, self: Tensor) -> None:
    channels_last = suggest_memory_format(self) is _CHANNELS_LAST
    dispatch_over(_FLOATS, name + "_channels_last" * channels_last, self._dtype)


@kernel("aten::_adaptive_avg_pool2d_backward")
def adaptive_avg_pool2d_backward(grad_output: Tensor, self: Tensor) -> Tensor:
    name, sizes = "adaptive_avg_pool2d_backward()", list(grad_output._sizes)
    _check_gradient_not_empty("adaptive_avg_pool2d_backward", grad_output)
    if _COUNTS_DIMENSIONS:
        name = "adaptive_avg_pool2d_backward_out_cpu_template"
    if _COUNTS_DIMENSIONS and len(sizes) != len(self._sizes):
        raise RuntimeError(
            f"{name}: Expected dimensions {len(self._sizes)} for `grad_output` but got dimensions "
            f"{len(sizes)}"
        )
    if len(sizes) not in (3, 4):
        raise RuntimeError(f"{name}: Expected 3D or 4D tensor, but got {list(self._sizes)}")
    check_grad_dtype(self, grad_output, "grad_output")
    result = _formatted(self._sizes, self)
    _dispatch_image("adaptive_avg_pool2d_backward", self)
    store(result, _shared_out(as_array(grad_output, self._dtype), self._sizes, 2, self._dtype))
    return result


# --- means of volumes -------------------------------------------------------------------------


@kernel("aten::_adaptive_avg_pool3d")
def adaptive_avg_pool3d(self: Tensor, output_size: Sequence[int]) -> Tensor:
    return _average_volume(None, self, output_size)


@kernel("aten::adaptive_avg_pool3d.out")
def adaptive_avg_pool3d_out(self: Tensor, output_size: Sequence[int], out: Tensor) -> Tensor:
    return _average_volume(out, self, output_size)


def _average_volume(out: Tensor | None, self: Tensor, output_size: Sequence[int]) -> Tensor:
    """Sums and quotients are values of the input's dtype."""
    if len(output_size) != 3:
        raise RuntimeError("adaptive_avg_pool3d: output_size must be 3")
    rank = len(self._sizes)
    _check_not_empty("adaptive_avg_pool3d", self, range(1, rank))
    if rank not in (4, 5):
        raise RuntimeError(
            f"adaptive_avg_pool3d(): Expected 4D or 5D tensor, but got {list(self._sizes)}"
        )
    if out is not None:
        _check_out_dtype(self, out)
    output = resized(out, (*self._sizes[:-3], *output_size), self, self._dtype, CONTIGUOUS)
    dispatch_over(_FLOATS, "adaptive_avg_pool3d_cpu", self._dtype)
    store(output, _means(as_array(self, self._dtype), output_size, self._dtype))
    return output


@kernel("aten::_adaptive_avg_pool3d_backward", "aten::adaptive_avg_pool3d_backward.grad_input")
def adaptive_avg_pool3d_backward(
    grad_output: Tensor, self: Tensor, grad_input: Tensor | None = None
) -> Tensor:
    result = resized(grad_input, self._sizes, self, self._dtype, CONTIGUOUS)
    _check_gradient_not_empty("adaptive_avg_pool3d_backward", grad_output)
    rank, found = len(self._sizes), len(grad_output._sizes)
    if _COUNTS_DIMENSIONS and rank != found:
        raise RuntimeError(
            f"adaptive_avg_pool3d_backward_out_cpu_template: Expected dimensions {rank} for "
            f"`gradOutput_` but got dimensions {found}"
        )
    for tensor, count in ((self, 4), (grad_output, 3)):
        wrap_dim(-count, len(tensor._sizes), scalar=False)
    dispatch_over(_FLOATS, "adaptive_avg_pool3d_backward_cpu", self._dtype)
    check_pointers(self._dtype, result, grad_output)
    store(result, _shared_out(as_array(grad_output, self._dtype), self._sizes, 3, self._dtype))
    return result


# --- largest values ---------------------------------------------------------------------------


def _largest(outputs: Sequence[Tensor], self: Tensor, output_size: Sequence[int]) -> None:
    dims = len(output_size)
    values, sizes = as_array(self, self._dtype), self._sizes[-dims:]
    bounds = [_bounds(size, count) for size, count in zip(sizes, output_size, strict=True)]
    starts = [np.asarray([start for start, _ in each], np.int64) for each in bounds]
    ends = [np.asarray([end for _, end in each], np.int64) for each in bounds]
    first = flat_places(crossed(starts), sizes)
    flat = values.reshape(*values.shape[:-dims], prod(sizes))
    best, places = largest(flat, steps_between(starts, ends, sizes), first)
    store(outputs[0], rounded(best, self._dtype))
    store(outputs[1], places)


def _check_largest(name: str, self: Tensor, output_size: Sequence[int], dims: int) -> None:
    rank = len(self._sizes)
    if rank not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(self._sizes)}"
        )
    _check_not_empty(name, self, range(1, rank))
    if len(output_size) != dims:
        raise RuntimeError(f"{name}(): internal error: output_size.size() must be {dims}")


@structured("aten::adaptive_max_pool2d", outputs=2)
def adaptive_max_pool2d(
    outputs: Outputs, self: Tensor, output_size: Sequence[int]
) -> tuple[Tensor, ...]:
    _check_largest("adaptive_max_pool2d", self, output_size, 2)
    shape = (*self._sizes[:-2], *output_size)
    channels_last = suggest_memory_format(self) is _CHANNELS_LAST
    strides = strides_of(shape, channels_last=channels_last)
    output = set_output(outputs[0], shape, self._dtype, self._device, strides)
    indices = set_output(outputs[1], shape, int64, self._device, strides)
    if not output.is_meta:
        _dispatch_image("adaptive_max_pool2d", self)
        _largest((output, indices), self, output_size)
    return output, indices


@structured("aten::adaptive_max_pool2d_backward")
def adaptive_max_pool2d_backward(
    outputs: Outputs, grad_output: Tensor, self: Tensor, indices: Tensor
) -> tuple[Tensor, ...]:
    if len(grad_output._sizes) not in (3, 4):
        raise RuntimeError(
            "adaptive_max_pooling2d_backward(): Expected 3D or 4D grad_output, but got: "
            f"{list(grad_output._sizes)}"
        )
    _check_gradient_not_empty("adaptive_max_pool2d_backward", grad_output)
    if _LOOKS_AT_PLACES:
        _check_places(grad_output, self, indices, "grad_output")
    else:
        check_grad_dtype(self, grad_output, "grad_output")
    channels_last = suggest_memory_format(self) is _CHANNELS_LAST
    strides = strides_of(self._sizes, channels_last=channels_last)
    result = set_output(outputs[0], self._sizes, self._dtype, self._device, strides)
    if not result.is_meta:
        _dispatch_image("adaptive_max_pool2d_backward", grad_output)
        check_pointers(int64, indices)
        store(result, sent_back(grad_output, indices, self._sizes, 2))
    return (result,)


def _check_places(grad_output: Tensor, self: Tensor, indices: Tensor, name: str) -> None:
    """That a gradient is one of what is at the places, which are of the input."""
    rank = len(self._sizes)
    if len(indices._sizes) != rank:
        raise RuntimeError(
            f"expected dimensions {rank} for `indices` but got dimensions {len(indices._sizes)}"
        )
    check_grad_dtype(self, grad_output, name)
    if indices._sizes != grad_output._sizes:
        raise RuntimeError(
            f"expected sizes {list(indices._sizes)} for `{name}` but got sizes "
            f"{list(grad_output._sizes)}"
        )


@structured("aten::adaptive_max_pool3d", outputs=2)
def adaptive_max_pool3d(
    outputs: Outputs, self: Tensor, output_size: Sequence[int]
) -> tuple[Tensor, ...]:
    _check_largest("adaptive_max_pool3d", self, output_size, 3)
    shape = (*self._sizes[:-3], *output_size)
    output = set_output(outputs[0], shape, self._dtype, self._device)
    indices = set_output(outputs[1], shape, int64, self._device)
    if not output.is_meta:
        dispatch("adaptive_max_pool3d_cpu", self._dtype)
        _largest((output, indices), self, output_size)
    return output, indices


@structured("aten::adaptive_max_pool3d_backward")
def adaptive_max_pool3d_backward(
    outputs: Outputs, grad_output: Tensor, self: Tensor, indices: Tensor
) -> tuple[Tensor, ...]:
    rank = len(grad_output._sizes)
    if _LOOKS_AT_PLACES and rank not in (4, 5):
        raise RuntimeError(
            "adaptive_max_pool3d_backward(): Expected 4D or 5D gradOutput, but got: "
            f"{list(grad_output._sizes)}"
        )
    _check_gradient_not_empty("adaptive_max_pool3d_backward", grad_output)
    if _LOOKS_AT_PLACES:
        _check_places(grad_output, self, indices, "gradOutput")
    result = set_output(outputs[0], self._sizes, self._dtype, self._device)
    if not result.is_meta:
        last = 4 if len(self._sizes) == 5 else 3
        for tensor in (self, grad_output):
            for dim in range(last - 3, last + 1):
                wrap_dim(dim, len(tensor._sizes), scalar=False)
        dispatch("adaptive_max_pool3d_backward", self._dtype)
        check_pointers(self._dtype, grad_output)
        check_pointers(int64, indices)
        store(result, sent_back(grad_output, indices, self._sizes, 3))
    return (result,)
