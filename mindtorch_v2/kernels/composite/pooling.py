"""Pooling that is made of pooling of images.

Mirrors ``Pooling.cpp`` and ``AdaptiveAveragePooling.cpp`` of ``aten/src/ATen/native``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.autograd.at import suggest_memory_format
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_CHANNELS_LAST: Final = MEMORY_FORMATS["channels_last"]
_ADAPTIVE: Final = OperatorHandle("aten::_adaptive_avg_pool2d")
_ADAPTIVE_IMAGE: Final = OperatorHandle("aten::adaptive_avg_pool2d")
_AS_STRIDED: Final = OperatorHandle("aten::as_strided")
_AVERAGED: Final = OperatorHandle("aten::avg_pool2d")
_MEAN: Final = OperatorHandle("aten::mean.dim")
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
