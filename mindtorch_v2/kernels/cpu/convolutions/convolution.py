"""The arithmetic of convolutions over NumPy arrays: batch, channels, space.

A transposed convolution is the derivative of a convolution by its input, and the other way round.
Mirrors ``im2col`` and ``col2im`` of ``aten/src/ATen/native``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from mindtorch_v2.kernels.convolutions.params import ConvParams
from mindtorch_v2.tensor.elements import Array

Rounding = Callable[[Array], Array]
"""To what a dtype can hold; of dtypes in which arrays compute that is anything."""
Multiply = Callable[[Array, Array], Array]
"""A product of matrices."""


def convolve(
    values: Array,
    weight: Array,
    parameters: ConvParams,
    output: Sequence[int],
    rounding: Rounding,
    multiply: Multiply = np.matmul,
) -> Array:
    """A convolution, transposed or not, into an array of the sizes ``output``."""
    if parameters.transposed:
        return spread(values, weight, parameters, output, rounding)
    return gather(values, weight, parameters, output, multiply)


def backward(
    grad: Array, values: Array, weight: Array, parameters: ConvParams, rounding: Rounding
) -> tuple[Array, Array, Array]:
    """Gradients of the input, the weight and the bias."""
    axes = (0, *range(2, grad.ndim))
    of_bias = np.asarray(grad.sum(axis=axes))
    if parameters.transposed:
        of_input = gather(grad, weight, parameters, values.shape)
        return of_input, weigh(values, grad, weight.shape, parameters, rounding), of_bias
    of_input = spread(grad, weight, parameters, values.shape, rounding)
    return of_input, weigh(grad, values, weight.shape, parameters, rounding), of_bias


def gather(
    values: Array,
    weight: Array,
    parameters: ConvParams,
    output: Sequence[int],
    multiply: Multiply = np.matmul,
) -> Array:
    """What the kernel meets at each place of the output, added up."""
    columns = _columns(values, parameters, weight.shape[2:], output[2:])
    batch, channels, window, space = columns.shape
    groups = parameters.groups
    inputs = columns.reshape(batch, groups, channels // groups * window, space)
    weights = weight.reshape(groups, weight.shape[0] // groups, -1)
    return np.asarray(multiply(weights[None], inputs)).reshape(tuple(output))


def spread(
    values: Array,
    weight: Array,
    parameters: ConvParams,
    output: Sequence[int],
    rounding: Rounding,
) -> Array:
    """Each place of ``values`` times the kernel, added to the places of the output it meets.

    Products and sums are rounded one by one, as they are in the memory of ``col2im``.
    """
    space, groups = values.shape[2:], parameters.groups
    batch, channels = output[:2]
    weights = weight.reshape(groups, weight.shape[0] // groups, -1)
    inputs = values.reshape(batch, groups, weight.shape[0] // groups, prod(space))
    products = rounding(np.matmul(weights.swapaxes(1, 2)[None], inputs))
    products = products.reshape(batch, channels, *weight.shape[2:], *space)
    sizes = [size + 2 * edge for size, edge in zip(output[2:], parameters.padding, strict=True)]
    padded = np.zeros((batch, channels, *sizes), dtype=products.dtype)
    for place in np.ndindex(*weight.shape[2:]):
        where = (slice(None), slice(None), *_slices(parameters, place, space))
        padded[where] = rounding(padded[where] + products[(slice(None), slice(None), *place)])
    return edged(padded, [-edge for edge in parameters.padding])


def weigh(
    grad: Array, values: Array, shape: Sequence[int], parameters: ConvParams, rounding: Rounding
) -> Array:
    """The gradient of a weight by which ``values`` came to what ``grad`` is the gradient of.

    It is rounded when what an element of the batch gives has been added.
    """
    space, groups = grad.shape[2:], parameters.groups
    columns = _columns(values, parameters, shape[2:], space)
    batch, channels, window, _ = columns.shape
    grads = grad.reshape(batch, groups, shape[0] // groups, prod(space))
    inputs = columns.reshape(batch, groups, channels // groups * window, -1)
    products = np.matmul(grads, inputs.swapaxes(2, 3))
    total = np.zeros_like(products[0])
    for each in products:
        total = rounding(total + each)
    return np.asarray(total).reshape(tuple(shape))


def edged(values: Array, padding: Sequence[int]) -> Array:
    """With zeros at both ends of space, or without what is there where that is negative."""
    places = list(zip(padding, values.shape[2:], strict=True))
    cut = tuple(slice(max(-edge, 0), size - max(-edge, 0)) for edge, size in places)
    edges = [(0, 0), (0, 0), *((max(edge, 0),) * 2 for edge in padding)]
    return np.pad(values[(slice(None), slice(None), *cut)], edges)


def _columns(
    values: Array, parameters: ConvParams, kernel_size: Sequence[int], space: Sequence[int]
) -> Array:
    """``im2col``: batch, channel, place in the kernel, place in the output."""
    padded = edged(values, parameters.padding)
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
