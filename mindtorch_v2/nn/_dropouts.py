"""Dropout of ``torch.nn.functional``: of elements, and of whole channels.

Mirrors the part of ``torch/nn/functional.py`` that has it.
"""

from __future__ import annotations

import warnings
from typing import Any, Final

from mindtorch_v2.binding.python.bindings import FUNCTIONS
from mindtorch_v2.nn._overriding import level_of_caller, overridable

_TORCH: Final = FUNCTIONS["torch"]


def _drop(name: str, input: Any, p: float, training: bool, inplace: bool) -> Any:
    """By an operator; ValueError for no probability."""
    _check_probability(p)
    return _TORCH[f"{name}_" if inplace else name](input, p, training)


def _check_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


@overridable("input")
def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Zeros here and there, the rest the larger for it."""
    return _drop("dropout", input, p, training, inplace)


@overridable("input")
def alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """What SELU tends to here and there, such that mean and deviation stay."""
    return _drop("alpha_dropout", input, p, training, inplace)


@overridable("input")
def feature_alpha_dropout(
    input: Any, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Any:
    return _drop("feature_alpha_dropout", input, p, training, inplace)


# --- channels ---------------------------------------------------------------------------------


def _drop_channels(input: Any, p: float, training: bool, inplace: bool, *, batched: bool) -> Any:
    """A sample that is no batch is made one of one."""
    if batched:
        return _drop("feature_dropout", input, p, training, inplace)
    one = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    made = _drop("feature_dropout", one, p, training, inplace)
    return made.squeeze_(0) if inplace else made.squeeze(0)


def _warn_of_rank(name: str, rank: int) -> None:
    dims = int(name[-2])
    warnings.warn(
        f"{name}: Received a {rank}-D input to {name}, which is deprecated and will result in an "
        "error in a future release. To retain the behavior and silence this warning, please use "
        f"dropout instead. Note that {name} exists to provide channel-wise dropout on inputs with "
        f"{dims} spatial dimensions, a channel dimension, and an optional batch dimension (i.e. "
        f"{dims + 1}D or {dims + 2}D inputs).",
        stacklevel=level_of_caller(),
    )


@overridable("input")
def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    _check_probability(p)
    rank = input.dim()
    if rank not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {rank}D input. Note that "
            "dropout1d exists to provide channel-wise dropout on inputs with 1 spatial dimension, "
            "a channel dimension, and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    return _drop_channels(input, p, training, inplace, batched=rank == 3)


@overridable("input")
def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Three dimensions are those of a batch of sequences."""
    _check_probability(p)
    rank = input.dim()
    if rank not in (3, 4):
        _warn_of_rank("dropout2d", rank)
    if rank == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout "
            "behavior is desired - input is interpreted as shape (N, C, L), where C is the channel "
            "dim. This behavior will change in a future release to interpret the input as one "
            "without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise "
            "dropout behavior, please switch to using dropout1d instead.",
            stacklevel=level_of_caller(),
        )
    return _drop_channels(input, p, training, inplace, batched=True)


@overridable("input")
def dropout3d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    _check_probability(p)
    rank = input.dim()
    if rank not in (4, 5):
        _warn_of_rank("dropout3d", rank)
    return _drop_channels(input, p, training, inplace, batched=rank == 5)
