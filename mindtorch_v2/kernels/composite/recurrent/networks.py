"""Recurrent networks: layers of cells over a sequence, in one direction or in both.

Mirrors the layers of ``aten/src/ATen/native/RNN.cpp``, and ``mkldnn_rnn`` of
``aten/src/ATen/native/mkldnn/RNN.cpp``, which an LSTM of floats on the CPU is handed to.  On the
CPU all elements of a sequence meet the weights of the input at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, Final

from mindtorch_v2.kernels.composite.recurrent.cells import (
    RELU_CELL,
    TANH_CELL,
    Cell,
    CellParams,
    Hidden,
    run_gru_cell,
    run_lstm_cell,
)
from mindtorch_v2.kernels.composite.recurrent.onednn_lstm import run_by_onednn, uses_onednn
from mindtorch_v2.kernels.composite.recurrent.packed_sequences import counts
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn_once

_IMPLICIT: Final = "CompositeImplicitAutograd"
_CAT: Final = OperatorHandle("aten::cat")
_DROPOUT: Final = OperatorHandle("aten::dropout")
_NARROW: Final = OperatorHandle("aten::narrow")
_STACK: Final = OperatorHandle("aten::stack")
_TRANSPOSE: Final = OperatorHandle("aten::transpose.int")
_TRANSPOSE_: Final = OperatorHandle("aten::transpose_")
_VIEW: Final = OperatorHandle("aten::view")
_LOOKS_AT_COUNTS: Final = HABITS["counts of packed sequences are a row on the CPU"]
_TURNS_EQUAL: Final = HABITS["oneDNN computes an LSTM of packed sequences of one length"]
_UNBIND: Final = OperatorHandle("aten::unbind.int")

Layer = Callable[[Any, list[Hidden], list[CellParams]], tuple[Any, list[Hidden]]]
"""Of an input, with what each direction begins with and its weights."""


def _is_on_cpu(input: Any) -> bool:
    return bool(input._device.type == "cpu")


# --- layers over sequences that are equally long ----------------------------------------------


def _full_layer(cell: Cell) -> Layer:
    """``FullLayer`` and ``FullBidirectionalLayer``."""

    def steps(
        inputs: Sequence[Any], hidden: Hidden, params: CellParams, is_precomputed: bool
    ) -> tuple[list[Any], Hidden]:
        outputs = []
        for each in inputs:
            hidden = cell(each, hidden, params, is_precomputed)
            outputs.append(hidden[0])
        return outputs, hidden

    def run(
        input: Any, hiddens: list[Hidden], params: list[CellParams]
    ) -> tuple[Any, list[Hidden]]:
        on_cpu = _is_on_cpu(input)
        inputs: Sequence[Any] = () if on_cpu else _UNBIND(input, 0)
        found, last = [], []
        for backwards, (hidden, weights) in enumerate(zip(hiddens, params, strict=True)):
            if on_cpu:
                inputs = _UNBIND(weights.linear_ih(input), 0)
            order = -1 if backwards else 1
            outputs, hidden = steps(inputs[::order], hidden, weights, on_cpu)
            if not outputs:
                raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
            found.append(_STACK(outputs[::order], 0))
            last.append(hidden)
        if len(found) == 1:
            return found[0], last
        return _CAT(found, len(found[0]._sizes) - 1), last

    return run


# --- layers over packed sequences -------------------------------------------------------------


def _concatenated(hiddens: Sequence[Hidden]) -> Hidden:
    """``hidden_concat``, of the last first."""
    parts = [_CAT(list(each), 0) for each in reversed(list(zip(*hiddens, strict=True)))]
    return tuple(reversed(parts))


def _sliced(hidden: Hidden, start: int, end: int) -> Hidden:
    """``hidden_slice``, of the last first."""
    return tuple(reversed([_NARROW(each, 0, start, end - start) for each in reversed(hidden)]))


def _forwards(
    cell: Cell, data: Any, batch_sizes: Tensor, hidden: Hidden, params: CellParams
) -> tuple[Any, Hidden]:
    """``PackedLayer``: what a sequence has kept is set aside when it ends."""
    sizes = counts(batch_sizes)
    is_precomputed = _is_on_cpu(data)
    inputs = params.linear_ih(data) if is_precomputed else data
    outputs, ended = [], []
    offset, last = 0, sizes[0]
    for size in sizes:
        step = _NARROW(inputs, 0, offset, size)
        offset += size
        if last > size:
            ended.append(_sliced(hidden, size, last))
            hidden = _sliced(hidden, 0, size)
        last = size
        hidden = cell(step, hidden, params, is_precomputed)
        outputs.append(hidden[0])
    ended.append(hidden)
    return _CAT(outputs, 0), _concatenated(ended[::-1])


def _backwards(
    cell: Cell, data: Any, batch_sizes: Tensor, begin: Hidden, params: CellParams
) -> tuple[Any, Hidden]:
    """``ReversedPackedLayer``: the longest sequences come first, and others join them."""
    offset = size_at(data, 0)
    sizes = counts(batch_sizes)
    last = sizes[-1]
    is_precomputed = _is_on_cpu(data)
    inputs = params.linear_ih(data) if is_precomputed else data
    hidden = _sliced(begin, 0, last)
    outputs = []
    for size in reversed(sizes):
        if size > last:
            hidden = _concatenated([hidden, _sliced(begin, last, size)])
        offset -= size
        step = _NARROW(inputs, 0, offset, size)
        last = size
        hidden = cell(step, hidden, params, is_precomputed)
        outputs.append(hidden[0])
    return _CAT(outputs[::-1], 0), hidden


def _check_counts(batch_sizes: Tensor) -> None:
    if not _LOOKS_AT_COUNTS:
        return
    if len(batch_sizes._sizes) != 1:
        raise RuntimeError("batch_sizes tensor should be 1D")
    if batch_sizes._device.type != "cpu":
        raise RuntimeError(f"batch_sizes tensor should be on CPU, but got {batch_sizes._device}")


def _packed_layer(cell: Cell, batch_sizes: Tensor) -> Layer:
    """``PackedLayer`` and ``PackedBidirectionalLayer``."""

    def run(data: Any, hiddens: list[Hidden], params: list[CellParams]) -> tuple[Any, list[Hidden]]:
        found, last = [], []
        for way, begin, weights in zip((_forwards, _backwards), hiddens, params, strict=False):
            output, hidden = way(cell, data, batch_sizes, begin, weights)
            found.append(output)
            last.append(hidden)
        return (found[0] if len(found) == 1 else _CAT(found, -1)), last

    return run


# --- layers upon layers -----------------------------------------------------------------------


def _gathered(
    params: Sequence[Tensor], has_biases: bool, has_projections: bool = False
) -> list[CellParams]:
    """``gather_params``."""
    count = (4 if has_biases else 2) + has_projections
    if len(params) % count:
        raise RuntimeError("got an incorrect number of RNN parameters")
    found = []
    for start in range(0, len(params), count):
        w_ih, w_hh, *rest = params[start : start + count]
        w_hr = rest.pop() if has_projections else None
        b_ih, b_hh = rest or (None, None)
        found.append(CellParams(w_ih, w_hh, b_ih, b_hh, w_hr))
    return found


def _by_direction(values: list[Any], bidirectional: bool) -> list[list[Any]]:
    """``pair_vec``."""
    if not bidirectional:
        return [[each] for each in values]
    if len(values) % 2:
        raise RuntimeError("Odd number of params or hiddens given to a bidirectional RNN")
    return [values[start : start + 2] for start in range(0, len(values), 2)]


def _apply_layer_stack(
    layer: Layer,
    input: Any,
    hiddens: list[Hidden],
    params: list[CellParams],
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Any, list[Hidden]]:
    """``_rnn_impl``: the output, and what each layer and direction has kept in the end."""
    begins = _by_direction(hiddens, bidirectional)
    weights = _by_direction(params, bidirectional)
    if num_layers != len(begins):
        raise RuntimeError("Expected more hidden states in stacked_rnn")
    if num_layers != len(weights):
        raise RuntimeError("Expected more weights in stacked_rnn")
    kept: list[list[Hidden]] = []
    for begin, weight in zip(begins, weights, strict=True):
        input, last = layer(input, begin, weight)
        kept.append(last)
        if dropout != 0 and train and len(kept) < num_layers:
            input = _DROPOUT(input, dropout, True)
    return input, list(chain.from_iterable(kept))


def _check_attributes(input: Tensor, params: Sequence[Tensor], hiddens: Sequence[Tensor]) -> None:
    for name, tensors in (("hidden", hiddens), ("parameter", params)):
        for each in tensors:
            if each._device != input._device:
                raise RuntimeError(
                    f"Input and {name} tensors are not at the same device, found input tensor at "
                    f"{input._device} and {name} tensor at {each._device}"
                )


# --- networks that keep one tensor ------------------------------------------------------------


def _stacked(layer: Layer, input: Any, hx: Tensor, *settings: Any) -> tuple[Any, Any]:
    """``_rnn_impl_with_concat``."""
    begins = [(each,) for each in _UNBIND(hx, 0)]
    output, kept = _apply_layer_stack(layer, input, begins, *settings)
    return output, _STACK([each for (each,) in kept], 0)


def _register(name: str, cell: Cell) -> None:
    def of_input(
        input: Tensor,
        hx: Tensor,
        params: Sequence[Tensor],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> tuple[Any, Any]:
        _check_attributes(input, params, [hx])
        turned = _TRANSPOSE(input, 0, 1) if batch_first else input
        weights = _gathered(params, has_biases)
        settings = (num_layers, dropout, train, bidirectional)
        output, hy = _stacked(_full_layer(cell), turned, hx, weights, *settings)
        if batch_first:
            _TRANSPOSE_(output, 0, 1)
        return output, hy

    def of_data(
        data: Tensor,
        batch_sizes: Tensor,
        hx: Tensor,
        params: Sequence[Tensor],
        has_biases: bool,
        *settings: Any,
    ) -> tuple[Any, Any]:
        _check_counts(batch_sizes)
        weights = _gathered(params, has_biases)
        return _stacked(_packed_layer(cell, batch_sizes), data, hx, weights, *settings)

    kernel(f"aten::{name}.input", key=_IMPLICIT)(of_input)
    kernel(f"aten::{name}.data", key=_IMPLICIT)(of_data)


_register("gru", run_gru_cell)
_register("rnn_tanh", TANH_CELL)
_register("rnn_relu", RELU_CELL)


# --- LSTM -------------------------------------------------------------------------------------


def _lstm_impl(
    layer: Layer, input: Any, hx: Sequence[Tensor], *settings: Any
) -> tuple[Any, Any, Any]:
    """``_lstm_impl``; the states of cells are stacked first."""
    layer_hx, layer_cx = _UNBIND(hx[0], 0), _UNBIND(hx[1], 0)
    begins = list(zip(layer_hx, layer_cx, strict=False))
    output, kept = _apply_layer_stack(layer, input, begins, *settings)
    cy = _STACK([each for _, each in kept], 0)
    return output, _STACK([each for each, _ in kept], 0), cy


def _check_states(hx: Sequence[Tensor]) -> None:
    if len(hx) != 2:
        raise RuntimeError("lstm expects two hidden states")


def _has_projections(hx: Sequence[Tensor]) -> bool:
    """Whether what is put out has another size than what a cell keeps."""
    return size_at(hx[0], 2) != size_at(hx[1], 2)


@kernel("aten::lstm.input", key=_IMPLICIT)
def lstm(
    input: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Any, Any, Any]:
    _check_states(hx)
    has_projections = _has_projections(hx)
    settings = (num_layers, dropout, train, bidirectional)
    if uses_onednn(input, params, hx):
        if not has_projections:
            return run_by_onednn(input, hx, params, has_biases, *settings, batch_first)
        warn_once(
            "lstm",
            "LSTM with projections is not supported with oneDNN. Using default implementation.",
        )
    _check_attributes(input, params, hx)
    turned = _TRANSPOSE(input, 0, 1) if batch_first else input
    weights = _gathered(params, has_biases, has_projections)
    output, hy, cy = _lstm_impl(_full_layer(run_lstm_cell), turned, hx, weights, *settings)
    return (_TRANSPOSE(output, 0, 1) if batch_first else output), hy, cy


@kernel("aten::lstm.data", key=_IMPLICIT)
def lstm_of_packed(
    data: Tensor,
    batch_sizes: Tensor,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Any, Any, Any]:
    settings = (num_layers, dropout, train, bidirectional)
    _check_states(hx)
    _check_counts(batch_sizes)
    has_projections = _has_projections(hx)
    if _TURNS_EQUAL and not has_projections and uses_onednn(data, params, hx):
        sizes = counts(batch_sizes)
        if sizes and sizes[0] == sizes[-1]:
            whole = _VIEW(data, [len(sizes), sizes[0], size_at(data, -1)])
            output, hy, cy = run_by_onednn(whole, hx, params, has_biases, *settings, False)
            return _VIEW(output, [len(sizes) * sizes[0], size_at(output, -1)]), hy, cy
    weights = _gathered(params, has_biases, has_projections)
    return _lstm_impl(_packed_layer(run_lstm_cell, batch_sizes), data, hx, weights, *settings)


@kernel("aten::_use_cudnn_rnn_flatten_weight", key=_IMPLICIT)
def _use_cudnn_rnn_flatten_weight() -> bool:
    """Whether this torch was built with cuDNN, though there is nothing here that it runs on."""
    return HABITS["torch is built with cuDNN"]
