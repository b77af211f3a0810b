"""What transforms call in the stead of some composites: they change nothing that might be batched.

Mirrors ``aten/src/ATen/functorch/PyTorchOperatorHacks.cpp``; dropout has a module of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.dtype import int64
from mindtorch_v2.tensor.geometry import is_contiguous, numel
from mindtorch_v2.tensor.tensor import Tensor

_FRONT: Final = "FuncTorchDynamicLayerFrontMode"
_ADD_: Final = OperatorHandle("aten::add_.Tensor")
_ADDMM: Final = OperatorHandle("aten::addmm")
_ARANGE: Final = OperatorHandle("aten::arange.start_step")
_INDEX_ADD: Final = OperatorHandle("aten::index_add")
_INDEX_PUT: Final = OperatorHandle("aten::index_put")
_MATMUL: Final = OperatorHandle("aten::matmul")
_T: Final = OperatorHandle("aten::t")
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
        return _VIEW(result, [*sizes[:2], result._sizes[1]])
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
