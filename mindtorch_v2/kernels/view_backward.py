"""Gradients of views: zeros, with the gradient where the view was.

Mirrors the functions ``…_backward`` of ``aten/src/ATen/native/TensorShape.cpp`` and
``cpu/UnfoldBackwardKernel.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.copying import store, value_array
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


@kernel("aten::unfold_backward", keys=_KEYS)
def unfold_backward(
    grad_in: Tensor, input_sizes: Sequence[int], dim: int, size: int, step: int
) -> Any:
    grad_input = _zeros(input_sizes, grad_in)
    if step >= size:
        _COPY(_UNFOLD(grad_input, dim, size, step), grad_in)
        return grad_input
    if grad_input.is_meta or not numel(grad_in._sizes):
        return grad_input
    dim = wrap_dim(dim, len(input_sizes))
    windows = value_array(grad_in)
    found = np.zeros(tuple(input_sizes), windows.dtype)
    along = np.moveaxis(found, dim, 0)
    for place in range(size):
        stop = place + step * (windows.shape[dim] - 1) + 1
        along[place:stop:step] += np.moveaxis(windows[..., place], dim, 0)
    store(grad_input, found)
    return grad_input
