"""Operators of neural networks that are made of others.

Mirrors ``aten/src/ATen/native/SoftMax.cpp``, ``layer_norm.cpp``, ``LossNLL.cpp``, ``Loss.cpp``
and ``Pooling.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.cpu.losses import MEAN, NONE, SUM
from mindtorch_v2.kernels.elementwise.broadcasting import infer_size
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.geometry import is_contiguous, numel
from mindtorch_v2.tensor.support import CPP_NAMES, streamed
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like

_IMPLICIT: Final = "CompositeImplicitAutograd"
_TO: Final = OperatorHandle("aten::to.dtype_layout")
_SOFTMAX: Final = OperatorHandle("aten::_softmax")
_SOFTMAX_OUT: Final = OperatorHandle("aten::_softmax.out")
_LOG_SOFTMAX: Final = OperatorHandle("aten::_log_softmax")
_LOG_SOFTMAX_OUT: Final = OperatorHandle("aten::_log_softmax.out")
_LOG_SOFTMAX_INT: Final = OperatorHandle("aten::log_softmax.int")
_LAYER_NORM: Final = OperatorHandle("aten::native_layer_norm")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_NLL_FORWARD: Final = OperatorHandle("aten::nll_loss_forward")
_NLL_FORWARD_OUT: Final = OperatorHandle("aten::nll_loss_forward.output")
_NLL2D_FORWARD: Final = OperatorHandle("aten::nll_loss2d_forward")
_NLL2D_FORWARD_OUT: Final = OperatorHandle("aten::nll_loss2d_forward.output")
_NLL: Final = OperatorHandle("aten::nll_loss")
_NLL2D: Final = OperatorHandle("aten::nll_loss2d")
_NLL_ND: Final = OperatorHandle("aten::nll_loss_nd")
_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_VIEW: Final = OperatorHandle("aten::view")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_ADD: Final = OperatorHandle("aten::add.Tensor")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_MUL_SCALAR: Final = OperatorHandle("aten::mul.Scalar")
_ADD_SCALAR: Final = OperatorHandle("aten::add.Scalar")
_DIV_SCALAR: Final = OperatorHandle("aten::div.Scalar")
_DIV: Final = OperatorHandle("aten::div.Tensor")
_NEG: Final = OperatorHandle("aten::neg")
_ABS: Final = OperatorHandle("aten::abs")
_SUM: Final = OperatorHandle("aten::sum")
_SUM_OVER: Final = OperatorHandle("aten::sum.dim_IntList")
_MEAN: Final = OperatorHandle("aten::mean")
_EQ: Final = OperatorHandle("aten::eq.Scalar")
_NOT: Final = OperatorHandle("aten::bitwise_not")
_GATHER: Final = OperatorHandle("aten::gather")
_FLATTEN: Final = OperatorHandle("aten::flatten.using_ints")
_MASKED_FILL: Final = OperatorHandle("aten::masked_fill.Scalar")
_MASKED_SELECT: Final = OperatorHandle("aten::masked_select")
_MASKED_FILL_: Final = OperatorHandle("aten::masked_fill_.Scalar")
_EXPAND: Final = OperatorHandle("aten::expand")
_FILL_: Final = OperatorHandle("aten::fill_.Scalar")
_COPY_: Final = OperatorHandle("aten::copy_")
_RESIZE_: Final = OperatorHandle("aten::resize_")


# --- softmax and layer_norm -------------------------------------------------------------------


def _converted(self: Tensor, dtype: int | None) -> Any:
    """``toType``, which says again where the tensor is and how it is laid out."""
    if dtype is None:
        return self
    return _TO(self, dtype=dtype, layout=self._layout, device=self._device)


@kernel("aten::softmax.int", "aten::special_softmax", key=_IMPLICIT)
def softmax(self: Tensor, dim: int, dtype: int | None) -> Any:
    return _SOFTMAX(_converted(self, dtype), dim, False)


@kernel("aten::log_softmax.int", key=_IMPLICIT)
def log_softmax(self: Tensor, dim: int, dtype: int | None) -> Any:
    return _LOG_SOFTMAX(_converted(self, dtype), dim, False)


@kernel("aten::softmax.int_out", key="CompositeExplicitAutograd")
def softmax_out(self: Tensor, dim: int, dtype: int | None, out: Tensor) -> Any:
    return _written(_SOFTMAX_OUT, _converted(self, dtype), dim, out)


@kernel("aten::log_softmax.int_out", key="CompositeExplicitAutograd")
def log_softmax_out(self: Tensor, dim: int, dtype: int | None, out: Tensor) -> Any:
    return _written(_LOG_SOFTMAX_OUT, _converted(self, dtype), dim, out)


def _written(softmax: OperatorHandle, self: Tensor, dim: int, out: Tensor) -> Tensor:
    """Into an output with gaps by way of one without."""
    if is_contiguous(out._sizes, out._strides):
        softmax(self, dim, False, out=out)
        return out
    dense = new_tensor(out._sizes, out._dtype, out._device)
    softmax(self, dim, False, out=dense)
    _RESIZE_(out, dense._sizes)
    _COPY_(out, dense, False)
    return out


@kernel("aten::layer_norm", key=_IMPLICIT)
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    cudnn_enable: bool,
) -> Any:
    return _LAYER_NORM(input, normalized_shape, weight, bias, eps)[0]


@kernel("aten::broadcast_tensors", key=_IMPLICIT)
def broadcast_tensors(tensors: Sequence[Tensor]) -> list[Any]:
    return expand_outplace(tensors)


def expand_outplace(tensors: Sequence[Tensor]) -> list[Any]:
    """All in one shape; one that has it stays what it is."""
    shape: tuple[int, ...] = ()
    for tensor in tensors:
        shape = infer_size(shape, tuple(tensor._sizes))
    return [
        tensor if tuple(tensor._sizes) == shape else _EXPAND(tensor, list(shape))
        for tensor in tensors
    ]


# --- losses -----------------------------------------------------------------------------------


@kernel("aten::l1_loss", key=_IMPLICIT)
def l1_loss(self: Tensor, target: Tensor, reduction: int) -> Any:
    loss = _ABS(_SUB(self, target))
    if reduction == MEAN:
        return _MEAN(loss)
    return _SUM(loss) if reduction == SUM else loss


@kernel("aten::nll_loss", key=_IMPLICIT)
def nll_loss(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> Any:
    return _NLL_FORWARD(self, target, weight, reduction, ignore_index)[0]


@kernel("aten::nll_loss.out", key=_IMPLICIT)
def nll_loss_out(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    out: Tensor,
) -> Any:
    return _NLL_FORWARD_OUT(self, target, weight, reduction, ignore_index, out, _total(self))[0]


@kernel("aten::nll_loss2d", key=_IMPLICIT)
def nll_loss2d(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> Any:
    return _NLL2D_FORWARD(self, target, weight, reduction, ignore_index)[0]


@kernel("aten::nll_loss2d.out", key=_IMPLICIT)
def nll_loss2d_out(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    out: Tensor,
) -> Any:
    return _NLL2D_FORWARD_OUT(self, target, weight, reduction, ignore_index, out, _total(self))[0]


def _total(like: Tensor) -> Any:
    """Where a total of weights is written to, which nobody asks for."""
    return _EMPTY([0], dtype=like._dtype, layout=like._layout, device=like._device)


@kernel("aten::nll_loss_nd", key=_IMPLICIT)
def nll_loss_nd(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> Any:
    rank = len(self._sizes)
    if rank < 1:
        raise ValueError(f"Expected 1 or more dimensions (got {rank})")
    if rank != 1:
        count, labels = self._sizes[0], target._sizes[0] if target._sizes else 0
        if count != labels:
            raise ValueError(
                f"Expected input batch_size ({count}) to match target batch_size ({labels})."
            )
    options = (weight, reduction, ignore_index)
    if rank <= 2:
        return _NLL(self, target, *options)
    if rank == 4:
        return _NLL2D(self, target, *options)
    count, classes, *space = self._sizes
    if list(target._sizes[1:]) != space:
        raise RuntimeError(f"Expected target size {[count, *space]}, got {list(target._sizes)}")
    flat = [1, -1] if numel(self._sizes) else [0, 0]
    image = _VIEW(_CONTIGUOUS(self), [count, classes, *flat])
    flat = [1, -1] if numel(target._sizes) else [0, 0]
    found = _NLL2D(image, _VIEW(_CONTIGUOUS(target), [count, *flat]), *options)
    return _VIEW(found, [count, *space]) if reduction == NONE else found


@kernel("aten::cross_entropy_loss", key=_IMPLICIT)
def cross_entropy_loss(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> Any:
    class_dim = 0 if len(self._sizes) == 1 else 1
    if tuple(self._sizes) == tuple(target._sizes):
        if not target._dtype.is_floating_point:
            raise RuntimeError(
                "Expected floating point type for target with class probabilities, got "
                f"{CPP_NAMES[target._dtype]}"
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _of_probabilities(self, target, weight, reduction, label_smoothing, class_dim)
    if label_smoothing > 0:
        _check_smoothing(label_smoothing)
    scores = _LOG_SOFTMAX_INT(self, class_dim, self._dtype)
    loss = _NLL_ND(scores, target, weight, reduction, ignore_index)
    if not label_smoothing > 0:
        return loss
    smooth = _smooth(scores, target, weight, reduction, ignore_index, class_dim)
    share = label_smoothing / self._sizes[class_dim]
    smoothed = _MUL_SCALAR(smooth, share)  # GCC computes the right one of two operands first
    return _ADD(_MUL_SCALAR(loss, 1 - label_smoothing), smoothed)


def _invalid(reduction: int) -> RuntimeError:
    return RuntimeError(f"Invalid reduction type encountered in cross_entropy: {reduction}")


def _check_smoothing(label_smoothing: float) -> None:
    if label_smoothing > 1:
        raise RuntimeError(
            f"label_smoothing must be between 0.0 and 1.0. Got: {streamed(label_smoothing)}"
        )


def _by_class(weight: Tensor, rank: int, class_dim: int) -> Any:
    """The weights in a shape that broadcasts over everything but the classes."""
    count = weight._sizes[0]
    return _VIEW(weight, [count if dim == class_dim else 1 for dim in range(rank)])


def _of_probabilities(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    label_smoothing: float,
    class_dim: int,
) -> Any:
    """``cross_entropy_loss_prob_target``."""
    rank = len(self._sizes)
    classes = size_at(self, class_dim)
    if weight is not None and tuple(weight._sizes) != (classes,):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {classes} classes or "
            f"no classes but got weight tensor of shape: {list(weight._sizes)}"
        )
    scores = _LOG_SOFTMAX_INT(self, class_dim, self._dtype)
    wanted: Any = target
    if label_smoothing > 0:
        _check_smoothing(label_smoothing)
        wanted = _MUL_SCALAR(target, 1 - label_smoothing)
        wanted = _ADD_SCALAR(wanted, label_smoothing / classes)
    if weight is not None and rank > 1:
        weight = _by_class(weight, rank, class_dim)
    product = _MUL(scores, wanted)
    if weight is not None:
        product = _MUL(product, weight)
    if reduction == NONE:
        return _NEG(_SUM_OVER(product, [class_dim]))
    if reduction == SUM:
        return _NEG(_SUM(product))
    if reduction != MEAN:
        raise _invalid(reduction)
    if not numel(self._sizes):
        return _NEG(_FILL_(_SUM(product), float("nan")))
    return _DIV_SCALAR(_NEG(_SUM(product)), numel(self._sizes) // classes)


def _smooth(
    scores: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    class_dim: int,
) -> Any:
    """The part of ``cross_entropy_loss_label_smoothing`` that all classes have."""
    weighted = scores
    if weight is not None:
        weighted = _MUL(scores, _by_class(weight, len(scores._sizes), class_dim))
    smooth = _NEG(_SUM_OVER(weighted, [class_dim]))
    ignored = _EQ(target, ignore_index)
    _MASKED_FILL_(smooth, ignored, 0.0)
    if reduction == NONE:
        return smooth
    if reduction == SUM:
        return _SUM(smooth)
    if reduction != MEAN:
        raise _invalid(reduction)
    count = _SUM(_NOT(ignored) if weight is None else _kept_weights(weight, target, ignored))
    return _DIV(_SUM(smooth), count)


def _kept_weights(weight: Tensor, target: Tensor, ignored: Any) -> Any:
    """Of the targets that are not ignored; zeros for those that are, where transforms and modes
    are given no tensor whose size depends on values."""
    if not is_tensor_subclass_like(weight):
        return _GATHER(weight, 0, _FLATTEN(_MASKED_SELECT(target, _NOT(ignored))))
    chosen = _GATHER(weight, 0, _FLATTEN(_MASKED_FILL(target, ignored, 0)))
    return _MASKED_FILL_(chosen, _FLATTEN(ignored), 0)
