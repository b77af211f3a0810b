"""Gradients of the fused cells, made of operators that have gradients themselves.

Mirrors ``_thnn_differentiable_lstm_cell_backward`` and its sibling of
``aten/src/ATen/native/RNN.cpp``, and the one that is not to be derived again.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.autograd.operators import sub
from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]
_ADD: Final = OperatorHandle("aten::add.Tensor")
_CAT: Final = OperatorHandle("aten::cat")
_CHUNK: Final = OperatorHandle("aten::unsafe_chunk")
_IMPL: Final = OperatorHandle("aten::_thnn_fused_lstm_cell_backward_impl")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_SIGMOID: Final = OperatorHandle("aten::sigmoid")
_SIGMOID_BACKWARD: Final = OperatorHandle("aten::sigmoid_backward")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_TANH: Final = OperatorHandle("aten::tanh")
_TANH_BACKWARD: Final = OperatorHandle("aten::tanh_backward")
_ZEROS_LIKE: Final = OperatorHandle("aten::zeros_like")

Five = tuple[Any, Any, Any, Any, Any]
_NOTHING: Final[Five] = (None, None, None, None, None)


@kernel("aten::_thnn_differentiable_lstm_cell_backward", key=_IMPLICIT)
def _thnn_differentiable_lstm_cell_backward(
    grad_hy: Tensor | None,
    grad_cy: Tensor | None,
    input_gates: Tensor,
    hidden_gates: Tensor,
    input_bias: Tensor | None,
    hidden_bias: Tensor | None,
    cx: Tensor,
    cy: Tensor,
) -> Five:
    if grad_hy is None and grad_cy is None:
        return _NOTHING
    gates = _ADD(input_gates, hidden_gates)
    for bias in (input_bias, hidden_bias):
        if bias is not None:
            gates = _ADD(gates, bias)
    i, f, c, o = _gates(gates, 4)
    i, f = _SIGMOID(i), _SIGMOID(f)
    c, o = _TANH(c), _SIGMOID(o)
    kept = _TANH(cy)
    if grad_hy is not None:
        gog = _SIGMOID_BACKWARD(_MUL(grad_hy, kept), o)
        gcx = _TANH_BACKWARD(_MUL(grad_hy, o), kept)
        if grad_cy is not None:
            gcx = _ADD(gcx, grad_cy)
    else:
        gog = _ZEROS_LIKE(cx, memory_format=_CONTIGUOUS)
        gcx = grad_cy
    gig, gfg, gcg = _MUL(gcx, c), _MUL(gcx, cx), _MUL(gcx, i)
    gcx = _MUL(gcx, f)
    gig, gfg = _SIGMOID_BACKWARD(gig, i), _SIGMOID_BACKWARD(gfg, f)
    gcg = _TANH_BACKWARD(gcg, c)
    grad_gates = _CAT([gig, gfg, gcg, gog], 1)
    grad_bias = None if input_bias is None else _SUM(grad_gates, [0], False)
    return grad_gates, grad_gates, gcx, grad_bias, grad_bias


@kernel("aten::_thnn_differentiable_gru_cell_backward", key=_IMPLICIT)
def _thnn_differentiable_gru_cell_backward(
    grad_hy: Tensor,
    input_gates: Tensor,
    hidden_gates: Tensor,
    hx: Tensor,
    input_bias: Tensor | None,
    hidden_bias: Tensor | None,
) -> Five:
    in_g: Any = input_gates if input_bias is None else _ADD(input_gates, input_bias)
    h_g: Any = hidden_gates if hidden_bias is None else _ADD(hidden_gates, hidden_bias)
    ir, ii, new = _gates(in_g, 3)
    hr, hi, hn = _gates(h_g, 3)
    rg, ig = _SIGMOID(_ADD(ir, hr)), _SIGMOID(_ADD(ii, hi))
    grad_hx = _MUL(grad_hy, ig)
    ng = _TANH(_ADD(new, _MUL(rg, hn)))
    gig = _SIGMOID_BACKWARD(_MUL(grad_hy, _SUB(hx, ng)), ig)
    gin = _TANH_BACKWARD(_MUL(grad_hy, sub(1, ig)), ng)
    ghn = _MUL(gin, rg)
    grg = _SIGMOID_BACKWARD(_MUL(gin, hn), rg)
    grad_input_gates = _CAT([grg, gig, gin], 1)
    grad_hidden_gates = _CAT([grg, gig, ghn], 1)
    if input_bias is None:
        return grad_input_gates, grad_hidden_gates, grad_hx, None, None
    of_input = _SUM(grad_input_gates, [0], False)
    of_hidden = _SUM(grad_hidden_gates, [0], False)
    return grad_input_gates, grad_hidden_gates, grad_hx, of_input, of_hidden


@kernel("aten::_thnn_fused_lstm_cell_backward", key=_IMPLICIT)
def _thnn_fused_lstm_cell_backward(
    grad_hy: Tensor | None,
    grad_cy: Tensor | None,
    cx: Tensor,
    cy: Tensor,
    workspace: Tensor,
    has_bias: bool,
) -> Five:
    """What each of two gets is the same tensor."""
    if tls.is_grad_enabled():
        message = internal_assert("!GradMode::is_enabled()", "_thnn_fused_lstm_cell_backward")
        raise RuntimeError(message)
    of_gates, of_cx, of_bias = _IMPL(grad_hy, grad_cy, cx, cy, workspace, has_bias)
    return of_gates, of_gates, of_cx, of_bias, of_bias


def _gates(gates: Any, count: int) -> Any:
    """Each of them; torch reads beyond those that there are."""
    parts = _CHUNK(gates, count, 1)
    if len(parts) != count:
        raise RuntimeError(f"{count} gates expected, but there are {len(parts)}")
    return parts
