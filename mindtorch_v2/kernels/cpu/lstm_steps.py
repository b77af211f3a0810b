"""The arithmetic of a layer of an LSTM over NumPy arrays: its steps, and their gradients.

Mirrors ``lstm_fwd_postgemm_template`` and ``lstm_bwd_postgemm_template`` of oneDNN's
``src/cpu/rnn/postgemm_dispatcher.hpp``.  What is kept from one step to the next is rounded to the
dtype in which it is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mindtorch_v2.tensor.elements import Array

Rounding = Callable[[Array], Array]


@dataclass(frozen=True)
class Weights:
    """By the input and by the hidden state, each for four gates, and what is added to both."""

    of_input: Array
    of_hidden: Array
    bias: Array


@dataclass(frozen=True)
class Step:
    """What went into a step, its gates as they are kept, and the cell that came out."""

    time: int
    input: Array
    hidden: Array
    cell: Array
    gates: tuple[Array, Array, Array, Array]
    new_cell: Array


@dataclass(frozen=True)
class Run:
    """The outputs by time, and the steps in the order in which they were taken."""

    outputs: Array
    hidden: Array
    cell: Array
    steps: list[Step]


def forward(
    input: Array,
    hidden: Array,
    cell: Array,
    weights: Weights,
    reverse: bool,
    rounding: Rounding,
    cell_rounding: Rounding,
) -> Run:
    length, batch = input.shape[:2]
    outputs = np.zeros((length, batch, hidden.shape[-1]), input.dtype)
    steps = []
    for time in reversed(range(length)) if reverse else range(length):
        at = input[time]
        gates = at @ weights.of_input.T + hidden @ weights.of_hidden.T + weights.bias
        i, f, g, o = np.split(gates, 4, axis=-1)
        i, f, g, o = _sigmoid(i), _sigmoid(f), np.tanh(g), _sigmoid(o)
        new_cell = f * cell + i * g
        new_hidden = rounding(o * np.tanh(new_cell))
        kept = (rounding(i), rounding(f), rounding(g), rounding(o))
        new_cell = cell_rounding(new_cell)
        steps.append(Step(time, at, hidden, cell, kept, new_cell))
        outputs[time], hidden, cell = new_hidden, new_hidden, new_cell
    return Run(outputs, hidden, cell, steps)


def _sigmoid(values: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-values)))


@dataclass(frozen=True)
class Gradients:
    input: Array
    of_input: Array
    of_hidden: Array
    bias: Array
    hidden: Array
    cell: Array


def backward(
    run: Run,
    weights: Weights,
    grad_output: Array,
    grad_hidden: Array,
    grad_cell: Array,
    rounding: Rounding,
) -> Gradients:
    of_steps = np.zeros((len(run.steps), *run.steps[0].input.shape), grad_output.dtype)
    of_input, of_hidden = np.zeros_like(weights.of_input), np.zeros_like(weights.of_hidden)
    bias = np.zeros_like(weights.bias)
    for step in reversed(run.steps):
        i, f, g, o = step.gates
        new_hidden = grad_output[step.time] + grad_hidden
        tanh = np.tanh(step.new_cell)
        of_cell = grad_cell + (1 - tanh * tanh) * new_hidden * o
        gates = (
            of_cell * g * (i * (1 - i)),
            of_cell * step.cell * (f * (1 - f)),
            of_cell * i * (1 - g * g),
            new_hidden * tanh * (o * (1 - o)),
        )
        of_gates = rounding(np.concatenate(gates, axis=-1))
        of_steps[step.time] = of_gates @ weights.of_input
        grad_hidden, grad_cell = of_gates @ weights.of_hidden, of_cell * f
        of_input += of_gates.T @ step.input
        of_hidden += of_gates.T @ step.hidden
        bias += of_gates.sum(axis=0, dtype=bias.dtype)
    return Gradients(of_steps, of_input, of_hidden, bias, grad_hidden, grad_cell)
