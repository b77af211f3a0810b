"""Losses by which the scores of classes keep a margin, and their derivatives.

Mirrors ``LossMultiMargin.cpp``, ``LossMultiLabelMargin.cpp`` and ``LossMulti.h`` of
``aten/src/ATen/native``, and of ``Loss.cpp`` the soft margin loss.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.losses import MEAN, NONE, apply_loss_reduction, check_dim_size
from mindtorch_v2.kernels.elementwise.pointwise import as_array, element
from mindtorch_v2.kernels.elementwise.promotion import Number
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, set_sizes
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import FLOATING_TYPES, dispatch_over
from mindtorch_v2.tensor.copying import store, value_array, zero
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import is_contiguous, numel
from mindtorch_v2.tensor.scalars import scalar_to
from mindtorch_v2.tensor.support import worded
from mindtorch_v2.tensor.tensor import Tensor

_CPU: Final = ("CPU",)
_IMPLICIT: Final = "CompositeImplicitAutograd"
_EXPLICIT: Final = "CompositeExplicitAutograd"
_INT64: Final = DTYPES["int64"]
_ITEM: Final = OperatorHandle("aten::item")
_MIN: Final = OperatorHandle("aten::min")
_MAX: Final = OperatorHandle("aten::max")

_ADD_: Final = OperatorHandle("aten::add_.Scalar")
_COPY_: Final = OperatorHandle("aten::copy_")
_DIV_: Final = OperatorHandle("aten::div_.Tensor")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_EXP: Final = OperatorHandle("aten::exp")
_EXP_: Final = OperatorHandle("aten::exp_")
_LOG1P_: Final = OperatorHandle("aten::log1p_")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_MUL_: Final = OperatorHandle("aten::mul_.Tensor")
_MUL_OUT: Final = OperatorHandle("aten::mul.out")
_MUL_SCALAR_: Final = OperatorHandle("aten::mul_.Scalar")
_NEG: Final = OperatorHandle("aten::neg")
_NEG_OUT: Final = OperatorHandle("aten::neg.out")
_RESIZE_: Final = OperatorHandle("aten::resize_")
_SOFT: Final = OperatorHandle("aten::soft_margin_loss.out")
_SOFT_BACKWARD: Final = OperatorHandle("aten::soft_margin_loss_backward.grad_input")
_LABELS: Final = OperatorHandle("aten::multilabel_margin_loss_forward")
_LABELS_OUT: Final = OperatorHandle("aten::multilabel_margin_loss_forward.output")


def _in_order(values: Array) -> Array:
    """Sums over the last dimension, added up one after the other."""
    if not values.shape[-1]:
        return np.zeros(values.shape[:-1], values.dtype)
    return np.asarray(np.add.accumulate(values, axis=-1)[..., -1])


def _batch(input: Tensor) -> tuple[int, int]:
    """How many samples there are, and how many classes; RuntimeError without a class."""
    sizes = tuple(input._sizes)
    if len(sizes) > 2 or (sizes and not sizes[-1]):
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(sizes)}"
        )
    return (sizes[0] if len(sizes) == 2 else 1), (sizes[-1] if sizes else 1)


def _labels(target: Tensor) -> Array:
    check_pointers(_INT64, target)
    return value_array(target)


def _written(output: Tensor, dtype: DType, values: Any) -> None:
    check_pointers(dtype, output)
    store(output, np.asarray(values, as_array(0, dtype).dtype).reshape(tuple(output._sizes)))


def _resized_like(given: Tensor | None, input: Tensor) -> Tensor:
    """What a gradient is written to: new, or as it was given, with the sizes of the input."""
    if given is None:
        return new_tensor(input._sizes, input._dtype, input._device)
    set_sizes(given, input._sizes)
    return given


def _check_contiguous(name: str, tensor: Tensor) -> None:
    if not is_contiguous(tensor._sizes, tensor._strides):
        raise RuntimeError(f"{name} must be contiguous")


def _scaled(found: Array, grad_output: Tensor, dtype: DType, reduction: int) -> Array:
    """A gradient of each sample times that of its loss, or of the only loss that there is."""
    check_pointers(dtype, grad_output)
    grads = as_array(grad_output, dtype)
    if reduction != NONE or not grad_output._sizes:
        return np.asarray(found * grads.reshape(-1)[0])
    return np.asarray(found * grads[:, None])


# --- one label each ---------------------------------------------------------------------------


def _check_one_label(
    input: Tensor, target: Tensor, p: Number, weight: Tensor | None
) -> tuple[int, int, int]:
    """The exponent, the number of samples and of classes."""
    exponent = int(scalar_to(p, DTYPES["int32"]))
    if exponent not in (1, 2):
        raise RuntimeError("only p == 1 and p == 2 supported")
    count, classes = _batch(input)
    if len(target._sizes) > 1 or numel(target._sizes) != count:
        words = {
            "expected 5": f"expected {count}",
            "size [5]": f"size [{count}]",
            "[3]": f"{list(target._sizes)}",
            "[5, 7]": f"{list(input._sizes)}",
        }
        raise worded("a multi margin loss of too few labels", **words)
    if weight is not None and (len(weight._sizes) > 1 or numel(weight._sizes) != classes):
        raise RuntimeError(
            f"inconsistent weight size, expected {classes} but got {list(weight._sizes)}"
        )
    return exponent, count, classes


def _excesses(
    input: Tensor, target: Tensor, margin: Number, weight: Tensor | None, classes: int
) -> tuple[Array, Array, Array]:
    """By how much each class comes too near to the right one, nothing if it does not; the labels,
    and the weight of each sample, as a column."""
    dtype = input._dtype
    scores = as_array(input, dtype).reshape(-1, classes)
    labels = _labels(target).reshape(-1)
    check_pointers(dtype, weight)
    least = element(margin, dtype)
    if ((labels < 0) | (labels >= classes)).any():
        raise RuntimeError("target out of range")
    right = np.take_along_axis(scores, labels[:, None], 1)
    excess = np.asarray(least - right + scores)
    is_counted = (excess > 0) & (np.arange(classes) != labels[:, None])
    weights = np.ones(classes, scores.dtype)
    if weight is not None:
        weights = as_array(weight, dtype).reshape(-1)
    return np.where(is_counted, excess, 0).astype(scores.dtype), labels, weights[labels][:, None]


def _counted(values: Array, excess: Array) -> Array:
    """Those of the classes that come too near, zeros for the others whatever their weight."""
    return np.where(excess > 0, values, 0).astype(excess.dtype)


@structured.structured("aten::multi_margin_loss", keys=_CPU)
def multi_margin_loss(
    outputs: Outputs,
    self: Tensor,
    target: Tensor,
    p: Number,
    margin: Number,
    weight: Tensor | None,
    reduction: int,
) -> tuple[Tensor, ...]:
    """Of no samples nothing is written."""
    exponent, count, classes = _check_one_label(self, target, p, weight)
    dtype, by_sample = self._dtype, reduction == NONE and len(target._sizes) > 0
    output = _sized(outputs[0], (count,) if by_sample else (), self)
    if output.is_meta or not numel(self._sizes):
        return (output,)
    dispatch_over(FLOATING_TYPES, "multi_margin_loss_cpu_kernel", dtype)
    with np.errstate(all="ignore"):
        excess, _, weights = _excesses(self, target, margin, weight, classes)
        losses = (excess if exponent == 1 else excess * excess) * weights
        means = _in_order(_counted(losses, excess)) / excess.dtype.type(classes)
        if by_sample:
            _written(output, dtype, means)
        else:
            total = _in_order(means.astype(np.float64))
            _written(output, dtype, total / count if reduction == MEAN else total)
    return (output,)


def _sized(given: Tensor | None, sizes: tuple[int, ...], input: Tensor) -> Tensor:
    if given is None:
        return new_tensor(sizes, input._dtype, input._device)
    set_sizes(given, sizes)
    return given


@structured.structured("aten::multi_margin_loss_backward", keys=_CPU)
def multi_margin_loss_backward(
    outputs: Outputs,
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    p: Number,
    margin: Number,
    weight: Tensor | None,
    reduction: int,
) -> tuple[Tensor, ...]:
    exponent, count, classes = _check_one_label(self, target, p, weight)
    result = _resized_like(outputs[0], self)
    _check_contiguous("grad_input", result)
    if result.is_meta or not numel(self._sizes):
        return (result,)
    dtype = self._dtype
    dispatch_over(FLOATING_TYPES, "multi_margin_loss_backward_cpu_kernel", dtype)
    check_pointers(dtype, result)
    with np.errstate(all="ignore"):
        excess, labels, weights = _excesses(self, target, margin, weight, classes)
        share = excess.dtype.type(1.0 / (count * classes if reduction == MEAN else classes))
        slopes = (share if exponent == 1 else 2 * share * excess) * weights
        slopes = _counted(slopes, excess)
        np.put_along_axis(slopes, labels[:, None], 0 - _in_order(slopes)[:, None], 1)
        _written(result, dtype, _scaled(slopes, grad_output, dtype, reduction))
    return (result,)


# --- several labels each ----------------------------------------------------------------------


def _check_labels(input: Tensor, target: Tensor) -> tuple[int, int]:
    """How many samples and classes there are, each of which has as many labels."""
    count, classes = _batch(input)
    if len(input._sizes) == 2:
        fits = tuple(target._sizes) == (count, classes)
    else:
        fits = len(target._sizes) <= 1 and numel(target._sizes) == classes
    if not fits:
        raise RuntimeError(
            f"inconsistent target size: {list(target._sizes)} for input of size: "
            f"{list(input._sizes)}"
        )
    return count, classes


def _check_in_range(argument: str, labels: Tensor, lowest: int, highest: int) -> None:
    least, most = (int(scalar_to(_ITEM(find(labels)), _INT64)) for find in (_MIN, _MAX))
    if least < lowest or most > highest:
        raise RuntimeError(f"argument {argument} is out of range")


def _kept_labels(target: Tensor, classes: int) -> tuple[Array, Array]:
    """The labels of each sample, and which of them count: those before the first negative one."""
    labels = _labels(target).reshape(-1, classes)
    return labels, np.logical_and.accumulate(labels >= 0, axis=1)


def _pairs(input: Tensor, labels: Array, is_kept: Array, is_target: Array) -> Array:
    """By how much each class that is no label comes too near to each label."""
    scores = as_array(input, input._dtype).reshape(labels.shape)
    right = np.take_along_axis(scores, np.where(is_kept, labels, 0), 1)
    excess = np.asarray((1 - right)[:, :, None] + scores[:, None, :])
    counted = is_kept[:, :, None] & ~is_target[:, None, :] & (excess > 0)
    return np.where(counted, excess, 0)


@structured.structured("aten::multilabel_margin_loss_forward", keys=_CPU, outputs=2)
def multilabel_margin_loss_forward(
    outputs: Outputs, self: Tensor, target: Tensor, reduction: int
) -> tuple[Tensor, ...]:
    count, classes = _check_labels(self, target)
    by_sample = reduction == NONE and len(target._sizes) > 1
    output = _sized(outputs[0], (count,) if by_sample else (), self)
    is_target = _sized(outputs[1], tuple(target._sizes), self)
    _check_contiguous("is_target", is_target)
    if output.is_meta:
        return output, is_target
    zero(is_target)
    if not numel(self._sizes):
        return output, is_target
    _check_in_range("#2 'target'", target, -1, classes - 1)
    dtype = self._dtype
    dispatch_over(FLOATING_TYPES, "multilabel_margin_loss_forward_out_frame", dtype)
    labels, is_kept = _kept_labels(target, classes)
    check_pointers(dtype, is_target)
    found = np.zeros(labels.shape, bool)
    samples, places = np.nonzero(is_kept)
    found[samples, labels[samples, places]] = True
    store(is_target, found.reshape(tuple(is_target._sizes)))
    with np.errstate(all="ignore"):
        pairs = _pairs(self, labels, is_kept, found)
        sums = _in_order(pairs.reshape(count, -1).astype(np.float64)).astype(pairs.dtype)
        if by_sample:
            _written(output, dtype, sums / pairs.dtype.type(classes))
        else:
            total = _in_order(sums.astype(np.float64)) / classes
            _written(output, dtype, total / count if reduction == MEAN else total)
    return output, is_target


@structured.structured("aten::multilabel_margin_loss_backward", keys=_CPU)
def multilabel_margin_loss_backward(
    outputs: Outputs,
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    reduction: int,
    is_target: Tensor,
) -> tuple[Tensor, ...]:
    count, classes = _check_labels(self, target)
    if tuple(target._sizes) != tuple(is_target._sizes):
        raise RuntimeError(
            "Expected tensor for argument #3 'target' to have same size as tensor for argument #5 "
            f"'is_target'; but {list(target._sizes)} does not equal {list(is_target._sizes)} "
            "(while checking arguments for multilabel_margin_loss_backward_cpu_template)"
        )
    result = _resized_like(outputs[0], self)
    if result.is_meta or not numel(self._sizes):
        return (result,)
    _check_contiguous("grad_input", result)
    zero(result)
    _check_in_range("#3 'target'", target, -1, classes - 1)
    dtype = self._dtype
    dispatch_over(FLOATING_TYPES, "multilabel_margin_loss_backward_out_frame", dtype)
    _check_in_range("#5 'is_target'", is_target, 0, 1)
    check_pointers(dtype, self)
    labels, is_kept = _kept_labels(target, classes)
    check_pointers(dtype, is_target, result, grad_output)
    with np.errstate(all="ignore"):
        known = as_array(is_target, dtype).reshape(labels.shape) != 0
        is_near = _pairs(self, labels, is_kept, known) > 0
        pulls = is_near.sum(1)
        samples, places = np.nonzero(is_kept)
        np.subtract.at(pulls, (samples, labels[samples, places]), is_near.sum(2)[is_kept])
        share = 1.0 / (count * classes if reduction == MEAN else classes)
        found = _repeated(pulls, as_array(0, dtype).dtype.type(share))
        if reduction == NONE and grad_output._sizes:
            check_dim_size(grad_output, 1, 0, count)
        _written(result, dtype, _scaled(found, grad_output, dtype, reduction))
    return (result,)


def _repeated(counts: Array, share: Any) -> Array:
    """A share added up so many times, or taken away, each sum rounded."""
    multiples = np.add.accumulate(np.full(int(np.abs(counts).max()) + 1, share)) - share
    multiples[1:] = np.add.accumulate(np.full(len(multiples) - 1, share))
    return np.asarray(np.sign(counts) * multiples[np.abs(counts)], share.dtype)


@kernel("aten::multilabel_margin_loss", key=_IMPLICIT)
def multilabel_margin_loss(self: Tensor, target: Tensor, reduction: int) -> Any:
    return _LABELS(self, target, reduction)[0]


@kernel("aten::multilabel_margin_loss.out", key=_IMPLICIT)
def multilabel_margin_loss_out(self: Tensor, target: Tensor, reduction: int, out: Tensor) -> Any:
    options = {"dtype": self._dtype, "layout": self._layout, "device": self._device}
    is_target = _EMPTY([0], **options)
    return _LABELS_OUT(self, target, reduction, output=out, is_target=is_target)[0]


# --- a soft margin ----------------------------------------------------------------------------


def _empty(like: Tensor) -> Tensor:
    return new_tensor((0,), like._dtype, like._device)


@kernel("aten::soft_margin_loss", key=_EXPLICIT)
def soft_margin_loss(self: Tensor, target: Tensor, reduction: int) -> Any:
    return _SOFT(self, target, reduction, out=_empty(self))


@kernel("aten::soft_margin_loss.out", key=_EXPLICIT)
def soft_margin_loss_out(self: Tensor, target: Tensor, reduction: int, out: Tensor) -> Tensor:
    _LOG1P_(_EXP_(_MUL_(_NEG_OUT(self, out=out), target)))
    if reduction != NONE:
        reduced = apply_loss_reduction(out, reduction)
        _COPY_(_RESIZE_(out, []), reduced)
    return out


@kernel("aten::soft_margin_loss_backward", key=_EXPLICIT)
def soft_margin_loss_backward(
    grad_output: Tensor, self: Tensor, target: Tensor, reduction: int
) -> Any:
    return _SOFT_BACKWARD(grad_output, self, target, reduction, grad_input=_empty(self))


@kernel("aten::soft_margin_loss_backward.grad_input", key=_EXPLICIT)
def soft_margin_loss_backward_out(
    grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, grad_input: Tensor
) -> Tensor:
    count = numel(self._sizes)
    norm = 1.0 if reduction != MEAN else 1.0 / count if count else math.inf
    power = _EXP(_MUL(_NEG(target), self))
    _MUL_SCALAR_(_MUL_OUT(target, power, out=grad_input), -norm)
    _ADD_(power, 1)
    return _MUL_(_DIV_(grad_input, power), grad_output)  # type: ignore[no-any-return]
