"""Modules that make images larger or smaller.

Mirrors ``torch/nn/modules/upsampling.py``.
"""

from __future__ import annotations

from typing import Any

from mindtorch_v2.nn import functional
from mindtorch_v2.nn.modules.module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Module):
    """A signal, an image or a volume of another size."""

    __constants__ = [  # noqa: RUF012 - a list in torch
        *("size", "scale_factor", "mode", "align_corners", "name", "recompute_scale_factor")
    ]

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        self.scale_factor: Any
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(map(float, scale_factor))
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Any) -> Any:
        return functional.interpolate(
            *(input, self.size, self.scale_factor, self.mode, self.align_corners),
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"recompute_scale_factor": True} | state)  # as older releases did

    def extra_repr(self) -> str:
        name = "size" if self.scale_factor is None else "scale_factor"
        return f"{name}={getattr(self, name)!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Images by their nearest pixels."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Images by the four pixels around, those at the corners as they are."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
