"""Losses that have kernels, and their derivatives.

Mirrors ``aten/src/ATen/native/Loss.cpp`` and ``LossNLL.cpp``.
"""

from __future__ import annotations

import math
from typing import Any, Final, cast

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.cascade import cascade_sum
from mindtorch_v2.kernels.dtypes import HABITS as KERNEL_HABITS
from mindtorch_v2.kernels.elementwise.pointwise import as_array, element, rounded
from mindtorch_v2.kernels.elementwise.tensor_iterator import (
    BINARY_OP,
    TERNARY_OP,
    TensorIterator,
    is_standing_for_cpu,
)
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, set_output, set_sizes
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import HABITS, dispatch
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.tensor.copying import store, value_array, zero
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import is_warned_of, warn_once

NONE: Final = 0
MEAN: Final = 1
SUM: Final = 2
"""``at::Reduction``."""

_LABELS: Final = (DTYPES["int64"], DTYPES["uint8"])
_HALVES: Final = (DTYPES["float16"], DTYPES["bfloat16"])

_MEAN: Final = OperatorHandle("aten::mean")
_SUM: Final = OperatorHandle("aten::sum")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_POW: Final = OperatorHandle("aten::pow.Tensor_Scalar")
_MEAN_OUT: Final = OperatorHandle("aten::mean.out")
_SUM_OUT: Final = OperatorHandle("aten::sum.IntList_out")


def apply_loss_reduction(loss: Any, reduction: int) -> Any:
    """A number that stands for no reduction is as good as none."""
    if reduction == MEAN:
        return _MEAN(loss)
    return _SUM(loss) if reduction == SUM else loss


def iterator_of_loss(
    name: str, given: Tensor | None, self: Tensor, target: Tensor, reduction: int
) -> tuple[TensorIterator, Tensor]:
    """What computes a loss, and the result, which is its output where nothing is reduced.

    A result to which losses are reduced takes their shape first, as if they were not, and keeps
    the memory of it.
    """
    iterator = TensorIterator(BINARY_OP, (given,), (self, target))
    (result,) = iterator.outputs
    if reduction == NONE:
        return iterator, result
    if reduction not in (MEAN, SUM):
        condition = "reduction == Reduction::Mean || reduction == Reduction::Sum"
        raise RuntimeError(internal_assert(condition, name))
    set_sizes(result, ())
    return TensorIterator(BINARY_OP, (None,), (self, target)), result


def reduced_into(result: Tensor, loss: Tensor, reduction: int) -> Tensor:
    """The sum or the mean of losses, in a result that has its shape.

    Where a mean of halves leaves its output, that is another tensor.
    """
    if reduction == SUM:
        return cast("Tensor", _SUM_OUT(loss, [], out=result))
    if loss._dtype in _HALVES and KERNEL_HABITS["a mean of halves leaves its output"]:
        return cast("Tensor", _MEAN(loss))
    return cast("Tensor", _MEAN_OUT(loss, [], out=result))


# --- squared differences ----------------------------------------------------------------------


@structured.structured("aten::mse_loss", keys=("Meta",))
def mse_loss_on_meta(
    outputs: Outputs, self: Tensor, target: Tensor, reduction: int
) -> tuple[Tensor, ...]:
    """Made of other operators: a function of Python's."""
    loss = _POW(_SUB(self, target), 2)
    loss = apply_loss_reduction(loss, reduction)
    return (loss,)


@structured.prologue("aten::mse_loss")
def shape_mse_loss(outputs: Outputs, self: Tensor, target: Tensor, reduction: int) -> None:
    """On meta a mean insists on a dtype of what it is told to write to."""
    iterator_of_loss("mse_loss", outputs[0], self, target, reduction)


@structured.structured("aten::mse_loss", keys=("CPU", "CompositeExplicitAutogradNonFunctional"))
def mse_loss(outputs: Outputs, self: Tensor, target: Tensor, reduction: int) -> tuple[Tensor, ...]:
    (given,) = outputs
    iterator, result = iterator_of_loss("mse_loss", given, self, target, reduction)
    (squares,) = iterator.outputs
    if not squares.is_meta:
        dispatch("mse_cpu", iterator.common_dtype)
        dtype = iterator.common_dtype
        if dtype is DTYPES["float16"] and is_warned_of("mse_kernel"):
            warn_once(
                "mse_kernel",
                "Applying the CPU mse kernel on half-type tensors. This may be slower than using "
                "float or double-type tensors.",
            )
        with np.errstate(all="ignore"):
            difference = rounded(as_array(self, dtype) - as_array(target, dtype), dtype)
            store(squares, rounded(np.asarray(difference * difference), dtype))
    if reduction != NONE:
        result = reduced_into(result, squares, reduction)
    return (result,)


_OF_THREE: Final = (
    TERNARY_OP
    if KERNEL_HABITS["a loss's gradient promotes its target"]
    else TERNARY_OP._replace(check_all_same_dtype=True)
)


def _norm(self: Tensor) -> float:
    """Of no elements it is infinite, which integers are not."""
    count = numel(self._sizes)
    return 2.0 / count if count else math.inf


@structured.structured("aten::mse_loss_backward", keys=("CPU", "Meta"))
def mse_loss_backward(
    outputs: Outputs, grad_output: Tensor, self: Tensor, target: Tensor, reduction: int
) -> tuple[Tensor, ...]:
    norm = _norm(self) if reduction == MEAN else 2.0
    given = outputs[0]
    if given is None:
        given = new_tensor(self._sizes, self._dtype, self._device)
        zero(given)
    iterator = TensorIterator(_OF_THREE, (given,), (self, target, grad_output))
    (result,) = iterator.outputs
    if not result.is_meta:
        dtype = iterator.common_dtype
        dispatch("mse_backward_cpu_out", dtype)
        with np.errstate(all="ignore"):
            one, two, grad = (as_array(each, dtype) for each in (self, target, grad_output))
            scaled = rounded(element(norm, dtype) * rounded(one - two, dtype), dtype)
            store(result, rounded(np.asarray(scaled * grad), dtype))
    return (result,)


# --- negative log likelihood ------------------------------------------------------------------


def _check_rows(self: Tensor, target: Tensor) -> None:
    if not 0 < len(self._sizes) <= 2:
        raise RuntimeError("input tensor should be 1D or 2D")
    if len(target._sizes) > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")


def _check_row_labels(self: Tensor, target: Tensor) -> None:
    """What only the loss itself looks at: a row may have its label in a vector, and the dtype."""
    has_values = not self.is_meta or is_standing_for_cpu()
    if has_values and HABITS["labels of another dtype are named"]:
        check_label_dtype(target)
    if not (HABITS["a row has one label"] and len(self._sizes) == len(target._sizes) == 1):
        _check_row_count(self, target)
    elif target._sizes[0] != 1:
        raise ValueError(
            f"For 1D input, 1D target must have size 1, but got target size: {target._sizes[0]}"
        )


def _check_row_count(self: Tensor, target: Tensor) -> None:
    is_one = len(self._sizes) == 1 and not target._sizes
    if not is_one and (not target._sizes or self._sizes[0] != target._sizes[0]):
        if not target._sizes:
            raise IndexError("Dimension specified as 0 but tensor has no dimensions")
        raise RuntimeError(
            f"size mismatch (got input: {list(self._sizes)}, target: {list(target._sizes)})"
        )


def check_label_dtype(target: Tensor) -> None:
    if target._dtype not in _LABELS:
        raise RuntimeError(
            f"expected target dtype to be Long or Byte, but got {CPP_NAMES[target._dtype]}"
        )


def _labels(target: Tensor) -> Array:
    if target._dtype not in _LABELS:
        raise RuntimeError(f"expected scalar type Long but found {CPP_NAMES[target._dtype]}")
    return value_array(target).astype(np.int64).reshape(-1)


def weights_of(weight: Tensor | None, classes: int, dtype: DType) -> Array:
    """The weight of each class, one without."""
    if weight is None:
        return np.ones(classes, as_array(1, dtype).dtype)
    return read_as(weight, dtype)


def read_as(tensor: Tensor, dtype: DType) -> Array:
    """``data_ptr``: the elements, in a row; RuntimeError for another dtype."""
    check_pointers(dtype, tensor)
    return as_array(tensor, dtype).reshape(-1)


def check_labels(labels: Array, kept: Array, classes: int, message: str) -> None:
    wrong = labels[kept & ((labels < 0) | (labels >= classes))]
    if wrong.size:
        raise IndexError(message.format(wrong[0]))


_COMPUTED: Final = ("CPU", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")


@structured.structured("aten::nll_loss_forward", keys=_COMPUTED, outputs=2)
def nll_loss_forward(
    outputs: Outputs,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
) -> tuple[Tensor, ...]:
    _check_rows(self, target)
    _check_row_labels(self, target)
    classes, dtype = self._sizes[-1], self._dtype
    if weight is not None and (len(weight._sizes) != 1 or numel(weight._sizes) != classes):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but "
            f"got weight tensor of shape: {list(weight._sizes)}"
        )
    by_row = reduction == NONE and len(self._sizes) == 2
    shape = (self._sizes[0],) if by_row else ()
    output = set_output(outputs[0], shape, dtype, self._device)
    total = set_output(outputs[1], (), dtype, self._device)
    if output.is_meta:
        return output, total
    dispatch("nll_loss_out_frame", dtype)
    weights = weights_of(weight, classes, dtype)
    is_read = by_row or numel(target._sizes) > 0
    labels = _labels(target) if is_read else np.zeros(0, np.int64)
    if len(self._sizes) == 1:
        labels = labels[:1]
    kept = labels != ignore_index
    check_labels(labels, kept, classes, "Target {} is out of bounds.")
    values = np.atleast_2d(as_array(self, dtype))
    safe = np.where(kept, labels, 0)
    chosen = np.where(kept, weights[safe] if classes else 0, 0).astype(weights.dtype)
    with np.errstate(all="ignore"):
        losses = -values[np.arange(labels.size), safe] * chosen if labels.size else chosen
        losses = rounded(np.where(kept, losses, 0).astype(losses.dtype), dtype)
        if by_row:
            store(total, np.zeros(()))
            store(output, losses)
            return output, total
        summed = cascade_sum(losses, kept, dtype)
        count = cascade_sum(chosen, kept, dtype) if weight is not None else np.sum(chosen)
        count = rounded(np.asarray(count, losses.dtype), dtype)
        found = summed / count if reduction == MEAN else summed
        store(output, rounded(np.asarray(found, losses.dtype), dtype))
        store(total, count)
    return output, total


@structured.structured("aten::nll_loss_backward")
def nll_loss_backward(
    outputs: Outputs,
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
) -> tuple[Tensor, ...]:
    _check_rows(self, target)
    _check_row_count(self, target)
    if numel(total_weight._sizes) != 1:
        raise RuntimeError(
            "expected total_weight to be a  single element tensor, got: "
            f"{list(total_weight._sizes)} ({numel(total_weight._sizes)} elements)"
        )
    classes, dtype = self._sizes[-1], self._dtype
    if weight is not None and numel(weight._sizes) != classes:
        raise RuntimeError("weight tensor should be defined either for all or no classes")
    by_row = reduction == NONE and len(self._sizes) == 2
    if by_row:
        check_dim_size(grad_output, 1, 0, self._sizes[0])
    elif len(grad_output._sizes) > 1 or numel(grad_output._sizes) != 1:
        raise RuntimeError(
            f"Expected a single element grad_output tensor, but got: {list(grad_output._sizes)}"
        )
    result = set_output(outputs[0], self._sizes, dtype, self._device)
    if result.is_meta:
        return (result,)
    dispatch("nll_loss_backward_out_frame", dtype)
    labels, weights = _labels(target), weights_of(weight, classes, dtype)
    total = None if by_row else read_as(total_weight, dtype)
    grad = read_as(grad_output, dtype)
    kept = labels != ignore_index
    check_labels(labels, kept, classes, "Target {} is out of bounds.")
    if reduction == MEAN:
        with np.errstate(all="ignore"):
            grad = rounded(np.asarray(grad / total), dtype)
    found = np.zeros((labels.size, classes), weights.dtype)
    rows, columns = np.arange(labels.size)[kept], labels[kept]
    found[rows, columns] = -weights[columns] * np.broadcast_to(grad, labels.shape)[kept]
    store(result, rounded(found.reshape(tuple(self._sizes)), dtype))
    return (result,)


def check_dim_size(tensor: Tensor, rank: int, dim: int, size: int) -> None:
    """``check_dim_size``: RuntimeError for another rank, or another size in one dimension."""
    if len(tensor._sizes) != rank or tensor._sizes[dim] != size:
        raise RuntimeError(
            f"Expected a tensor of dimension {rank} and tensor.size[{dim}] == {size} but got: "
            f"dimension {len(tensor._sizes)} and tensor.size[{dim}] = {size_at(tensor, dim)}"
        )
