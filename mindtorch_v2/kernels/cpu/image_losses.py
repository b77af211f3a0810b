"""The negative log likelihood of images, each place of which has a label.

Mirrors ``aten/src/ATen/native/LossNLL2d.cpp``.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.cascade import cascade_sum
from mindtorch_v2.kernels.cpu.losses import (
    MEAN,
    NONE,
    check_label_dtype,
    check_labels,
    read_as,
    weights_of,
)
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.elementwise.tensor_iterator import is_standing_for_cpu
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, resize_output, set_sizes
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import HABITS, dispatch
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import is_contiguous, numel
from mindtorch_v2.tensor.tensor import Tensor

_LONG: Final = DTYPES["int64"]
_FILL_: Final = OperatorHandle("aten::fill_.Scalar")
_ZERO_: Final = OperatorHandle("aten::zero_")
_ZEROS_LIKE: Final = OperatorHandle("aten::zeros_like")
_OUT_OF_BOUNDS: Final = "Target {} is out of bounds."


def _check_images(self: Tensor, target: Tensor, weight: Tensor | None) -> None:
    if len(target._sizes) != 3:
        raise RuntimeError(
            "only batches of spatial targets supported (3D tensors) but got targets of dimension: "
            f"{len(target._sizes)}"
        )
    if len(self._sizes) != 4:
        raise RuntimeError(
            "only batches of spatial inputs supported (4D tensors), but got input of dimension: "
            f"{len(self._sizes)}"
        )
    has_values = not self.is_meta or is_standing_for_cpu()
    if has_values and HABITS["labels of another dtype are named"]:
        check_label_dtype(target)
    count, classes, *image = self._sizes
    if weight is not None and numel(weight._sizes) != classes:
        raise RuntimeError("weight tensor should be defined either for all or no classes")
    if (count, *image) != tuple(target._sizes):
        raise RuntimeError(
            f"size mismatch (got input: {list(self._sizes)} , target: {list(target._sizes)}"
        )


def _labels(target: Tensor) -> Array:
    check_pointers(_LONG, target)
    return value_array(target)


# --- forward ----------------------------------------------------------------------------------


@kernel("aten::nll_loss2d_forward", key="Meta")
def nll_loss2d_forward_on_meta(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, ...]:
    _check_images(self, target, weight)
    shapes = (target._sizes if reduction == NONE else (), ())
    made = [new_tensor(shape, self._dtype, self._device) for shape in shapes]
    return made[0], made[1]


@structured.structured("aten::nll_loss2d_forward", keys=("CPU",), outputs=2)
def nll_loss2d_forward(
    outputs: Outputs,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
) -> tuple[Tensor, ...]:
    """Outputs are looked at when they are written to, which is the total first."""
    _check_images(self, target, weight)
    dtype, classes = self._dtype, self._sizes[1]
    output, total = (
        new_tensor((0,), dtype, self._device) if each is None else each for each in outputs
    )
    set_sizes(total, ())
    dispatch("nll_loss_out_frame", dtype, said="nll_loss2d_forward_out_frame")
    check_pointers(dtype, total)
    check_pointers(dtype, weight)
    resize_output(output, target._sizes if reduction == NONE else ())
    if reduction == NONE:
        check_pointers(dtype, output)
    elif not numel(target._sizes):
        if reduction == MEAN:
            _FILL_(output, math.nan)
        else:
            _ZERO_(output)
        _ZERO_(total)
        return output, total
    check_pointers(_LONG, target)
    if output.is_meta:
        check_pointers(dtype, output)
        return output, total
    labels, values = _labels(target), as_array(self, dtype)
    weights = weights_of(weight, classes, dtype)
    kept = labels != ignore_index
    check_labels(labels, kept, classes, _OUT_OF_BOUNDS)
    with np.errstate(all="ignore"):
        losses, chosen = _each(values, labels, kept, weights)
        if reduction == NONE:
            store(output, rounded(losses, dtype))
            store(total, np.zeros(()))
            return output, total
        losses, kept = rounded(losses, dtype).reshape(-1), kept.reshape(-1)
        summed = cascade_sum(losses, kept, dtype)
        weighed = cascade_sum(chosen.reshape(-1), kept, dtype)
        count = kept.sum() if weight is None else weighed
        count = rounded(np.asarray(count, losses.dtype), dtype)
        found = summed / count if reduction == MEAN else summed
        store(total, count)
        check_pointers(dtype, output)
        store(output, rounded(np.asarray(found, losses.dtype), dtype))
    return output, total


def _each(values: Array, labels: Array, kept: Array, weights: Array) -> tuple[Array, Array]:
    """The loss of each place, and the weight of its label: nought where it is ignored."""
    if not values.size:
        nothing = np.zeros(labels.shape, values.dtype)
        return nothing, nothing
    safe = np.where(kept, labels, 0)
    chosen = np.where(kept, weights[safe], 0).astype(weights.dtype)
    picked = np.take_along_axis(values, safe[:, None], 1)[:, 0]
    losses = np.where(kept, -picked * chosen, 0)
    return losses.astype(values.dtype), chosen


# --- backward ---------------------------------------------------------------------------------


def _check_gradients(grad_output: Tensor, target: Tensor) -> None:
    """``check_gradout_shape_nll_loss2d``, which names sizes where it counts dimensions."""
    sizes, wanted = list(grad_output._sizes), list(target._sizes)
    if len(sizes) != 3:
        raise RuntimeError(
            f"grad_output must have same dimension as target (3) but got dimension: {sizes}"
        )
    if sizes != wanted:
        raise RuntimeError(f"size mismatch (got grad_output: {sizes} target: {wanted}")


@kernel("aten::nll_loss2d_backward", key="Meta")
def nll_loss2d_backward_on_meta(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
) -> Tensor:
    _check_images(self, target, weight)
    return new_tensor(self._sizes, self._dtype, self._device)


@structured.structured("aten::nll_loss2d_backward", keys=("CPU",))
def nll_loss2d_backward(
    outputs: Outputs,
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
) -> tuple[Tensor, ...]:
    result = _ZEROS_LIKE(self, memory_format=None) if outputs[0] is None else outputs[0]
    _check_images(self, target, weight)
    set_sizes(result, tuple(self._sizes))
    _ZERO_(result)
    if not is_contiguous(result._sizes, result._strides):
        raise RuntimeError("grad_input must be contiguous")
    if (count := numel(total_weight._sizes)) != 1:
        raise RuntimeError(
            "expected total_weight to be a single element tensor, got: "
            f"{list(total_weight._sizes)} ({count} elements)"
        )
    dtype, classes = self._dtype, self._sizes[1]
    dispatch("nll_loss_backward_out_frame", dtype, said="nll_loss2d_backward_out_frame")
    if result.is_meta:
        check_pointers(dtype, weight, result)
        return (result,)
    weights = weights_of(weight, classes, dtype)
    with np.errstate(all="ignore"):
        if reduction == NONE:
            _check_gradients(grad_output, target)
            check_pointers(dtype, result, grad_output)
            grad, labels = as_array(grad_output, dtype), _labels(target)
            kept = labels != ignore_index  # what else is no label, C++ writes somewhere
            kept &= (labels >= 0) & (labels < classes)
        else:
            total = read_as(total_weight, dtype)
            if len(grad_output._sizes) > 1 or numel(grad_output._sizes) != 1:
                raise RuntimeError(
                    "Expected a single element grad_output tensor, but got: "
                    f"{list(grad_output._sizes)}"
                )
            grad, labels = read_as(grad_output, dtype), _labels(target)
            check_pointers(dtype, result)
            if reduction == MEAN:
                grad = rounded(np.asarray(grad / total), dtype)
            kept = labels != ignore_index
            check_labels(labels, kept, classes, _OUT_OF_BOUNDS)
        found = np.zeros(tuple(self._sizes), weights.dtype)
        batch, row, column = np.nonzero(kept)
        chosen = labels[kept]
        found[batch, chosen, row, column] = (
            -weights[chosen] * np.broadcast_to(grad, labels.shape)[kept]
        )
        store(result, rounded(found, dtype))
    return (result,)
