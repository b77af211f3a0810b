"""The derivative of a convolution's backward, which is made of convolutions.

Mirrors ``_convolution_double_backward`` of ``aten/src/ATen/native/Convolution.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from mindtorch_v2.kernels.convolutions.params import ConvParams
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_ADD: Final = OperatorHandle("aten::add.Tensor")
_CAT: Final = OperatorHandle("aten::cat")
_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_CONVOLUTION: Final = OperatorHandle("aten::convolution")
_EXPAND: Final = OperatorHandle("aten::expand")
_NARROW: Final = OperatorHandle("aten::narrow")
_TRANSPOSE: Final = OperatorHandle("aten::transpose.int")
_VIEW: Final = OperatorHandle("aten::view")


def _convolved(settings: ConvParams, input: Tensor, weight: Tensor) -> Tensor:
    made: Tensor = _CONVOLUTION(
        *(input, weight, None, settings.stride, settings.padding, settings.dilation),
        *(settings.transposed, settings.output_padding, settings.groups),
    )
    return made


def _expanded(values: Sequence[int], dims: int) -> tuple[int, ...]:
    return tuple(values) * dims if len(values) == 1 else tuple(values)


def _sum(one: Tensor | None, two: Tensor) -> Tensor:
    found: Tensor = two if one is None else _ADD(one, two)
    return found


@kernel("aten::_convolution_double_backward", key="CompositeImplicitAutograd")
def convolution_double_backward(
    ggi: Tensor | None,
    ggw: Tensor | None,
    ggb: Tensor | None,
    grad_output: Tensor,
    weight: Tensor,
    self: Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Any, Any, Any]:
    """Of the output's gradient, the input and the weight; of what is undefined, nothing."""
    dims = len(weight._sizes) - 2
    if not transposed and len(self._sizes) > 4:
        groups = self._sizes[1] // weight._sizes[1] if weight._sizes[1] else -1
    settings = ConvParams(
        stride=_expanded(stride, dims),
        padding=_expanded(padding, dims),
        dilation=_expanded(dilation, dims),
        transposed=transposed,
        output_padding=_expanded(output_padding, dims),
        groups=groups,
    )
    by_output = by_input = by_weight = None
    if numel(self._sizes):
        if ggi is not None:
            by_output = _convolved(settings, ggi, weight)
        if ggw is not None:
            by_output = _sum(by_output, _convolved(settings, self, ggw))
    if ggb is not None:
        ones = [1] * (len(grad_output._sizes) - 2)
        shaped = _VIEW(_CONTIGUOUS(ggb), [1, ggb._sizes[0], *ones])
        by_output = _sum(by_output, _EXPAND(shaped, list(grad_output._sizes)))
    if numel(self._sizes):
        if ggi is not None:
            by_weight = _of_weight(settings, ggi, grad_output, weight)
        if ggw is not None:
            by_input = _of_input(settings, ggw, grad_output, weight, self)
    return by_output, by_input, by_weight


def _of_weight(settings: ConvParams, ggi: Tensor, grad_output: Tensor, weight: Tensor) -> Tensor:
    """A convolution over the batch, steps and distances of the weight's elements exchanged."""
    over_batch = replace(
        settings,
        stride=settings.dilation,
        dilation=settings.stride,
        transposed=False,
        groups=1,
    )
    output = _TRANSPOSE(grad_output, 0, 1)
    pair = _TRANSPOSE(ggi, 0, 1), output

    def convolved(pair: Sequence[Tensor]) -> Tensor:
        return _convolved(over_batch, *(pair[::-1] if settings.transposed else pair))

    if settings.groups == 1:
        joined = convolved(pair)
    else:
        groups = range(settings.groups)
        parts = ([_part(each, settings.groups, group) for each in pair] for group in groups)
        joined = _CAT([convolved(part) for part in parts], 1)
    return _narrowed(_TRANSPOSE(joined, 0, 1), weight._sizes)


def _part(tensor: Tensor, groups: int, group: int) -> Tensor:
    size = tensor._sizes[0] // groups
    part: Tensor = _NARROW(tensor, 0, size * group, size)
    return part


def _narrowed(tensor: Tensor, sizes: Sequence[int]) -> Tensor:
    """What a convolution made more of than there was: not all of an input need be used."""
    for dim in range(2, len(tensor._sizes)):
        if tensor._sizes[dim] > sizes[dim]:
            tensor = _NARROW(tensor, dim, 0, sizes[dim])
    return tensor


def _of_input(
    settings: ConvParams, ggw: Tensor, grad_output: Tensor, weight: Tensor, self: Tensor
) -> Tensor:
    back = replace(settings, transposed=not settings.transposed)
    if settings.transposed:
        return _narrowed(_convolved(back, grad_output, ggw), self._sizes)
    sizes = zip(weight._sizes[2:], self._sizes[2:], grad_output._sizes[2:], strict=True)
    missing = list(settings.output_padding)
    for dim, (kernel_size, wanted, given) in enumerate(sizes):
        used = (kernel_size - 1) * back.dilation[dim] - 2 * back.padding[dim]
        used += back.stride[dim] * (given - 1) + 1
        if used != wanted:
            missing[dim] = wanted - used
    back = replace(back, output_padding=tuple(missing))
    return _convolved(back, grad_output, ggw)
