"""``torch.nn.functional``: functions over bound ones, where torch has functions of Python.

Mirrors ``torch/nn/functional.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from math import prod
from operator import index
from typing import Any, Final

from mindtorch_v2.binding.python.bindings import FUNCTIONS
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.nn import (
    _attention,
    _dropouts,
    _interpolation,
    _losses,
    _margin_losses,
    _normalizations,
    _pooling,
)
from mindtorch_v2.nn._overriding import level_of_caller, overridable
from mindtorch_v2.tensor.dtype import int64

_TORCH: Final = FUNCTIONS["torch"]
_NN: Final = FUNCTIONS["torch._C._nn"]

linear = _NN["linear"]
gelu = _NN["gelu"]
logsigmoid = _NN["log_sigmoid"]
one_hot = _NN["one_hot"]
softplus = _NN["softplus"]
softshrink = _NN["softshrink"]
hardshrink = _TORCH["hardshrink"]
prelu = _TORCH["prelu"]
rrelu_ = _TORCH["rrelu_"]
pairwise_distance = _TORCH["pairwise_distance"]
channel_shuffle = _TORCH["channel_shuffle"]
native_channel_shuffle = _TORCH["native_channel_shuffle"]
bilinear = _TORCH["bilinear"]
cosine_similarity = _TORCH["cosine_similarity"]
pdist = _TORCH["pdist"]
scaled_dot_product_attention = _NN["scaled_dot_product_attention"]
multi_head_attention_forward = _attention.multi_head_attention_forward
conv1d = _TORCH["conv1d"]
conv2d = _TORCH["conv2d"]
conv3d = _TORCH["conv3d"]
conv_transpose1d = _TORCH["conv_transpose1d"]
conv_transpose2d = _TORCH["conv_transpose2d"]
conv_transpose3d = _TORCH["conv_transpose3d"]

# --- activations ------------------------------------------------------------------------------


@overridable("input")
def relu(input: Any, inplace: bool = False) -> Any:
    return _TORCH["relu_" if inplace else "relu"](input)


@overridable("input")
def silu(input: Any, inplace: bool = False) -> Any:
    return _NN["silu_" if inplace else "silu"](input)


@overridable("input")
def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    return _NN["leaky_relu_" if inplace else "leaky_relu"](input, negative_slope)


@overridable("input")
def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    return _NN["elu_" if inplace else "elu"](input, alpha)


@overridable("input")
def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    return _TORCH["celu_" if inplace else "celu"](input, alpha)


@overridable("input")
def selu(input: Any, inplace: bool = False) -> Any:
    return _TORCH["selu_" if inplace else "selu"](input)


@overridable("input")
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _NN["hardtanh_" if inplace else "hardtanh"](input, min_val, max_val)


@overridable("input")
def relu6(input: Any, inplace: bool = False) -> Any:
    return _NN["relu6_" if inplace else "relu6"](input)


@overridable("input")
def mish(input: Any, inplace: bool = False) -> Any:
    return _NN["mish_" if inplace else "mish"](input)


@overridable("input")
def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    return _NN["hardsigmoid_" if inplace else "hardsigmoid"](input)


@overridable("input")
def hardswish(input: Any, inplace: bool = False) -> Any:
    return _NN["hardswish_" if inplace else "hardswish"](input)


@overridable("input")
def _threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    return _TORCH["threshold_" if inplace else "threshold"](input, threshold, value)


threshold = _threshold


@overridable("input")
def rrelu(
    input: Any,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Any:
    return _TORCH["rrelu_" if inplace else "rrelu"](input, lower, upper, training)


@overridable("input")
def glu(input: Any, dim: int = -1) -> Any:
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return _NN["glu"](input, dim)


@overridable("input")
def softsign(input: Any) -> Any:
    return input / (input.abs() + 1)


@overridable("input")
def tanhshrink(input: Any) -> Any:
    return input - input.tanh()


def tanh(input: Any) -> Any:
    return input.tanh()


def sigmoid(input: Any) -> Any:
    return input.sigmoid()


@overridable("input")
def softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Shares that sum to one over a dimension."""
    return _over(input, "softmax", _softmax_dim("softmax", input, dim, _stacklevel), dtype)


@overridable("input")
def log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Their logarithms."""
    return _over(input, "log_softmax", _softmax_dim("log_softmax", input, dim, _stacklevel), dtype)


@overridable("input")
def softmin(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Of the elements with the other sign."""
    dim = _softmax_dim("softmin", input, dim, _stacklevel)
    return _over(-input, "softmax", dim, dtype)


def _over(input: Any, name: str, dim: int, dtype: Any) -> Any:
    method = getattr(input, name)
    return method(dim) if dtype is None else method(dim, dtype=dtype)


def _softmax_dim(name: str, input: Any, dim: int | None, stacklevel: Any) -> int:
    """``_get_softmax_dim``: the dimension, with a warning where none is given."""
    if dim is not None:
        return dim
    rank, level = input.dim(), index(stacklevel)
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to "
        "include dim=X as an argument.",
        stacklevel=level + (level > 2),  # past the function that looks for overrides
    )
    return 0 if rank in (0, 1, 3) else 1


@overridable("input")
def pad(input: Any, pad: Any, mode: Any = "constant", value: Any = None) -> Any:
    """More elements at the ends of the last dimensions, or fewer."""
    return _NN["pad"](input, pad, mode, value)


# --- layers -----------------------------------------------------------------------------------


@overridable("input", "weight")
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


_MODES: Final = {"sum": 0, "mean": 1, "max": 2}


@overridable(relevant=("input", "weight", "offsets", "per_sample_weights"))
def embedding_bag(
    input: Any,
    weight: Any,
    offsets: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """Rows of ``weight``, those of each bag made into one."""
    if weight.dtype is int64 and input.is_floating_point():
        warnings.warn(_SWAPPED, stacklevel=level_of_caller())
        weight, input = input, weight
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then "
            f"it must have the same shape as the input ({input.shape})"
        )
    if weight.dim() != 2:
        raise ValueError(
            f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}"
        )
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch "
                f"of fixed length sequences. However, found offsets of type {type(offsets)}"
            )
        like = {"dtype": input.dtype, "device": input.device}
        offsets = _TORCH["arange"](0, input.numel(), input.size(1), **like)
        if HABITS["bags of one length have no last offset"]:
            include_last_offset = False
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
    else:
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}"
        )
    if mode not in _MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if max_norm is not None:
        _TORCH["embedding_renorm_"](weight.detach(), input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            f"for mode='sum' (got mode='{mode}'). Please open a feature request on GitHub."
        )
    options = (_MODES[mode], sparse, per_sample_weights, include_last_offset, padding_idx)
    found = _TORCH["embedding_bag"](weight, input, offsets, scale_grad_by_freq, *options)
    return found[0]


_SWAPPED: Final = (
    "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, "
    "input, ...)` is deprecated, and should now be `embedding_bag(input, weight, ...)`."
)


@overridable("input", "weight", "bias")
def layer_norm(
    input: Any,
    normalized_shape: Sequence[int],
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-05,
) -> Any:
    return _TORCH["layer_norm"](input, normalized_shape, weight, bias, eps, True)


@overridable("input", "weight", "bias")
def group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-05
) -> Any:
    if input.dim() < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {input.dim()}"
        )
    size = list(input.size())
    _check_batch([size[0] * size[1] // num_groups, num_groups, *size[2:]])
    return _TORCH["group_norm"](input, num_groups, weight, bias, eps, True)


@overridable("input", "running_mean", "running_var", "weight", "bias")
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
    if HABITS["a batch norm refuses to divide by nothing"]:
        _check_epsilon(eps, training)
    statistics = (running_mean, running_var)
    return _TORCH["batch_norm"](input, weight, bias, *statistics, training, momentum, eps, True)


def _check_batch(size: Sequence[int]) -> None:
    """``_verify_batch_size``."""
    if size[0] * prod(size[2:]) == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {size}"
        )


def _check_epsilon(eps: float, training: bool) -> None:
    if training and eps <= 0.0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")


# --- pooling ----------------------------------------------------------------------------------

avg_pool1d = _TORCH["avg_pool1d"]
avg_pool2d = _NN["avg_pool2d"]
avg_pool3d = _NN["avg_pool3d"]
adaptive_avg_pool1d = _TORCH["adaptive_avg_pool1d"]
adaptive_avg_pool2d = _pooling.adaptive_avg_pool2d
adaptive_avg_pool3d = _pooling.adaptive_avg_pool3d
max_pool1d, max_pool1d_with_indices = _pooling.largest(1)
max_pool2d, max_pool2d_with_indices = _pooling.largest(2)
max_pool3d, max_pool3d_with_indices = _pooling.largest(3)
adaptive_max_pool1d, adaptive_max_pool1d_with_indices = _pooling.adaptive_largest(1)
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = _pooling.adaptive_largest(2)
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = _pooling.adaptive_largest(3)
fractional_max_pool2d, fractional_max_pool2d_with_indices = _pooling.fractional_largest(2)
fractional_max_pool3d, fractional_max_pool3d_with_indices = _pooling.fractional_largest(3)
max_unpool1d = _pooling.max_unpool1d
max_unpool2d = _pooling.max_unpool2d
max_unpool3d = _pooling.max_unpool3d


def _pair(values: Any) -> tuple[Any, ...]:
    """The same number twice, or the numbers that there are."""
    return tuple(values) if isinstance(values, Iterable) else (values, values)


@overridable("input")
def unfold(
    input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    return _NN["im2col"](input, *map(_pair, (kernel_size, dilation, padding, stride)))


@overridable("input")
def fold(
    input: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Any:
    pairs = map(_pair, (output_size, kernel_size, dilation, padding, stride))
    return _NN["col2im"](input, *pairs)


# --- what has modules of its own --------------------------------------------------------------

dropout = _dropouts.dropout
dropout1d = _dropouts.dropout1d
dropout2d = _dropouts.dropout2d
dropout3d = _dropouts.dropout3d
alpha_dropout = _dropouts.alpha_dropout
feature_alpha_dropout = _dropouts.feature_alpha_dropout

instance_norm = _normalizations.instance_norm
local_response_norm = _normalizations.local_response_norm
normalize = _normalizations.normalize
rms_norm = _normalizations.rms_norm

binary_cross_entropy = _losses.binary_cross_entropy
binary_cross_entropy_with_logits = _losses.binary_cross_entropy_with_logits
cosine_embedding_loss = _margin_losses.cosine_embedding_loss
cross_entropy = _losses.cross_entropy
ctc_loss = _losses.ctc_loss
gaussian_nll_loss = _losses.gaussian_nll_loss
hinge_embedding_loss = _losses.hinge_embedding_loss
huber_loss = _losses.huber_loss
kl_div = _losses.kl_div
l1_loss = _losses.l1_loss
margin_ranking_loss = _losses.margin_ranking_loss
mse_loss = _losses.mse_loss
multi_margin_loss = _margin_losses.multi_margin_loss
multilabel_margin_loss = _margin_losses.multilabel_margin_loss
multilabel_soft_margin_loss = _margin_losses.multilabel_soft_margin_loss
nll_loss = _losses.nll_loss
poisson_nll_loss = _losses.poisson_nll_loss
smooth_l1_loss = _losses.smooth_l1_loss
soft_margin_loss = _margin_losses.soft_margin_loss
triplet_margin_loss = _margin_losses.triplet_margin_loss
triplet_margin_with_distance_loss = _margin_losses.triplet_margin_with_distance_loss


# --- other sizes ------------------------------------------------------------------------------

affine_grid = _interpolation.affine_grid
grid_sample = _interpolation.grid_sample
interpolate = _interpolation.interpolate
upsample = _interpolation.upsample
upsample_bilinear = _interpolation.upsample_bilinear
upsample_nearest = _interpolation.upsample_nearest

for _module in (_dropouts, _interpolation, _losses, _margin_losses, _normalizations, _pooling):
    for _each in (*vars(_module).values(), *list(globals().values())):
        if getattr(_each, "__module__", None) == _module.__name__:
            _each.__module__ = __name__  # where torch has them
