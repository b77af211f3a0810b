"""The reference functions of products whose results are activated, or have another dtype.

Mirrors ``torch/_decomp/decompositions.py`` and ``torch/_meta_registrations.py``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.elementwise.promotion import Number, Operand
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import (
    elementwise_dtypes,
    maybe_broadcast,
    pw_cast_for_opmath,
    shaped_elementwise,
    to_dtype,
)
from mindtorch_v2.kernels.refs.products import addmm, factors_for
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.tensor import Tensor

_DECOMPOSED: Final = "torch._decomp.decompositions."
_ADD: Final = OperatorHandle("aten::add.Tensor")
_BMM: Final = OperatorHandle("aten::bmm")
_GELU: Final = OperatorHandle("aten::gelu")
_MM_DTYPE: Final = OperatorHandle("aten::mm.dtype")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_RELU: Final = OperatorHandle("aten::relu")


@body("torch._meta_registrations.meta__add_relu")
def meta__add_relu(self: Tensor, other: Operand, alpha: Number = 1) -> Any:
    _, dtype = elementwise_dtypes(self, other, kind="DEFAULT")
    operands = [to_dtype(each, dtype) for each in maybe_broadcast(self, other)]
    return shaped_elementwise(*operands)


@body(_DECOMPOSED + "_addmm_activation")
@pw_cast_for_opmath
def addmm_activation(
    self: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    beta: Number = 1,
    alpha: Number = 1,
    use_gelu: bool = False,
) -> Any:
    found = addmm(self, mat1, mat2, beta, alpha)
    return _GELU(found) if use_gelu else _RELU(found)


@body(_DECOMPOSED + "addmm_dtype")
def addmm_dtype(
    self: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    out_dtype: DType,
    beta: Number = 1,
    alpha: Number = 1,
) -> Any:
    product = _MUL(_MM_DTYPE(mat1, mat2, out_dtype), alpha)
    return product if beta == 0 else _ADD(product, _MUL(to_dtype(self, out_dtype), beta))


@body(_DECOMPOSED + "baddbmm")
@pw_cast_for_opmath
def baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, beta: Any = 1, alpha: Number = 1) -> Any:
    """Where the dtype of the result is given, that is taken for ``beta``."""
    beta, alpha = factors_for(self, beta, alpha)
    product = _BMM(batch1, batch2)
    if alpha != 1:
        product = _MUL(product, alpha)
    if beta == 0:
        return product
    if isinstance(beta, DType):
        raise TypeError("unsupported operand type(s) for *: 'Tensor' and 'torch.dtype'")
    return _ADD(self if beta == 1 else _MUL(self, beta), product)
