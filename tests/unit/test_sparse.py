"""Sparse tensors as dense ones: what lies at one place adds up."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch_v2 as xp


@pytest.mark.parametrize(
    ("make", "dense"),
    [
        (lambda: xp.tensor(3.0).to_sparse(), 3.0),
        (lambda: xp.sparse_coo_tensor(xp.empty((0, 3), dtype=xp.int64), [1, 2, 3], ()), 6),
        (lambda: xp.sparse_coo_tensor(xp.empty((0, 2), dtype=xp.int64), [True, True], ()), True),
        (lambda: xp.sparse_coo_tensor(xp.empty((0, 0), dtype=xp.int64), [], ()), 0.0),
        (lambda: xp.sparse_coo_tensor([[0, 1, 0]], [1, 2, 3], (3,)), [4, 2, 0]),
        (lambda: xp.sparse_coo_tensor([[1]], [[1, 2]], (2, 2)), [[0, 0], [1, 2]]),
    ],
)
def test_as_a_dense_one(make: Any, dense: Any) -> None:
    made = make().to_dense()
    assert made.layout is xp.strided
    assert made.tolist() == dense
