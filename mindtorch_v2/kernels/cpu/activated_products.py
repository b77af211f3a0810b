"""Products with an activation behind them: ``_addmm_activation``.

Mirrors ``addmm_activation_out_cpu`` in ``aten/src/ATen/native/LinearAlgebra.cpp``.
"""

from __future__ import annotations

from typing import Final

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.products import addmm
from mindtorch_v2.kernels.elementwise.promotion import Number
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.tensor.tensor import Tensor

_GELU_: Final = OperatorHandle("aten::gelu_")
_RELU_: Final = OperatorHandle("aten::relu_")


@structured.structured("aten::_addmm_activation", keys=("CPU",))
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
    activate = _GELU_ if use_gelu else _RELU_
    activate(output)
    return (output,)
