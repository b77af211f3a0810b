"""A product of matrices, something added to it, and what an activation makes of that.

Mirrors ``addmm_activation_out_cpu`` of ``aten/src/ATen/native/LinearAlgebra.cpp``.
"""

from __future__ import annotations

from typing import Final

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.products import addmm
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.promotion import Number
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.tensor.tensor import Tensor

_KEYS: Final = ("CPU", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
"""On meta a function of Python is asked."""
_GELU_: Final = OperatorHandle("aten::gelu_")
_RELU_: Final = OperatorHandle("aten::relu_")


@structured.structured("aten::_addmm_activation", keys=_KEYS)
def addmm_activation(
    outputs: Outputs,
    self: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    beta: Number,
    alpha: Number,
    use_gelu: bool,
) -> tuple[Tensor, ...]:
    (output,) = addmm(outputs, self, mat1, mat2, beta, alpha)
    if not output.is_meta:
        (_GELU_ if use_gelu else _RELU_)(output)
    return (output,)
