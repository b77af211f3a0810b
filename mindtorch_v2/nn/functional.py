"""``torch.nn.functional``: functions over bound ones, where torch has functions of Python.

Mirrors ``torch/nn/functional.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.binding.python.bindings import FUNCTIONS

_TORCH: Final = FUNCTIONS["torch"]
_NN: Final = FUNCTIONS["torch._C._nn"]

linear = _NN["linear"]
gelu = _NN["gelu"]
logsigmoid = _NN["log_sigmoid"]
conv2d = _TORCH["conv2d"]

_REDUCTIONS: Final = {"none": 0, "mean": 1, "sum": 2}


def _reduction(reduction: str) -> int:
    """The number that C++ has for it; ValueError if there is none."""
    found = _REDUCTIONS.get(reduction)
    if found is None:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return found


# --- activations ------------------------------------------------------------------------------


def relu(input: Any, inplace: bool = False) -> Any:
    return _TORCH["relu_" if inplace else "relu"](input)


def silu(input: Any, inplace: bool = False) -> Any:
    return _NN["silu_" if inplace else "silu"](input)


def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    return _NN["leaky_relu_" if inplace else "leaky_relu"](input, negative_slope)


def tanh(input: Any) -> Any:
    return input.tanh()


def sigmoid(input: Any) -> Any:
    return input.sigmoid()


def softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Shares that sum to one over a dimension."""
    return _over(input, "softmax", dim, dtype)


def log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Their logarithms."""
    return _over(input, "log_softmax", dim, dtype)


def _over(input: Any, name: str, dim: int | None, dtype: Any) -> Any:
    if dim is None:
        warnings.warn(
            f"Implicit dimension choice for {name} has been deprecated. Change the call to "
            "include dim=X as an argument.",
            stacklevel=3,
        )
        dim = 0 if input.dim() in (0, 1, 3) else 1
    method = getattr(input, name)
    return method(dim) if dtype is None else method(dim, dtype=dtype)


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Zeros here and there, the rest the larger for it; ValueError for no probability."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    return _TORCH["dropout_" if inplace else "dropout"](input, p, training)


# --- layers -----------------------------------------------------------------------------------


def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """Rows of ``weight`` by their numbers; those of ``padding_idx`` get no gradient."""
    if max_norm is not None:
        raise NotImplementedError("mindtorch_v2 has no embedding with a largest norm yet")
    if padding_idx is None:
        padding_idx = -1
    elif padding_idx > 0:
        if padding_idx >= weight.size(0):
            raise AssertionError("Padding_idx must be within num_embeddings")
    elif padding_idx < 0:
        if padding_idx < -weight.size(0):
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx = weight.size(0) + padding_idx
    return _TORCH["embedding"](weight, input, padding_idx, scale_grad_by_freq, sparse)


def layer_norm(
    input: Any,
    normalized_shape: Sequence[int],
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-05,
) -> Any:
    return _TORCH["layer_norm"](input, normalized_shape, weight, bias, eps, True)


def max_pool2d_with_indices(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    step = [] if stride is None else stride
    name = "max_pool2d_with_indices"
    return _NN[name](input, kernel_size, step, padding, dilation, ceil_mode)


def _max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    step = [] if stride is None else stride
    return _TORCH["max_pool2d"](input, kernel_size, step, padding, dilation, ceil_mode)


def max_pool2d(*args: Any, **kwargs: Any) -> Any:
    """One or the other, by ``return_indices`` (``boolean_dispatch``)."""
    flag = kwargs.get("return_indices", args[6] if len(args) > 6 else False)
    return (max_pool2d_with_indices if flag else _max_pool2d)(*args, **kwargs)


# --- losses -----------------------------------------------------------------------------------


def mse_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    return _compared("mse_loss", input, target, reduction)


def l1_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    return _compared("l1_loss", input, target, reduction)


def _compared(name: str, input: Any, target: Any, reduction: str) -> Any:
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            stacklevel=3,
        )
    one, two = _TORCH["broadcast_tensors"]([input, target])
    return _NN[name](one, two, _reduction(reduction))


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
