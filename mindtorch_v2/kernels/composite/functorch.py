"""What transforms call in the stead of some composites: they change nothing that might be batched.

Mirrors ``aten/src/ATen/functorch/PyTorchOperatorHacks.cpp``; dropout has a module of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.autograd.operators import sub
from mindtorch_v2.kernels.cpu.losses import apply_loss_reduction
from mindtorch_v2.kernels.dtypes import HABITS
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.dtype import int64
from mindtorch_v2.tensor.geometry import is_contiguous, numel
from mindtorch_v2.tensor.tensor import Tensor

_FRONT: Final = "FuncTorchDynamicLayerFrontMode"
_ADD: Final = OperatorHandle("aten::add.Tensor")
_ADD_: Final = OperatorHandle("aten::add_.Tensor")
_ADD_SCALAR_: Final = OperatorHandle("aten::add_.Scalar")
_ADDMM: Final = OperatorHandle("aten::addmm")
_ARANGE: Final = OperatorHandle("aten::arange.start_step")
_CLAMP_MIN: Final = OperatorHandle("aten::clamp_min")
_EXP_: Final = OperatorHandle("aten::exp_")
_LOG_: Final = OperatorHandle("aten::log_")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_NEG: Final = OperatorHandle("aten::neg")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_SUB_SCALAR: Final = OperatorHandle("aten::sub.Scalar")
_INDEX_ADD: Final = OperatorHandle("aten::index_add")
_INDEX_PUT: Final = OperatorHandle("aten::index_put")
_MATMUL: Final = OperatorHandle("aten::matmul")
_T: Final = OperatorHandle("aten::t")
_UNSAFE_VIEW: Final = OperatorHandle("aten::_unsafe_view")
_VIEW: Final = OperatorHandle("aten::view")
_ZEROS: Final = OperatorHandle("aten::zeros")


def _zeros(sizes: Sequence[int], like: Tensor) -> Any:
    return _ZEROS(list(sizes), dtype=like._dtype, layout=like._layout, device=like._device)


@kernel("aten::linear", key=_FRONT)
def linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Any:
    """By one ``addmm`` if the input is a matrix, or a contiguous row of them."""
    sizes = list(input._sizes)
    if bias is not None and len(sizes) == 2:
        return _ADDMM(bias, input, _T(weight))
    if bias is not None and len(sizes) == 3 and is_contiguous(sizes, input._strides):
        # C++ takes its arguments from the last to the first.
        transposed = _T(weight)
        matrix = _VIEW(input, [sizes[0] * sizes[1], sizes[2]])
        result = _ADDMM(bias, matrix, transposed)
        view = _VIEW if HABITS["linear answers a view"] else _UNSAFE_VIEW
        return view(result, [*sizes[:2], result._sizes[1]])
    output = _MATMUL(input, _T(weight))
    return output if bias is None else _ADD_(output, bias)


@kernel("aten::index_select_backward", key=_FRONT)
def index_select_backward(grad: Tensor, self_sizes: Sequence[int], dim: int, index: Tensor) -> Any:
    return _INDEX_ADD(_zeros(self_sizes, grad), dim, index, grad)


@kernel("aten::trace_backward", key=_FRONT)
def trace_backward(grad: Tensor, sizes: Sequence[int]) -> Any:
    if len(sizes) != 2:
        raise RuntimeError("expected matrix input")
    grad_input = _zeros([sizes[0] * sizes[1]], grad)
    options = {"dtype": int64, "layout": grad._layout, "device": grad._device}
    places = _ARANGE(0, numel(grad_input._sizes), sizes[1] + 1, **options)
    return _VIEW(_INDEX_PUT(grad_input, [places], grad), list(sizes))


@kernel("aten::binary_cross_entropy_with_logits", key=_FRONT)
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    pos_weight: Tensor | None,
    reduction: int,
) -> Any:
    """The logarithm of a sum of two powers, less the larger of their exponents."""
    largest = _CLAMP_MIN(_NEG(input), 0)
    if pos_weight is None:
        loss = _ADD_(_MUL(sub(1, target), input), largest)
        loss = _ADD_(loss, _LOG_(_sum_of_powers(input, largest)))
    else:
        scale = _ADD_SCALAR_(_MUL(_SUB_SCALAR(pos_weight, 1), target), 1)
        loss = _MUL(sub(1, target), input)
        logarithm = _ADD_(_LOG_(_sum_of_powers(input, largest)), largest)
        loss = _ADD(loss, _MUL(scale, logarithm))
    if weight is not None:
        loss = _MUL(loss, weight)
    return apply_loss_reduction(loss, reduction)


def _sum_of_powers(input: Tensor, largest: Any) -> Any:
    one = _EXP_(_NEG(largest))
    return _ADD(one, _EXP_(_SUB(_NEG(input), largest)))
