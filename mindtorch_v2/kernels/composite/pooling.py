"""Pooling that is made of other pooling, as that of rows is of that of images.

Mirrors ``Pooling.cpp``, ``MaxPooling.cpp``, ``AdaptiveAveragePooling.cpp`` and
``AdaptiveAveragePooling3d.cpp`` of ``aten/src/ATen/native``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.autograd.at import suggest_memory_format
from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.cpu.pools.pooling import pooled
from mindtorch_v2.kernels.cpu.pools.windows import Window
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HABITS, HALVES, dispatch_over
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.geometry import is_contiguous
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like

_INT64_MAX: Final = (1 << 63) - 1
_MAY_NOT_OVERFLOW: Final = HABITS["the reach of a pool's windows may not overflow"]
_IMPLICIT: Final = "CompositeImplicitAutograd"
_CHANNELS_LAST: Final = MEMORY_FORMATS["channels_last"]
_CHANNELS_LAST_3D: Final = MEMORY_FORMATS["channels_last_3d"]
_ADAPTIVE: Final = OperatorHandle("aten::_adaptive_avg_pool2d")
_ADAPTIVE_IMAGE: Final = OperatorHandle("aten::adaptive_avg_pool2d")
_ADAPTIVE_VOLUME: Final = OperatorHandle("aten::_adaptive_avg_pool3d")
_ADAPTIVE_MAX: Final = OperatorHandle("aten::adaptive_max_pool2d")
_AS_STRIDED_: Final = OperatorHandle("aten::as_strided_")
_AS_STRIDED: Final = OperatorHandle("aten::as_strided")
_AVERAGED: Final = OperatorHandle("aten::avg_pool2d")
_MAX: Final = OperatorHandle("aten::max_pool2d_with_indices")
_MAX_OF_ROWS: Final = OperatorHandle("aten::max_pool1d_with_indices")
_MAX_OF_VOLUMES: Final = OperatorHandle("aten::max_pool3d_with_indices")
_MEAN: Final = OperatorHandle("aten::mean.dim")
_SQUEEZE_: Final = OperatorHandle("aten::squeeze_.dim")
_SQUEEZE: Final = OperatorHandle("aten::squeeze.dim")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")


def check_dim_range(name: str, self: Tensor) -> None:
    """``checkDimRange``: two dimensions or three."""
    if len(self._sizes) not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {len(self._sizes)}-dimensional tensor for "
            f"argument #1 'self' (while checking arguments for {name})"
        )


def check_1d(name: str, argument: str, values: Sequence[int]) -> None:
    if len(values) != 1:
        raise RuntimeError(
            f"{name}() argument '{argument}' should contain one int (got {len(values)})"
        )


@kernel("aten::avg_pool1d", key=_IMPLICIT)
def avg_pool1d(
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
) -> Any:
    stride = stride or kernel_size
    check_dim_range("avg_pool1d", self)
    for argument, values in (
        ("kernel_size", kernel_size),
        ("stride", stride),
        ("padding", padding),
    ):
        check_1d("avg_pool1d", argument, values)
    window = [1, kernel_size[0]], [1, stride[0]], [0, padding[0]]
    pooled = _AVERAGED(_UNSQUEEZE(self, -2), *window, ceil_mode, count_include_pad)
    return _SQUEEZE(pooled, -2)


@kernel("aten::max_pool1d", key=_IMPLICIT)
def max_pool1d(
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> Any:
    """On the CPU nobody asks where the values were, unless there is to be a gradient."""
    sizes = self._sizes
    if len(sizes) not in (2, 3) or 0 in sizes[-2:]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(sizes)}"
        )
    window = (kernel_size, stride, padding, dilation)
    checked = _checked_window(self, *window, ceil_mode)
    is_followed = tls.is_grad_enabled() and self.requires_grad
    if is_followed or self._device.type != "cpu" or is_tensor_subclass_like(self):
        return _MAX_OF_ROWS(self, *window, ceil_mode)[0]
    dispatch_over(FLOATING_TYPES | HALVES, "max_pool1d_impl", self._dtype)
    shape = checked.output_sizes(sizes)
    output = new_tensor((1, *sizes[:-1], *shape)[-3:], self._dtype, self._device)
    values = as_array(self, self._dtype)
    if self._is_neg() and is_contiguous(self._sizes, self._strides):
        values = np.negative(values)  # no dispatcher has done it, and of memory signs are read
    store(output, rounded(pooled(values, checked, shape)[0], self._dtype))
    return output if len(sizes) == 3 else _SQUEEZE_(output, 0)


def _checked_window(
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> Window:
    """``check_max_pool1d``."""
    one, many = "of size 1 but got size", "an int, list of ints"
    for name, values, ints in (
        ("kernel_size", kernel_size, f"{many} or tuple of ints"),
        ("stride", stride or kernel_size, f"None, {many}, or tuple of ints"),
        ("padding", padding, f"{many}, or tuple of ints"),
        ("dilation", dilation, f"{many} or tuple of ints"),
    ):
        if len(values) != 1:
            raise RuntimeError(f"max_pool1d() {name} must be {ints} {one} {len(values)}")
    (size,), (step,), (edge,), (spread,) = kernel_size, stride or kernel_size, padding, dilation
    if size <= 0:
        raise RuntimeError(f"max_pool1d() kernel_size must be greater than zero, but got {size}")
    if step <= 0:
        raise RuntimeError(f"max_pool1d() stride must be greater than zero, but got {step}")
    if edge < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {edge}")
    if edge > size // 2:
        raise RuntimeError(
            "max_pool1d() padding should be at most half of kernel size, but got padding="
            f"{edge} and kernel_size={size}"
        )
    if spread <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {spread}")
    if _MAY_NOT_OVERFLOW and spread * (size - 1) > _INT64_MAX:
        raise RuntimeError(
            f"effective kernel size overflows, but got kernel_size={size} and dilation={spread}"
        )
    window = Window((size,), (step,), (edge,), (spread,), ceil_mode)
    (count,) = window.output_sizes(self._sizes)
    if count <= 0:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {count}")
    return window


@kernel("aten::max_pool1d_with_indices", key=_IMPLICIT)
def max_pool1d_with_indices(
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> Any:
    stride = stride or kernel_size
    check_dim_range("max_pool1d", self)
    for argument, values in (
        ("kernel_size", kernel_size),
        ("stride", stride),
        ("padding", padding),
        ("dilation", dilation),
    ):
        check_1d("max_pool1d", argument, values)
    window = [1, kernel_size[0]], [1, stride[0]], [0, padding[0]], [1, dilation[0]]
    values, indices = _MAX(_UNSQUEEZE(self, -2), *window, ceil_mode)
    return _SQUEEZE(values, -2), _SQUEEZE(indices, -2)


@kernel("aten::max_pool2d", key=_IMPLICIT)
def max_pool2d(self: Tensor, *window: Any) -> Any:
    return _MAX(self, *window)[0]


@kernel("aten::max_pool3d", key=_IMPLICIT)
def max_pool3d(self: Tensor, *window: Any) -> Any:
    return _MAX_OF_VOLUMES(self, *window)[0]


@kernel("aten::adaptive_max_pool1d", key=_IMPLICIT)
def adaptive_max_pool1d(self: Tensor, output_size: Sequence[int]) -> Any:
    check_dim_range("adaptive_max_pool1d", self)
    check_1d("adaptive_max_pool1d", "output_size", output_size)
    for dim, size in enumerate(self._sizes[1:], 1):
        if not size:
            raise RuntimeError(
                "adaptive_max_pool1d(): Expected input to have non-zero size for non-batch "
                f"dimensions, but input has sizes {list(self._sizes)} with dimension {dim} being "
                "empty"
            )
    values, indices = _ADAPTIVE_MAX(_UNSQUEEZE(self, -2), [1, output_size[0]])
    places = _SQUEEZE(indices, -2)  # first: a compiler takes arguments of a call from the last
    return _SQUEEZE(values, -2), places


@kernel("aten::adaptive_avg_pool1d", key=_IMPLICIT)
def adaptive_avg_pool1d(self: Tensor, output_size: Sequence[int]) -> Any:
    check_dim_range("adaptive_avg_pool1d", self)
    check_1d("adaptive_avg_pool1d", "output_size", output_size)
    return _SQUEEZE(_ADAPTIVE_IMAGE(_UNSQUEEZE(self, -2), [1, output_size[0]]), -2)


@kernel("aten::adaptive_avg_pool2d", key=_IMPLICIT)
def adaptive_avg_pool2d(self: Tensor, output_size: Sequence[int]) -> Any:
    """To a single pixel the mean of all."""
    if len(output_size) != 2:
        raise RuntimeError("adaptive_avg_pool2d: output_size must be 2")
    height, width = output_size
    if height < 0 or width < 0:
        raise RuntimeError(
            "adaptive_avg_pool2d: elements of output_size must be greater than or equal to 0 but "
            f"received {{{height}, {width}}}"
        )
    if height != 1 or width != 1:
        return _ADAPTIVE(self, list(output_size))
    mean: Tensor = _MEAN(self, [-1, -2], True)
    if suggest_memory_format(self) is not _CHANNELS_LAST:
        return mean
    count, channels = self._sizes[:2]
    return _AS_STRIDED(mean, [count, channels, 1, 1], [channels, 1, channels, channels])


@kernel("aten::adaptive_avg_pool3d", key=_IMPLICIT)
def adaptive_avg_pool3d(self: Tensor, output_size: Sequence[int]) -> Any:
    """To a single element the mean of all."""
    if len(output_size) != 3:
        raise RuntimeError("adaptive_avg_pool3d: output_size must be 3")
    depth, height, width = output_size
    if min(output_size) < 0:
        raise RuntimeError(
            "adaptive_avg_pool3d: elements of output_size must be greater than or equal to 0 but "
            f"received {{{depth}, {height},{width}}}"
        )
    if max(output_size) != 1 or min(output_size) != 1:
        return _ADAPTIVE_VOLUME(self, list(output_size))
    mean: Tensor = _MEAN(self, [-1, -2, -3], True)
    if suggest_memory_format(self) is _CHANNELS_LAST_3D:  # of a mean that is what it becomes
        count, channels = self._sizes[:2]
        _AS_STRIDED_(mean, [count, channels, 1, 1, 1], [channels, 1, channels, channels, channels])
    return mean
