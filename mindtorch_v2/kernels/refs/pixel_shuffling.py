"""The reference functions of channels that become pixels, and back.

Mirrors ``torch/_meta_registrations.py`` and ``torch/_refs/nn/functional/__init__.py``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.autograd.at import suggest_memory_format
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.tensor.tensor import Tensor

_FUNCTIONAL: Final = "torch._refs.nn.functional."
_CLONE: Final = OperatorHandle("aten::clone")
_PERMUTE: Final = OperatorHandle("aten::permute")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_RESTRIDED: Final = OperatorHandle("aten::contiguous")
_VIEW: Final = OperatorHandle("aten::view")


@body("torch._meta_registrations.meta_pixel_shuffle")
def meta_pixel_shuffle(self: Tensor, upscale_factor: int) -> Any:
    factor = upscale_factor
    if not (len(self._sizes) > 2 and self._sizes[-3] % factor**2 == 0):
        raise AssertionError(
            f"Invalid input shape for pixel_shuffle: {self._sizes} with upscale_factor = {factor}"
        )
    channels, height, width = self._sizes[-3:]
    sizes = (*self._sizes[:-3], channels // factor**2, height * factor, width * factor)
    made = new_tensor(sizes, self._dtype, self._device)
    return _RESTRIDED(made, memory_format=suggest_memory_format(self))


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
    channels, height, width = self._sizes[-3:]
    batch, high, wide = list(self._sizes[:-3]), height // factor, width // factor
    split = _VIEW(self, [*batch, channels, high, factor, wide, factor])
    order = [*range(len(batch)), *(len(batch) + dim for dim in (0, 2, 4, 1, 3))]
    made = _RESHAPE(_PERMUTE(split, order), [*batch, channels * factor**2, high, wide])
    return _CLONE(made, memory_format=suggest_memory_format(self))
