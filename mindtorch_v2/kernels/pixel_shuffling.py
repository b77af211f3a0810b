"""Channels into the pixels of larger images, and back.

Mirrors ``aten/src/ATen/native/PixelShuffle.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.autograd.at import suggest_memory_format
from mindtorch_v2.binding.casts import INT64_MAX, INT64_MIN
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import worded
from mindtorch_v2.tensor.tensor import Tensor

_CLONE: Final = OperatorHandle("aten::clone")
_PERMUTE: Final = OperatorHandle("aten::permute")
_RESHAPE: Final = OperatorHandle("aten::reshape")


def _check(name: str, factor: str, self: Tensor, value: int) -> None:
    if len(self._sizes) < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with "
            f"{len(self._sizes)} dimension(s)"
        )
    if value <= 0:
        raise RuntimeError(f"{name} expects a positive {factor}, but got {value}")


def _rearranged(self: Tensor, parts: Sequence[int], order: Sequence[int], sizes: Any) -> Any:
    """The last three dimensions as five, these in another order, and as three again."""
    batch = list(self._sizes[:-3])
    first = len(batch)
    split = _RESHAPE(self, [*batch, *parts])
    turned = _PERMUTE(split, [*range(first), *(first + dim for dim in order)])
    made = _RESHAPE(turned, [*batch, *sizes])
    return _CLONE(made, memory_format=suggest_memory_format(self))


@kernel("aten::pixel_shuffle", keys=("CPU", "CompositeExplicitAutogradNonFunctional"))
def pixel_shuffle(self: Tensor, upscale_factor: int) -> Any:
    factor = upscale_factor
    _check("pixel_shuffle", "upscale_factor", self, factor)
    channels, height, width = self._sizes[-3:]
    square = factor**2
    if square > INT64_MAX and HABITS["pixel_shuffle bounds its factor"]:
        raise worded("pixel_shuffle by too much", **{"3037000500": f"{factor}"})
    if channels % square:
        overflowed = (square - INT64_MIN) % (1 << 64) + INT64_MIN
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by {overflowed}"
        )
    kept = channels // square
    sizes = (kept, height * factor, width * factor)
    return _rearranged(self, (kept, factor, factor, height, width), (0, 3, 1, 4, 2), sizes)


@kernel("aten::pixel_unshuffle", keys=("CPU", "CompositeExplicitAutogradNonFunctional"))
def pixel_unshuffle(self: Tensor, downscale_factor: int) -> Any:
    factor = downscale_factor
    _check("pixel_unshuffle", "downscale_factor", self, factor)
    channels, height, width = self._sizes[-3:]
    for name, dim, size in (("height", -2, height), ("width", -1, width)):
        if size % factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({dim})={size} is not divisible by {factor}"
            )
    if not numel(self._sizes):
        return _CLONE(self, memory_format=None)
    high, wide = height // factor, width // factor
    sizes = (channels * factor**2, high, wide)
    return _rearranged(self, (channels, high, factor, wide, factor), (0, 2, 4, 1, 3), sizes)
