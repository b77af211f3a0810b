"""``linear``, by products of matrices.

Mirrors ``aten/src/ATen/native/Linear.cpp``.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.geometry import is_contiguous
from mindtorch_v2.tensor.tensor import Tensor

_ADD_: Final = OperatorHandle("aten::add_.Tensor")
_ADDMM: Final = OperatorHandle("aten::addmm")
_MATMUL: Final = OperatorHandle("aten::matmul")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_T: Final = OperatorHandle("aten::t")
_VIEW: Final = OperatorHandle("aten::view")


@kernel("aten::linear", key="CompositeImplicitAutograd")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Any:
    ranks = len(input._sizes), len(weight._sizes)
    if not all(ranks):
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {ranks[0]}D and "
            f"{ranks[1]}D"
        )
    if ranks[0] == 2 and bias is not None:
        return _ADDMM(bias, input, _T(weight))
    contiguous = is_contiguous(input._sizes, input._strides)
    if bias is not None and contiguous and (ranks[0] == 3 or len(bias._sizes) == 1):
        return _flattened(input, weight, bias)
    output = _MATMUL(input, _T(weight))
    return output if bias is None else _ADD_(output, bias)


def _flattened(input: Tensor, weight: Tensor, bias: Tensor) -> Any:
    """``_flatten_nd_linear``: all dimensions but the last as one."""
    *outer, inner = input._sizes
    result = _ADDMM(bias, _RESHAPE(input, [prod(outer), inner]), _T(weight))
    return _VIEW(result, [*outer, result._sizes[1]])
