"""The reference functions of softmax and its logarithm, and of what turns elements round.

Mirrors ``torch/_decomp/decompositions.py``, ``torch/_meta_registrations.py`` and
``torch/_refs/__init__.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.elementwise.promotion import BOOL
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import (
    HABITS,
    elementwise_dtypes,
    output_strides,
    row_major,
    shaped_elementwise,
    worded,
)
from mindtorch_v2.kernels.refs.reductions import check_rank, reduction_dims
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

_DECOMPOSED: Final = "torch._decomp.decompositions."
_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_EXP: Final = OperatorHandle("aten::exp")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_TO: Final = OperatorHandle("aten::to.dtype")
_HALF: Final = DTYPES["float16"]
_BFLOAT16: Final = DTYPES["bfloat16"]


def _contiguous(x: Tensor, half_to_float: bool, halves: Sequence[DType], shown: str) -> Tensor:
    """A row-major result; AssertionError if another dtype is to become float."""
    if half_to_float and x._dtype not in halves:
        message = f"half_to_float is True but x.dtype is {x._dtype}, expected {shown}"
        raise AssertionError(*[message] * HABITS["assertions say what they ask"])
    computed, result = elementwise_dtypes(x, kind="DEFAULT")
    return new_tensor(x._sizes, computed if half_to_float else result, x._device)


@body("torch._meta_registrations.softmax")
def softmax(x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """Which does not look at the dimension."""
    halves = (_HALF, _BFLOAT16) if HABITS["softmax makes floats of bfloat16"] else (_HALF,)
    return _contiguous(x, half_to_float, halves, "half or bfloat16")


@body(_DECOMPOSED + "_log_softmax")
def decomposed_log_softmax(x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """Twice what is alike along the dimension is taken from a row-major tensor."""
    result = decomposed_softmax(x, dim, half_to_float)
    sizes = [1 if place == dim % len(x._sizes) else n for place, n in enumerate(x._sizes)]
    alike = new_tensor(sizes, x._dtype, x._device)
    shifted = shaped_elementwise(row_major(x), alike)
    strides = shaped_elementwise(shifted, alike)._strides
    return new_tensor(x._sizes, result._dtype, x._device, strides)


@body(_DECOMPOSED + "_softmax")
def decomposed_softmax(x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    result = _contiguous(x, half_to_float, (_HALF,), "torch.half")
    if x._dtype is BOOL and HABITS["two truth values are not subtracted"]:
        raise worded("a truth value less another")
    if numel(x._sizes):  # of nothing no largest element is looked for
        check_rank(len(x._sizes))
    wrap_dim(dim, len(x._sizes))
    return result


@body(_DECOMPOSED + "_softmax_backward_data")
def _softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: DType
) -> Any:
    shared = _MUL(grad_output, output)
    grad_input = _SUB(shared, _MUL(output, _SUM(shared, [dim], True)))
    return _CONTIGUOUS(_cast_grad_to_input_dtype(grad_output, grad_input, input_dtype))


@body(_DECOMPOSED + "_log_softmax_backward_data")
def _log_softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: DType
) -> Any:
    grad_input = _SUB(grad_output, _MUL(_EXP(output), _SUM(grad_output, [dim], True)))
    return _cast_grad_to_input_dtype(grad_output, grad_input, input_dtype)


def _cast_grad_to_input_dtype(grad_output: Tensor, grad_input: Any, input_dtype: DType) -> Any:
    return grad_input if grad_output._dtype is input_dtype else _TO(grad_input, input_dtype)


@body("torch._refs.flip")
def flip(a: Tensor, dims: Sequence[int]) -> Tensor:
    reduction_dims(len(a._sizes), dims)  # which are looked at in the same way
    return new_tensor(a._sizes, a._dtype, a._device, output_strides(a._sizes, (a,)))
