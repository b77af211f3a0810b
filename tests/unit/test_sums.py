"""Sums of floats are PyTorch's to the last digit: numbers are added in its order."""

from __future__ import annotations

import pytest

import mindtorch_v2 as torch

_ROW = torch.arange(1000, dtype=torch.float32) / 7
_MATRIX = ((torch.arange(600, dtype=torch.float32) / 7 - 40) * 100).reshape(20, 30)


@pytest.mark.parametrize(
    ("summed", "expected"),
    [
        (_ROW.sum(), 71357.1484375),
        (_ROW[::3].sum(), 23833.28515625),
        (_MATRIX.sum(), 167142.84375),
        (_MATRIX.t()[1:].sum(), 165714.25),
        (_MATRIX.sum(0)[0], 1428.5712890625),
        (_MATRIX.sum(1)[0], -113785.7109375),
        (_MATRIX.sum(0)[29], 9714.287109375),
        (_MATRIX[:, ::2].sum((0, 1)), 81428.546875),
        (_MATRIX.mean(), 278.5714111328125),
        (_MATRIX.nansum(), 167142.84375),
        (torch.tensor([-0.0]).sum(), 0.0),
    ],
)
def test_in_which_order_numbers_are_added(summed: torch.Tensor, expected: float) -> None:
    assert str(summed.item()) == str(expected)
