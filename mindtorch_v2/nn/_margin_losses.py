"""Losses of ``torch.nn.functional`` by which scores keep a margin, or distances do.

Mirrors the part of ``torch/nn/functional.py`` that has them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mindtorch_v2.binding.python.bindings import FUNCTIONS
from mindtorch_v2.nn._overriding import overridable
from mindtorch_v2.nn._reduction import NUMBERS, chosen, chosen_enum

_TORCH: Final = FUNCTIONS["torch"]
_NN: Final = FUNCTIONS["torch._C._nn"]
_log_sigmoid: Final = _NN["log_sigmoid"]


@overridable("input", "target")
def soft_margin_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    return _NN["soft_margin_loss"](input, target, chosen_enum(size_average, reduce, reduction))


@overridable("input", "target")
def multilabel_margin_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    number = chosen_enum(size_average, reduce, reduction)
    return _NN["multilabel_margin_loss"](input, target, number)


@overridable("input", "target", "weight")
def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    number = chosen_enum(size_average, reduce, reduction)
    if p != 1 and p != 2:
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return _NN["multi_margin_loss"](input, target, p, margin, weight, number)


@overridable("input", "target", "weight")
def multilabel_soft_margin_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    reduction = chosen(size_average, reduce, reduction)
    loss = -(target * _log_sigmoid(input) + (1 - target) * _log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    classes = input.dim() - 1
    count = input.size(classes)
    loss = loss.sum(dim=classes) / count
    if reduction not in tuple(NUMBERS):
        raise ValueError(reduction + " is not valid")
    return loss if reduction == "none" else getattr(loss, reduction)()


@overridable("input1", "input2", "target")
def cosine_embedding_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    number = chosen_enum(size_average, reduce, reduction)
    return _TORCH["cosine_embedding_loss"](input1, input2, target, margin, number)


# --- distances of three -----------------------------------------------------------------------


def _check_margin(margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")


@overridable("anchor", "positive", "negative")
def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    number = chosen_enum(size_average, reduce, reduction)
    _check_margin(margin)
    triplet = (anchor, positive, negative)
    return _TORCH["triplet_margin_loss"](*triplet, margin, p, eps, swap, number)


@overridable("anchor", "positive", "negative")
def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """The same by any distance; with ``swap`` a negative may be near the positive instead."""
    if reduction not in tuple(NUMBERS):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    _check_margin(margin)
    ranks = (anchor.ndim, positive.ndim, negative.ndim)
    if len(set(ranks)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {ranks[0]}D, positive {ranks[1]}D, and negative "
            f"{ranks[2]}D inputs"
        )
    distance = _TORCH["pairwise_distance"] if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = _TORCH["minimum"](far, distance(positive, negative))
    loss = _TORCH["clamp_min"](margin + near - far, 0)
    return loss if reduction == "none" else _TORCH[reduction](loss)
