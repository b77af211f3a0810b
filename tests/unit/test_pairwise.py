"""Selections in which every two values of two parameters meet."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from conformance.cases.pairwise import pairwise


@pytest.mark.parametrize("sizes", [(3, 4), (5, 5, 5), (2, 7, 3, 2), (6, 1, 6)])
def test_every_pair_of_values_meets(sizes: tuple[int, ...]) -> None:
    parameters = [[f"{place}{value}" for value in range(size)] for place, size in enumerate(sizes)]
    found = list(pairwise(*parameters))
    for one, two in combinations(range(len(sizes)), 2):
        assert {(each[one], each[two]) for each in found} == {
            *product(parameters[one], parameters[two])
        }


def test_it_is_much_smaller_than_the_product_and_the_same_each_time() -> None:
    found = list(pairwise(range(10), range(10), range(10)))
    assert len(found) < 150
    assert found == list(pairwise(range(10), range(10), range(10)))


def test_no_combination_occurs_twice() -> None:
    found = list(pairwise("abc", "de", "fgh"))
    assert len(found) == len(set(found))
