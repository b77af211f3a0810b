"""Weights of a given length in a direction, which may take one kernel or be made of operators.

Mirrors ``_weight_norm`` and ``_weight_norm_differentiable_backward`` of
``aten/src/ATen/native/WeightNorm.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.autograd.at import call
from mindtorch_v2.autograd.operators import div, mul, sub
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.geometry import is_contiguous
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_FUSES_HALF: Final = HABITS["a weight norm of float16 is one kernel"]
_INTERFACE: Final = OperatorHandle("aten::_weight_norm_interface")


@kernel("aten::_weight_norm", key=_IMPLICIT)
def _weight_norm(v: Tensor, g: Tensor, dim: int) -> Any:
    if v._device != g._device:
        raise RuntimeError(
            "weight_norm: expected v_in and g_in to be on the same device, but v_in is on "
            f"{v._device} and g_in is on {g._device}"
        )
    one, two = call("contiguous", v), call("contiguous", g)
    is_half = DTYPES["float16"] in (one._dtype, two._dtype)
    if (_FUSES_HALF or not is_half) and dim in (0, len(one._sizes) - 1):
        return _INTERFACE(one, two, dim)[0]
    return mul(one, div(two, call("norm_except_dim", one, 2, dim)))


@kernel("aten::_weight_norm_differentiable_backward", key=_IMPLICIT)
def _weight_norm_differentiable_backward(
    grad_w: Tensor, saved_v: Tensor, saved_g: Tensor, saved_norms: Tensor, dim: int
) -> tuple[Any, Any]:
    given = {"grad_w": grad_w, "saved_v": saved_v, "saved_g": saved_g, "saved_norms": saved_norms}
    for name, each in given.items():
        if not is_contiguous(each._sizes, each._strides):
            raise RuntimeError(f"{name} must be contiguous")
    rank = len(saved_v._sizes)
    last = size_at(saved_v, rank - 1)
    if dim not in (0, rank - 1):
        raise RuntimeError("Expected dim to be the first or last dimension")
    norms = call("to", saved_norms, saved_g._dtype)
    size = size_at(saved_v, 0) if dim == 0 else last
    shape = [1] * rank
    shape[dim] = size
    rows = call("view", mul(grad_w, saved_v), [size, -1] if dim == 0 else [-1, size])
    total = call("view", call("sum", rows, [1 if dim == 0 else 0]), shape)
    # of two factors GCC computes the second one first
    along = mul(saved_v, div(total, mul(norms, norms)))
    rest = sub(grad_w, along)
    grad_v = mul(div(saved_g, norms), rest)
    return grad_v, div(total, norms)
