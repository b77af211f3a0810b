"""A layer of an LSTM in one direction, as oneDNN computes it, and its gradients.

Mirrors ``aten/src/ATen/native/mkldnn/RNN.cpp``; how large a workspace is follows ``set_workspace_
sizes`` of oneDNN's ``src/cpu/rnn/rnn_utils.hpp``.  What is in it nobody is told: gradients take the
steps once more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any, Final

from mindtorch_v2.autograd.at import TensorOptions, call
from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.composite.recurrent.onednn_lstm import LSTM
from mindtorch_v2.kernels.cpu import lstm_steps
from mindtorch_v2.kernels.cpu.onednn import has_avx512, multiplies_halves
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS, NO_DESCRIPTORS
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, DType, strided
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.quiet import quietly
from mindtorch_v2.tensor.tensor import Tensor

_GRU: Final = 3
_GATES: Final = {LSTM: (4, 4), _GRU: (3, 4)}
"""Gates that have weights and those that have a bias; others have one of each."""
_FLOAT: Final = DTYPES["float32"]
_BFLOAT16: Final = DTYPES["bfloat16"]
_BYTE: Final = DTYPES["uint8"]
_READ: Final = frozenset((_FLOAT, _BFLOAT16, DTYPES["float16"]))
_KNOWN: Final = _READ | {
    DTYPES[name] for name in ("int8", "uint8", "qint8", "quint8", "qint32") if name in DTYPES
}
_IS_COMPUTED: Final = {_BFLOAT16: has_avx512, DTYPES["float16"]: multiplies_halves}
_PAGE: Final = 4096
_LINE: Final = 64


def _always() -> bool:
    return True


def _thirds(weight: Tensor) -> Any:
    """Those of three gates; torch reads beyond those that there are."""
    parts = call("chunk", weight, 3, 0)
    if len(parts) != 3:
        raise RuntimeError(f"three gates expected, but there are {len(parts)}")
    return parts


class _Layer:
    """What a layer is called with: ``RNNParams``, and the operands that oneDNN is shown."""

    def __init__(
        self, input: Tensor, weights: Sequence[Tensor], mode: int, hidden_size: int, biases: bool
    ) -> None:
        self.length, self.batch, self.input_size = (size_at(input, dim) for dim in range(3))
        self.mode, self.hidden_size = mode, hidden_size
        self.gates, self.bias_gates = _GATES.get(mode, (1, 1))
        self.dtype = input._dtype
        w_ih, w_hh, b_ih, b_hh = weights
        self.make = partial(self._make_operands, w_ih, w_hh, b_ih, b_hh, biases)

    def _make_operands(
        self, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor, b_hh: Tensor, biases: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        of_input, of_hidden = self._shuffled(w_ih), self._shuffled(w_hh)
        if biases:
            return of_input, of_hidden, self._shuffled_bias(b_ih, b_hh)
        options = TensorOptions.of(of_input)._replace(layout=strided)
        bias = call("zeros", [self.bias_gates * self.hidden_size], options)
        return of_input, of_hidden, bias

    def _shuffled(self, weight: Tensor) -> Any:
        """``_shuffle_weight``: oneDNN's order of gates."""
        row = call("contiguous", weight)
        if self.mode != _GRU:
            return row
        first, second, third = _thirds(row)
        return call("cat", [second, first, third], 0)

    def _shuffled_bias(self, b_ih: Tensor, b_hh: Tensor) -> Any:
        """``_shuffle_bias``."""
        if self.mode != _GRU:
            return call("add", b_ih, b_hh)
        one, two = _thirds(b_ih), _thirds(b_hh)
        sums = [call("add", one[place], two[place]) for place in (0, 1)]
        return call("cat", [sums[1], sums[0], one[2], two[2]], 0)

    def check(self, input: Tensor, hx: Tensor, cx: Tensor, operands: Sequence[Tensor]) -> None:
        """RuntimeError for what has no descriptor."""
        w_ih, w_hh, bias = operands
        for each in (input, hx, cx, bias, w_ih, w_hh):
            if each._dtype not in _KNOWN:
                raise RuntimeError("get_mkldnn_dtype: unsupported data type")
            if each._dtype not in _READ:
                raise RuntimeError(
                    "itensor_view_from_dense expects float, bfloat16 or half tensor input"
                )
        wide = {self.dtype, _FLOAT}
        if (
            self.mode != LSTM
            or not _IS_COMPUTED.get(self.dtype, _always)()
            or any(each._dtype is not self.dtype for each in (hx, w_ih, w_hh))
            or cx._dtype not in wide
            or bias._dtype not in wide
        ):
            raise RuntimeError(NO_DESCRIPTORS[2])

    def run(
        self, input: Tensor, hx: Tensor, cx: Tensor, operands: Sequence[Tensor], reverse: bool
    ) -> tuple[lstm_steps.Run, lstm_steps.Weights]:
        """RuntimeError for operands that end before they have been read."""
        state = (self.batch, self.hidden_size)
        rows = self.gates * self.hidden_size
        w_ih, w_hh, bias = operands
        weights = lstm_steps.Weights(
            _array(w_ih, (rows, self.input_size)),
            _array(w_hh, (rows, self.hidden_size)),
            _array(bias, (self.bias_gates * self.hidden_size,)),
        )
        run: lstm_steps.Run = quietly(
            lstm_steps.forward,
            _array(input, (self.length, self.batch, self.input_size)),
            _array(hx, state),
            _array(cx, state),
            weights,
            reverse,
            _rounding(self.dtype),
            _rounding(cx._dtype),
        )
        return run, weights

    def workspace(self, cell: DType) -> int:
        """Its bytes, each part of it in pages of its own."""
        widest = max(self.input_size, self.hidden_size)
        rows = self.batch * self.length
        kept = 2 * self.batch * (self.length + 1)  # before the first layer and behind it
        own, of_cell, of_sums = self.dtype.itemsize, cell.itemsize, _FLOAT.itemsize
        states = 3 if HABITS["oneDNN keeps the states of an LSTM three times"] else 1
        parts = [
            rows * _good_row(self.gates * self.hidden_size, own) * own,
            rows * _good_row(self.hidden_size, own) * own,
            *[kept * _good_row(widest, own) * own] * states,
            *[kept * _good_row(widest, of_sums) * of_sums] * 2,
            kept * self.hidden_size * of_cell,
            kept * self.hidden_size * of_sums,
        ]
        return sum(-(-part // _PAGE) * _PAGE for part in parts)


def _good_row(size: int, itemsize: int) -> int:
    """``get_good_ld``: whole lines of the cache, of which a power of two would share sets."""
    line = _LINE // itemsize
    row = -(-size // line) * line
    return row + line if row % 256 == 0 else row


def _array(tensor: Tensor, sizes: Sequence[int]) -> Array:
    """The elements in a row from the first, whatever the tensor's strides."""
    steps = tuple(prod(sizes[place + 1 :]) for place in range(len(sizes)))
    row = tensor._as_view(tuple(sizes), steps, tensor._storage_offset)
    return as_array(row, tensor._dtype)


def _rounding(dtype: DType) -> Callable[[Array], Array]:
    return lambda values: rounded(values, dtype)


@kernel("aten::mkldnn_rnn_layer", key="CPU")
def mkldnn_rnn_layer(
    input: Tensor,
    weight0: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    weight3: Tensor,
    hx: Tensor,
    cx: Tensor,
    reverse: bool,
    batch_sizes: Sequence[int],
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    bidirectional: bool,
    batch_first: bool,
    train: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    layer = _Layer(input, (weight0, weight1, weight2, weight3), mode, hidden_size, has_biases)
    device = input._device
    output = new_tensor((layer.length, layer.batch, hidden_size), input._dtype, device)
    hy, cy = (new_tensor(each._sizes, each._dtype, device) for each in (hx, cx))
    operands = layer.make()
    layer.check(input, hx, cx, operands)
    run, _ = layer.run(input, hx, cx, operands, reverse)
    for target, values in ((output, run.outputs), (hy, run.hidden), (cy, run.cell)):
        store(target, rounded(values.reshape(tuple(target._sizes)), target._dtype))
    if not tls.is_grad_enabled():
        return output, hy, cy, None
    return output, hy, cy, new_tensor((layer.workspace(cx._dtype),), _BYTE, device)


@kernel("aten::mkldnn_rnn_layer_backward", key="CPU")
def mkldnn_rnn_layer_backward(
    input: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    weight3: Tensor,
    weight4: Tensor,
    hx: Tensor,
    cx: Tensor,
    output: Tensor,
    hy: Tensor,
    cy: Tensor,
    grad_output: Tensor | None,
    grad_hy: Tensor | None,
    grad_cy: Tensor | None,
    reverse: bool,
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    train: bool,
    bidirectional: bool,
    batch_sizes: Sequence[int],
    batch_first: bool,
    workspace: Tensor,
) -> tuple[Tensor | None, ...]:
    if grad_output is None and grad_hy is None and grad_cy is None:
        return (None,) * 7
    layer = _Layer(input, (weight1, weight2, weight3, weight4), mode, hidden_size, has_biases)
    operands = layer.make()
    layer.check(input, hx, cx, operands)
    run, weights = layer.run(input, hx, cx, operands, reverse)
    state = (layer.batch, hidden_size)
    sizes = ((layer.length, *state), state, state)
    given = zip((grad_output, grad_hy, grad_cy), (output, hx, cx), sizes, strict=True)
    grads = [_array(_or_zeros(grad, like), shape) for grad, like, shape in given]
    found = quietly(lstm_steps.backward, run, weights, *grads, _rounding(layer.dtype))
    w_ih, w_hh, bias = operands
    values = (
        *((input, found.input), (w_ih, found.of_input), (w_hh, found.of_hidden)),
        *((bias, found.bias), (bias, found.bias), (hx, found.hidden), (cx, found.cell)),
    )
    return tuple(_floats(like, each) for like, each in values)


def _or_zeros(grad: Tensor | None, like: Tensor) -> Any:
    if grad is None:
        return call("zeros_like", like)
    return call("contiguous", grad)


def _floats(like: Tensor, values: Array) -> Tensor:
    made = new_tensor(like._sizes, _FLOAT, like._device)
    store(made, values.reshape(tuple(like._sizes)))
    return made
