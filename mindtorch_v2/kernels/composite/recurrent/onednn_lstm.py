"""An LSTM of which oneDNN computes each layer and each direction.

Mirrors ``use_mkldnn`` of ``aten/src/ATen/native/RNN.cpp`` and ``mkldnn_rnn`` of
``aten/src/ATen/native/mkldnn/RNN.cpp``.  Of a call's arguments GCC computes the last ones first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.autograd.at import TensorOptions, call
from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.cpu.onednn import has_avx512, is_found, multiplies_halves
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.dtype import DTYPES, strided
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

LSTM: Final = 2
"""``ideep::rnn_kind``."""

_ASKED: Final = HABITS["oneDNN is asked whether it knows halves"]
"""And not the processor alone."""
_FLOAT: Final = DTYPES["float32"]
_BFLOAT16: Final = DTYPES["bfloat16"]
_HALF: Final = DTYPES["float16"]
_CAT: Final = OperatorHandle("aten::cat")
_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_DROPOUT: Final = OperatorHandle("aten::dropout")
_LAYER: Final = OperatorHandle("aten::mkldnn_rnn_layer")
_SELECT: Final = OperatorHandle("aten::select.int")
_STACK: Final = OperatorHandle("aten::stack")
_TRANSPOSE: Final = OperatorHandle("aten::transpose.int")


def uses_onednn(input: Tensor, params: Sequence[Tensor], hx: Sequence[Tensor]) -> bool:
    """``use_mkldnn``: floats on the CPU; halves where the processor multiplies them."""
    if not all(map(_is_dense_on_cpu, (input, *params, *hx))):
        return False
    dtype = input._dtype
    if dtype is _BFLOAT16:
        is_computed = has_avx512() if _ASKED else is_found("AVX512_SKX")
    elif dtype is _HALF:
        is_known = multiplies_halves() if _ASKED else is_found("AVX512_SPR")
        is_computed = is_known and not tls.is_grad_enabled()
    else:
        is_computed = dtype is _FLOAT
    return is_computed and bool(numel(input._sizes))


def _is_dense_on_cpu(tensor: Tensor) -> bool:
    return tensor._device.type == "cpu" and tensor._layout is strided


def run_by_onednn(
    input: Any,
    hx: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Any, Any, Any]:
    """``mkldnn_rnn``."""
    hidden_size = size_at(hx[0], 2)
    if batch_first:
        input = _TRANSPOSE(input, 0, 1)
    input, hidden, cells = (_CONTIGUOUS(each) for each in (input, *hx))
    count = 4 if has_biases else 2
    if len(params) % count:
        raise RuntimeError(
            f"MatrixRef: ArrayRef size {len(params)} not divisible by stride {count}"
        )
    settings = (LSTM, hidden_size, num_layers, has_biases, bidirectional, batch_first, train)
    kept_hidden: list[Any] = []
    kept_cells: list[Any] = []
    for layer in range(num_layers):
        outputs = []
        for backwards in (False, True)[: 1 + bidirectional]:
            index = len(kept_hidden)
            weights = list(_row(params, index, count))
            layer_hx, layer_cx = _SELECT(hidden, 0, index), _SELECT(cells, 0, index)
            if not has_biases:
                weights += reversed([_zeros_like(each) for each in reversed(weights)])
            output, hy, cy, _ = _LAYER(
                input, *weights, layer_hx, layer_cx, backwards, [], *settings
            )
            outputs.append(output)
            kept_hidden.append(hy)
            kept_cells.append(cy)
        input = _CAT(outputs, -1) if bidirectional else outputs[0]
        if dropout != 0 and train and layer < num_layers - 1:
            input = _DROPOUT(input, dropout, True)
    hy, cy = _STACK(kept_hidden, 0), _STACK(kept_cells, 0)
    return (_TRANSPOSE(input, 0, 1) if batch_first else input), hy, cy


def _row(params: Sequence[Tensor], index: int, count: int) -> Sequence[Tensor]:
    """``ArrayRef::slice``."""
    start = index * count
    if start + count > len(params):
        raise RuntimeError(
            f"ArrayRef: invalid slice, N = {start}; M = {count}; size = {len(params)}"
        )
    return params[start : start + count]


def _zeros_like(weight: Tensor) -> Any:
    return call("zeros", list(weight._sizes), TensorOptions.of(weight)._replace(layout=strided))
