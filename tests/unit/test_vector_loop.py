"""Which elements a loop over vectors takes: counted by hand, for memory that lies in many ways."""

from __future__ import annotations

import numpy as np
import pytest

from mindtorch_v2.kernels.cpu.vector_loop import in_vectors

ROW = np.zeros(40, np.float32)


@pytest.mark.parametrize(
    ("values", "itemsize", "expected"),
    [
        (ROW[:15], 4, 0),  # two vectors are sixteen floats
        (ROW[:16], 4, 16),
        (ROW[:20], 4, 16),
        (ROW[:20], 2, 0),  # of halves they are thirty-two, in whatever is computed
        (ROW, 2, 32),
        (ROW.astype(np.float64), 8, 40),
        (ROW[::2], 4, 0),
        (ROW.reshape(2, 20)[:, :17], 4, 32),  # sixteen of each row
        (ROW.reshape(2, 20)[:, :15], 4, 0),
        (ROW.reshape(4, 10), 4, 32),  # rows without gaps are one
        (ROW[:0], 4, 0),
        (ROW[:1].reshape(()), 4, 0),
    ],
)
def test_whole_steps_of_two_vectors(values: np.ndarray, itemsize: int, expected: int) -> None:
    found = in_vectors(values, itemsize)
    assert found.shape == values.shape
    assert found.sum() == expected


def test_memory_counts_in_its_own_order() -> None:
    """A transposed matrix is gone through column by column: the tail is its last columns' end."""
    turned = ROW[:20].reshape(4, 5).T
    assert np.array_equal(in_vectors(turned, 4), (np.arange(20) < 16).reshape(4, 5).T)
