"""The loss of sequences that are aligned with no more than labels (connectionist temporal
classification), and its derivative.

Mirrors ``aten/src/ATen/native/LossCTC.cpp``.  Between two labels, and around them, may stand a
blank: of a target of ``n`` labels there are ``2 * n + 1`` states, every other one a blank.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.cpu.functions.c_library import exp, log
from mindtorch_v2.kernels.elementwise.pointwise import as_array
from mindtorch_v2.kernels.elementwise.promotion import BOOL
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.pointers import check_accessor, check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HABITS, dispatch_over
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_string import type_string

_LONG: Final = DTYPES["int64"]
_INT: Final = DTYPES["int32"]
_CPU: Final = Device("cpu")
_INFINITY: Final = float("inf")
_LOSS: Final = OperatorHandle("aten::_ctc_loss")
_BACKWARD: Final = OperatorHandle("aten::_ctc_loss_backward")
_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_FILL_: Final = OperatorHandle("aten::fill_.Scalar")
_FULL_LIKE: Final = OperatorHandle("aten::full_like")
_NARROW: Final = OperatorHandle("aten::narrow")
_PERMUTE: Final = OperatorHandle("aten::permute")
_TO_DEVICE: Final = OperatorHandle("aten::to.device")
_CHECKING: Final = "(while checking arguments for ctc_loss_allocate_outputs)"


# --- lengths ----------------------------------------------------------------------------------


def check_lengths(input_lengths: Tensor, target_lengths: Tensor) -> None:
    for name, lengths in (("input", input_lengths), ("target", target_lengths)):
        if lengths._dtype is BOOL or not is_integral(lengths._dtype):
            raise RuntimeError(f"{name}_lengths must be integral")


def numbers_of(lengths: Tensor) -> list[int]:
    """In a row, whatever the shape."""
    found = _CONTIGUOUS(_TO_DEVICE(lengths, _CPU, _LONG))
    return [int(each) for each in value_array(found).reshape(-1)]


def _check_each(name: str, length: int, most: int | None = None) -> None:
    where = f"but got value {length} {_CHECKING}"
    if length < 0:
        raise RuntimeError(f"Expected {name} to have value at least 0, {where}")
    if most is not None and length > most:
        raise RuntimeError(f"Expected {name} to have value at most {most}, {where}")


# --- shapes -----------------------------------------------------------------------------------


def _check_shapes(log_probs: Tensor, targets: Tensor, blank: int) -> None:
    """What ``ctc_loss_allocate_outputs`` asks before it looks at lengths."""
    wanted = _LONG if targets._dtype is _LONG else _INT
    if targets._dtype is not wanted:
        raise RuntimeError(
            f"Expected tensor for argument #2 'targets' to have scalar type {CPP_NAMES[wanted]}; "
            f"but got {type_string(targets)} instead {_CHECKING}"
        )
    if (rank := len(log_probs._sizes)) != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {rank}-dimensional tensor for argument #1 "
            f"'log_probs' {_CHECKING}"
        )
    if (rank := len(targets._sizes)) not in (1, 2):
        raise RuntimeError(
            f"Expected 1 to 2 dimensions, but got {rank}-dimensional tensor for argument #2 "
            f"'targets' {_CHECKING}"
        )
    if not 0 <= blank < log_probs._sizes[2]:
        raise RuntimeError("blank must be in label range")


def _check_target_size(targets: Tensor, wanted: int) -> None:
    if targets._sizes[0] != wanted:
        raise RuntimeError(
            f"Expected tensor to have size {wanted} at dimension 0, but got size "
            f"{targets._sizes[0]} for argument #2 'targets' {_CHECKING}"
        )


def _allocated(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int,
) -> tuple[Tensor, Tensor]:
    """``ctc_loss_allocate_outputs``: the losses, and the logarithms of what leads to each state."""
    _check_shapes(log_probs, targets, blank)
    time, batch, _ = log_probs._sizes
    for name, lengths in (("input", input_lengths), ("target", target_lengths)):
        if len(lengths) != batch:
            raise RuntimeError(f"{name}_lengths must be of size batch_size")
    for length in target_lengths:
        _check_each("target_lengths", length)
    longest = max(target_lengths, default=0)
    if len(targets._sizes) == 1:
        _check_target_size(targets, sum(target_lengths))
    else:
        _check_target_size(targets, batch)
        if targets._sizes[1] < longest:
            raise RuntimeError(
                f"Expected tensor to have size at least {longest} at dimension 1, but got size "
                f"{targets._sizes[1]} for argument #2 'targets' {_CHECKING}"
            )
    for length in input_lengths:
        _check_each("input_lengths", length, time)
    dtype, device = log_probs._dtype, log_probs._device
    log_alpha = new_tensor((batch, time, 2 * longest + 1), dtype, device)
    return new_tensor((batch,), dtype, device), log_alpha


def _states(
    targets: Tensor, target_lengths: Sequence[int], batch: int, blank: int, classes: int
) -> list[Array]:
    """The label of each state, for each element of the batch.

    Where targets stand one behind the other, C++ adds up their lengths and not their strides.  What
    it reads of labels that are none is whatever lies there; here it is the nearest label.
    """
    in_a_row = len(targets._sizes) == 1
    stride = targets._strides[0 if in_a_row else 1]
    found, passed = [], 0
    for place, length in zip(range(batch), target_lengths, strict=False):
        start = passed if in_a_row else place * targets._strides[0]
        labels = targets._as_view((length,), (stride,), targets._storage_offset + start)
        states = np.full(2 * length + 1, blank, np.int64)
        states[1::2] = np.clip(value_array(labels), 0, max(classes - 1, 0))
        found.append(states)
        passed += length
    return found


# --- arithmetic -------------------------------------------------------------------------------


def _later(row: Array, places: int) -> Array:
    """What stands ``places`` states before each state; after it if that is negative."""
    found = np.full_like(row, -_INFINITY)
    if places > 0:
        found[places:] = row[:-places]
    else:
        found[:places] = row[-places:]
    return found


def _step(row: Array, states: Array, log_probs: Array, direction: int) -> Array:
    """The states after a step in time, or before one if ``direction`` is -1.

    A state comes from itself, from the one next to it and, if their labels are different, from the
    one next to that.
    """
    size = row.size
    one = _later(row, direction) if size > 1 else np.full_like(row, -_INFINITY)
    two = np.full_like(row, -_INFINITY)
    if size > 2:
        two = _later(row, 2 * direction)
        labels = _later(states.astype(np.float64), 2 * direction)
        two = np.where(labels == states, -_INFINITY, two).astype(row.dtype)
    most = np.where(one > row, one, row)
    most = np.where(two > most, two, most)
    most = np.where(most == -_INFINITY, 0, most).astype(row.dtype)
    total = exp(row - most) + exp(one - most) + exp(two - most)
    return np.asarray(log(total) + most + log_probs[states])


def _added(one: Array, two: Array) -> Array:
    """The logarithm of a sum, from the logarithms of both."""
    most = np.where(one < two, two, one)
    found = log(exp(one - most) + exp(two - most)) + most
    return np.where(one == -_INFINITY, two, found).astype(one.dtype)


def _likelihood(last: Array) -> Any:
    """Of the last time's states: a target may end with its label or with a blank."""
    if last.size == 1:
        return last[0]
    one, two = last[-1:], last[-2:-1]
    most = np.where(one < two, two, one)
    most = np.where(most == -_INFINITY, 0, most).astype(last.dtype)
    return (log(exp(one - most) + exp(two - most)) + most)[0]


def _forward(log_probs: Array, states: Array, length: int) -> Array:
    """The logarithm of what leads to each state, at each time."""
    alpha = np.full((length, states.size), -_INFINITY, log_probs.dtype)
    alpha[0, :2] = log_probs[0, states[:2]]
    for time in range(1, length):
        alpha[time] = _step(alpha[time - 1], states, log_probs[time], 1)
    return alpha


def _backward(log_probs: Array, states: Array, alpha: Array) -> Array:
    """The logarithm of what leads through each label, at each time."""
    length, count = alpha.shape
    beta = np.full_like(alpha, -_INFINITY)
    through = np.full_like(log_probs[:length], -_INFINITY)
    for state in range(count - 1, max(count - 3, -1), -1):
        label = states[state]
        beta[-1, state] = log_probs[length - 1, label]
        through[-1, label] = alpha[-1, state] + beta[-1, state]
    for time in range(length - 2, -1, -1):
        beta[time] = _step(beta[time + 1], states, log_probs[time], -1)
    both = alpha + beta
    for state in range(count - 1, -1, -1):
        label = states[state]
        through[:-1, label] = _added(through[:-1, label], both[:-1, state])
    return through


# --- the loss ---------------------------------------------------------------------------------


@kernel("aten::_ctc_loss", key="Meta")
def ctc_loss_on_meta(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int,
    zero_infinity: bool,
) -> tuple[Tensor, Tensor]:
    dispatch_over(FLOATING_TYPES, "ctc_loss_meta", log_probs._dtype)
    return _allocated(log_probs, targets, input_lengths, target_lengths, blank)


@kernel("aten::_ctc_loss", key="CPU")
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int,
    zero_infinity: bool,
) -> tuple[Tensor, Tensor]:
    """The losses, and what the derivative needs; there infinite ones are looked at."""
    dtype = log_probs._dtype
    dispatch_over(FLOATING_TYPES, "ctc_loss_cpu", dtype)
    if not numel(log_probs._sizes) and HABITS["a loss of no log probabilities is refused"]:
        raise RuntimeError("log_probs tensor must not be empty")
    losses, log_alpha = _allocated(log_probs, targets, input_lengths, target_lengths, blank)
    _FILL_(_NARROW(log_alpha, 1, 0, 1), -_INFINITY)
    _, batch, classes = log_probs._sizes
    values, found = as_array(log_probs, dtype), np.array(as_array(log_alpha, dtype))
    likelihoods = np.zeros(batch, values.dtype)
    with np.errstate(all="ignore"):
        for place, states in enumerate(_states(targets, target_lengths, batch, blank, classes)):
            length = input_lengths[place]
            if not length:
                likelihoods[place] = 0 if states.size == 1 else -_INFINITY
                continue
            alpha = _forward(values[:, place], states, length)
            found[place, :length, : states.size] = alpha
            likelihoods[place] = _likelihood(alpha[-1])
        store(losses, -likelihoods)
    store(log_alpha, found)
    return losses, log_alpha


@kernel("aten::_ctc_loss.Tensor", key="CPU")
def ctc_loss_of_tensors(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int,
    zero_infinity: bool,
) -> Any:
    check_lengths(input_lengths, target_lengths)
    lengths = [numbers_of(each) for each in (input_lengths, target_lengths)]
    return _LOSS(log_probs, targets, *lengths, blank, zero_infinity)


# --- its derivative ---------------------------------------------------------------------------


def _accessed(tensor: Tensor, rank: int, dtype: DType) -> Array:
    """``accessor``: RuntimeError for another rank, or another dtype."""
    check_accessor(dtype, rank, tensor)
    return as_array(tensor, dtype)


@kernel("aten::_ctc_loss_backward", key="CPU")
def ctc_loss_backward(
    grad: Tensor,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    neg_log_likelihood: Tensor,
    log_alpha: Tensor,
    blank: int,
    zero_infinity: bool,
) -> Any:
    """What the loss has checked is not checked again."""
    dtype = log_probs._dtype
    dispatch_over(FLOATING_TYPES, "ctc_loss_backward_cpu", dtype)
    _, batch, classes = (size_at(log_probs, dim) for dim in (0, 1, 2))
    contiguous = MEMORY_FORMATS["contiguous_format"]
    made: Tensor = _FULL_LIKE(log_probs, -_INFINITY, memory_format=contiguous)
    for dim in range(min(len(targets._sizes), 2) or 1):
        size_at(targets, dim)
    values = as_array(_PERMUTE(log_probs, [1, 0, 2]), dtype)
    alphas = _accessed(log_alpha, 3, dtype)
    check_pointers(_LONG if targets._dtype is _LONG else _INT, targets)
    grads = _accessed(grad, 1, dtype)
    found = np.zeros((batch, *values.shape[1:]), values.dtype)
    with np.errstate(all="ignore"):
        for place, states in enumerate(_states(targets, target_lengths, batch, blank, classes)):
            loss, length = _accessed(neg_log_likelihood, 1, dtype)[place], input_lengths[place]
            if (zero_infinity and loss == _INFINITY) or not length:
                continue
            rows = values[place, :length]
            through = _backward(rows, states, alphas[place, :length, : states.size])
            found[place, :length] = (exp(rows) - exp(through + loss - rows)) * grads[place]
    store(made, found.transpose(1, 0, 2))
    return made


@kernel("aten::_ctc_loss_backward.Tensor", key="CPU")
def ctc_loss_backward_of_tensors(
    grad: Tensor,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    neg_log_likelihood: Tensor,
    log_alpha: Tensor,
    blank: int,
    zero_infinity: bool,
) -> Any:
    check_lengths(input_lengths, target_lengths)
    lengths = [numbers_of(each) for each in (input_lengths, target_lengths)]
    rest = (neg_log_likelihood, log_alpha, blank, zero_infinity)
    return _BACKWARD(grad, log_probs, targets, *lengths, *rest)
