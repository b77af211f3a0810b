"""The reference functions of channels that become pixels, and back.

Mirrors ``torch/_meta_registrations.py`` and ``torch/_refs/nn/functional/__init__.py``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.binding.casts import INT64_MAX
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import HABITS, check_is_size, suggest_memory_format, worded
from mindtorch_v2.tensor.tensor import Tensor

_FUNCTIONAL: Final = "torch._refs.nn.functional."
_CLONE: Final = OperatorHandle("aten::clone")
_PERMUTE: Final = OperatorHandle("aten::permute")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_VIEW: Final = OperatorHandle("aten::view")


@body("torch._meta_registrations.meta_pixel_shuffle")
def meta_pixel_shuffle(self: Tensor, upscale_factor: int) -> Any:
    factor = upscale_factor
    if HABITS["pixel_shuffle looks at its factor"]:
        _check_factor("pixel_shuffle", factor)
    shown = {"= 3": f"= {factor}"}
    if len(self._sizes) < 3:
        shown["torch.Size([5, 7])"] = f"{self._sizes}"
        raise worded("pixel_shuffle of a matrix", **shown)
    if self._sizes[-3] % factor**2:
        shown["torch.Size([5, 7, 8])"] = f"{self._sizes}"
        raise worded("pixel_shuffle of too few channels", **shown)
    channels, height, width = self._sizes[-3:]
    sizes = (*self._sizes[:-3], channels // factor**2, height * factor, width * factor)
    if HABITS["pixel_shuffle looks at its output"]:
        check_is_size(*sizes)
    return new_tensor(sizes, self._dtype, self._device)


def _check_factor(name: str, factor: int) -> None:
    if factor <= 0:
        raise worded(f"{name} by nothing", **{"got 0": f"got {factor}"})
    if name == "pixel_shuffle" and factor > INT64_MAX // factor:
        raise worded("pixel_shuffle by too much", **{"3037000500": f"{factor}"})


def _check_rank(name: str, self: Tensor) -> None:
    if len(self._sizes) < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {self.dim} "
            "dimension(s)"
        )


@body(_FUNCTIONAL + "pixel_unshuffle")
def pixel_unshuffle(self: Tensor, downscale_factor: int) -> Any:
    factor = downscale_factor
    _check_rank("pixel_unshuffle", self)
    if HABITS["pixel_shuffle looks at its factor"]:
        _check_factor("pixel_unshuffle", factor)
    channels, height, width = self._sizes[-3:]
    batch, high, wide = list(self._sizes[:-3]), height // factor, width // factor
    split = _VIEW(self, [*batch, channels, high, factor, wide, factor])
    order = [*range(len(batch)), *(len(batch) + dim for dim in (0, 2, 4, 1, 3))]
    made = _RESHAPE(_PERMUTE(split, order), [*batch, channels * factor**2, high, wide])
    return _CLONE(made, memory_format=suggest_memory_format(self))
