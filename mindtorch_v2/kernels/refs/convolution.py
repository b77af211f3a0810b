"""The reference functions of convolutions.

Mirrors functions of ``torch/_meta_registrations.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import HABITS, suggest_memory_format
from mindtorch_v2.kernels.switches import HABITS as NEURAL_HABITS
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.geometry import CHANNELS_LAST, channels_last_strides
from mindtorch_v2.tensor.tensor import Tensor

_CHANNELS_LAST: Final = MEMORY_FORMATS["channels_last"]
_VOLUMES: Final = MEMORY_FORMATS["channels_last_3d"]
_META: Final = "torch._meta_registrations."
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")


@body(_META + "meta_conv")
def meta_conv(
    input_tensor: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    is_transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Any:
    window = (stride, padding, dilation, output_padding)
    sizes = _convolved_sizes(input_tensor, weight, *window, is_transposed, groups)
    if is_transposed and bias is not None and HABITS["a transposed convolution looks at its bias"]:
        _check_bias(weight, bias, groups)
    if input_tensor._sizes[1] == 0:
        sizes[1] = 0
    made = _EMPTY(sizes, dtype=input_tensor._dtype, device=input_tensor._device)
    if NEURAL_HABITS["a convolution on meta is row-major"]:
        return made
    if _CHANNELS_LAST not in map(suggest_memory_format, (input_tensor, weight)):
        return made
    strides = channels_last_strides(sizes, CHANNELS_LAST[_CHANNELS_LAST])
    return new_tensor(sizes, made._dtype, made._device, strides)


@body(_META + "meta__conv")
def meta__conv(*args: Any) -> Any:
    """Whose further arguments are those of libraries that are not asked."""
    return meta_conv(*args[:9])


@body(_META + "meta_convolution_backward")
def meta_convolution_backward(
    grad_output_: Tensor,
    input_: Tensor,
    weight_: Tensor,
    bias_sizes_opt: Sequence[int] | None,
    *settings: Any,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    one: tuple[Tensor, Tensor] = (input_, weight_)
    two = one
    if HABITS["a gradient of a convolution looks at that of its output"]:
        one, two = (grad_output_, weight_), (input_, grad_output_)

    def made(sizes: Sequence[int], like: Sequence[Tensor]) -> Tensor:
        order = _order_of(like)
        strides = None if order is None else channels_last_strides(sizes, order)
        return new_tensor(sizes, grad_output_._dtype, grad_output_._device, strides)

    wants_input, wants_weight, wants_bias = settings[-1]
    assert not wants_bias or bias_sizes_opt is not None
    return (
        made(input_._sizes, one) if wants_input else None,
        made(weight_._sizes, two) if wants_weight else None,
        made(bias_sizes_opt, ()) if wants_bias and bias_sizes_opt is not None else None,
    )


def _order_of(tensors: Sequence[Tensor]) -> tuple[int, ...] | None:
    """``_conv_memory_format``, as far as the release has it."""
    formats = set(map(suggest_memory_format, tensors))
    if _CHANNELS_LAST in formats and HABITS["gradients of a convolution lie as it does"]:
        return CHANNELS_LAST[_CHANNELS_LAST]
    if _VOLUMES in formats and HABITS["gradients of a convolution of volumes lie as it does"]:
        return CHANNELS_LAST[_VOLUMES]
    return None


def _convolved_sizes(
    input: Tensor,
    weight: Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    output_padding: Sequence[int],
    transposed: bool,
    groups: int,
) -> list[int]:
    """``calc_conv_nd_return_shape``."""
    space, window = input._sizes[2:], weight._sizes[2:]
    if not transposed and weight._sizes[1] * groups != input._sizes[1]:
        raise RuntimeError("Invalid channel dimensions")
    channels = groups * weight._sizes[1] if transposed else weight._sizes[0]
    stride, padding, dilation, output_padding = (
        [each[0]] * len(space) if len(each) == 1 else each
        for each in (stride, padding, dilation, output_padding)
    )
    if transposed and output_padding and HABITS["a transposed convolution looks at what it adds"]:
        _check_output_padding(output_padding, stride, dilation)
    if not transposed and HABITS["a convolution looks at its window"]:
        _check_window(space, window, padding, dilation)
    sizes = [input._sizes[0], channels]
    for place, size in enumerate(space):
        reach = dilation[place] * (window[place] - 1)
        if transposed and output_padding:
            step = (size - 1) * stride[place] - 2 * padding[place]
            sizes.append(step + reach + output_padding[place] + 1)
        else:
            sizes.append((size + 2 * padding[place] - reach - 1) // stride[place] + 1)
    if HABITS["a convolution looks at its output"] and not any(each > 0 for each in sizes[2:]):
        raise RuntimeError(
            f"Given input size per channel: {list(space)}. Calculated output size per channel: "
            f"{sizes[2:]}. Output size is too small"
        )
    return sizes


def _check_bias(weight: Tensor, bias: Tensor, groups: int) -> None:
    wanted = weight._sizes[1] * groups
    if tuple(bias._sizes) != (wanted,):
        raise RuntimeError(
            f"Given transposed=1, weight of size {list(weight._sizes)}, expected bias to be "
            f"1-dimensional with {wanted} elements, but got bias of size {list(bias._sizes)} "
            "instead"
        )


def _check_output_padding(
    output_padding: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> None:
    """ValueError, Python's own, where one of them ends before a dimension is refused."""
    steps = zip(output_padding, stride, dilation, strict=True)
    if not all(added < step or added < reach for added, step, reach in steps):
        raise RuntimeError(
            "output padding must be smaller than either stride or dilation, but got "
            f"output_padding={list(output_padding)}, stride={list(stride)}, "
            f"dilation={list(dilation)}"
        )


def _check_window(
    space: Sequence[int], window: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> None:
    places = range(len(space))
    padded = [space[place] + 2 * padding[place] for place in places]
    reach = [dilation[place] * (window[place] - 1) + 1 for place in places]
    if any(room < size for room, size in zip(padded, reach, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, padded))}). Kernel "
            f"size: ({' x '.join(map(str, reach))}). Kernel size can't be greater than actual "
            "input size"
        )
