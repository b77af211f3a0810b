"""Gradients of views: zeros, with the gradient where the view was.

Mirrors the functions ``…_backward`` of ``aten/src/ATen/native/TensorShape.cpp`` and
``cpu/UnfoldBackwardKernel.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.elementwise.broadcasting import infer_size
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS, dispatch
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

_KEYS: Final = (
    *("CPU", "Meta"),
    *("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"),
)
_COPY: Final = OperatorHandle("aten::copy_")
_DIAGONAL: Final = OperatorHandle("aten::diagonal")
_SELECT: Final = OperatorHandle("aten::select.int")
_SLICE: Final = OperatorHandle("aten::slice.Tensor")
_UNFOLD: Final = OperatorHandle("aten::unfold")
_ZEROS: Final = OperatorHandle("aten::zeros")


def _zeros(sizes: Sequence[int], like: Tensor) -> Any:
    options = {"dtype": like._dtype, "layout": like._layout, "device": like._device}
    return _ZEROS(list(sizes), **options)


@kernel("aten::select_backward", keys=_KEYS)
def select_backward(grad_output: Tensor, input_sizes: Sequence[int], dim: int, index: int) -> Any:
    grad_input = _zeros(input_sizes, grad_output)
    _COPY(_SELECT(grad_input, dim, index), grad_output)
    return grad_input


@kernel("aten::slice_backward", keys=_KEYS)
def slice_backward(
    grad_output: Tensor, input_sizes: Sequence[int], dim: int, start: int, end: int, step: int
) -> Any:
    grad_input = _zeros(input_sizes, grad_output)
    _COPY(_SLICE(grad_input, dim, start, end, step), grad_output)
    return grad_input


@kernel("aten::diagonal_backward", keys=_KEYS)
def diagonal_backward(
    grad_output: Tensor, input_sizes: Sequence[int], offset: int, dim1: int, dim2: int
) -> Any:
    grad_input = _zeros(input_sizes, grad_output)
    _COPY(_DIAGONAL(grad_input, offset, dim1, dim2), grad_output)
    return grad_input


def _add_other_windows(found: Array, windows: Array, dim: int, size: int, step: int) -> None:
    """Gradients in another shape than a view's: dimensions are taken to be what they would be.

    The last one has a window's elements, that at ``dim`` the windows, and the others broadcast.
    RuntimeError where torch reads beyond the elements that there are.
    """
    count = windows.shape[wrap_dim(dim, windows.ndim)]
    reach = min(found.shape[dim], (count - 1) * step + size)
    others = [*windows.shape]
    others[dim] = 1
    shape = (*found.shape[:dim], reach, *found.shape[dim + 1 :])
    broadcast = infer_size(shape, others[:-1])
    if broadcast != shape:
        raise RuntimeError(
            f"output with shape {list(shape)} doesn't match the broadcast shape {list(broadcast)}"
        )
    if windows.shape[-1] < size or dim == windows.ndim - 1:
        raise RuntimeError(
            f"unfold_backward: windows of {size} elements are not in a gradient of shape "
            f"{[*windows.shape]}, and PyTorch would read other memory"
        )
    for place in range(reach):
        first = max(0, -((size - 1 - place) // step))
        for window in range(first, min(place // step, count - 1) + 1):
            part = windows.take([window], axis=dim)[..., place - window * step]
            found[(slice(None),) * dim + (slice(place, place + 1),)] += part


@kernel("aten::unfold_backward", keys=_KEYS)
def unfold_backward(
    grad_in: Tensor, input_sizes: Sequence[int], dim: int, size: int, step: int
) -> Any:
    if step <= 0 and HABITS["a gradient of unfold looks at its step"]:
        raise ValueError(f"step is {step} but must be > 0")
    grad_input = _zeros(input_sizes, grad_in)
    if step >= size:
        _COPY(_UNFOLD(grad_input, dim, size, step), grad_in)
        return grad_input
    if grad_input.is_meta or not numel(grad_in._sizes):
        return grad_input
    if not input_sizes:  # of which torch makes one of size 1
        raise RuntimeError("no windows of several elements are of a tensor without dimensions")
    dim = wrap_dim(dim, len(input_sizes))
    dispatch("unfold_backward_cpu", grad_in._dtype)
    windows = value_array(grad_in)
    found = np.zeros(tuple(input_sizes), windows.dtype)
    count = (input_sizes[dim] - size) // step + 1
    if windows.shape != (*input_sizes[:dim], count, *input_sizes[dim + 1 :], size):
        _add_other_windows(found, windows, dim, size, step)
        store(grad_input, found)
        return grad_input
    along = np.moveaxis(found, dim, 0)
    for place in range(size):
        stop = place + step * (windows.shape[dim] - 1) + 1
        along[place:stop:step] += np.moveaxis(windows[..., place], dim, 0)
    store(grad_input, found)
    return grad_input
