"""The gradients of a layer that oneDNN computed, made of operators that have gradients.

As compiled, of two operands the second one is computed first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_v2.autograd.at import CONTIGUOUS, TensorOptions, call
from mindtorch_v2.autograd.operators import mul, sub


def _gates(input: Any, hidden: Any, weights: Sequence[Any], biases: Sequence[Any]) -> list[Any]:
    """Those of a step: what comes in, what is forgotten, the new cell, what goes out."""
    gates = call("linear", input, weights[0], biases[0])
    gates = call("add_", gates, call("linear", hidden, weights[1], biases[1]))
    i, f, g, o = call("unsafe_chunk", gates, 4, 1)
    made = [call("sigmoid_", i), call("sigmoid_", f)]
    return [*made, call("tanh_", g), call("sigmoid_", o)]


def _slope(value: Any) -> Any:
    """Of a sigmoid, by what it came to."""
    return sub(1, value)


def _gates_backward(
    gates: Sequence[Any], cell: Any, before: Any, grad_hidden: Any, grad_cell: Any
) -> tuple[Any, Any]:
    """The gradients of a step's gates in a row, and of the cell before it."""
    i, f, g, o = gates
    bend = sub(1, mul(call("tanh", cell), call("tanh", cell)))
    of_cell = call("add", grad_cell, mul(mul(grad_hidden, o), bend))
    of_g, of_i = mul(of_cell, i), mul(of_cell, g)
    of_before, of_f = mul(of_cell, f), mul(of_cell, before)
    of_o = mul(grad_hidden, call("tanh", cell))
    slope = _slope(o)
    of_o = mul(mul(of_o, o), slope)
    of_g = mul(of_g, sub(1, mul(g, g)))
    slope = _slope(f)
    of_f = mul(mul(of_f, f), slope)
    slope = _slope(i)
    of_i = mul(mul(of_i, i), slope)
    return call("cat", [of_i, of_f, of_g, of_o], 1), of_before


def mkldnn_rnn_layer_differentiable_backward(
    input: Any,
    weight0: Any,
    weight1: Any,
    weight2: Any,
    weight3: Any,
    hx: Any,
    cx: Any,
    output: Any,
    hy: Any,
    cy: Any,
    grad_output: Any,
    grad_hy: Any,
    grad_cy: Any,
    reverse: bool,
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    train: bool,
    bidirectional: bool,
    batch_sizes: Sequence[int],
    batch_first: bool,
    workspace: Any,
) -> tuple[Any, ...]:
    if grad_output is None and grad_hy is None and grad_cy is None:
        return (None,) * 7
    grad_output, grad_hidden, grad_cell = (
        call("zeros_like", like, CONTIGUOUS) if grad is None else call("contiguous", grad)
        for grad, like in ((grad_output, output), (grad_hy, hx), (grad_cy, cx))
    )
    biases = [weight2, weight3]
    if not has_biases:
        options = TensorOptions.of(weight0)
        biases = [call("zeros", [4 * hidden_size], options) for _ in range(2)]
    times = list(range(input._sizes[0]))
    if reverse:
        times.reverse()
    states, kept = [(hx, cx)], []
    for time in times:
        hidden, cell = states[-1]
        at = call("select", input, 0, time)
        i, f, g, o = _gates(at, hidden, (weight0, weight1), biases)
        kept.append((i, f, g, o))
        cell = call("add", mul(f, cell), mul(i, g))
        states.append((mul(o, call("tanh", cell)), cell))
    of_steps: list[Any] = [None] * len(times)
    sums: list[Any] = []
    for step in reversed(range(len(times))):
        time = times[step]
        grad_hidden = call("add", call("select", grad_output, 0, time), grad_hidden)
        hidden, before = states[step]
        of_gates, grad_cell = _gates_backward(
            kept[step], states[step + 1][1], before, grad_hidden, grad_cell
        )
        bias = call("sum", of_gates, 0)
        of_steps[time] = call("unsqueeze", call("matmul", of_gates, weight0), 0)
        grad_hidden = call("matmul", of_gates, weight1)
        at = call("select", input, 0, time)
        of_input = call("matmul", call("transpose", of_gates, 0, 1), at)
        of_hidden = call("matmul", call("transpose", of_gates, 0, 1), hidden)
        terms = (bias, of_input, of_hidden)
        sums = [call("add_", *pair) for pair in zip(sums, terms, strict=True)] if sums else [*terms]
    bias, of_input, of_hidden = sums
    return (
        *(call("cat", of_steps, 0), of_input, of_hidden),
        *(bias, bias, grad_hidden, grad_cell),
    )
