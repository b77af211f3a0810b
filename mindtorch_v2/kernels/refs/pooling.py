"""The reference functions of pooling of images.

Mirrors functions of ``torch/_meta_registrations.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import (
    HABITS,
    strides_in_format_of,
    suggest_memory_format,
    worded,
)
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS, DType, int64
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."
_CHANNELS_LAST: Final = MEMORY_FORMATS["channels_last"]
BYTES: Final = tuple(DTYPES[name] for name in ("uint8", "uint16", "uint32", "uint64"))
_IMAGE: Final = (-3, -2, -1)


def _pair(values: Sequence[int], message: str) -> tuple[int, int]:
    """A height and a width; RuntimeError if there are neither one nor two numbers."""
    if len(values) not in (1, 2):
        raise RuntimeError(message)
    return values[0], values[-1]


def _pooled_sizes(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    name: str = "max_pool2d",
) -> tuple[int, int, int]:
    """``max_pool2d_checks_and_compute_shape``: planes, height and width."""
    two = "must either be a single int, or a tuple of two ints"
    kernel = _pair(kernel_size, f"{name}: kernel_size {two}")
    if len(stride) not in (0, 1, 2):
        raise RuntimeError(
            f"{name}: stride must either be omitted, a single int, or a tuple of two ints"
        )
    takes_no_bytes = name == "avg_pool2d" and HABITS["avg_pool2d on meta takes no bytes"]
    if takes_no_bytes and input._dtype in BYTES:
        raise worded("avg_pool2d of bytes", **{"torch.uint8": repr(input._dtype)})
    step = _pair(stride, "") if stride else kernel
    edge = _pair(padding, f"{name}: padding {two}")
    spread = _pair(dilation, f"{name}: dilation {two}")
    rank = len(input._sizes)
    planes, height, width = (input._sizes[wrap_dim(dim, rank, scalar=False)] for dim in _IMAGE)
    format = suggest_memory_format(input)
    if name == "max_pool2d" and format is not _CHANNELS_LAST and rank not in (3, 4):
        raise RuntimeError("non-empty 3D or 4D (batch mode) tensor expected for input")
    image = [
        pooled_size(size, kernel[place], edge[place], step[place], spread[place], ceil_mode)
        for place, size in enumerate((height, width))
    ]
    _check_positive("kernel size", ("kH", "kW"), kernel)
    _check_positive("stride", ("dH", "dW"), step)
    if min(spread) <= 0:
        words = {
            "dilationH: 0": f"dilationH: {spread[0]}",
            "dilationW: 0": f"dilationW: {spread[1]}",
        }
        raise worded("max_pool2d without dilation", **words)
    _check_image(input, is_channels_last=format is _CHANNELS_LAST)
    if kernel[1] // 2 < edge[1] or kernel[0] // 2 < edge[0]:
        raise RuntimeError(
            "pad should be smaller than or equal to half of kernel size, but got "
            f"padW = {edge[1]}, padH = {edge[0]}, kW = {kernel[1]}, kH = {kernel[0]}"
        )
    if min(image) < 1:
        raise RuntimeError(
            f"Given input size: ({planes}x{height}x{width}). Calculated output size: "
            f"({planes}x{image[0]}x{image[1]}). Output size is too small"
        )
    return planes, image[0], image[1]


def pooled_size(
    size: int, kernel: int, padding: int, stride: int, dilation: int, ceil_mode: bool
) -> int:
    """``pooling_output_shape`` of one dimension."""
    if stride == 0:
        raise RuntimeError("stride should not be zero")
    if padding < 0:
        raise RuntimeError(f"pad must be non-negative, but got pad: {padding}")
    reach = (kernel - 1) * dilation + 1
    if padding > reach // 2:
        raise RuntimeError(
            f"pad should be at most half of effective kernel size, but got pad={padding}, "
            f"kernel_size={kernel} and dilation={dilation}"
        )
    found = (size + 2 * padding - reach + (stride - 1 if ceil_mode else 0)) // stride + 1
    return found - 1 if ceil_mode and (found - 1) * stride >= size + padding else found


def _check_positive(what: str, names: tuple[str, str], values: tuple[int, int]) -> None:
    if min(values) <= 0:
        shown = ", ".join(f"{name}: {value}" for name, value in zip(names, values, strict=True))
        if HABITS["a pool forgets to format what it got"]:
            shown = ", ".join(f"{name}: {{{name}}}" for name in names)
        raise RuntimeError(f"{what} should be greater than zero, but got {shown}")


def _check_image(input: Tensor, *, is_channels_last: bool) -> None:
    """A batch of none is one, an image of no size is none."""
    sizes = input._sizes
    if is_channels_last:
        if len(sizes) != 4 or 0 in sizes[1:]:
            raise RuntimeError(
                "Expected 4D (batch mode) tensor expected for input with channels_last layout "
                f"with optional 0 dim batch size for input, but got: {sizes}"
            )
    elif 0 in (sizes if len(sizes) == 3 else sizes[1:]):
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but "
            f"got: {sizes}"
        )


@body(_META + "meta_max_pool2d_with_indices")
def meta_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    image = _pooled_sizes(input, kernel_size, stride, padding, dilation, ceil_mode)
    sizes = (*input._sizes[:-3], *image)
    return formatted(input, sizes, input._dtype), formatted(input, sizes, int64)


def formatted(input: Tensor, sizes: Sequence[int], dtype: DType) -> Tensor:
    """An empty tensor in the memory format of the input."""
    return new_tensor(sizes, dtype, input._device, strides_in_format_of(input, sizes))


@body(_META + "meta_max_pool2d_with_indices_backward")
def meta_max_pool2d_with_indices_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    indices: Tensor,
) -> Tensor:
    image = _pooled_sizes(self, kernel_size, stride, padding, dilation, ceil_mode)
    if self._dtype is not grad_output._dtype:
        raise RuntimeError(
            f"Expected dtype {self._dtype} for `gradOutput` but got dtype {grad_output._dtype}"
        )
    rank = len(self._sizes)
    for tensor in (grad_output, indices):
        for place, size in zip(range(rank - 3, rank), image, strict=True):
            check_dim_size(tensor, rank, place, size)
    return formatted(self, self._sizes, self._dtype)


def check_dim_size(tensor: Tensor, rank: int, dim: int, size: int) -> None:
    if len(tensor._sizes) != rank or tensor._sizes[dim] != size:
        raise RuntimeError(
            f"Expected a tensor of dimension {rank} and tensor.size[{dim}] == {size}, but got : "
            f"dimension {len(tensor._sizes)} and tensor.size[{dim}] = {tensor._sizes[dim]}"
        )


def _averaged_sizes(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    divisor_override: int | None,
) -> tuple[int, int, int]:
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    return _pooled_sizes(input, kernel_size, stride, padding, (1,), ceil_mode, "avg_pool2d")


@body(_META + "meta_avg_pool2d")
def meta_avg_pool2d(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    image = _averaged_sizes(input, kernel_size, stride, padding, ceil_mode, divisor_override)
    return formatted(input, (*input._sizes[:-3], *image), input._dtype)


@body(_META + "meta_avg_pool2d_backward")
def meta_avg_pool2d_backward(
    grad_output: Tensor,
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    image = _averaged_sizes(input, kernel_size, stride, padding, ceil_mode, divisor_override)
    rank = len(input._sizes)
    for place, size in zip(range(rank - 3, rank), image, strict=True):
        check_dim_size(grad_output, rank, place, size)
    return formatted(input, input._sizes, input._dtype)
