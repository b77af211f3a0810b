"""The reference functions of batch norm.

Mirrors functions of ``torch/_decomp/decompositions.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import (
    HABITS,
    assertion,
    get_computation_dtype,
    suggest_memory_format,
)
from mindtorch_v2.kernels.refs.wrappers import written_out
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS, DType
from mindtorch_v2.tensor.geometry import is_contiguous, numel
from mindtorch_v2.tensor.tensor import Tensor

_DECOMPOSED: Final = "torch._decomp.decompositions."

_ADD: Final = OperatorHandle("aten::add.Tensor")
_COPY_: Final = OperatorHandle("aten::copy_")
_DIV: Final = OperatorHandle("aten::reciprocal")
_CHANNELS_LAST: Final = MEMORY_FORMATS["channels_last"]
_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_FLATTEN: Final = OperatorHandle("aten::flatten.using_ints")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_RSQRT: Final = OperatorHandle("aten::rsqrt")
_SQRT: Final = OperatorHandle("aten::sqrt")
_SQUEEZE: Final = OperatorHandle("aten::squeeze.dims")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_TO: Final = OperatorHandle("aten::to.dtype")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_VAR_MEAN: Final = OperatorHandle("aten::var_mean.correction")

_BYTE: Final = DTYPES["uint8"]
Three = tuple[Any, Any, Any]


def _normalized(
    input: Tensor,
    parameters: Sequence[Tensor | None],
    training: bool,
    momentum: float,
    eps: float,
    *,
    functional: bool = False,
) -> tuple[Any, Any, Any, Any, Any]:
    """``native_batch_norm_helper``; ``parameters`` are weight, bias, running mean and variance."""
    weight, bias, running_mean, running_var = parameters
    computed = get_computation_dtype(input._dtype)
    rank = len(input._sizes)
    if training:
        dims = [0, *range(2, rank)]
        variance, mean = _VAR_MEAN(_TO(input, computed), dims, correction=0, keepdim=True)
        rstd = _RSQRT(_ADD(variance, eps))
        output = _MUL(_SUB(input, mean), rstd)
        save_mean, save_rstd = (_SQUEEZE(each, dims) for each in (mean, rstd))
        new_mean, new_var = running_mean, running_var
        if running_mean is not None:
            new_mean = _averaged(save_mean, running_mean, momentum)
            if not functional:
                _COPY_(running_mean, new_mean)
        if running_var is not None:
            count = numel(input._sizes) / input._sizes[1]
            unbiased = _MUL(_SQUEEZE(variance, dims), count / (count - 1))
            new_var = _averaged(unbiased, running_var, momentum)
            if not functional:
                _COPY_(running_var, new_var)
    else:
        if running_mean is None or running_var is None:
            raise assertion("running_mean and running_var must not be None in eval mode")
        save_mean = new_mean = _TO(running_mean, computed, False, True)
        new_var = _TO(running_var, computed, False, True)
        save_rstd = _DIV(_SQRT(_ADD(new_var, eps)))
        mean, rstd = (_unsqueezed(each, rank - 1) for each in (save_mean, save_rstd))
        output = _MUL(_SUB(input, mean), rstd)
    if weight is not None:
        output = _MUL(output, _unsqueezed(_FLATTEN(weight), rank - 1))
    if bias is not None:
        output = _ADD(output, _unsqueezed(_FLATTEN(bias), rank - 1))
    return _TO(output, input._dtype), save_mean, save_rstd, new_mean, new_var


def _averaged(new: Any, running: Tensor, momentum: float) -> Any:
    return _ADD(_MUL(new, momentum), _MUL(running, 1 - momentum))


def _unsqueezed(tensor: Any, rank: int) -> Any:
    """``_unsqueeze_to_dim``: dimensions of size 1 at the end until there are as many."""
    for _ in range(rank - len(tensor._sizes)):
        tensor = _UNSQUEEZE(tensor, -1)
    return tensor


@body(_DECOMPOSED + "native_batch_norm", _DECOMPOSED + "_native_batch_norm_legit")
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
    given = (weight, bias, running_mean, running_var)
    return _normalized(input, given, training, momentum, eps)[:3]


@body(_DECOMPOSED + "_native_batch_norm_legit_no_stats")
def _native_batch_norm_legit_no_stats(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, *rest: Any
) -> Three:
    return native_batch_norm(input, weight, bias, None, None, *rest)


_LEGIT: Final = OperatorHandle("aten::_native_batch_norm_legit")


@body(_DECOMPOSED + "_native_batch_norm_legit_no_training")
def _native_batch_norm_legit_no_training(*args: Any) -> Any:
    *tensors, momentum, eps = args
    return _LEGIT(*tensors, False, momentum, eps)


@body(_DECOMPOSED + "_native_batch_norm_legit_functional")
def _native_batch_norm_legit_functional(*args: Any) -> tuple[Any, ...]:
    input, *parameters, training, momentum, eps = args
    return _normalized(input, parameters, training, momentum, eps, functional=True)


@body(_DECOMPOSED + "_batch_norm_with_update")
def _batch_norm_with_update(input: Tensor, *rest: Any) -> tuple[Any, ...]:
    *parameters, momentum, eps = rest
    normalized = _normalized(input, parameters, True, momentum, eps)[:3]
    return (*normalized, new_tensor((0,), _BYTE, input._device))


@body(_DECOMPOSED + "_batch_norm_with_update_functional")
def _batch_norm_with_update_functional(input: Tensor, *rest: Any) -> tuple[Any, ...]:
    *parameters, momentum, eps = rest
    found = _normalized(input, parameters, True, momentum, eps, functional=True)
    return (*found[:3], new_tensor((0,), _BYTE, input._device), *found[3:])


@body(_DECOMPOSED + "_batch_norm_no_update")
def _batch_norm_no_update(input: Tensor, *rest: Any) -> tuple[Any, ...]:
    *parameters, momentum, eps = rest
    normalized = _normalized(input, parameters, False, momentum, eps)[:3]
    return (*normalized, new_tensor((0,), _BYTE, input._device))


@body(_DECOMPOSED + "native_batch_norm_backward")
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
) -> Three:
    computed = get_computation_dtype(input._dtype)
    grad, values, scale, *statistics = (
        None if each is None else _TO(each, computed)
        for each in (grad_out, input, weight, running_mean, running_var, save_mean, save_invstd)
    )
    rank = len(input._sizes)
    if rank < 2:
        raise AssertionError(
            f"rank of the input must be at least 2, got {rank}"
            if HABITS["assertions say what they ask"]
            else "rank of the input must be at least 2"
        )
    count = prod(input._sizes) / input._sizes[1]
    mean, invstd = statistics[2:] if train else statistics[:2]
    if mean is None or invstd is None:
        raise assertion(_NO_MOMENTS[train])
    if not train:
        invstd = _RSQRT(_ADD(invstd, eps))
    dims = [dim for dim in range(rank) if dim != 1]

    shape = [input._sizes[1] if dim == 1 else 1 for dim in range(rank)]

    def by_channel(tensor: Any) -> Any:
        """``_broadcast_batch_norm_backward``."""
        for dim, size in enumerate(shape):
            if size == 1 and not (dim < len(tensor._sizes) and tensor._sizes[dim] == 1):
                tensor = _UNSQUEEZE(tensor, dim)
        return tensor

    mean, norm = by_channel(mean), 1.0 / count
    total = _SUM(grad, dims)
    dot = _SUM(_MUL(grad, _SUB(values, mean)), dims)
    of_mean = by_channel(_MUL(total, norm))
    projection = by_channel(_MUL(_MUL(dot, norm), _MUL(invstd, invstd)))
    factor = by_channel(invstd if scale is None else _MUL(invstd, scale))
    if train:
        grad = _SUB(grad, _MUL(_SUB(values, mean), projection))
        grad = _SUB(grad, of_mean)
    learned: DType = input._dtype if weight is None else weight._dtype
    return (
        _TO(_MUL(grad, factor), input._dtype),
        _TO(_MUL(dot, invstd), learned) if output_mask[1] else None,
        _TO(total, learned) if output_mask[2] else None,
    )


@body(_DECOMPOSED + "batch_norm_backward")
def batch_norm_backward(*args: Any) -> Three:
    """What one more tensor was reserved for."""
    *those_of_native, _ = args
    return native_batch_norm_backward(*those_of_native)


_NO_MOMENTS: Final = {
    True: "mean and invstd must not be None in training mode",
    False: "running_mean_cast and running_var_cast must not be None in eval mode",
}


@body(_DECOMPOSED + "native_batch_norm_backward_out")
def native_batch_norm_backward_out(*args: Any, out0: Tensor, out1: Tensor, out2: Tensor) -> Any:
    outs = (out0, out1, out2)
    for out, result in zip(outs, native_batch_norm_backward(*args), strict=True):
        if result is not None:
            written_out(out, result, exact_dtype=True)
    return outs


# --- of other libraries -----------------------------------------------------------------------


_NATIVE: Final = OperatorHandle("aten::native_batch_norm")
_NATIVE_BACKWARD: Final = OperatorHandle("aten::native_batch_norm_backward")


@body(_DECOMPOSED + "cudnn_batch_norm")
def cudnn_batch_norm(input: Tensor, weight: Tensor, *rest: Any) -> tuple[Any, ...]:
    *_, training, _, _ = rest
    found = _NATIVE(input, weight, *rest)
    reserve = new_tensor((0,), _BYTE, input._device)
    if training:
        return (*found, reserve)
    saved = [new_tensor((0,), weight._dtype, weight._device) for _ in range(2)]
    return (found[0], *saved, reserve)


@body(_DECOMPOSED + "cudnn_batch_norm_backward", _DECOMPOSED + "miopen_batch_norm_backward")
def cudnn_batch_norm_backward(
    input: Tensor, grad_output: Tensor, weight: Tensor, *rest: Any
) -> Any:
    """What is reserved comes last, where it comes at all."""
    statistics, epsilon = rest[:4], rest[4]
    asked = [True, True, True]
    return _NATIVE_BACKWARD(grad_output, input, weight, *statistics, True, epsilon, asked)


@body("torch._meta_registrations.meta_miopen_batch_norm")
def meta_miopen_batch_norm(
    input_tensor: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    exponential_average_factor: float,
    epsilon: float,
) -> Three:
    is_new = HABITS["miopen_batch_norm on meta makes all like the input"]
    format = suggest_memory_format(input_tensor)
    if is_new:
        format = format if format is _CHANNELS_LAST else _CONTIGUOUS
    elif not is_contiguous(input_tensor._sizes, input_tensor._strides, format):
        raise RuntimeError(f"miopen_batch_norm: input must be contiguous in {format}")
    shapes = [
        (weight if each is None else each)._sizes if training else (0,)
        for each in (running_mean, running_var)
    ]
    like = input_tensor if is_new else weight
    one, two = (new_tensor(shape, like._dtype, like._device) for shape in shapes)
    return _EMPTY_LIKE(input_tensor, memory_format=format), one, two
