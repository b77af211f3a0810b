"""``_fused_adam_``, ``_fused_adamw_``, ``_fused_sgd_`` and ``_fused_adagrad_``: an optimizer's step
over lists of tensors.

Mirrors ``aten/src/ATen/native/FusedAdam.cpp``, ``FusedSGD.cpp``, ``FusedAdagrad.cpp`` and what they
call in ``cpu``, compiled for AVX2.  Tensors are taken as they lie in memory, one element after the
other from their first one on, whatever their strides are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.kernels.elementwise.pointwise import rounded
from mindtorch_v2.kernels.elementwise.promotion import to_opmath
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HABITS, HALVES, dispatch_over
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.scalars import scalar_to
from mindtorch_v2.tensor.tensor import Tensor

_ITEM: Final = OperatorHandle("aten::item")
_FLOAT32: Final = DTYPES["float32"]
_FLOAT64: Final = DTYPES["float64"]
_VECTOR_BYTES: Final = 32
_ROUNDS_NUMBERS: Final = HABITS["a step of halves rounds its numbers"]
_LEAVES_HALVES: Final = HABITS["a descent leaves vectors of halves where they are"]
_EXPECTED: Final = (
    "Expected {} to be true, but got false.  (Could this error message be improved?  If so, please "
    "report an enhancement request to PyTorch.)"
)

Tensors = Sequence[Tensor]
Number = Callable[[float], Any]


# --- what all of them do ----------------------------------------------------------------------


def _scale_of(grad_scale: Tensor | None, found_inf: Tensor | None) -> tuple[Any, bool]:
    """What gradients are divided by, and whether the step is taken at all."""
    check_pointers(_FLOAT32, grad_scale)
    check_pointers(_FLOAT32, found_inf)
    is_taken = found_inf is None or _first(found_inf) != 1
    return None if grad_scale is None else _first(grad_scale), is_taken


def _first(tensor: Tensor) -> Any:
    return value_array(_in_memory(tensor, 0, 1))[0]


def _check_counts(count: int, **lists: Tensors) -> None:
    for name, tensors in lists.items():
        if len(tensors) != count:
            raise RuntimeError(_EXPECTED.format(f"{name}.size() == n_tensors"))


def _check_empty(name: str, tensors: Tensors) -> None:
    if tensors:
        is_asked = HABITS["a list of a step is asked whether it is empty"]
        raise RuntimeError(_EXPECTED.format(f"{name}.{'empty()' if is_asked else 'size() == 0'}"))


def _in_memory(tensor: Tensor, start: int, stop: int) -> Tensor:
    """Elements counted from where a tensor begins."""
    return tensor._as_view((stop - start,), (1,), tensor._storage_offset + start)


def _step_of(state_step: Tensor) -> float:
    """``item<float>``, as a double."""
    return float(scalar_to(_ITEM(state_step), _FLOAT32))


def _rate_of(lr: Tensor) -> float:
    return float(scalar_to(_ITEM(lr), _FLOAT64))


class _Part(NamedTuple):
    """A stretch of elements, and how numbers become those that they are multiplied by."""

    start: int
    stop: int
    in_vectors: bool
    element: Number
    """``scalar_t`` in vectors of some releases, ``opmath_t`` of others and where elements are
    computed one by one."""
    opmath: Number


def _parts(dtype: DType, count: int) -> Iterator[_Part]:
    whole = count - count % (_VECTOR_BYTES // dtype.itemsize)
    kind = elements_of(to_opmath(dtype)).computed

    def opmath(number: float) -> Any:
        with np.errstate(all="ignore"):
            return np.asarray(number, np.float64).astype(kind)

    def element(number: float) -> Any:
        return rounded(opmath(number), dtype).astype(kind)

    if whole:
        yield _Part(0, whole, True, element if _ROUNDS_NUMBERS else opmath, opmath)
    if whole < count:
        yield _Part(whole, count, False, opmath, opmath)


def _run(tensors: Tensors, compute: Callable[..., Sequence[Array | None]], *rest: Any) -> None:
    """Compute of the parts of a parameter, a gradient and states what is written back to them."""
    dtype = tensors[0]._dtype
    count = numel(tensors[0]._sizes)
    kind = elements_of(to_opmath(dtype)).computed
    with np.errstate(all="ignore"):
        for part in _parts(dtype, count):
            stretches = [_in_memory(each, part.start, part.stop) for each in tensors]
            found = compute(part, *(value_array(each).astype(kind) for each in stretches), *rest)
            for each, values in zip(stretches, found, strict=True):
                if values is not None:
                    store(each, values)


def _check_dtypes(name: str, param: Tensor, *others: Tensor) -> None:
    dispatch_over(FLOATING_TYPES | HALVES, name, param._dtype)
    check_pointers(param._dtype, *others)


def _scaled(part: _Part, grad: Array, scale: Any, maximize: bool) -> tuple[Array, Array | None]:
    """The gradient, and what is written back to where it came from."""
    kept = None
    if scale is not None:
        kept = grad = grad / part.opmath(float(scale))
    return (-grad if maximize else grad), kept


def _mixed(part: _Part, state: Array, kept: Any, share: Any, grad: Array) -> Array:
    """What is kept of a state, and a share of a gradient: of the two products vectors do not round
    the second, numbers that are computed one by one the first."""
    if part.in_vectors:
        return fused(share, grad, state * kept)
    return fused(state, kept, share * grad)


# --- Adam -------------------------------------------------------------------------------------


class _Adam(NamedTuple):
    lr: float
    beta1: float
    beta2: float
    weight_decay: float
    eps: float
    amsgrad: bool
    maximize: bool
    is_decoupled: bool
    """Whether the decay is the parameter's, not the gradient's: AdamW."""


def _adam(
    part: _Part,
    param: Array,
    grad: Array,
    average: Array,
    square: Array,
    *rest: Any,
) -> Sequence[Array | None]:
    *largest, options, step, scale = rest
    number = part.opmath
    grad, kept = _scaled(part, grad, scale, options.maximize)
    if options.weight_decay != 0 and options.is_decoupled:
        param = param * number(1 - options.lr * options.weight_decay)
    elif options.weight_decay != 0:
        grad = fused(param, number(options.weight_decay), grad)
    weight = number(1 - options.beta1)
    if abs(weight) < 0.5:
        average = fused(weight, grad - average, average)
    else:
        average = fused(weight - number(1), grad - average, grad)
    share = number(1 - options.beta2) * grad
    square = _mixed(part, square, number(options.beta2), share, grad)
    under = square
    if largest:
        if part.in_vectors:
            under = np.maximum(largest[0], square)
        else:
            under = np.where(largest[0] < square, square, largest[0])
        largest = [under]
    left = np.sqrt(_correction(options.beta2, step))
    denominator = np.sqrt(under) / number(left) + number(options.eps)
    size = options.lr / _correction(options.beta1, step)
    param = param + number(-size) * average / denominator
    return (param, kept, average, square, *largest)


def _correction(beta: float, step: float) -> Any:
    """How much of an average that began with nought is there."""
    return 1 - np.float64(beta) ** np.float64(step)


def _fused_adam(
    lists: Sequence[Tensors],
    options: _Adam,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
) -> None:
    params, grads, averages, squares, largest, steps = lists
    scale, is_taken = _scale_of(grad_scale, found_inf)
    if not is_taken:
        return
    count = len(params)
    _check_counts(count, grads=grads, exp_avgs=averages, exp_avg_sqs=squares)
    if options.amsgrad:
        _check_counts(count, max_exp_avg_sqs=largest)
    else:
        _check_empty("max_exp_avg_sqs", largest)
    _check_counts(count, state_steps=steps)
    for place, param in enumerate(params):
        dispatch_over(FLOATING_TYPES | HALVES, "fused_adam_kernel", param._dtype)
        step = _step_of(steps[place])
        states = [each[place] for each in (averages, squares, largest) if each]
        check_pointers(param._dtype, *states, grads[place])
        _run((param, grads[place], *states), _adam, options, step, scale)


def _add_adam(name: str, is_decoupled: bool) -> None:
    @kernel(f"aten::{name}")
    def fused_adam_(
        self: Tensors,
        grads: Tensors,
        exp_avgs: Tensors,
        exp_avg_sqs: Tensors,
        max_exp_avg_sqs: Tensors,
        state_steps: Tensors,
        lr: float,
        beta1: float,
        beta2: float,
        weight_decay: float,
        eps: float,
        amsgrad: bool,
        maximize: bool,
        grad_scale: Tensor | None,
        found_inf: Tensor | None,
    ) -> None:
        lists = (self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps)
        rates = (lr, beta1, beta2, weight_decay, eps)
        options = _Adam(*rates, amsgrad, maximize, is_decoupled)
        _fused_adam(lists, options, grad_scale, found_inf)

    @kernel(f"aten::{name}.tensor_lr")
    def fused_adam_with_tensor_(
        self: Tensors,
        grads: Tensors,
        exp_avgs: Tensors,
        exp_avg_sqs: Tensors,
        max_exp_avg_sqs: Tensors,
        state_steps: Tensors,
        lr: Tensor,
        *options: Any,
    ) -> None:
        lists = (self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps)
        fused_adam_(*lists, _rate_of(lr), *options)


_add_adam("_fused_adam_", is_decoupled=False)
_add_adam("_fused_adamw_", is_decoupled=True)


# --- gradient descent -------------------------------------------------------------------------


class _Descent(NamedTuple):
    weight_decay: float
    momentum: float
    lr: float
    dampening: float
    nesterov: bool
    maximize: bool
    is_first_step: bool


def _sgd(part: _Part, param: Array, grad: Array, *rest: Any) -> Sequence[Array | None]:
    *buffers, options, scale, is_half = rest
    grad, kept = _scaled(part, grad, scale, options.maximize)
    if options.weight_decay != 0:
        grad = fused(param, part.element(options.weight_decay), grad)
    for buffer in buffers:
        momentum = part.element(options.momentum)
        if options.is_first_step:
            found = grad
        else:
            found = _mixed(part, buffer, momentum, part.element(1 - options.dampening), grad)
        buffers = [found]
        grad = fused(found, momentum, grad) if options.nesterov else found
    moved = None
    if not (is_half and part.in_vectors and _LEAVES_HALVES):
        moved = fused(grad, part.opmath(-options.lr), param)
    return (moved, kept, *buffers)


@kernel("aten::_fused_sgd_")
def fused_sgd_(
    self: Tensors,
    grads: Tensors,
    momentum_buffer_list: Tensors,
    weight_decay: float,
    momentum: float,
    lr: float,
    dampening: float,
    nesterov: bool,
    maximize: bool,
    is_first_step: bool,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
) -> None:
    scale, is_taken = _scale_of(grad_scale, found_inf)
    if not is_taken:
        return
    _check_counts(len(self), grads=grads)
    if momentum == 0:
        _check_empty("momentum_buffer_list", momentum_buffer_list)
    else:
        _check_counts(len(self), momentum_buffer_list=momentum_buffer_list)
    switches = (nesterov, maximize, is_first_step)
    options = _Descent(weight_decay, momentum, lr, dampening, *switches)
    for place, param in enumerate(self):
        tensors = [param, grads[place], *momentum_buffer_list[place : place + 1]]
        _check_dtypes("fused_sgd_kernel", *tensors)
        _run(tensors, _sgd, options, scale, param._dtype in HALVES)


@kernel("aten::_fused_sgd_.tensor_lr")
def fused_sgd_with_tensor_(
    self: Tensors,
    grads: Tensors,
    momentum_buffer_list: Tensors,
    weight_decay: float,
    momentum: float,
    lr: Tensor,
    *options: Any,
) -> None:
    lists = (self, grads, momentum_buffer_list)
    fused_sgd_(*lists, weight_decay, momentum, _rate_of(lr), *options)


# --- Adagrad ----------------------------------------------------------------------------------


class _Adagrad(NamedTuple):
    weight_decay: float
    eps: float
    maximize: bool


def _adagrad(
    part: _Part, param: Array, grad: Array, total: Array, *rest: Any
) -> Sequence[Array | None]:
    options, rate, scale = rest
    grad, kept = _scaled(part, grad, scale, options.maximize)
    if options.weight_decay != 0:
        grad = fused(param, part.element(options.weight_decay), grad)
    total = fused(grad, grad, total)
    denominator = np.sqrt(total) + part.element(options.eps)
    param = param - part.element(rate) * grad / denominator
    return param, kept, total


@kernel("aten::_fused_adagrad_")
def fused_adagrad_(
    self: Tensors,
    grads: Tensors,
    state_sums: Tensors,
    state_steps: Tensors,
    lr: float,
    lr_decay: float,
    weight_decay: float,
    eps: float,
    maximize: bool,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
) -> None:
    scale, is_taken = _scale_of(grad_scale, found_inf)
    if not is_taken:
        return
    _check_counts(len(self), grads=grads, state_sums=state_sums, state_steps=state_steps)
    options = _Adagrad(weight_decay, eps, maximize)
    for place, param in enumerate(self):
        tensors = [param, grads[place], state_sums[place]]
        _check_dtypes("fused_adagrad_kernel", *tensors)
        decayed = 1.0 + (_step_of(state_steps[place]) - 1.0) * lr_decay
        with np.errstate(all="ignore"):
            rate = np.float64(lr) / decayed
        _run(tensors, _adagrad, options, rate, scale)


@kernel("aten::_fused_adagrad_.tensor_lr")
def fused_adagrad_with_tensor_(
    self: Tensors,
    grads: Tensors,
    state_sums: Tensors,
    state_steps: Tensors,
    lr: Tensor,
    *options: Any,
) -> None:
    fused_adagrad_(self, grads, state_sums, state_steps, _rate_of(lr), *options)
