"""Normalization of batches and of instances, made of ``native_batch_norm``.

Mirrors ``batch_norm`` and ``instance_norm`` of ``aten/src/ATen/native/Normalization.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.elementwise.promotion import accumulate_type
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_BYTE: Final = DTYPES["uint8"]
_IMPL_INDEX: Final = OperatorHandle("aten::_batch_norm_impl_index")
_CUDNN_BACKWARD: Final = OperatorHandle("aten::cudnn_batch_norm_backward")
_MIOPEN_BACKWARD: Final = OperatorHandle("aten::miopen_batch_norm_backward")
_NATIVE_BACKWARD: Final = OperatorHandle("aten::native_batch_norm_backward")
_NATIVE: Final = OperatorHandle("aten::native_batch_norm")
_BATCH_NORM: Final = OperatorHandle("aten::batch_norm")
_ADD: Final = OperatorHandle("aten::add.Tensor")
_ALIAS: Final = OperatorHandle("aten::alias")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_CLONE: Final = OperatorHandle("aten::clone")
_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_COPY_: Final = OperatorHandle("aten::copy_")
_MEAN: Final = OperatorHandle("aten::mean.dim")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_REPEAT: Final = OperatorHandle("aten::repeat")
_SELECT: Final = OperatorHandle("aten::select.int")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_VIEW: Final = OperatorHandle("aten::view")


@kernel("aten::batch_norm", key=_IMPLICIT)
def batch_norm(input: Tensor, *rest: Any) -> Any:
    return _IMPL_INDEX(input, *rest)[0]


@kernel("aten::_batch_norm_impl_index", key=_IMPLICIT)
def _batch_norm_impl_index(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> tuple[Any, ...]:
    # torch reads past the sizes of what has one dimension, where a zero stands
    channels = input._sizes[1] if len(input._sizes) > 1 else 0
    if not numel(input._sizes):
        reserve = _empty(input, (0,), _BYTE)
        saved = [_empty(input, (channels,), accumulate_type(input._dtype)) for _ in range(2)]
        output = _CLONE(input, memory_format=None)
        if weight is not None:
            output = _MUL(output, _SELECT(weight, 0, 0))
        if bias is not None:
            output = _ADD(output, _SELECT(bias, 0, 0))
        return (output, *saved, reserve, 0)
    running = (("running_mean", running_mean), ("running_var", running_var))
    for name, given in (*running, ("weight", weight), ("bias", bias)):
        if given is None:
            if not training and name.startswith("running"):
                raise RuntimeError(f"{name} must be defined in evaluation mode")
        elif numel(given._sizes) != channels:
            raise RuntimeError(
                f"{name} should contain {channels} elements not {numel(given._sizes)}"
            )
    reserve = _empty(input, (0,), _BYTE)
    settings = (training, momentum, eps)
    return (*_NATIVE(input, weight, bias, running_mean, running_var, *settings), reserve, 0)


@kernel("aten::_batch_norm_impl_index_backward", key=_IMPLICIT)
def _batch_norm_impl_index_backward(
    impl_index: int,
    input: Tensor,
    grad_output: Tensor,
    weight: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    save_mean: Tensor | None,
    save_var_transform: Tensor | None,
    train: bool,
    eps: float,
    output_mask: Sequence[bool],
    reserved_space: Tensor,
) -> tuple[Any, Any, Any]:
    """By the way that ``_batch_norm_impl_index`` says that it went."""
    if not numel(input._sizes):
        dims = [0, *range(2, len(input._sizes))]
        of_bias = _SUM(grad_output, dims) if output_mask[2] else None
        of_weight = _SUM(_MUL(grad_output, input), dims) if output_mask[1] else None
        of_input = None
        if output_mask[0] and weight is not None:
            of_input = _MUL(grad_output, _SELECT(weight, 0, 0))
        return of_input, of_weight, of_bias
    tensors = (weight, running_mean, running_var, save_mean, save_var_transform)
    backward: Any
    if impl_index == 0 or not train:
        backward = _NATIVE_BACKWARD(grad_output, input, *tensors, train, eps, output_mask)
    elif impl_index == 1:
        backward = _CUDNN_BACKWARD(input, grad_output, *tensors, eps, reserved_space)
    elif impl_index == 2:
        backward = _MIOPEN_BACKWARD(input, grad_output, *tensors, eps)
    else:
        name = "_batch_norm_impl_index_backward"
        said = f"Unsupported impl_index in {name}: {impl_index}"
        raise RuntimeError(internal_assert("false", name) + said)
    one, two, three = backward
    return one, two, three


def _empty(like: Tensor, sizes: Sequence[int], dtype: DType) -> Any:
    """``at::empty`` with the options of a tensor, but for the dtype."""
    return _EMPTY(sizes, dtype=dtype, layout=like._layout, device=like._device)


@kernel("aten::instance_norm", key=_IMPLICIT)
def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Any:
    """Each instance of a batch by itself: as channels of a batch of one."""
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    batch, channels, space = size_at(input, 0), size_at(input, 1), input._sizes[2:]
    repeated = [
        None if given is None else _REPEAT(given, [batch])
        for given in (weight, bias, running_mean, running_var)
    ]
    flat = _VIEW(_CONTIGUOUS(input), [1, batch * channels, *space])
    output = _BATCH_NORM(flat, *repeated, use_input_stats, momentum, eps, cudnn_enabled)
    is_learned = use_input_stats or not HABITS["an instance norm leaves statistics that it reads"]
    for given, changed in ((running_mean, repeated[2]), (running_var, repeated[3])):
        if given is not None and is_learned:
            alias = _ALIAS(given)
            _COPY_(alias, _MEAN(_VIEW(changed, [batch, channels]), [0], False))
    return _VIEW(output, list(input._sizes))
