"""The reference functions of normalized groups of channels.

Mirrors ``torch/_refs/__init__.py`` and ``torch/_decomp/decompositions.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import (
    HABITS,
    check_same_device,
    check_same_shape,
    get_computation_dtype,
    suggest_memory_format,
    to_dtype,
)
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.tensor import Tensor

_ADD: Final = OperatorHandle("aten::add.Tensor")
_ADDCMUL: Final = OperatorHandle("aten::addcmul")
_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_NEG: Final = OperatorHandle("aten::neg")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_RSQRT: Final = OperatorHandle("aten::rsqrt")
_SQUEEZE: Final = OperatorHandle("aten::squeeze.dims")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_TO: Final = OperatorHandle("aten::to.dtype")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_VAR_MEAN: Final = OperatorHandle("aten::var_mean.correction")
_VIEW: Final = OperatorHandle("aten::view")

_CHECKED: Final = "a group norm looks at its channels on meta"
_ROW_MAJOR: Final = "a group norm on meta is contiguous"
_VIEWS: Final = "the gradient of a group norm views its input"
_KEEPS: Final = "the gradient of a group norm lies as its input does"


@body("torch._refs.native_group_norm")
def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    batch_size: int,
    num_channels: int,
    flattened_inner_size: int,
    num_groups: int,
    eps: float,
) -> tuple[Any, Any, Any]:
    if HABITS[_CHECKED]:
        _check_positive(num_channels, flattened_inner_size, num_groups)
        _check_groups(input, num_channels, num_groups, "num_groups=")
        for name, each in (("weight", weight), ("bias", bias)):
            _check_parameter(name, each, input, num_channels)
        _check_rank(input)
        given: Any = _laid_out(input)
    else:
        _check_rank(input)
        _check_groups(input, num_channels, num_groups, "num_groups = ")
        given = input
    shape = (batch_size, num_groups, num_channels // num_groups, flattened_inner_size)
    computed = to_dtype(given, get_computation_dtype(input._dtype))
    groups = _RESHAPE(computed, shape)
    variance, mean = _VAR_MEAN(groups, [2, 3], correction=0, keepdim=True)
    rstd = _RSQRT(_ADD(variance, eps))
    out = _VIEW(_MUL(_SUB(groups, mean), rstd), input._sizes)
    dims = (0, *range(2, len(input._sizes)))
    if weight is not None:
        out = _MUL(out, _unsqueezed(weight, dims))
    if bias is not None:
        out = _ADD(out, _unsqueezed(bias, dims))
    out, mean, rstd = (to_dtype(each, input._dtype) for each in (out, mean, rstd))
    if HABITS[_CHECKED] and not HABITS[_ROW_MAJOR]:
        out = _CONTIGUOUS(out, memory_format=suggest_memory_format(given))
    return out, _SQUEEZE(mean, [2, 3]), _SQUEEZE(rstd, [2, 3])


def _check_positive(channels: int, pixels: int, groups: int) -> None:
    for name, count in (("number of channels", channels), ("HxW", pixels), ("num groups", groups)):
        if count <= 0:
            raise RuntimeError(f"Expected {name} to be greater than 0, got {count}")


def _check_groups(input: Tensor, channels: int, groups: int, label: str) -> None:
    if channels % groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {Size._of(input._sizes)} and {label}{groups}"
        )


def _check_parameter(name: str, given: Tensor | None, input: Tensor, channels: int) -> None:
    if given is not None and tuple(given._sizes) != (channels,):
        raise RuntimeError(
            f"Expected {name} to be a vector of size equal to the number of channels in input, "
            f"but got {name} of shape {Size._of(given._sizes)} and input of shape "
            f"{Size._of(input._sizes)}"
        )


def _check_rank(input: Tensor) -> None:
    if len(input._sizes) < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {len(input._sizes)}"
        )


def _laid_out(input: Tensor) -> Any:
    if HABITS[_ROW_MAJOR]:
        return _CONTIGUOUS(input, memory_format=MEMORY_FORMATS["contiguous_format"])
    return _CONTIGUOUS(input, memory_format=suggest_memory_format(input))


def _unsqueezed(tensor: Any, dims: Iterable[int]) -> Any:
    """``_unsqueeze_multiple``."""
    for dim in dims:
        tensor = _UNSQUEEZE(tensor, dim)
    return tensor


@body("torch._decomp.decompositions.native_group_norm_backward")
def native_group_norm_backward(
    grad_output: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    gamma: Tensor | None,
    N: int,  # noqa: N803 (torch's name)
    C: int,  # noqa: N803
    HxW: int,  # noqa: N803
    group: int,
    output_mask: Sequence[bool],
) -> tuple[Any, Any, Any]:
    check_same_device(grad_output, input, mean, rstd, allow_cpu_scalar_tensors=False)
    check_same_shape(input, grad_output)
    check_same_shape(mean, rstd)
    if numel(input._sizes) != N * C * HxW:
        raise RuntimeError(f"Expect input to have {N * C * HxW} elements")
    if tuple(mean._sizes) != (N, group):
        raise RuntimeError(
            f"Expect mean to have shape ({N}, {group}, but got {Size._of(mean._sizes)}"
        )
    if gamma is not None and numel(gamma._sizes) != C:
        raise RuntimeError(f"Expect gamma to have {C} elements but got {numel(gamma._sizes)}")
    size = C // group
    if C % group:
        raise RuntimeError(
            f"Expect number of channels {C} to be evenly-divisible by number of groups {group}"
        )
    regrouped = _VIEW if HABITS[_VIEWS] else _RESHAPE
    products = _SUM(regrouped(_MUL(grad_output, input), (N, C, HxW)), [2])
    sums = _SUM(regrouped(grad_output, (N, C, HxW)), [2])
    grad_input = grad_gamma = grad_beta = None
    if output_mask[0]:
        weighted, total = (
            _SUM(_RESHAPE(_scaled(each, gamma), (N, group, size)), [2]) for each in (products, sums)
        )
        share = 1.0 / (HxW * size)
        weights = new_tensor((1, group, size), DTYPES["float32"], rstd._device)
        scale = _RESHAPE(gamma, (1, group, size)) if gamma is not None else weights
        factor = _UNSQUEEZE(_MUL(_UNSQUEEZE(rstd, -1), scale), -1)
        if HABITS[_VIEWS]:
            slope = _SUB(_MUL(total, mean), weighted)
        else:
            slope = _ADDCMUL(_NEG(weighted), total, mean)
        slope = _MUL(_MUL(_MUL(_MUL(slope, rstd), rstd), rstd), share)
        height = _SUB(_MUL(_NEG(slope), mean), _MUL(_MUL(total, rstd), share))
        slope, height = (_unsqueezed(each, (-1,) * 2) for each in (slope, height))
        shape = (N, group, size, HxW)
        moved = _ADD(
            _MUL(_RESHAPE(grad_output, shape), factor), _MUL(_RESHAPE(input, shape), slope)
        )
        grad_input = _TO(_RESHAPE(_ADD(moved, height), input._sizes), input._dtype)
        if HABITS[_KEEPS]:
            grad_input = _CONTIGUOUS(grad_input, memory_format=suggest_memory_format(input))
    if output_mask[1]:
        grouped = (_VIEW(each, (N, group, size)) for each in (products, sums))
        of_products, of_sums = grouped
        centred = _SUB(of_products, _MUL(of_sums, _UNSQUEEZE(mean, -1)))
        grad_gamma = _RESHAPE(_SUM(_MUL(centred, _UNSQUEEZE(rstd, -1)), [0]), (C,))
    if output_mask[2]:
        grad_beta = _SUM(sums, [0])
    return grad_input, grad_gamma, grad_beta


def _scaled(sums: Any, gamma: Tensor | None) -> Any:
    return sums if gamma is None else _MUL(sums, _UNSQUEEZE(gamma, 0))
