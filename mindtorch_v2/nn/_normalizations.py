"""Normalization of ``torch.nn.functional``, but for those of batches, of layers and of groups.

Mirrors the part of ``torch/nn/functional.py`` that has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

from mindtorch_v2.binding.python.bindings import FUNCTIONS
from mindtorch_v2.nn._overriding import overridable

_TORCH: Final = FUNCTIONS["torch"]
_NN: Final = FUNCTIONS["torch._C._nn"]


@overridable("input", "running_mean", "running_var", "weight", "bias")
def instance_norm(
    input: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """The channels of each sample brought to mean 0 and deviation 1."""
    if use_input_stats:
        _check_pixels(input.size())
    parameters = (weight, bias, running_mean, running_var)
    return _TORCH["instance_norm"](input, *parameters, use_input_stats, momentum, eps, True)


def _check_pixels(size: Sequence[int]) -> None:
    """``_verify_spatial_size``."""
    if prod(size[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 spatial element when training, got input size {size}"
        )


@overridable("input", "weight")
def rms_norm(
    input: Any, normalized_shape: Sequence[int], weight: Any = None, eps: float | None = None
) -> Any:
    """The last dimensions brought to a mean square of 1."""
    return _TORCH["rms_norm"](input, normalized_shape, weight, eps)


@overridable("input", "out")
def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Any = None) -> Any:
    """Vectors of length one along a dimension."""
    norm = input.norm(p, dim, keepdim=True)
    if out is None:
        return input / norm.clamp_min(eps).expand_as(input)
    return _TORCH["div"](input, norm.clamp_min_(eps).expand_as(input), out=out)


@overridable("input")
def local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """Each channel divided by a mean square of its neighbours, ``size`` of them."""
    rank = input.dim()
    if rank < 3:
        raise ValueError(
            "Expected 3D or higher dimensionality                          input (got "
            f"{rank} dimensions)"
        )
    if input.numel() == 0:
        return input
    squares = input.mul(input)
    around = (size // 2, (size - 1) // 2)
    if rank == 3:
        padded = _NN["pad"](squares.unsqueeze(1), (0, 0, *around))
        means = _NN["avg_pool2d"](padded, (size, 1), stride=1).squeeze(1)
    else:
        sizes = input.size()
        squares = squares.view(sizes[0], 1, sizes[1], sizes[2], -1)
        padded = _NN["pad"](squares, (0, 0, 0, 0, *around))
        means = _NN["avg_pool3d"](padded, (size, 1, 1), stride=1).squeeze(1).view(sizes)
    return input / means.mul(alpha).add(k).pow(beta)
