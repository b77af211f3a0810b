"""Functions of ``torch.nn.functional`` that interpolate.

Mirrors the part of ``torch/nn/functional.py`` that has them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.binding.python.bindings import FUNCTIONS
from mindtorch_v2.nn._overriding import level_of_caller, overridable
from mindtorch_v2.tensor.tensor import Tensor

_TORCH: Final = FUNCTIONS["torch"]
_NN: Final = FUNCTIONS["torch._C._nn"]

_LANCZOS: Final = "_upsample_lanczos2d_aa"
_HAS_LANCZOS: Final = _LANCZOS in _NN
_SMOOTH: Final = ("bilinear", "bicubic", *["lanczos"] * _HAS_LANCZOS)
"""Modes in which every pixel of the input may have its share."""
_UNALIGNED: Final = ("nearest", "area", "nearest-exact")
"""Modes that know no corners."""
_RANKS: Final = {"linear": 3, "bilinear": 4, "trilinear": 5}
_FUNCTIONS: Final = {
    **{("nearest", rank): f"upsample_nearest{rank - 2}d" for rank in (3, 4, 5)},
    **{("nearest-exact", rank): f"_upsample_nearest_exact{rank - 2}d" for rank in (3, 4, 5)},
    ("linear", 3): "upsample_linear1d",
    ("bilinear", 4): "upsample_bilinear2d",
    ("trilinear", 5): "upsample_trilinear3d",
    ("bicubic", 4): "upsample_bicubic2d",
    **({("lanczos", 4): _LANCZOS} if _HAS_LANCZOS else {}),
}
"""By mode and rank of the input."""


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=level_of_caller())


def upsample(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Any:
    _warn_of_old("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    _warn_of_old("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    _warn_of_old("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def _warn_of_old(name: str) -> None:
    warnings.warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=3,
    )


@overridable("input")
def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """A signal, an image or a volume of another size."""
    if mode in _UNALIGNED:
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | "
                "bilinear | bicubic | trilinear"
            )
    elif align_corners is None:
        align_corners = False
    dim = input.dim() - 2
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    sizes, factors = None, None
    if size is not None:
        sizes = _sizes(input, size, dim)
    elif scale_factor is not None:
        factors = _factors(input, scale_factor, dim)
    else:
        raise ValueError("either size or scale_factor should be defined")
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if factors is not None and (recompute_scale_factor or mode == "area"):
        sizes = [int(input.size(at + 2) * factors[at]) for at in range(dim)]
        factors = None
    if antialias and not (mode in _SMOOTH and input.ndim == 4):
        joint = ", and " if _HAS_LANCZOS else " and "
        modes = ", ".join(_SMOOTH[:-1]) + joint + _SMOOTH[-1]
        raise ValueError(
            f"Anti-alias option is restricted to {modes} modes and requires a 4-D tensor as input"
        )
    if mode == "area" and dim in (1, 2, 3):
        return _area(input, sizes, dim)
    return _computed(input, sizes, factors, mode, align_corners, antialias)


def _sizes(input: Any, size: Any, dim: int) -> Any:
    if not isinstance(size, (list, tuple)):
        return [size for _ in range(dim)]
    if len(size) != dim:
        raise ValueError(
            "Input and output must have the same number of spatial dimensions, but got input with "
            f"spatial dimensions of {list(input.shape[2:])} and output size of {size}. Please "
            "provide input tensor in (N, C, d1, d2, ...,dK) format and output size in (o1, o2, "
            "...,oK) format."
        )
    if not all(map(_is_integer, size)):
        raise TypeError(
            "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, "
            f"int], but got size with types {[type(each) for each in size]}"
        )
    return size


def _is_integer(value: Any) -> bool:
    if isinstance(value, (int, np.integer)):
        return True
    return isinstance(value, Tensor) and not value.is_floating_point()


def _factors(input: Any, scale_factor: Any, dim: int) -> Any:
    if not isinstance(scale_factor, (list, tuple)):
        return [scale_factor for _ in range(dim)]
    if len(scale_factor) != dim:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input "
            f"with spatial dimensions of {list(input.shape[2:])} and scale_factor of shape "
            f"{scale_factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
            "scale_factor in (s1, s2, ...,sK) format."
        )
    return scale_factor


def _area(input: Any, sizes: Any, dim: int) -> Any:
    """The mean of all that a pixel of the output covers."""
    from mindtorch_v2.nn import functional  # whose functions these are among

    return getattr(functional, f"adaptive_avg_pool{dim}d")(input, sizes)


def _computed(
    input: Any, sizes: Any, factors: Any, mode: str, align_corners: Any, antialias: bool
) -> Any:
    rank = input.dim()
    name = _FUNCTIONS.get((mode, rank))
    if name is None:
        raise NotImplementedError(_refusal(rank, mode))
    if mode == "lanczos":
        if align_corners:
            raise ValueError("Lanczos mode does not support align_corners=True")
        if not antialias:
            raise ValueError("Lanczos mode requires antialias=True")
    elif antialias:
        name = f"_{name}_aa"
    corners = () if mode in _UNALIGNED else (align_corners,)
    return _NN[name](input, sizes, *corners, factors)


def _refusal(rank: int, mode: str) -> str:
    if rank in _RANKS.values() and mode in _RANKS:
        return f"Got {rank}D input, but {mode} mode needs {_RANKS[mode]}D input"
    modes = ("linear", *_SMOOTH[:2], "trilinear", *_SMOOTH[2:], "area", "nearest-exact")
    return (
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {rank}D) for the modes: "
        f"nearest | {' | '.join(modes)} (got {mode})"
    )


# --- at places of a grid ----------------------------------------------------------------------

_DEFAULT: Final = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
    "Please specify align_corners=True if the old behavior is desired. See the documentation of "
    "grid_sample for details."
)
_MODES: Final = ("bilinear", "nearest", "bicubic")
_PADDING_MODES: Final = ("zeros", "border", "reflection")


@overridable("input", "grid")
def grid_sample(
    input: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:
    """What an image has at the places that a grid tells."""
    if mode not in _MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode not in _PADDING_MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'"
        )
    if align_corners is None:
        _warn(_DEFAULT)
        align_corners = False
    numbers = _MODES.index(mode), _PADDING_MODES.index(padding_mode)
    return _TORCH["grid_sampler"](input, grid, *numbers, align_corners)


@overridable("theta")
def affine_grid(theta: Any, size: Sequence[int], align_corners: bool | None = None) -> Any:
    """The places that affine maps take the pixels of an image to."""
    if align_corners is None:
        _warn(_DEFAULT)
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {size}."
        )
    rank = len(size) - 2
    if theta.dim() != 3 or theta.shape[-2] != rank or theta.shape[-1] != rank + 1:
        raise ValueError(
            f"Expected a batch of {rank}D affine matrices of shape Nx{rank}x{rank + 1} for size "
            f"{size}. Got {theta.shape}."
        )
    if align_corners and min(size[-rank:]) == 1:
        _warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
            "align_corners=True. This is not an intended use case of affine_grid. See the "
            "documentation of affine_grid for details."
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return _TORCH["affine_grid_generator"](theta, size, align_corners)
