"""The reference functions of recurrent networks that other backends compute.

Mirrors functions of ``torch/_meta_registrations.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import HABITS
from mindtorch_v2.kernels.switches import HABITS as NEURAL_HABITS
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."
_BYTE: Final = DTYPES["uint8"]
_FLOAT: Final = DTYPES["float32"]
_GRU: Final = 3
_GRU_WORKSPACE: Final = 5
_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")


def _check_equal(one: object, two: object, shown: str = "") -> None:
    if one != two:
        raise RuntimeError(f"{one} != {shown or two}")


def _like(tensor: Tensor) -> Any:
    return _EMPTY_LIKE(tensor, memory_format=_CONTIGUOUS)


def _sized(like: Tensor, sizes: Sequence[int]) -> Tensor:
    return new_tensor(sizes, like._dtype, like._device)


# --- fused cells ------------------------------------------------------------------------------


@body(_META + "_thnn_fused_lstm_cell_meta")
def thnn_fused_lstm_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    cx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Any, Any, Any]:
    _check_sizes(input_gates, hidden_gates, input_bias, hidden_bias, 4, cx)
    workspace = _like(input_gates)
    return _like(cx), _like(cx), workspace


@body(_META + "_thnn_fused_gru_cell_meta")
def thnn_fused_gru_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    hx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Any, Any]:
    _check_sizes(input_gates, hidden_gates, input_bias, hidden_bias, _GRU, hx)
    batch, hidden_size = hx._sizes
    return _like(hx), _sized(hx, [batch, hidden_size * _GRU_WORKSPACE])


def _check_sizes(
    input_gates: Tensor,
    hidden_gates: Tensor,
    input_bias: Tensor | None,
    hidden_bias: Tensor | None,
    factor: int,
    prev_hidden: Tensor,
) -> None:
    """``rnn_cell_checkSizes``: a second bias is taken for granted where the first is."""
    _check_equal(len(input_gates._sizes), 2)
    _check_equal(input_gates._sizes, hidden_gates._sizes)
    batch, gates = input_gates._sizes
    if input_bias is not None:
        _check_equal(len(input_bias._sizes), 1)
        _check_equal(numel(input_bias._sizes), gates)
        if hidden_bias is None:
            raise AttributeError("'NoneType' object has no attribute 'shape'")
        _check_equal(input_bias._sizes, hidden_bias._sizes)
    _check_equal(len(prev_hidden._sizes), 2)
    wanted = batch * gates // factor
    shown = f"{batch} * {gates} // {factor} (aka {wanted})"
    _check_equal(numel(prev_hidden._sizes), wanted, shown)
    for each in (hidden_gates, input_bias, hidden_bias, prev_hidden):
        if each is None and not NEURAL_HABITS["a fused cell may have no biases"]:
            raise AttributeError("'NoneType' object has no attribute 'device'")
        if each is not None and each._device != input_gates._device:
            raise RuntimeError("expected all inputs to be same device")


@body(_META + "_thnn_fused_lstm_cell_backward_impl")
def thnn_fused_lstm_cell_backward_impl(
    grad_hy: Tensor | None,
    grad_cy: Tensor | None,
    cx: Tensor,
    cy: Tensor,
    workspace: Tensor,
    has_bias: bool,
) -> tuple[Any, Any, Any]:
    if grad_hy is None and grad_cy is None:
        return None, None, None
    _check_backward_sizes(grad_hy, grad_cy, cx, cy, workspace)
    of_gates = _like(workspace)
    of_cx = _like(cx)
    return of_gates, of_cx, _SUM(of_gates, [0], False) if has_bias else None


def _check_backward_sizes(
    grad_hy: Tensor | None, grad_cy: Tensor | None, cx: Tensor, cy: Tensor, workspace: Tensor
) -> None:
    """``checkLSTMBackwardSizes``, which says nothing of what is wrong."""
    given = grad_cy if grad_hy is None else grad_hy
    assert given is not None
    sizes = given._sizes
    grads = [each for each in (grad_hy, grad_cy) if each is not None]
    is_right = (
        len(sizes) == 2
        and all(each._sizes == sizes for each in (*grads, cx, cy))
        and len(workspace._sizes) == 2
        and numel(workspace._sizes) == numel(sizes) * 4
    )
    if not is_right:
        raise RuntimeError("")


@body(_META + "_thnn_fused_gru_cell_backward")
def thnn_fused_gru_cell_backward(
    grad_hy: Tensor | None, workspace: Tensor | None, has_bias: bool
) -> tuple[Any, ...]:
    if grad_hy is None or workspace is None:
        raise AttributeError("'NoneType' object has no attribute 'dim'")
    _check_gru_backward_sizes(grad_hy, workspace)
    batch, hidden_size = grad_hy._sizes
    of_input, of_hidden = (_sized(workspace, [batch, hidden_size * _GRU]) for _ in range(2))
    biases = (_SUM(each, [0], False) if has_bias else None for each in (of_input, of_hidden))
    return of_input, of_hidden, _like(grad_hy), *biases


def _check_gru_backward_sizes(grad_hy: Tensor, workspace: Tensor) -> None:
    """``checkGRUBackwardSizes``."""
    for name, each in (("grad_hy", grad_hy), ("workspace", workspace)):
        dim = len(each._sizes)
        if dim != 2:
            raise RuntimeError(f"Expected {name} to be 2-D, but got {dim}-D")
    (batch, hidden_size), (rows, columns) = grad_hy._sizes, workspace._sizes
    if rows != batch:
        raise RuntimeError(
            f"Expected workspace batch size ({rows}) to match grad_hy batch size ({batch})"
        )
    if columns != hidden_size * _GRU_WORKSPACE:
        raise RuntimeError(
            f"Expected workspace.size(1) to equal grad_hy.size(1) * {_GRU_WORKSPACE}, but got "
            f"workspace.size(1)={columns} and grad_hy.size(1)={hidden_size}"
        )


# --- layers of other libraries ----------------------------------------------------------------


@body(_META + "_cudnn_rnn")
def cudnn_rnn(
    input: Tensor,
    weight: Sequence[Tensor],
    weight_stride0: int,
    weight_buf: Tensor | None,
    hx: Tensor,
    cx: Tensor | None,
    mode: int,
    hidden_size: int,
    proj_size: int,
    num_layers: int,
    batch_first: bool,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_sizes: Sequence[int],
    dropout_state: Tensor | None,
) -> tuple[Any, ...]:
    directions = 2 if bidirectional else 1
    out_size = proj_size or hidden_size
    width = out_size * directions
    if batch_sizes:
        batch = batch_sizes[0]
        sizes = [_at(input, 0), width]
    else:
        length, batch = _length_and_batch(input, batch_first)
        sizes = [batch, length, width] if batch_first else [length, batch, width]
    output = _sized(input, sizes)
    rows = num_layers * directions
    cy = _nothing(input) if cx is None else _sized(cx, [rows, batch, hidden_size])
    hy = _sized(hx, [rows, batch, out_size])
    return output, hy, cy, new_tensor([0], _BYTE, input._device), weight_buf


def _at(tensor: Tensor, dim: int) -> int:
    """An element of a shape: a tuple has its own words."""
    sizes = tuple(tensor._sizes)
    if dim >= len(sizes):
        raise IndexError("tuple index out of range")
    return int(sizes[dim])


def _length_and_batch(input: Tensor, batch_first: bool) -> tuple[int, int]:
    length = _at(input, 1 if batch_first else 0)
    return length, _at(input, 0 if batch_first else 1)


def _nothing(like: Tensor) -> Tensor:
    return new_tensor([0], get_default_dtype(), like._device)


@body(_META + "miopen_rnn")
def miopen_rnn(
    input: Tensor,
    weight: Sequence[Tensor],
    weight_stride0: int,
    hx: Tensor,
    cx: Tensor | None,
    mode: int,
    hidden_size: int,
    *settings: Any,
) -> tuple[Any, ...]:
    total = sum(numel(each._sizes) for each in weight)
    buffer = _sized(input, [total])
    before = (input, weight, weight_stride0, buffer, hx, cx, mode, hidden_size, 0)
    return cudnn_rnn(*before, *settings)


@body(_META + "mkldnn_rnn_layer")
def mkldnn_rnn_layer(
    input: Tensor,
    w0: Tensor,
    w1: Tensor,
    w2: Tensor,
    w3: Tensor,
    hx_: Tensor,
    cx_: Tensor,
    reverse: bool,
    batch_sizes: Sequence[int],
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    bidirectional: bool,
    batch_first: bool,
    train: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    length, batch = _length_and_batch(input, batch_first)
    sizes = [batch, length] if batch_first else [length, batch]
    output = _sized(input, [*sizes, hidden_size])
    workspace = new_tensor([0], _BYTE, input._device)
    return output, _sized(hx_, hx_._sizes), _sized(cx_, cx_._sizes), workspace


@body(_META + "mkldnn_rnn_layer_backward")
def mkldnn_rnn_layer_backward(
    input: Tensor,
    weight0: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    weight3: Tensor,
    hx_: Tensor,
    cx_tmp: Tensor,
    output: Tensor,
    hy_: Tensor,
    cy_: Tensor,
    grad_output_r_opt: Tensor | None,
    grad_hy_r_opt: Tensor | None,
    grad_cy_r_opt: Tensor | None,
    reverse: bool,
    mode: int,
    hidden_size: int,
    *settings: Any,
) -> tuple[Tensor, ...]:
    likes = (input, hx_, cx_tmp, weight0, weight1)
    if not HABITS["gradients of oneDNN's layers are floats"]:
        x, hx, cx, w1, w2 = (_sized(each, each._sizes) for each in likes)
        b = _sized(weight2, weight2._sizes)
        return x, w1, w2, b, b, hx, cx
    x, hx, cx, w1, w2 = (new_tensor(each._sizes, _FLOAT, each._device) for each in likes)
    count = 4 * hidden_size if mode == _GRU else _at(weight2, 0)
    b = new_tensor([count], _FLOAT, weight2._device)
    return x, w1, w2, b, b, hx, cx
