"""One step of a recurrent network: what is kept of a sequence, once another element has come.

Mirrors the cells of ``aten/src/ATen/native/RNN.cpp``.  What a cell keeps is a tuple of tensors; of
two operands GCC computes the second one first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_LOOKS_AT_DIMENSIONS: Final = HABITS["a recurrent cell looks at dimensions"]
_ADD: Final = OperatorHandle("aten::add.Tensor")
_ADD_: Final = OperatorHandle("aten::add_.Tensor")
_LINEAR: Final = OperatorHandle("aten::linear", none_is_undefined=True)
_MATMUL: Final = OperatorHandle("aten::matmul")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_MUL_: Final = OperatorHandle("aten::mul_.Tensor")
_RELU: Final = OperatorHandle("aten::relu")
_SIGMOID_: Final = OperatorHandle("aten::sigmoid_")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_T: Final = OperatorHandle("aten::t")
_TANH: Final = OperatorHandle("aten::tanh")
_TANH_: Final = OperatorHandle("aten::tanh_")
_CHUNK: Final = OperatorHandle("aten::unsafe_chunk")

Hidden = tuple[Any, ...]
"""What is kept: one tensor, or two of an LSTM, the first of which is also the output."""


@dataclass(frozen=True)
class CellParams:
    """The weights of a cell: by the input, by the hidden state, their biases, and a projection."""

    w_ih: Tensor
    w_hh: Tensor
    b_ih: Tensor | None = None
    b_hh: Tensor | None = None
    w_hr: Tensor | None = None

    def linear_ih(self, input: Any) -> Any:
        return _LINEAR(input, self.w_ih, self.b_ih)

    def linear_hh(self, hidden: Any) -> Any:
        return _LINEAR(hidden, self.w_hh, self.b_hh)

    def matmul_hr(self, hidden: Any) -> Any:
        return hidden if self.w_hr is None else _MATMUL(hidden, _T(self.w_hr))


Cell = Callable[[Any, Hidden, CellParams, bool], Hidden]
"""Of an input, or with True of what the weights have made of it."""


def _simple(nonlinearity: Callable[[Any], Any]) -> Cell:
    def run(input: Any, hidden: Hidden, params: CellParams, is_precomputed: bool) -> Hidden:
        gates = params.linear_hh(hidden[0])
        own = input if is_precomputed else params.linear_ih(input)
        return (nonlinearity(_ADD_(gates, own)),)

    return run


TANH_CELL: Final = _simple(_TANH)
RELU_CELL: Final = _simple(_RELU)


def run_lstm_cell(input: Any, hidden: Hidden, params: CellParams, is_precomputed: bool) -> Hidden:
    hx, cx = hidden
    gates = params.linear_hh(hx)
    gates = _ADD_(gates, input if is_precomputed else params.linear_ih(input))
    ingate, forgetgate, cellgate, outgate = _CHUNK(gates, 4, 1)
    ingate, forgetgate = _SIGMOID_(ingate), _SIGMOID_(forgetgate)
    cellgate, outgate = _TANH_(cellgate), _SIGMOID_(outgate)
    cy = _MUL(forgetgate, cx)
    cy = _ADD_(cy, _MUL(ingate, cellgate))
    hy = _MUL(outgate, _TANH(cy))
    return params.matmul_hr(hy), cy


def run_gru_cell(input: Any, hidden: Hidden, params: CellParams, is_precomputed: bool) -> Hidden:
    (hx,) = hidden
    igates = _CHUNK(input if is_precomputed else params.linear_ih(input), 3, 1)
    hgates = _CHUNK(params.linear_hh(hx), 3, 1)
    reset_gate = _SIGMOID_(_ADD_(hgates[0], igates[0]))
    input_gate = _SIGMOID_(_ADD_(hgates[1], igates[1]))
    new_gate = _TANH_(_ADD(igates[2], _MUL_(hgates[2], reset_gate)))
    return (_ADD_(_MUL_(_SUB(hx, new_gate), input_gate), new_gate),)


# --- as operators -----------------------------------------------------------------------------


def _check_rows(name: str, columns: str, given: Tensor, noun: str) -> None:
    """What each element of a batch has is a row."""
    dim = len(given._sizes)
    if _LOOKS_AT_DIMENSIONS and dim != 2:
        raise RuntimeError(f"Expected 2D {name} (batch x {columns}), but got {dim}D {noun}")


def _check_input(input: Tensor, input_size: int) -> None:
    """``check_rnn_cell_forward_input``."""
    _check_rows("input", "feature", input, "input")
    size = size_at(input, 1)
    if size != input_size:
        raise RuntimeError(f"input has inconsistent input_size: got {size} expected {input_size}")


def _check_hidden(input: Tensor, hx: Tensor, hidden_size: int, label: int) -> None:
    """``check_rnn_cell_forward_hidden``."""
    _check_rows(f"hidden{label}", "hidden_size", hx, "tensor")
    batch, own = size_at(input, 0), size_at(hx, 0)
    if batch != own:
        raise RuntimeError(f"Input batch size {batch} doesn't match hidden{label} batch size {own}")
    size = size_at(hx, 1)
    if size != hidden_size:
        raise RuntimeError(
            f"hidden{label} has inconsistent hidden_size: got {size}, expected {hidden_size}"
        )


@kernel("aten::lstm_cell", key=_IMPLICIT)
def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
) -> Any:
    if len(hx) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    _check_input(input, size_at(w_ih, 1))
    hidden_size = size_at(w_hh, 1)
    for label, each in enumerate(hx):
        _check_hidden(input, each, hidden_size, label)
    return run_lstm_cell(input, tuple(hx), CellParams(w_ih, w_hh, b_ih, b_hh), False)


def _register(name: str, cell: Cell) -> None:
    """The operator of a cell that keeps one tensor."""

    def run(
        input: Tensor,
        hx: Tensor,
        w_ih: Tensor,
        w_hh: Tensor,
        b_ih: Tensor | None,
        b_hh: Tensor | None,
    ) -> Any:
        _check_input(input, size_at(w_ih, 1))
        _check_hidden(input, hx, size_at(w_hh, 1), 0)
        return cell(input, (hx,), CellParams(w_ih, w_hh, b_ih, b_hh), False)[0]

    kernel(f"aten::{name}", key=_IMPLICIT)(run)


_register("gru_cell", run_gru_cell)
_register("rnn_tanh_cell", TANH_CELL)
_register("rnn_relu_cell", RELU_CELL)
