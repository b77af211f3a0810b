"""Questions about recurrent networks: see :mod:`conformance.extract.neural`."""

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import torch

from conformance.extract._asking import error_of, is_reached, meta

A = torch.ops.aten
WIDE = 1024
"""So many sequences that each part of a workspace fills whole pages."""


def workspace() -> int:
    """The bytes, for each of many sequences, that oneDNN keeps of a step of an LSTM."""
    sizes = ((1, WIDE, 16), (64, 16), (64, 16), (64,), (64,), (1, WIDE, 16), (1, WIDE, 16))
    operands: list[Any] = [torch.zeros(each) for each in sizes]
    *_, kept = A.mkldnn_rnn_layer(*operands, False, [], 2, 16, 1, True, False, False, False)
    return int(kept.numel()) // WIDE


def no_descriptor() -> str:
    """What oneDNN says of an LSTM that it cannot compute."""
    weights = [torch.zeros(each, dtype=torch.bfloat16) for each in ((4, 1), (4, 1))]
    state = [torch.zeros(1, 1, 1)] * 2
    settings = (False, 1, 0.0, False, False, False)
    return error_of(partial(torch.lstm, torch.zeros(1, 1, 1), state, weights, *settings))[1]


LIMITED: Final = """
import torch
with torch.no_grad():
    state, weights = [torch.zeros(1, 1, 1)] * 2, [torch.zeros(4, 1)] * 2
    state, weights = ([each.bfloat16() for each in some] for some in (state, weights))
    torch.lstm(torch.zeros(1, 1, 1).bfloat16(), state, weights, False, 1, 0.0, *[False] * 3)
"""


def asks_onednn() -> bool:
    """Whether oneDNN, which may not go far, is spared what it cannot compute.

    Without AVX512 there is no difference: ask on a processor that has it.
    """
    limited = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"}
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED], env=limited, capture_output=True, check=False
    )
    return ran.returncode == 0


def packed() -> object:
    """An LSTM of sequences that are packed and equally long."""
    state, weights = [torch.zeros(1, 2, 1)] * 2, [torch.zeros(4, 1)] * 2
    counts = torch.tensor([2, 2])
    return torch.lstm(torch.zeros(4, 1), counts, state, weights, False, 1, 0.0, False, False)


def cell() -> object:
    """A step whose input is one row, not a batch of rows."""
    return torch.rnn_tanh_cell(torch.zeros(1), *[torch.zeros(1, 1)] * 3)


def counted_alone() -> object:
    """A network over a sequence whose only count is not in a row."""
    weights = [torch.zeros(1, 1)] * 2
    settings = (False, 1, 0.0, False, False)
    return torch.rnn_tanh(
        torch.zeros(1, 1), torch.tensor(1), torch.zeros(1, 1, 1), weights, *settings
    )


def adds_no_biases() -> bool:
    """Whether a fused step on meta that adds no biases is one."""
    try:
        A._thnn_fused_lstm_cell(meta((1, 4)), meta((1, 4)), meta((1, 1)))
    except AttributeError:
        return False
    return True


HABITS: dict[str, Callable[[], bool]] = {
    "oneDNN keeps the states of an LSTM three times": lambda: workspace() > 2000,
    "oneDNN is asked whether it knows halves": asks_onednn,
    "oneDNN computes an LSTM of packed sequences of one length": lambda: (
        is_reached(A.mkldnn_rnn_layer.default, packed)
    ),
    "torch is built with cuDNN": torch._use_cudnn_rnn_flatten_weight,
    "a recurrent cell looks at dimensions": lambda: "Expected 2D" in error_of(cell)[1],
    "counts of packed sequences are a row on the CPU": lambda: "1D" in error_of(counted_alone)[1],
    "a fused cell may have no biases": adds_no_biases,
}
