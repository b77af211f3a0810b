"""How gated linear units and their gradients move with their inputs: ``glu_jvp``.

Mirrors ``aten/src/ATen/native/GatedLinearUnit.cpp`` and ``cpu/Activation.cpp``; of two operands
GCC computes the second one first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.kernels.cpu.samples.gammas import ALIKE
from mindtorch_v2.kernels.elementwise.pointwise import as_array
from mindtorch_v2.kernels.elementwise.tensor_iterator import TensorIterator
from mindtorch_v2.kernels.elementwise.vector_loop import in_vectors
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, dispatch_over
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

_ADD: Final = OperatorHandle("aten::add.Tensor")
_CAT: Final = OperatorHandle("aten::cat")
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_NARROW: Final = OperatorHandle("aten::narrow")
_SIGMOID: Final = OperatorHandle("aten::sigmoid")
_SUB: Final = OperatorHandle("aten::sub.Tensor")


@kernel("aten::glu_jvp")
def glu_jvp(glu: Tensor, x: Tensor, dx: Tensor, dim: int) -> Any:
    dim = wrap_dim(dim, len(x._sizes))
    half = size_at(glu, dim)
    gate = _NARROW(x, dim, half, half)
    d_value, d_gate = _NARROW(dx, dim, 0, half), _NARROW(dx, dim, half, half)
    found = _EMPTY_LIKE(glu)
    inputs = (glu, gate, d_value, d_gate)
    iterator = TensorIterator(ALIKE, (found,), inputs)
    dispatch_over(FLOATING_TYPES, "glu_jvp_cpu", glu._dtype)
    values = [np.broadcast_to(as_array(each, glu._dtype), iterator.shape) for each in inputs]
    with np.errstate(all="ignore"):
        store(found, _glu_jvp(values, in_vectors(iterator)))
    return found


def _glu_jvp(values: Sequence[Array], lanes: Array) -> Array:
    """Of two products a vector rounds the first one, and what is no vector the second one."""
    glu, gate, d_value, d_gate = values
    sigmoid = np.asarray(1 / (1 + np.exp(-gate)), gate.dtype)
    rest = fused(-sigmoid, d_gate, d_gate)
    of_vectors = fused(glu, rest, d_value * sigmoid)
    return np.where(lanes, of_vectors, fused(d_value, sigmoid, glu * rest))


@kernel("aten::glu_backward_jvp")
def glu_backward_jvp(
    grad_x: Tensor, grad_glu: Tensor, x: Tensor, dgrad_glu: Tensor, dx: Tensor, dim: int
) -> Any:
    dim = wrap_dim(dim, len(x._sizes))
    half = size_at(grad_glu, dim)
    value, gate, d_value, d_gate, grad_value, _ = (
        _NARROW(each, dim, start, half) for each in (x, dx, grad_x) for start in (0, half)
    )
    sigmoid = _SIGMOID(gate)
    glu = _MUL(value, sigmoid)
    d_rest = _SUB(d_gate, _MUL(d_gate, sigmoid))
    product = _MUL(grad_value, d_rest)
    first = _ADD(_MUL(dgrad_glu, sigmoid), product)
    moved = _MUL(glu, d_rest)
    moved = _MUL(grad_value, _SUB(_SUB(d_value, _MUL(d_value, sigmoid)), moved))
    second = _ADD(_MUL(first, _SUB(value, glu)), moved)
    return _CAT([first, second], dim)
