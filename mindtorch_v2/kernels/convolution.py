"""Convolutions: what is checked, which backend computes, and the one that does here.

Mirrors ``aten/src/ATen/native/Convolution.cpp``.  Of the backends that torch chooses from on the
CPU only the results are told apart by nobody, so one function computes them all.  Transposed
convolutions are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np

from mindtorch_v2.autograd.at import suggest_memory_format
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.pointwise import as_array, rounded
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS, dispatch
from mindtorch_v2.kernels.type_text import tensor_type
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import CHANNELS_LAST, numel, strides_in_order
from mindtorch_v2.tensor.support import CPP_NAMES, TYPE_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_CONVOLUTION: Final = OperatorHandle("aten::convolution")
_BACKEND: Final = OperatorHandle("aten::_convolution")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_SQUEEZE: Final = OperatorHandle("aten::squeeze.dim")
_FLOAT: Final = DTYPES["float32"]
_CHANNELS_LAST: Final = MEMORY_FORMATS["channels_last"]


@kernel("aten::conv2d", key="CompositeImplicitAutograd")
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Any:
    if bias is not None and bias._dtype is not input._dtype:
        raise RuntimeError(
            f"Input type ({TYPE_NAMES[input._dtype]}) and bias type ({TYPE_NAMES[bias._dtype]}) "
            "should be the same"
        )
    rank = len(input._sizes)
    if rank not in (3, 4):
        raise RuntimeError(
            "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: "
            f"{list(input._sizes)}"
        )
    batch = input if rank == 4 else _UNSQUEEZE(input, 0)
    output = _CONVOLUTION(batch, weight, bias, stride, padding, dilation, False, [0, 0], groups)
    return output if rank == 4 else _SQUEEZE(output, 0)


@kernel("aten::convolution", key="CompositeExplicitAutograd")
def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Any:
    settings = (stride, padding, dilation, transposed, output_padding, groups)
    return _BACKEND(input, weight, bias, *settings, False, False, True, True)


@dataclass(frozen=True)
class ConvParams:
    """``ConvParams``: a number for each dimension of space."""

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    output_padding: tuple[int, ...]
    groups: int

    @classmethod
    def of(
        cls,
        dim: int,
        stride: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        output_padding: Sequence[int],
        groups: int,
    ) -> ConvParams:
        return cls(
            _expanded(stride, "stride", dim),
            _expanded(padding, "padding", dim),
            _expanded(dilation, "dilation", dim),
            _expanded(output_padding, "output_padding", dim),
            groups,
        )

    def check(self, input: Tensor, weight: Sequence[int], bias: Tensor | None) -> None:
        """``check_shape_forward``."""
        for values, lowest, message in (
            (self.padding, 0, "negative padding is not supported"),
            (self.output_padding, 0, "negative output_padding is not supported"),
            (self.stride, 1, "non-positive stride is not supported"),
            (self.dilation, 0, "dilation should be greater than zero"),
        ):
            if min(values) < lowest:
                raise RuntimeError(message)
        sizes, rank, groups = list(input._sizes), len(weight), self.groups
        shown = list(weight)
        if rank != len(sizes):
            raise RuntimeError(
                f"Expected {rank}-dimensional input for {rank}-dimensional weight {shown}, but "
                f"got {len(sizes)}-dimensional input of size {sizes} instead"
            )
        if weight[0] < groups:
            raise RuntimeError(
                f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, "
                f"but got weight of size {shown} instead"
            )
        if weight[0] % groups:
            raise RuntimeError(
                f"Given groups={groups}, expected weight to be divisible by {groups} at dimension "
                f"0, but got weight of size [{shown}] instead"
            )
        if sizes[1] != weight[1] * groups:
            raise RuntimeError(
                f"Given groups={groups}, weight of size {shown}, expected input{sizes} to have "
                f"{weight[1] * groups} channels, but got {sizes[1]} channels instead"
            )
        if bias is not None and tuple(bias._sizes) != (weight[0],):
            raise RuntimeError(
                f"Given weight of size {shown}, expected bias to be 1-dimensional with "
                f"{weight[0]} elements, but got bias of size {list(bias._sizes)} instead"
            )
        if min(self.dilation) < 1:
            raise RuntimeError("non-positive dilation is not supported")
        padded = [size + 2 * edge for size, edge in zip(sizes[2:], self.padding, strict=True)]
        kernel_size = [
            step * (size - 1) + 1 for size, step in zip(weight[2:], self.dilation, strict=True)
        ]
        if any(room < size for room, size in zip(padded, kernel_size, strict=True)):
            raise RuntimeError(
                f"Calculated padded input size per channel: ({' x '.join(map(str, padded))}). "
                f"Kernel size: ({' x '.join(map(str, kernel_size))}). Kernel size can't be greater "
                "than actual input size"
            )

    def uses_mkldnn(self, input: Tensor, weight: Tensor) -> bool:
        """``use_mkldnn``, on more than one thread: floats in large images, batches or kernels."""
        if input._dtype is not _FLOAT:
            return False
        return (
            self.groups > 1
            or min(weight._sizes[-2:]) > 3
            or input._sizes[0] > 1
            or numel(input._sizes) > 20480
        )

    def output_sizes(self, input: Sequence[int], weight: Sequence[int]) -> tuple[int, ...]:
        """``conv_output_size``."""
        space = (
            (size + 2 * edge - (step * (kernel_size - 1) + 1)) // stride + 1
            for size, edge, step, kernel_size, stride in zip(
                input[2:], self.padding, self.dilation, weight[2:], self.stride, strict=True
            )
        )
        return (input[0], weight[0], *space)


def _expanded(values: Sequence[int], name: str, dim: int) -> tuple[int, ...]:
    """``expand_param_if_needed``."""
    if len(values) == 1:
        return (values[0],) * dim
    if len(values) != dim:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {dim} values to match the "
            f"convolution dimensions, but got {name}={list(values)}"
        )
    return tuple(values)


def _check_weight(weight: Tensor, groups: int) -> int:
    """How many dimensions of space there are."""
    dim = len(weight._sizes) - 2
    if dim <= 0:
        raise RuntimeError("weight should have at least three dimensions")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    return dim


def _strides(input: Tensor, weight: Tensor, sizes: Sequence[int]) -> tuple[int, ...] | None:
    """Of the output: channels lie innermost if they do in either operand."""
    formats = (suggest_memory_format(each) for each in (input, weight))
    if len(sizes) == 4 and _CHANNELS_LAST in formats:
        return strides_in_order(sizes, CHANNELS_LAST[_CHANNELS_LAST])
    return None


@kernel("aten::_convolution", "aten::convolution", key="Meta")
@kernel("aten::_convolution", key="CompositeExplicitAutograd")
def _convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    *flags: bool,
) -> Tensor:
    if transposed:
        raise NotImplementedError("mindtorch_v2 has no transposed convolutions yet")
    dim = _check_weight(weight, groups)
    parameters = ConvParams.of(dim, stride, padding, dilation, output_padding, groups)
    parameters.check(input, weight._sizes, bias)
    sizes = parameters.output_sizes(input._sizes, weight._sizes)
    strides = _strides(input, weight, sizes)
    if input.is_meta and HABITS["a convolution on meta is row-major"]:
        strides = None
    output = new_tensor(sizes, input._dtype, input._device, strides)
    if output.is_meta:
        return output
    if not numel(sizes):
        return output
    dtype = input._dtype
    _check_types(input, weight, bias, parameters)
    with np.errstate(all="ignore"):
        columns = _columns(as_array(input, dtype), parameters, weight._sizes[2:], sizes[2:])
        found = _grouped(columns, as_array(weight, dtype), groups)
        found = found.reshape(tuple(sizes))
        if bias is not None:
            found = found + as_array(bias, dtype).reshape(1, -1, *(1,) * dim)
        store(output, rounded(np.asarray(found), dtype))
    return output


def _check_types(
    input: Tensor, weight: Tensor, bias: Tensor | None, parameters: ConvParams
) -> None:
    """What the backend says of operands of different types: oneDNN, or the one that is slow."""
    others = [("weight", weight), *([("bias", bias)] if bias is not None else [])]
    if parameters.uses_mkldnn(input, weight):
        for name, other in others:
            if (other._dtype, other._device) != (input._dtype, input._device):
                raise RuntimeError(
                    f"Input type ({tensor_type(input)}) and {name} type ({tensor_type(other)}) "
                    "should be the same or input should be a MKLDNN tensor and "
                    f"{name} is a dense tensor"
                )
        return
    dispatch("slow_conv2d_cpu", input._dtype)
    for _, other in others:
        if other._dtype is not input._dtype:
            raise RuntimeError(
                f"expected scalar type {CPP_NAMES[input._dtype]} but found "
                f"{CPP_NAMES[other._dtype]}"
            )


def _padded(values: Array, parameters: ConvParams) -> Array:
    edges = [(0, 0), (0, 0), *((edge, edge) for edge in parameters.padding)]
    return np.pad(values, edges)


def _columns(
    values: Array, parameters: ConvParams, kernel_size: Sequence[int], space: Sequence[int]
) -> Array:
    """``im2col``: batch, channel, place in the kernel, place in the output."""
    padded = _padded(values, parameters)
    parts = [
        padded[(slice(None), slice(None), *_slices(parameters, place, space))]
        for place in np.ndindex(*kernel_size)
    ]
    stacked = np.stack(parts, axis=2)
    return stacked.reshape(*stacked.shape[:3], -1)


def _slices(
    parameters: ConvParams, place: Sequence[int], space: Sequence[int]
) -> tuple[slice, ...]:
    """What the kernel's element at ``place`` meets, over all of the output."""
    found = []
    for offset, step, stride, size in zip(
        place, parameters.dilation, parameters.stride, space, strict=True
    ):
        start = offset * step
        found.append(slice(start, start + stride * (size - 1) + 1, stride))
    return tuple(found)


def _grouped(columns: Array, weight: Array, groups: int) -> Array:
    """Batch, output channel, place in the output."""
    batch, channels, window, space = columns.shape
    inputs = columns.reshape(batch, groups, channels // groups * window, space)
    weights = weight.reshape(groups, weight.shape[0] // groups, -1)
    found = np.matmul(weights[None], inputs)
    return np.asarray(found).reshape(batch, weight.shape[0], space)


@kernel("aten::convolution_backward", keys=("CompositeExplicitAutograd", "Meta"))
def convolution_backward(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    dim = _check_weight(weight, groups)
    parameters = ConvParams.of(dim, stride, padding, dilation, output_padding, groups)
    parameters.check(input, weight._sizes, None)
    if len(input._sizes) != len(grad_output._sizes):
        raise RuntimeError(
            "Expected input and grad_output to have the same number of dimensions, but got: "
            f"{len(input._sizes)} and {len(grad_output._sizes)}"
        )
    shapes: tuple[Sequence[int], ...] = (input._sizes, weight._sizes, (weight._sizes[0],))
    made: list[Tensor | None] = [
        new_tensor(shape, input._dtype, input._device, _strides(input, weight, shape))
        if wanted
        else None
        for shape, wanted in zip(shapes, output_mask, strict=True)
    ]
    if not input.is_meta:
        dtype = input._dtype
        grad, values, kernels = (as_array(each, dtype) for each in (grad_output, input, weight))
        found = _backward(grad, values, kernels, parameters)
        for target, value in zip(made, found, strict=True):
            if target is not None:
                store(target, rounded(value, dtype))
    return made[0], made[1], made[2]


def _backward(
    grad: Array, values: Array, weight: Array, parameters: ConvParams
) -> tuple[Array, Array, Array]:
    """Gradients of the input, the weight and the bias."""
    space, groups = grad.shape[2:], parameters.groups
    columns = _columns(values, parameters, weight.shape[2:], space)
    batch, channels, window, _ = columns.shape
    grads = grad.reshape(batch, groups, weight.shape[0] // groups, prod(space))
    inputs = columns.reshape(batch, groups, channels // groups * window, -1)
    of_weight = np.matmul(grads, inputs.swapaxes(2, 3)).sum(axis=0).reshape(weight.shape)
    weights = weight.reshape(groups, weight.shape[0] // groups, -1)
    spread = np.matmul(weights.swapaxes(1, 2)[None], grads)
    spread = spread.reshape(batch, channels, *weight.shape[2:], *space)
    padded = np.zeros_like(_padded(values, parameters))
    for place in np.ndindex(*weight.shape[2:]):
        where = (slice(None), slice(None), *_slices(parameters, place, space))
        padded[where] += spread[(slice(None), slice(None), *place)]
    inner = tuple(
        slice(edge, edge + size)
        for edge, size in zip(parameters.padding, values.shape[2:], strict=True)
    )
    of_input = padded[(slice(None), slice(None), *inner)]
    axes = (0, *range(2, grad.ndim))
    return of_input, of_weight, np.asarray(grad.sum(axis=axes))
