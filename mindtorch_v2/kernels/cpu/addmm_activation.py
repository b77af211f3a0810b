"""Products of matrices that are added to something and then activated.

Mirrors ``addmm_activation_out_cpu`` of ``aten/src/ATen/native/LinearAlgebra.cpp``.
"""

from __future__ import annotations

from typing import Final

from mindtorch_v2.kernels.cpu.products import addmm
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.promotion import Number
from mindtorch_v2.kernels.structured import Outputs, structured
from mindtorch_v2.tensor.tensor import Tensor

_GELU_: Final = OperatorHandle("aten::gelu_")
_RELU_: Final = OperatorHandle("aten::relu_")


@structured("aten::_addmm_activation", keys=("CPU", "CompositeExplicitAutogradNonFunctional"))
def addmm_activation(
    outputs: Outputs,
    self: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    beta: Number,
    alpha: Number,
    use_gelu: bool,
) -> tuple[Tensor, ...]:
    found = addmm(outputs, self, mat1, mat2, beta, alpha)
    if use_gelu:
        _GELU_(found[0])
    else:
        _RELU_(found[0])
    return found
