"""Losses, normalisation and convolution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.convolutions.backends import check_transposed
from mindtorch_v2.kernels.convolutions.params import ConvParams
from mindtorch_v2.kernels.cpu.mixed_data_type import parameter_dtype
from mindtorch_v2.kernels.npu.marshal import UnsupportedError
from mindtorch_v2.kernels.npu.plans import Builder, RefusedError, check_dtype
from mindtorch_v2.kernels.npu.rows import row
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS
from mindtorch_v2.tensor.geometry import numel, suggest_memory_format
from mindtorch_v2.tensor.tensor import Tensor

Sizes = Sequence[int]
Gradients = tuple[Tensor | None, Tensor | None, Tensor | None]

_FLOAT: Final = DTYPES["float32"]
_GRADIENTS: Final = 3
_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]


# --- losses ---------------------------------------------------------------------------------------


@row("aten::mse_loss")
def mse_loss(b: Builder, self: Tensor, target: Tensor, reduction: int) -> Tensor:
    out = b.out
    b.launch("MseLoss", self, target, reduction, out)
    return out


@row("aten::mse_loss_backward")
def mse_loss_backward(
    b: Builder, grad_output: Tensor, self: Tensor, target: Tensor, reduction: int
) -> Tensor:
    out = b.out
    given = (b.cast(each, out._dtype) for each in (grad_output, self, target))
    b.launch("MseLossBackward", *given, reduction, out)
    return out


_CLASSES: Final = (DTYPES["int64"], DTYPES["uint8"])
_NONE: Final = 0
"""``Reduction::None``: a loss for each row."""


def _class_weights(b: Builder, self: Tensor, target: Tensor, weight: Tensor | None) -> Tensor:
    """ACLNN wants some in any case.  RefusedError for dtypes that the CPU refuses."""
    if weight is not None and weight._dtype is not self._dtype:
        raise RefusedError("the weights have another dtype")
    if target._dtype not in _CLASSES:
        raise RefusedError("the target has another dtype")
    if len(self._sizes) == 1 and numel(target._sizes) != 1:
        raise RefusedError("there are more targets than rows")
    classes = self._sizes[-1] if len(self._sizes) == 1 else self._sizes[1]
    return b.number(1, self._dtype, (classes,)) if weight is None else weight


@row("aten::nll_loss_forward")
def nll_loss_forward(
    b: Builder,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
) -> Any:
    loss, total = b.outputs
    weights = _class_weights(b, self, target, weight)
    b.launch("NLLLoss", self, target, weights, reduction, ignore_index, loss, total)
    if reduction == _NONE and len(self._sizes) == 2:
        b.launch("InplaceFillScalar", total, 0)  # torch adds nothing up there; ACLNN leaves it open
    return b.answer


@row("aten::nll_loss_backward")
def nll_loss_backward(
    b: Builder,
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
) -> Tensor:
    out = b.out
    weights = _class_weights(b, self, target, weight)
    settings = (weights, reduction, ignore_index, total_weight)
    b.launch("NLLLossBackward", grad_output, self, target, *settings, out)
    return out


# --- normalisation --------------------------------------------------------------------------------


@row("aten::native_layer_norm")
def native_layer_norm(
    b: Builder,
    input: Tensor,
    normalized_shape: Sizes,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> Any:
    out, mean, rstd = b.outputs
    if not normalized_shape:
        raise UnsupportedError("nothing is normalised")
    check_dtype(mean._dtype, weight, bias)
    # ACLNN's are float32 whatever the input is
    statistics = [
        each if each._dtype is _FLOAT else b.new(each._sizes, _FLOAT) for each in (mean, rstd)
    ]
    b.launch("LayerNorm", input, normalized_shape, weight, bias, eps, out, *statistics)
    for wanted, found in zip((mean, rstd), statistics, strict=True):
        if wanted is not found:
            b.copy(wanted, found)
    return b.answer


@row("aten::native_layer_norm_backward")
def native_layer_norm_backward(
    b: Builder,
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: Sizes,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    output_mask: Sequence[bool],
) -> Gradients:
    _check_mask(output_mask)
    check_dtype(input._dtype, grad_out)
    check_dtype(parameter_dtype(input, weight), mean, rstd, weight, bias)
    wanted = _new_gradients(b, (input, weight, bias), output_mask)
    statistics = (b.cast(mean, _FLOAT), b.cast(rstd, _FLOAT))
    b.launch(
        "LayerNormBackward",
        *(b.contiguous(grad_out), input, normalized_shape, *statistics, weight, bias),
        *([each is not None for each in wanted], *wanted),
    )
    return wanted[0], wanted[1], wanted[2]


def _check_mask(output_mask: Sequence[bool]) -> None:
    """RefusedError for one that C++ cannot make an array of."""
    if len(output_mask) != _GRADIENTS:
        raise RefusedError(f"the mask of {_GRADIENTS} gradients has {len(output_mask)} elements")


def _new_gradients(
    b: Builder, of: Sequence[Tensor | None], output_mask: Sequence[bool]
) -> list[Tensor | None]:
    """A tensor for each gradient that is asked for."""
    return [
        b.new(each._sizes, each._dtype) if wanted and each is not None else None
        for each, wanted in zip(of, output_mask, strict=True)
    ]


# --- convolution ----------------------------------------------------------------------------------


@row("aten::convolution")
def convolution(
    b: Builder,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> Tensor:
    out = b.out
    settings = (stride, padding, dilation, transposed, output_padding, groups)
    _check_convolution(out, input, weight, bias, settings)
    window = (_per_axis(input, each) for each in (stride, padding, dilation))
    last = (transposed, _per_axis(input, output_padding), groups)
    b.launch(
        "Convolution", input, weight, bias, *window, *last, out, b.cube_math_type(input._dtype)
    )
    return out


def _check_convolution(
    out: Tensor, input: Tensor, weight: Tensor, bias: Tensor | None, settings: Sequence[Any]
) -> None:
    """RefusedError for what the CPU refuses and the meta kernel does not."""
    try:
        parameters = ConvParams.of(weight, *settings)
        parameters.check(input, weight._sizes, bias)
        if parameters.transposed:
            check_transposed(parameters, input._sizes, weight._sizes, out._sizes)
    except RuntimeError as error:
        raise RefusedError(str(error)) from error
    if min(*parameters.dilation, *weight._sizes) < 1:
        raise RefusedError("its kernel has no elements, or no steps between them")
    check_dtype(input._dtype, weight, bias)
    _check_formats(input, weight)


def _check_formats(input: Tensor, weight: Tensor) -> None:
    formats = {suggest_memory_format(each._sizes, each._strides) for each in (input, weight)}
    if formats != {_CONTIGUOUS}:
        raise RefusedError("on the CPU the answer has the memory format of one of them")


def _per_axis(input: Tensor, values: Sizes) -> list[int]:
    """One number for each dimension of space, of one that stands for all."""
    return list(values) * (len(input._sizes) - 2) if len(values) == 1 else list(values)


@row("aten::convolution_backward")
def convolution_backward(
    b: Builder,
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    bias_sizes: Sizes | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: int,
    output_mask: Sequence[bool],
) -> Gradients:
    _check_mask(output_mask)
    if not any(output_mask[:2]):
        raise RefusedError("only the bias is asked for, of which the CPU has an answer of its own")
    _check_formats(input, weight)
    window = (_per_axis(input, each) for each in (stride, padding, dilation))
    wanted = _new_gradients(b, (input, weight, weight), (*output_mask[:2], False))
    if output_mask[2]:
        wanted[2] = b.new((grad_output._sizes[1],), weight._dtype)
    b.launch(
        "ConvolutionBackward",
        *(grad_output, input, weight, bias_sizes, *window, transposed),
        *(_per_axis(input, output_padding), groups, list(output_mask)),
        *(b.cube_math_type(input._dtype), *wanted),
    )
    return wanted[0], wanted[1], wanted[2]
