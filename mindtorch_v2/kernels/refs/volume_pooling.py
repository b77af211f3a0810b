"""The reference functions of pooling of volumes.

Mirrors functions of ``torch/_meta_registrations.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mindtorch_v2.kernels.cpu.pools.windows import Sizes, Window
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import HABITS as REFS_HABITS
from mindtorch_v2.kernels.refs.common import suggest_memory_format, worded
from mindtorch_v2.kernels.refs.pooling import BYTES, check_dim_size, formatted, pooled_size
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS, DType, int64
from mindtorch_v2.tensor.geometry import is_contiguous, wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."
_CHANNELS_LAST_3D: Final = MEMORY_FORMATS["channels_last_3d"]


def _output_sizes(input: Tensor, window: Window) -> Sizes:
    """``pooling_output_shape`` of each dimension."""
    volume = zip(
        *(input._sizes[-3:], window.kernel, window.padding, window.stride, window.dilation),
        strict=True,
    )
    return tuple(pooled_size(*each, window.ceil_mode) for each in volume)


def _check_rank(input: Tensor) -> None:
    if len(input._sizes) not in (4, 5):
        raise RuntimeError("non-empty 4D or 5D (batch mode) tensor expected for input")


def _check_gradient(tensor: Tensor, input: Tensor, volume: Sizes) -> None:
    rank = len(input._sizes)
    for dim, size in enumerate((input._sizes[-4], *volume), rank - 4):
        check_dim_size(tensor, rank, dim, size)


# --- means ------------------------------------------------------------------------------------


def _averaged(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    divisor_override: int | None,
    name: str,
    *,
    takes_bytes: bool,
) -> Sizes:
    """Depth, height and width of the output."""
    first = Window.of(
        kernel_size, stride, (0,), (1,), ceil_mode, "avg_pool3d", dims=3, is_wide=True
    )
    if not takes_bytes and input._dtype in BYTES:
        words = {"torch.uint8": repr(input._dtype), "avg_pool2d": "avg_pool3d"}
        raise worded("avg_pool2d of bytes", **words)
    whole = (first.kernel, first.stride, padding, (1,))
    window = Window.of(*whole, ceil_mode, "avg_pool3d", dims=3, is_wide=True)
    _check_rank(input)
    if divisor_override == 0 and not HABITS["avg_pool3d on meta divides by nothing"]:
        raise RuntimeError("divisor must be not zero")
    volume = _output_sizes(input, window)
    window.check_volume(input._sizes, volume, name, covers_kernel=True, comma=",")
    return volume


@body(_META + "meta_avg_pool3d")
def meta_avg_pool3d(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    given = (input, kernel_size, stride, padding, ceil_mode, divisor_override, "avg_pool3d()")
    takes_bytes = not REFS_HABITS["avg_pool2d on meta takes no bytes"]
    volume = _averaged(*given, takes_bytes=takes_bytes)
    return new_tensor((*input._sizes[:-3], *volume), input._dtype, input._device)


@body(_META + "meta_avg_pool3d_backward")
def meta_avg_pool3d_backward(
    grad_output: Tensor,
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    sizes = (input, kernel_size, stride, padding, ceil_mode, divisor_override)
    volume = _averaged(*sizes, "avg_pool3d_backward()", takes_bytes=True)
    _check_gradient(grad_output, input, volume)
    return new_tensor(input._sizes, input._dtype, input._device)


# --- largest values ---------------------------------------------------------------------------


def _check_lies(input: Tensor) -> bool:
    """Whether what comes out has its channels innermost.

    RuntimeError for a volume that would, if it were a batch, where that is looked at: no tensor
    without a batch can.
    """
    sizes, strides = input._sizes, input._strides
    if len(sizes) == 5:
        return suggest_memory_format(input) is _CHANNELS_LAST_3D
    if HABITS["a max pool on meta sees how one volume lies"]:
        batch = (1, *sizes), (sizes[0] * strides[0], *strides)
        if not is_contiguous(*batch) and is_contiguous(*batch, _CHANNELS_LAST_3D):
            raise RuntimeError("required rank 5 tensor to use channels_last_3d format")
    return False


def _made(input: Tensor, sizes: Sequence[int], dtype: DType, *, channels_last: bool) -> Tensor:
    if channels_last:
        return formatted(input, sizes, dtype)
    return new_tensor(sizes, dtype, input._device)


@body(_META + "meta_max_pool3d_with_indices")
def meta_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    sizes = (kernel_size, stride, padding, dilation)
    window = Window.of(*sizes, ceil_mode, "max_pool3d", dims=3, is_wide=True)
    _check_rank(input)
    volume = _output_sizes(input, window)
    window.check_volume(input._sizes, volume, "max_pool3d_with_indices()", comma=",")
    channels_last = _check_lies(input)
    shape = (*input._sizes[:-3], *volume)
    output = _made(input, shape, input._dtype, channels_last=channels_last)
    return output, _made(input, shape, int64, channels_last=channels_last)


@body(_META + "meta_max_pool3d_with_indices_backward")
def meta_max_pool3d_with_indices_backward(
    grad_output: Tensor,
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    indices: Tensor,
) -> Tensor:
    sizes = (kernel_size, stride, padding, dilation)
    window = Window.of(*sizes, ceil_mode, "max_pool3d", dims=3, is_wide=True)
    _check_rank(input)
    rank = len(grad_output._sizes)
    volume = tuple(grad_output._sizes[wrap_dim(dim, rank, scalar=False)] for dim in (-3, -2, -1))
    window.check_volume(input._sizes, volume, "max_pool3d_with_indices_backward()", comma=",")
    for tensor in (grad_output, indices):
        _check_gradient(tensor, input, volume)
    return _made(input, input._sizes, input._dtype, channels_last=_check_lies(input))
