"""Distances, bilinear forms, hashes and bags: against what their definitions say."""

from __future__ import annotations

import math
from typing import Any

import pytest

import mindtorch_v2 as xp

ROWS = xp.tensor([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])


@pytest.mark.parametrize(
    ("order", "wanted"),
    [(0.0, 2.0), (1.0, 7.0), (2.0, 5.0), (math.inf, 4.0), (3.0, 91 ** (1 / 3))],
)
def test_a_distance_is_a_norm_of_the_difference(order: float, wanted: float) -> None:
    found = xp.cdist(ROWS, ROWS, order)
    assert found[0, 1].item() == pytest.approx(wanted)
    assert found.tolist() == found.mT.tolist()
    pairs = xp.pdist(ROWS, order)
    assert pairs.tolist() == pytest.approx([found[0, 1].item(), found[0, 2].item(), wanted])


def test_many_rows_take_a_product_and_come_to_the_same() -> None:
    rows = xp.arange(60.0).view(30, 2)
    by_product = xp.cdist(rows, rows[:3])
    by_difference = xp.cdist(rows, rows[:3], compute_mode="donot_use_mm_for_euclid_dist")
    assert xp.allclose(by_product, by_difference, atol=1e-2)


def test_rows_in_one_place_do_not_move_each_other() -> None:
    rows = xp.ones(2, 3, requires_grad=True)
    xp.pdist(rows).sum().backward()
    assert rows.grad.tolist() == [[0.0] * 3] * 2


def test_a_bilinear_form_is_a_sum_of_three_factors() -> None:
    one, two = xp.tensor([[1.0, 2.0]]), xp.tensor([[3.0, 5.0]])
    weight = xp.tensor([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 0.0]]])
    assert xp.bilinear(one, two, weight).tolist() == [[13.0, 5.0]]


def test_a_number_is_all_that_a_vector_without_a_length_is_like() -> None:
    assert xp.cosine_similarity(xp.zeros(1, 2), ROWS[1:2]).tolist() == [0.0]
    assert xp.cosine_similarity(ROWS[1:2], ROWS[2:]).item() == pytest.approx(1.0)


def test_what_was_broadcast_is_added_up_again() -> None:
    assert ROWS.sum_to_size(2).tolist() == [9.0, 12.0]
    assert ROWS.sum_to_size(3, 2) is ROWS
    with pytest.raises(RuntimeError, match="not expandable"):
        ROWS.sum_to_size(3)


@pytest.mark.skipif(not hasattr(xp, "hash_tensor"), reason="a release without it")
def test_a_hash_has_nothing_left_of_what_comes_twice() -> None:
    assert xp.hash_tensor(xp.tensor([3, 5, 3])).item() == 5
    assert xp.hash_tensor(xp.tensor([[1.5, 1.5], [2.0, 0.0]]), 1)[0].item() == 0


def bag(mode: str, **options: Any) -> Any:
    indices, offsets = xp.tensor([0, 1, 2]), xp.tensor([0, 2])
    return xp.nn.functional.embedding_bag(indices, ROWS, offsets, mode=mode, **options).tolist()


def test_a_bag_is_a_sum_a_mean_or_the_largest() -> None:
    assert bag("sum") == [[3.0, 4.0], [6.0, 8.0]]
    assert bag("mean") == [[1.5, 2.0], [6.0, 8.0]]
    assert bag("max") == [[3.0, 4.0], [6.0, 8.0]]
    assert bag("mean", padding_idx=0) == [[3.0, 4.0], [6.0, 8.0]]


def test_a_sequence_that_is_shorter_is_padded() -> None:
    padded = xp._C._nn.pad_sequence([xp.ones(1), xp.ones(2)], True, 7.0)
    assert padded.tolist() == [[1.0, 7.0], [1.0, 1.0]]
