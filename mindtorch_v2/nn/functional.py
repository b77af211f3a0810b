"""``torch.nn.functional``: functions over bound ones, where torch has functions of Python.

Mirrors ``torch/nn/functional.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, signature
from math import prod
from typing import Any, Final

from mindtorch_v2.binding.python.bindings import FUNCTIONS
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.overrides import handle_torch_function, has_torch_function

_TORCH: Final = FUNCTIONS["torch"]
_NN: Final = FUNCTIONS["torch._C._nn"]

linear = _NN["linear"]
gelu = _NN["gelu"]
logsigmoid = _NN["log_sigmoid"]
one_hot = _NN["one_hot"]
conv1d = _TORCH["conv1d"]
conv2d = _TORCH["conv2d"]
conv3d = _TORCH["conv3d"]
conv_transpose1d = _TORCH["conv_transpose1d"]
conv_transpose2d = _TORCH["conv_transpose2d"]
conv_transpose3d = _TORCH["conv_transpose3d"]

_REDUCTIONS: Final = {"none": 0, "mean": 1, "sum": 2}


def _reduction(reduction: str) -> int:
    """The number that C++ has for it; ValueError if there is none."""
    found = _REDUCTIONS.get(reduction)
    if found is None:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return found


def _overridable(
    *names: str,
    relevant: Sequence[str] = (),
    hidden: Sequence[str] = (),
    public: Callable[[], Any] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Have ``__torch_function__`` of arguments asked first (``handle_torch_function``).

    ``names``, or ``relevant``, are those that are asked.  As torch's functions do, it is handed
    what has no default as it stands, and everything else by its name, but for what is ``hidden``:
    that is asked too if one of the others answers, and not handed on.  ``public`` answers the
    function that is named as the one called, if it is another.
    """
    relevant = names or relevant

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = signature(function)
        required = [
            name for name, each in parameters.parameters.items() if each.default is Parameter.empty
        ]

        @wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            if not has_torch_function((*args, *kwargs.values())):
                return function(*args, **kwargs)
            try:
                bound = parameters.bind(*args, **kwargs)
            except TypeError:  # which the function itself says in Python's words
                return function(*args, **kwargs)
            bound.apply_defaults()
            given = dict(bound.arguments)
            asked = tuple(given[name] for name in relevant)
            if not has_torch_function(asked):
                return function(*args, **kwargs)
            asked = (*asked, *(given.pop(name) for name in hidden))
            first = [given.pop(name) for name in required]
            shown = called if public is None else public()
            return handle_torch_function(shown, asked, *first, **given)

        return called

    return decorate


# --- activations ------------------------------------------------------------------------------


@_overridable("input")
def relu(input: Any, inplace: bool = False) -> Any:
    return _TORCH["relu_" if inplace else "relu"](input)


@_overridable("input")
def silu(input: Any, inplace: bool = False) -> Any:
    return _NN["silu_" if inplace else "silu"](input)


@_overridable("input")
def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    return _NN["leaky_relu_" if inplace else "leaky_relu"](input, negative_slope)


def tanh(input: Any) -> Any:
    return input.tanh()


def sigmoid(input: Any) -> Any:
    return input.sigmoid()


@_overridable("input")
def softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Shares that sum to one over a dimension."""
    return _over(input, "softmax", dim, dtype)


@_overridable("input")
def log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Their logarithms."""
    return _over(input, "log_softmax", dim, dtype)


def _over(input: Any, name: str, dim: int | None, dtype: Any) -> Any:
    if dim is None:
        warnings.warn(
            f"Implicit dimension choice for {name} has been deprecated. Change the call to "
            "include dim=X as an argument.",
            stacklevel=4,
        )
        dim = 0 if input.dim() in (0, 1, 3) else 1
    method = getattr(input, name)
    return method(dim) if dtype is None else method(dim, dtype=dtype)


@_overridable("input")
def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Zeros here and there, the rest the larger for it; ValueError for no probability."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return _TORCH["dropout_" if inplace else "dropout"](input, p, training)


@_overridable("input")
def pad(input: Any, pad: Any, mode: Any = "constant", value: Any = None) -> Any:
    """More elements at the ends of the last dimensions, or fewer."""
    return _NN["pad"](input, pad, mode, value)


# --- layers -----------------------------------------------------------------------------------


@_overridable("input", "weight")
def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """Rows of ``weight`` by their numbers; those of ``padding_idx`` get no gradient.

    With ``max_norm`` the rows that are asked for are made as small as that first, in place.
    """
    if padding_idx is None:
        padding_idx = -1
    elif padding_idx > 0:
        if padding_idx >= weight.size(0):
            raise AssertionError("Padding_idx must be within num_embeddings")
    elif padding_idx < 0:
        if padding_idx < -weight.size(0):
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx = weight.size(0) + padding_idx
    if max_norm is not None:
        input = input.contiguous()
        _TORCH["embedding_renorm_"](weight.detach(), input, max_norm, norm_type)
    return _TORCH["embedding"](weight, input, padding_idx, scale_grad_by_freq, sparse)


@_overridable("input", "weight", "bias")
def layer_norm(
    input: Any,
    normalized_shape: Sequence[int],
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-05,
) -> Any:
    return _TORCH["layer_norm"](input, normalized_shape, weight, bias, eps, True)


@_overridable("input", "running_mean", "running_var", "weight", "bias")
def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Any:
    """Channels brought to mean 0 and deviation 1; ValueError for one value to learn from."""
    if training:
        _check_batch(input.size())
    statistics = (running_mean, running_var)
    return _TORCH["batch_norm"](input, weight, bias, *statistics, training, momentum, eps, True)


def _check_batch(size: Sequence[int]) -> None:
    """``_verify_batch_size``."""
    if size[0] * prod(size[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {size}"
        )


def _pooling(name: str, bound: Callable[..., Any]) -> Callable[..., Any]:
    def pool(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        step = [] if stride is None else stride
        return bound(input, kernel_size, step, padding, dilation, ceil_mode)

    pool.__name__ = pool.__qualname__ = name
    return pool


_WITH_INDICES: Final = "max_pool2d_with_indices"
max_pool2d_with_indices = _overridable("input")(_pooling(_WITH_INDICES, _NN[_WITH_INDICES]))
_max_pool2d = _overridable("input", public=lambda: max_pool2d)(
    _pooling("_max_pool2d", _TORCH["max_pool2d"])
)


def max_pool2d(*args: Any, **kwargs: Any) -> Any:
    """``boolean_dispatch``: by ``return_indices``, wherever it stands."""
    asks = kwargs.get("return_indices", args[6] if len(args) > 6 else False)
    return (max_pool2d_with_indices if asks else _max_pool2d)(*args, **kwargs)


# --- losses -----------------------------------------------------------------------------------


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
        one, two = _in_one_shape(input, target)
        if size_average is not None or reduce is not None:
            reduction = _legacy_reduction(size_average, reduce)
        if weight is None:
            return _NN[name](one, two, _reduction(reduction))
        if weight.size() != input.size():
            raise ValueError("Weights and input must have the same size.")
        return _reduced(differ(one, two) * weight, weight, reduction)

    found = weighed if HABITS["losses take weights"] else compare
    found.__name__ = found.__qualname__ = name
    if found is compare:
        return _overridable("input", "target")(compare)
    return _overridable(**overridden)(weighed)


def _in_one_shape(input: Any, target: Any) -> Any:
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            stacklevel=5,
        )
    return _TORCH["broadcast_tensors"]([input, target])


def _legacy_reduction(size_average: bool | None, reduce: bool | None) -> str:
    """``legacy_get_string``."""
    averages, reduces = (each is None or bool(each) for each in (size_average, reduce))
    found = "none" if not reduces else "mean" if averages else "sum"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{found}' instead.",
        stacklevel=5,
    )
    return found


def _reduced(losses: Any, weight: Any, reduction: str) -> Any:
    if reduction == "none":
        return losses
    if reduction not in _REDUCTIONS:
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


@_overridable("input", "target", "weight")
def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    return _NN["nll_loss_nd"](input, target, weight, _reduction(reduction), ignore_index)


@_overridable("input", "target", "weight")
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
    found = _reduction(reduction)
    return _NN["cross_entropy_loss"](input, target, weight, found, ignore_index, label_smoothing)
