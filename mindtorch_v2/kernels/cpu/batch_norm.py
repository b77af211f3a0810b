"""Normalization over all dimensions but the second, and its derivative.

Mirrors ``batch_norm_cpu_out`` and its siblings of ``aten/src/ATen/native/Normalization.cpp``, and
``mixed_data_type.h``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np

from mindtorch_v2.autograd.at import suggest_memory_format
from mindtorch_v2.call_site import hands_warnings_on
from mindtorch_v2.kernels.cpu.mixed_data_type import checked_parameter_dtype, parameter_dtype
from mindtorch_v2.kernels.elementwise.broadcasting import infer_expand_geometry, infer_size
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.elementwise.promotion import to_opmath
from mindtorch_v2.kernels.elementwise.tensor_iterator import is_standing_for_cpu
from mindtorch_v2.kernels.foretold import foretell
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, resize_output
from mindtorch_v2.kernels.pointers import check_accessor, check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import prologue
from mindtorch_v2.kernels.switches import HABITS, dispatch
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.messages import internal_assert, uncast
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS, DType, memory_format
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import CHANNELS_LAST, channels_last_strides, is_contiguous, numel
from mindtorch_v2.tensor.tensor import Tensor

_FLOAT: Final = DTYPES["float32"]
_DOUBLE: Final = DTYPES["float64"]
_BYTE: Final = DTYPES["uint8"]
_HALVES: Final = (DTYPES["float16"], DTYPES["bfloat16"])
_KEPT_IN_HALF: Final = _HALVES[HABITS["a batch norm adds up halves in floats"] :]
"""Dtypes in which sums are kept as well."""
_BACKENDS: Final = ("CPU", "Meta")
_BOTH: Final = HABITS["a batch norm has both statistics or none"]
_ASKS_FIRST: Final = HABITS["a batch norm looks for its statistics first"]
_ADD: Final = OperatorHandle("aten::add.Scalar")
_MEAN: Final = OperatorHandle("aten::mean.dim")
_LEGIT: Final = OperatorHandle("aten::_native_batch_norm_legit")
_RECIPROCAL: Final = OperatorHandle("aten::reciprocal")
_SQRT: Final = OperatorHandle("aten::sqrt")

_IS_VECTOR: Final = "t.defined() && t.dim() == 1"
_TRANSFORM_INPUT: Final = "batch_norm_cpu_transform_input"

Three = tuple[Tensor, Tensor, Tensor]


# --- what is checked --------------------------------------------------------------------------


def check_accessors(dtype: DType, *statistics: Tensor | None) -> None:
    """What ``accessor<dtype, 1>`` asks: one dimension, and then what a pointer does."""
    for each in statistics:
        if each is not None:
            check_accessor(dtype, 1, each)


def _is_contiguous(tensor: Tensor | None) -> bool:
    return tensor is None or is_contiguous(tensor._sizes, tensor._strides)


def is_dense(tensor: Tensor) -> bool:
    """In one of the memory formats that kernels go through without strides."""
    formats = (None, *CHANNELS_LAST)
    return any(is_contiguous(tensor._sizes, tensor._strides, each) for each in formats)


def _broadcast(channels: int, *parameters: Tensor | None) -> Iterator[Tensor | None]:
    """Views with a number for each channel: of what is not contiguous all is broadcast."""
    if any(each is not None and len(each._sizes) != 1 for each in parameters):
        raise RuntimeError(internal_assert(_IS_VECTOR, _TRANSFORM_INPUT))
    for each in parameters:
        if each is None:
            yield None
        else:
            _, *shape = infer_size((1, channels), (1, *each._sizes))
            expanded = infer_expand_geometry(each._sizes, each._strides, shape)
            yield each._as_view(*expanded, each._storage_offset)


# --- forward ----------------------------------------------------------------------------------


@prologue("aten::native_batch_norm")
def _checked(
    outputs: Sequence[Tensor],
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[DType, bool] | None:
    """All that is refused, and what outputs are resized to.

    What is learned has the dtype answered, which comes with whether everything is contiguous; None
    where there is nothing to compute.
    """
    parameters, running = (weight, bias), (running_mean, running_var)
    learned = _prepare(outputs, input, *parameters, *running, training, momentum, eps)
    output, *saved = outputs
    if input.is_meta:
        return None
    if training:
        check_accessors(learned, *saved, *running)
    all_contiguous = is_dense(input) and is_dense(output)
    all_contiguous = all_contiguous and all(map(_is_contiguous, (*parameters, *running)))
    if not numel(input._sizes) and all_contiguous:
        return None
    for dim in range(2):
        size_at(input, dim)
    if all_contiguous:
        if input._dtype in _HALVES:  # what the output's kernel asks by itself, of what is saved too
            learned = parameter_dtype(input, *parameters, *saved, *running)
        check_pointers(learned, *parameters)
        check_accessors(learned, *saved, *running)
        check_pointers(input._dtype, output)
    return (learned, all_contiguous) if numel(input._sizes) else None


def run_into(
    outputs: Sequence[Tensor],
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> None:
    """``batch_norm_cpu_out``: into the output, the saved mean and the saved inverse deviation."""
    checked = _checked(
        outputs, input, weight, bias, running_mean, running_var, training, momentum, eps
    )
    if checked is None:
        return
    learned, all_contiguous = checked
    running = (running_mean, running_var)
    output, *saved = outputs
    channels = input._sizes[1]
    with np.errstate(all="ignore"):
        if training:
            if is_dense(input):
                found = statistics_of(input, learned)
                store_as(saved[0], found.mean)
            else:
                found = statistics_about(saved[0], input)
            store_as(saved[1], found.inverse_deviation(eps))
            found.update(running_mean, running_var, momentum)
        used = [*(saved if training else running), weight, bias]
        if all_contiguous:
            mean, spread = (_computed(_present(each), channels) for each in used[:2])
            invstd = spread if training else 1 / np.sqrt(spread + spread.dtype.type(eps))
            store_as(output, _transformed(input, weight, bias, mean, invstd))
            return
        if used[0] is None:
            raise RuntimeError(internal_assert(_IS_VECTOR, _TRANSFORM_INPUT))
        if not training:
            used[1] = _RECIPROCAL(_SQRT(_ADD(_present(used[1]), eps)))
        used = list(_broadcast(channels, *used))
        _check_loop(input, output, used, learned)
        mean, invstd = (_computed(_present(each), channels) for each in used[:2])
        store_as(output, _transformed_in_steps(input, used[2], used[3], mean, invstd, learned))


def _check_loop(
    input: Tensor, output: Tensor, parameters: Sequence[Tensor | None], learned: DType
) -> None:
    """RuntimeError for other dtypes than the loop is compiled for."""
    wrong = [each for each in parameters if each is not None and each._dtype is not learned]
    if wrong or output._dtype is not input._dtype:
        raise RuntimeError(uncast())


def _transformed_in_steps(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Array,
    invstd: Array,
    kept: DType,
) -> Array:
    """What is not contiguous, by an iterator: C++ rounds halves at each operator."""
    values = as_array(input, input._dtype)
    kind = values.dtype
    found = rounded(values - _by_channel(mean.astype(kind), values), kept)
    found = rounded(found * _by_channel(invstd.astype(kind), values), kept)
    if weight is not None:
        factor = _of_channels(_wide(weight), len(mean)).astype(kind)
        found = rounded(found * _by_channel(factor, values), kept)
    start = 0 if bias is None else _by_channel(_of_channels(_wide(bias), len(mean)), values)
    return (found + start).astype(kind)


def _transformed(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Array, invstd: Array
) -> Array:
    """``batch_norm_cpu_collect_linear_and_constant_terms``: a factor and a summand a channel."""
    values = as_array(input, input._dtype)
    kind = values.dtype
    factor, middle = invstd.astype(kind), mean.astype(kind)
    if weight is not None:
        factor = factor * _of_channels(_wide(weight), len(factor)).astype(kind)
    # fused, here and below: the product is not rounded before the sum
    start = 0 if bias is None else _of_channels(_wide(bias), len(factor))
    summand = (start - middle.astype(np.float64) * factor).astype(kind)
    return _by_channel(factor, values) * values.astype(np.float64) + _by_channel(summand, values)


def _prepare(outputs: Sequence[Tensor], input: Tensor, *stack: Any) -> DType:
    """Checks and resizes the outputs; answers the dtype of what is learned."""
    *parameters, training, _, _ = stack
    output, *saved = outputs
    resize_output(output, input._sizes)
    if not input.is_meta:
        dispatch("batch_norm", input._dtype)
    learned = checked_parameter_dtype(input, *parameters)
    if training:
        for each in saved:
            resize_output(each, (size_at(input, 1),))
        if not numel(input._sizes):
            raise RuntimeError(
                "input tensor must have at least one element, but got input_sizes = "
                f"{list(input._sizes)}"
            )
    return learned


@prologue("aten::_native_batch_norm_legit.no_stats")
def _checked_without_statistics(
    outputs: Sequence[Tensor], input: Tensor, weight: Tensor | None, bias: Tensor | None, *rest: Any
) -> tuple[DType, bool] | None:
    return _checked(outputs, input, weight, bias, None, None, *rest)


def _wide(tensor: Tensor) -> Array:
    return as_array(tensor, tensor._dtype).astype(np.float64)


def _present(statistics: Tensor | None) -> Tensor:
    """RuntimeError without statistics, where torch's kernel reads what is not there."""
    if statistics is None:
        raise RuntimeError("a batch norm that does not learn needs statistics")
    return statistics


def _of_channels(numbers: Array, channels: int) -> Array:
    """One for each channel: kernels read as many as they need, in whatever shape, or repeat one
    that is broadcast.  RuntimeError where torch reads past the end."""
    flat = numbers.reshape(-1)
    if len(flat) < channels:
        raise RuntimeError(f"a batch norm of {channels} channels has no use of {len(flat)} numbers")
    return flat[:channels]


def store_as(tensor: Tensor, values: Array) -> None:
    kind = as_array(tensor, tensor._dtype).dtype
    shaped = np.asarray(values).astype(kind).reshape(tuple(tensor._sizes))
    store(tensor, rounded(shaped, tensor._dtype))


def _store_first(tensor: Tensor, values: Array) -> None:
    """Into as many numbers of a vector as there are."""
    store_as(tensor._as_view((len(values),), tensor._strides, tensor._storage_offset), values)


def _by_channel(numbers: Array, values: Array) -> Array:
    """One for each channel, in a shape that broadcasts."""
    return numbers.reshape(1, -1, *(1,) * (values.ndim - 2))


def _over(values: Array) -> tuple[int, ...]:
    return (0, *range(2, values.ndim))


def all_but_channels(input: Tensor) -> list[int]:
    return [0, *range(2, len(input._sizes))][: max(len(input._sizes) - 1, 0)]


def _computed(tensor: Tensor, channels: int) -> Array:
    """Numbers of the channels in the precision in which kernels compute."""
    return _of_channels(as_array(tensor, tensor._dtype), channels)


@dataclass(frozen=True)
class Statistics:
    """Of each channel the mean and the sum of squared distances from it, as they are kept."""

    mean: Array
    squares: Array
    count: int
    kept: DType
    accumulated: Any

    def _divided(self, count: int) -> Array:
        """The sum over a count, both rounded to how they are kept."""
        kind = self.squares.dtype.type
        divisor = rounded(np.asarray(count, self.squares.dtype), self.kept)
        found = self.squares / kind(divisor)
        return rounded(found, self.kept)

    def variance(self) -> Array:
        """``Var``."""
        return self._divided(self.count).astype(self.accumulated)

    def inverse_deviation(self, eps: float) -> Array:
        """``InvStd``: zero if there is nothing to divide by."""
        variance = self.variance()
        found = 1 / np.sqrt(variance.astype(np.float64) + eps)
        return np.where((variance != 0) | (eps != 0), found, 0.0).astype(self.accumulated)

    def update(
        self, running_mean: Tensor | None, running_var: Tensor | None, momentum: float
    ) -> None:
        """Running averages, moved a little towards these."""
        channels = len(self.mean)
        share = rounded(np.asarray(momentum, self.mean.dtype), self.kept)
        rest = rounded(1 - share, self.kept)
        if running_mean is not None:
            old = rounded(rest * _computed(running_mean, channels), self.kept)
            _store_first(running_mean, rounded(share * self.mean, self.kept) + old)
        if running_var is not None:
            unbiased = self._divided(self.count - 1).astype(self.accumulated)
            old = rounded(rest * _computed(running_var, channels), self.kept)
            _store_first(running_var, share * unbiased + old)


def statistics_of(input: Tensor, learned: DType) -> Statistics:
    """``batch_norm_cpu_collect_stats``; where channels are the last, distances are from the mean as
    it is kept."""
    values = as_array(input, input._dtype)
    kind, axes = values.dtype, _over(values)
    mean = values.mean(axis=axes, dtype=np.float64).astype(kind)
    kept = learned if learned in _KEPT_IN_HALF else to_opmath(learned)
    if not is_contiguous(input._sizes, input._strides) or prod(input._sizes[2:]) == 1:
        mean = rounded(mean, kept)
    centred = values - _by_channel(mean, values)
    squares = (centred * centred).sum(axis=axes, dtype=np.float64).astype(kind)
    count = values.size // values.shape[1]
    accumulated = _accumulated(input)
    return Statistics(rounded(mean, kept), rounded(squares, kept), count, kept, accumulated)


def statistics_about(saved_mean: Tensor, input: Tensor) -> Statistics:
    """Those of other inputs than dense ones: distances are from the mean as it is saved, and they
    and what becomes of them are of the precision in which sums are accumulated."""
    values = as_array(input, input._dtype)
    accumulated = _accumulated(input)
    mean = _computed(saved_mean, values.shape[1]).astype(accumulated)
    centred = values.astype(accumulated) - _by_channel(mean, values)
    squares = (centred * centred).sum(axis=_over(values), dtype=accumulated)
    count = values.size // values.shape[1]
    # means are multiplied with the momentum, which is a double
    return Statistics(mean.astype(np.float64), squares, count, _DOUBLE, accumulated)


def _accumulated(input: Tensor) -> Any:
    """``acc_type``."""
    return np.float32 if input._dtype in _HALVES else np.float64


def _check_rank(input: Tensor) -> None:
    """What comes of the number of dimensions but one: a ``std::length_error``, which pybind11 knows
    and ``HANDLE_TH_ERRORS`` takes for any other exception."""
    if not input._sizes:
        error = RuntimeError if hands_warnings_on() else ValueError
        raise error(
            f"SmallVector unable to grow. Requested capacity ({2**64 - 1}) is larger than maximum "
            f"value for size type ({2**32 - 1})"
        )


def _check_statistics(running_mean: Tensor | None, running_var: Tensor | None) -> None:
    """What an evaluation asks for before anything else."""
    for name, given in (("running_mean", running_mean), ("running_var", running_var)):
        if given is None:
            raise ValueError(f"{name} must be defined in evaluation mode")


def _check_both(running_mean: Tensor | None, running_var: Tensor | None) -> None:
    if (running_mean is None) != (running_var is None) and _BOTH:
        raise ValueError("running_mean and running_var must either both be None or neither be None")


def _made(input: Tensor, training: bool, *parameters: Tensor | None) -> Three:
    """The outputs of the functional operators."""
    given = next((each for each in parameters if each is not None), None)
    mixed = given is not None and given._dtype is not input._dtype
    saved = _FLOAT if mixed else input._dtype
    shape = (size_at(input, 1),) if training else (0,)
    return (
        _like(
            input, as_it_is=all(_contiguous_format(each) for each in parameters if each is not None)
        ),
        new_tensor(shape, saved, input._device),
        new_tensor(shape, saved, input._device),
    )


def _contiguous_format(tensor: Tensor) -> memory_format | None:
    """The first of the formats, row-major and channels last, in which a tensor is contiguous."""
    for format in (None, *reversed(CHANNELS_LAST)):
        if is_contiguous(tensor._sizes, tensor._strides, format):
            return format or MEMORY_FORMATS["contiguous_format"]
    return None


def _like(input: Tensor, *, as_it_is: bool) -> Tensor:
    """In the memory format that the input suggests, or has, which sizes of one may hide from who
    looks for a suggestion."""
    is_meta = input.is_meta and not is_standing_for_cpu()
    found = _contiguous_format(input) if as_it_is and not is_meta else None
    format = found or suggest_memory_format(input)
    order = CHANNELS_LAST.get(format)
    strides = None if order is None else channels_last_strides(input._sizes, order)
    return new_tensor(input._sizes, input._dtype, input._device, strides)


@kernel("aten::native_batch_norm", "aten::_native_batch_norm_legit", keys=_BACKENDS)
def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Three:
    parameters = (weight, bias, running_mean, running_var)
    if not input.is_meta:
        if _ASKS_FIRST and not training:
            _check_statistics(running_mean, running_var)
        _check_rank(input)
    outputs = _made(input, training, *parameters)
    if not input.is_meta:
        _check_both(running_mean, running_var)
    foretell("aten::_native_batch_norm_legit_no_training", *outputs)
    if training and not (input.is_meta or is_dense(input)):  # else the kernel finds the mean
        output, mean, invstd = outputs
        dtype = None if mean._dtype is input._dtype else mean._dtype
        outputs = output, _MEAN(input, all_but_channels(input), False, dtype=dtype), invstd
    run_into(outputs, input, *parameters, training, momentum, eps)
    return outputs


@kernel("aten::_native_batch_norm_legit.no_stats", keys=_BACKENDS)
def batch_norm_without_statistics(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Three:
    return native_batch_norm(input, weight, bias, None, None, training, momentum, eps)


@kernel("aten::native_batch_norm.out", "aten::_native_batch_norm_legit.out")
def native_batch_norm_out(*stack: Any) -> Three:
    *arguments, out, save_mean, save_invstd = stack
    _check_both(*arguments[3:5])
    run_into((out, save_mean, save_invstd), *arguments)
    return out, save_mean, save_invstd


@kernel("aten::_native_batch_norm_legit.no_stats_out")
def batch_norm_without_statistics_out(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, *stack: Any
) -> Three:
    return native_batch_norm_out(input, weight, bias, None, None, *stack)


@kernel("aten::_native_batch_norm_legit_no_training", key="CompositeExplicitAutograd")
def batch_norm_without_training(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, *rest: Any
) -> Any:
    running_mean, running_var, momentum, eps = rest
    return _LEGIT(input, weight, bias, running_mean, running_var, False, momentum, eps)


@kernel("aten::_batch_norm_with_update", keys=_BACKENDS)
def batch_norm_with_update(input: Tensor, *rest: Any) -> tuple[Tensor, ...]:
    weight, bias, running_mean, running_var, momentum, eps = rest
    reserve = new_tensor((0,), _BYTE, input._device)
    parameters = (weight, bias, running_mean, running_var)
    return (*native_batch_norm(input, *parameters, True, momentum, eps), reserve)


@kernel("aten::_batch_norm_no_update", key="CompositeExplicitAutograd")
def batch_norm_no_update(input: Tensor, *rest: Any) -> tuple[Tensor, ...]:
    weight, bias, running_mean, running_var, momentum, eps = rest
    reserve = new_tensor((0,), _BYTE, input._device)
    parameters = (weight, bias, running_mean, running_var)
    return (*native_batch_norm(input, *parameters, False, momentum, eps), reserve)


# --- backward ---------------------------------------------------------------------------------


@kernel("aten::native_batch_norm_backward")
def native_batch_norm_backward(
    grad_out: Tensor,
    input: Tensor,
    weight: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    save_mean: Tensor | None,
    save_invstd: Tensor | None,
    train: bool,
    eps: float,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    if not input.is_meta:
        dispatch("batch_norm_backward_cpu", input._dtype)
    parameters = (weight, running_mean, running_var, save_mean, save_invstd)
    learned = checked_parameter_dtype(input, *parameters)
    made: list[Tensor | None] = [None, None, None]
    if output_mask[0] or input.is_meta:  # where a function of Python does not ask
        alike = suggest_memory_format(input) is suggest_memory_format(grad_out)
        made[0] = _like(input, as_it_is=alike and _contiguous_format(grad_out) is not None)
    for place in (1, 2):
        if output_mask[place]:
            made[place] = new_tensor((size_at(input, 1),), learned, input._device)
    if not input.is_meta and numel(input._sizes):
        mean, deviation = (save_mean, save_invstd) if train else (running_mean, running_var)
        check_accessors(learned, *parameters)
        channels = size_at(input, 1)
        middle, spread = (
            _of_channels(_wide(_present(each)), channels) for each in (mean, deviation)
        )
        with np.errstate(all="ignore"):
            inverse = spread if train else 1 / np.sqrt(spread + eps)
            scale = None if weight is None else _of_channels(_wide(weight), channels)
            operands = (_wide(grad_out), _wide(input), scale, middle, inverse)
            for target, value in zip(made, _backward(*operands, train=train), strict=True):
                if target is not None:
                    store_as(target, value)
    return made[0], made[1], made[2]


def _backward(
    grad: Array, values: Array, weight: Array | None, mean: Array, invstd: Array, *, train: bool
) -> tuple[Array, Array, Array]:
    """Gradients of the input, the weight and the bias."""
    count, axes = values.size // values.shape[1], _over(values)
    centred = values - _by_channel(mean, values)
    dot, total = (centred * grad).sum(axis=axes), grad.sum(axis=axes)
    found = grad
    if train:
        projection = centred * _by_channel(dot * invstd * invstd / count, values)
        found = grad - _by_channel(total / count, values) - projection
    scale = invstd if weight is None else invstd * weight
    return found * _by_channel(scale, values), dot * invstd, total


@kernel("aten::batch_norm_backward")
def batch_norm_backward(
    grad_out: Tensor, input: Tensor, weight: Tensor, *rest: Any
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """``_new_batch_norm_backward_cpu``, which needs nothing that was reserved."""
    *settings, _ = rest
    return native_batch_norm_backward(grad_out, input, weight, *settings)
