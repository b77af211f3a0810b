"""Losses that are squared near to the target and not so far from it, and binary cross entropy.

Mirrors ``aten/src/ATen/native/Loss.cpp``, ``cpu/BinaryOpsKernel.cpp`` and
``cpu/PointwiseOpsKernel.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.losses import (
    MEAN,
    NONE,
    apply_loss_reduction,
    iterator_of_loss,
    reduced_into,
)
from mindtorch_v2.kernels.elementwise.pointwise import as_array, element, opmath_element, rounded
from mindtorch_v2.kernels.elementwise.promotion import to_opmath
from mindtorch_v2.kernels.elementwise.tensor_iterator import (
    BINARY_OP,
    TERNARY_OP,
    UNARY_OP,
    TensorIterator,
)
from mindtorch_v2.kernels.elementwise.vector_loop import in_vectors
from mindtorch_v2.kernels.foretold import foretell
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, set_sizes
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import HABITS, dispatch
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_PRESERVE: Final = MEMORY_FORMATS["preserve_format"]
_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_ZEROS_LIKE: Final = OperatorHandle("aten::zeros_like")
_MEAN_OUT: Final = OperatorHandle("aten::mean.out")
_SUM_OUT: Final = OperatorHandle("aten::sum.IntList_out")
_SQUEEZE: Final = OperatorHandle("aten::squeeze")
_MUL_: Final = OperatorHandle("aten::mul_.Tensor")
_DIV_: Final = OperatorHandle("aten::div_.Scalar")
_COPY_: Final = OperatorHandle("aten::copy_")
_RESIZE_AS_: Final = OperatorHandle("aten::resize_as_")
_SMOOTH_L1_BACKWARD: Final = OperatorHandle("aten::smooth_l1_loss_backward.grad_input")
_HUBER_BACKWARD: Final = OperatorHandle("aten::huber_loss_backward.out")


def _arrays(iterator: TensorIterator) -> list[Array]:
    return [as_array(each, iterator.common_dtype) for each in iterator.inputs]


def _write(output: Tensor, found: Any, like: Array) -> None:
    store(output, rounded(np.asarray(found, like.dtype), output._dtype))


# --- smooth L1 --------------------------------------------------------------------------------


@structured.structured(
    "aten::smooth_l1_loss", keys=("CPU", "CompositeExplicitAutogradNonFunctional")
)
def smooth_l1_loss(
    outputs: Outputs, self: Tensor, target: Tensor, reduction: int, beta: float
) -> tuple[Tensor, ...]:
    if not beta >= 0:  # NaN neither
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    (given,) = outputs
    iterator, result = iterator_of_loss("smooth_l1_loss", given, self, target, reduction)
    (loss,) = iterator.outputs
    if not loss.is_meta:
        _write_smooth_l1(loss, iterator, beta)
    if reduction != NONE:
        result = reduced_into(result, loss, reduction)
    return (result,)


def _write_smooth_l1(loss: Tensor, iterator: TensorIterator, beta: float) -> None:
    dtype = iterator.common_dtype
    dispatch("smooth_l1_cpu", dtype)
    step = to_opmath(dtype) if dtype is DTYPES["bfloat16"] else dtype
    with np.errstate(all="ignore"):
        one, two = _arrays(iterator)
        limit, half = element(beta, step), one.dtype.type(0.5)
        distance = np.abs(rounded(one - two, step))
        near = rounded(rounded(half * distance, step) * distance, step) / limit
        far = distance - rounded(np.asarray(half * limit), step)
        _write(loss, np.where(distance < limit, near, far), one)


@kernel("aten::smooth_l1_loss_backward", key="CompositeExplicitAutograd")
def smooth_l1_loss_backward(
    grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, beta: float
) -> Any:
    made = _ZEROS_LIKE(self, memory_format=_CONTIGUOUS)
    return _SMOOTH_L1_BACKWARD(grad_output, self, target, reduction, beta, grad_input=made)


@kernel("aten::smooth_l1_loss_backward.grad_input")
def smooth_l1_loss_backward_out(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    reduction: int,
    beta: float,
    grad_input: Tensor,
) -> Tensor:
    iterator = TensorIterator(TERNARY_OP, (grad_input,), (self, target, grad_output))
    dtype = iterator.common_dtype
    dispatch("smooth_l1_backward_cpu_out", dtype)
    with np.errstate(all="ignore"):
        one, two, grad = _arrays(iterator)
        norm = opmath_element(_norm(self, reduction), dtype)
        is_in_vectors = in_vectors(iterator)
        found = _pull_one_by_one(one, two, norm, grad, beta)
        if is_in_vectors.any():
            found = np.where(is_in_vectors, _pull_in_vectors(one - two, norm, grad, beta), found)
        _write(grad_input, found, one)
    return grad_input


def _pull_one_by_one(one: Array, two: Array, norm: Any, grad: Array, beta: float) -> Array:
    """In C++'s arithmetic: small integers are no longer small, and ``beta`` is the double it is."""
    kind = one.dtype
    if kind.kind in "iu" and kind.itemsize < 4:
        one, two, grad, norm = (
            np.asarray(each).astype(np.int32) for each in (one, two, grad, norm)
        )
    distance = one - two
    near = np.divide(norm * distance * grad, beta, dtype=np.float64).astype(kind)
    far = np.where(distance <= -beta, -norm * grad, norm * grad).astype(kind)
    return np.asarray(np.where((distance <= -beta) | (distance >= beta), far, near))


def _pull_in_vectors(distance: Array, norm: Any, grad: Array, beta: float) -> Array:
    """All in the type of the elements, ``beta`` too."""
    limit = np.float64(beta).astype(distance.dtype)
    share = np.trunc(distance / limit) if distance.dtype.kind in "iu" else distance / limit
    end = np.where(distance > 0, 1, -1)
    slope = np.where(np.abs(distance) >= limit, end, share).astype(distance.dtype)
    return np.asarray(norm * slope * grad)


def _norm(self: Tensor, reduction: int) -> float:
    return float(np.float64(1) / numel(self._sizes)) if reduction == MEAN else 1.0


# --- Huber ------------------------------------------------------------------------------------


def _check_delta(delta: float) -> None:
    if not delta > 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")


@kernel("aten::huber_loss")
def huber_loss(self: Tensor, target: Tensor, reduction: int, delta: float) -> Any:
    _check_delta(delta)
    loss = _EMPTY_LIKE(self, memory_format=_PRESERVE)
    whole = reduction == NONE
    foretell("aten::huber_loss", loss if whole else new_tensor((), loss._dtype, loss._device))
    return apply_loss_reduction(_huber(loss, self, target, delta), reduction)


@kernel("aten::huber_loss.out")
def huber_loss_out(
    self: Tensor, target: Tensor, reduction: int, delta: float, out: Tensor
) -> Tensor:
    _check_delta(delta)
    _huber(out, self, target, delta)
    if reduction != NONE:
        reduced = apply_loss_reduction(out, reduction)
        set_sizes(out, ())
        _COPY_(out, reduced)
    return out


_IN_FLOATS: Final = "a Huber loss of float16 is computed in floats"
"""Otherwise each step is a value of the dtype."""


def _huber(loss: Tensor, self: Tensor, target: Tensor, delta: float) -> Tensor:
    iterator = TensorIterator(BINARY_OP, (loss,), (self, target))
    dtype = iterator.common_dtype
    dispatch("huber_cpu", dtype)
    in_floats = dtype is DTYPES["float16"] and HABITS[_IN_FLOATS]
    step = to_opmath(dtype) if in_floats else dtype
    with np.errstate(all="ignore"):
        one, two = _arrays(iterator)
        limit, half = element(delta, step), one.dtype.type(0.5)
        distance = np.abs(rounded(one - two, step))
        near = rounded(half * distance, step) * distance
        far = limit * rounded(distance - rounded(np.asarray(half * limit), step), step)
        _write(loss, np.where(distance < limit, near, far), one)
    return loss


@kernel("aten::huber_loss_backward", key="CompositeExplicitAutograd")
def huber_loss_backward(
    grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, delta: float
) -> Any:
    made = _ZEROS_LIKE(self, memory_format=_CONTIGUOUS)
    return _HUBER_BACKWARD(grad_output, self, target, reduction, delta, grad_input=made)


@kernel("aten::huber_loss_backward.out")
def huber_loss_backward_out(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    reduction: int,
    delta: float,
    grad_input: Tensor,
) -> Tensor:
    iterator = TensorIterator(UNARY_OP, (grad_input,), (self, target, grad_output))
    dtype = iterator.common_dtype
    dispatch("huber_backward_cpu_out", dtype)
    with np.errstate(all="ignore"):
        one, two, grad = _arrays(iterator)
        norm, limit = (opmath_element(each, dtype) for each in (_norm(self, reduction), delta))
        distance = one - two
        slope = np.where(np.abs(distance) >= limit, np.sign(distance) * limit, distance)
        _write(grad_input, norm * slope * grad, one)
    return grad_input


# --- binary cross entropy ---------------------------------------------------------------------


@kernel("aten::binary_cross_entropy")
def binary_cross_entropy(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int
) -> Any:
    loss = _EMPTY_LIKE(self, memory_format=_PRESERVE)
    return binary_cross_entropy_out(self, target, weight, reduction, loss)


@kernel("aten::binary_cross_entropy.out")
def binary_cross_entropy_out(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, out: Tensor
) -> Tensor:
    """No logarithm is less than -100."""
    squeezed = _SQUEEZE(out)
    iterator = TensorIterator(UNARY_OP, (squeezed,), (_SQUEEZE(self), _SQUEEZE(target)))
    dtype = iterator.common_dtype
    dispatch("binary_cross_entropy", dtype)
    with np.errstate(all="ignore"):
        one, two = _arrays(iterator)
        _check_shares(one, two, squeezed._strides)
        least = one.dtype.type(-100)
        rest, own = (
            np.maximum(rounded(each, dtype), least) for each in (np.log1p(-one), np.log(one))
        )
        first = rounded(rounded(two - 1, dtype) * rest, dtype)
        _write(squeezed, first - rounded(two * own, dtype), one)
    if weight is not None:
        _MUL_(out, weight)
    if reduction != NONE:
        reduced = apply_loss_reduction(out, reduction)
        _COPY_(_RESIZE_AS_(out, reduced), reduced)
    return out


def _check_shares(input: Array, target: Array, strides: Sequence[int]) -> None:
    """RuntimeError for the first element that is no share, of the input before the target.

    They are looked at in the order in which the results lie, which have these ``strides``.
    """
    order = sorted(range(len(strides)), key=lambda dim: -strides[dim])
    elements = (values.transpose(order) for values in np.broadcast_arrays(input, target))
    wrong = [~((values >= 0) & (values <= 1)).ravel() for values in elements]
    if not any(each.any() for each in wrong):
        return
    first, second = (each.argmax() if each.any() else each.size for each in wrong)
    name = "input" if first <= second else "target"
    raise RuntimeError(f"all elements of {name} should be between 0 and 1")


@kernel("aten::binary_cross_entropy_backward")
def binary_cross_entropy_backward(
    grad_output: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int
) -> Any:
    made = _EMPTY_LIKE(self, memory_format=_PRESERVE)
    return binary_cross_entropy_backward_out(grad_output, self, target, weight, reduction, made)


@kernel("aten::binary_cross_entropy_backward.grad_input")
def binary_cross_entropy_backward_out(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    grad_input: Tensor,
) -> Tensor:
    squeezed = _SQUEEZE(grad_input)
    inputs = tuple(map(_SQUEEZE, (grad_output, self, target)))
    iterator = TensorIterator(UNARY_OP, (squeezed,), inputs)
    dtype = iterator.common_dtype
    dispatch("binary_cross_entropy_backward", dtype)
    with np.errstate(all="ignore"):
        grad, one, two = _arrays(iterator)
        spread = rounded(rounded(1 - one, dtype) * one, dtype)
        spread = np.maximum(spread, element(1e-12, dtype))  # of a half that is zero
        found = rounded(grad * rounded(one - two, dtype), dtype)
        _write(squeezed, found / spread, one)
    if weight is not None:
        _MUL_(grad_input, weight)
    if reduction == MEAN:
        _DIV_(grad_input, numel(self._sizes))
    return grad_input
