"""Which elements a loop over vectors takes: counted by hand, for memory that lies in many ways."""

from __future__ import annotations

import numpy as np
import pytest

import mindtorch_v2 as torch
from mindtorch_v2 import Tensor
from mindtorch_v2.kernels.elementwise.tensor_iterator import UNARY_OP, TensorIterator
from mindtorch_v2.kernels.elementwise.vector_loop import in_vectors

ROW = torch.zeros(40)
HALVES = torch.zeros(40, dtype=torch.float16)


def lanes(values: Tensor, out: Tensor | None = None) -> np.ndarray:
    return in_vectors(TensorIterator(UNARY_OP, (out,), (values,)))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (ROW[:15], 0),  # two vectors are sixteen floats
        (ROW[:16], 16),
        (ROW[:20], 16),
        (HALVES[:20], 0),  # of halves they are thirty-two, in whatever is computed
        (HALVES, 32),
        (ROW.double(), 40),
        (ROW[::2], 0),
        (ROW.reshape(2, 20)[:, :17], 32),  # sixteen of each row
        (ROW.reshape(2, 20)[:, :15], 0),
        (ROW.reshape(4, 10), 32),  # rows without gaps are one
        (ROW[:0], 0),
        (ROW[0], 0),
    ],
)
def test_whole_steps_of_two_vectors(values: Tensor, expected: int) -> None:
    found = lanes(values)
    assert found.shape == tuple(values.shape)
    assert found.sum() == expected


def test_what_is_written_to_must_lie_without_gaps_too() -> None:
    assert lanes(ROW[:16], torch.zeros(32)[::2]).sum() == 0


def test_memory_counts_in_its_own_order() -> None:
    """A transposed matrix is gone through column by column: the tail is its last columns' end."""
    turned = ROW[:20].reshape(4, 5).t()
    assert np.array_equal(lanes(turned), (np.arange(20) < 16).reshape(4, 5).T)
