"""Losses of ``torch.nn.functional``.

Mirrors the part of ``torch/nn/functional.py`` that has them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, Final

from mindtorch_v2.autograd.grad_mode import no_grad
from mindtorch_v2.binding.python.bindings import FUNCTIONS
from mindtorch_v2.kernels.elementwise.broadcasting import infer_size
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.nn._overriding import level_of_caller, overridable
from mindtorch_v2.nn._reduction import NUMBERS, chosen, chosen_enum, get_enum

_TORCH: Final = FUNCTIONS["torch"]
_NN: Final = FUNCTIONS["torch._C._nn"]


def _comparison(name: str, differ: Callable[[Any, Any], Any], **overridden: Any) -> Any:
    """A loss of two tensors in one shape; ``differ`` is what is weighted of each element."""

    def compare(
        input: Any,
        target: Any,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> Any:
        return weighed(input, target, size_average, reduce, reduction)

    def weighed(
        input: Any,
        target: Any,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        weight: Any = None,
    ) -> Any:
        one, two, reduction = _in_one_shape(input, target, size_average, reduce, reduction)
        if weight is None:
            return _NN[name](one, two, get_enum(reduction))
        if weight.size() != input.size():
            raise ValueError("Weights and input must have the same size.")
        return _reduced(differ(one, two) * weight, weight, reduction)

    found = weighed if HABITS["losses take weights"] else compare
    found.__name__ = found.__qualname__ = name
    if found is compare:
        return overridable("input", "target")(compare)
    return overridable(**overridden)(weighed)


def _in_one_shape(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> tuple[Any, Any, str]:
    """Two tensors in one shape, and what becomes of their losses.

    What is wrong with their sizes is warned of first, then switches of old; then they are
    broadcast, which may fail.
    """
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            stacklevel=level_of_caller(),
        )
    reduction = chosen(size_average, reduce, reduction)
    one, two = _TORCH["broadcast_tensors"]([input, target])
    return one, two, reduction


def _reduced(losses: Any, weight: Any, reduction: str) -> Any:
    if reduction == "none":
        return losses
    if reduction not in NUMBERS:
        raise ValueError(
            f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'."
        )
    total = _TORCH["sum"](losses)
    return total if reduction == "sum" else total / _TORCH["sum"](weight)


mse_loss = _comparison(
    "mse_loss",
    lambda one, two: _TORCH["pow"](one - two, 2),
    relevant=("input", "target", "weight"),
)
l1_loss = _comparison(
    "l1_loss",
    lambda one, two: _TORCH["abs"](one - two),
    relevant=("input", "target"),
    hidden=("weight",),
)


@overridable("log_probs", "targets", "input_lengths", "target_lengths")
def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    lengths = (input_lengths, target_lengths)
    number = get_enum(reduction)
    return _TORCH["ctc_loss"](log_probs, targets, *lengths, blank, number, zero_infinity)


@overridable("input", "target", "weight")
def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    number = chosen_enum(size_average, reduce, reduction)
    return _NN["nll_loss_nd"](input, target, weight, number, ignore_index)


@overridable("input", "target")
def smooth_l1_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    one, two, reduction = _in_one_shape(input, target, size_average, reduce, reduction)
    number = get_enum(reduction)
    if beta == 0.0:
        return _NN["l1_loss"](one, two, number)
    return _NN["smooth_l1_loss"](one, two, number, beta)


@overridable("input", "target", "weight")
def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    number = chosen_enum(size_average, reduce, reduction)
    return _NN["cross_entropy_loss"](input, target, weight, number, ignore_index, label_smoothing)


# --- those that weigh a distance --------------------------------------------------------------


def _huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    one, two, _ = _in_one_shape(input, target)
    return _NN["huber_loss"](one, two, get_enum(reduction), delta)


def _weighted_huber_loss(
    input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Any:
    if weight is None:
        return _huber_loss(input, target, reduction, delta)
    one, two, _ = _in_one_shape(input, target)
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    losses = _NN["huber_loss"](one, two, get_enum("none"), delta) * weight
    if reduction == "mean":
        return losses.mean()
    return _reduced(losses, weight, reduction)


if HABITS["losses take weights"]:
    _weighted_huber_loss.__name__ = _weighted_huber_loss.__qualname__ = "huber_loss"
    huber_loss = overridable("input", "target", "weight")(_weighted_huber_loss)
else:
    _huber_loss.__name__ = _huber_loss.__qualname__ = "huber_loss"
    huber_loss = overridable("input", "target")(_huber_loss)


# --- those that only C++ computes -------------------------------------------------------------


@overridable("input", "target")
def kl_div(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    is_legacy = size_average is not None or reduce is not None
    if not is_legacy and reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.'mean' will be changed to behave the same as 'batchmean' in the next major "
            "release.",
            stacklevel=4,
        )
    of_batch = reduction == "batchmean"
    wanted = "sum" if of_batch and not is_legacy else reduction
    number = chosen_enum(size_average, reduce, wanted)
    loss = _TORCH["kl_div"](input, target, number, log_target=log_target)
    return loss / input.size()[0] if of_batch and input.dim() else loss


@overridable("input", "target", "weight")
def binary_cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    number = chosen_enum(size_average, reduce, reduction)
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}) is deprecated. Please ensure they have the same size."
        )
    if weight is not None:
        weight = weight.expand(infer_size(target.size(), weight.size()))
    return _NN["binary_cross_entropy"](input, target, weight, number)


@overridable("input", "target", "weight", "pos_weight")
def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    number = chosen_enum(size_average, reduce, reduction)
    if target.size() != input.size():
        raise ValueError(
            f"Target size ({target.size()}) must be the same as input size ({input.size()})"
        )
    return _TORCH["binary_cross_entropy_with_logits"](input, target, weight, pos_weight, number)


@overridable("input", "target")
def hinge_embedding_loss(
    input: Any,
    target: Any,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    number = chosen_enum(size_average, reduce, reduction)
    return _TORCH["hinge_embedding_loss"](input, target, margin, number)


@overridable("input1", "input2", "target")
def margin_ranking_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    number = chosen_enum(size_average, reduce, reduction)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return _TORCH["margin_ranking_loss"](input1, input2, target, margin, number)


@overridable("input", "target")
def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    reduction = chosen(size_average, reduce, reduction)
    if reduction not in tuple(NUMBERS):  # which ``get_enum`` would know an old word of
        raise ValueError(reduction + " is not a valid value for reduction")
    number = NUMBERS[reduction]
    return _TORCH["poisson_nll_loss"](input, target, log_input, full, eps, number)


# --- a Gaussian's, of a variance for each element, for several or for all ---------------------


@overridable("input", "target", "var")
def gaussian_nll_loss(
    input: Any,
    target: Any,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    takes_number = HABITS["a Gaussian loss takes its variance as a number"]
    if takes_number:
        if isinstance(var, float):
            _check_variance(var < 0)
            var = var * _TORCH["ones_like"](input)
        else:
            _check_variance(_TORCH["any"](var < 0))
    if var.size() != input.size():
        var = _fitting_variance(input, var)
    if reduction not in tuple(NUMBERS):
        raise ValueError(reduction + " is not valid")
    if not takes_number:
        _check_variance(_TORCH["any"](var < 0))
    var = var.clone()
    with no_grad():  # the bound has no part in the gradient
        var.clamp_(min=eps)
    loss = 0.5 * (_TORCH["log"](var) + (input - target) ** 2 / var)
    if full:
        loss += 0.5 * math.log(2 * math.pi)
    return loss if reduction == "none" else getattr(loss, reduction)()


def _check_variance(is_negative: Any) -> None:
    if is_negative:
        raise ValueError("var has negative entry/entries")


def _fitting_variance(input: Any, var: Any) -> Any:
    """One of other sizes, which may lack the last dimension; ValueError if it does not fit."""
    if input.size()[:-1] == var.size():
        return _TORCH["unsqueeze"](var, -1)
    if HABITS["a Gaussian loss takes its variance of any dimension"]:
        pairs = zip(input.size(), var.size(), strict=False)
        fits = input.ndim == var.ndim and sum(two for one, two in pairs if one != two) == 1
    else:
        fits = input.size()[:-1] == var.size()[:-1] and var.size(-1) == 1
    if not fits:
        raise ValueError("var is of incorrect size")
    return var
