"""The reference functions of the derivatives of activations.

Mirrors ``torch/_decomp/decompositions.py``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.promotion import Number
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import to_dtype
from mindtorch_v2.tensor.tensor import Tensor

_DECOMPOSED: Final = "torch._decomp.decompositions."
_MUL: Final = OperatorHandle("aten::mul.Tensor")


@body(_DECOMPOSED + "sigmoid_backward", _DECOMPOSED + "tanh_backward")
def sigmoid_backward(out_grad: Tensor, y: Tensor) -> Any:
    """A product with something of ``y``'s dtype and shape."""
    return _MUL(out_grad, y)


@body(_DECOMPOSED + "gelu_backward")
def gelu_backward(grad: Tensor, self: Tensor, approximate: str = "none") -> Any:
    return _MUL(grad, self)


@body(_DECOMPOSED + "native_dropout_backward")
def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Any:
    """A product with the mask in the gradient's dtype times the scale."""
    return _MUL(grad_output, _MUL(to_dtype(mask, grad_output._dtype), scale))


@body(_DECOMPOSED + "threshold_backward")
def threshold_backward(grad_output: Tensor, self: Tensor, threshold: Number) -> Any:
    """Zeros or the gradient, in its dtype."""
    return to_dtype(_MUL(grad_output, self), grad_output._dtype)
