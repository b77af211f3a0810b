"""The generator and what is drawn from it: known numbers, states, limits."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import mindtorch_v2 as xp


def test_words_are_those_of_mt19937() -> None:
    """The 10,000th number of the generator with its standard seed is known from its paper."""
    words = xp.Generator().manual_seed(5489).words(10_000)
    assert int(words[-1]) == 4123659995


def test_a_state_continues_where_it_was_read() -> None:
    generator = xp.Generator().manual_seed(1)
    xp.randn(3, generator=generator)
    state = generator.get_state()
    expected = xp.randn(700, generator=generator)
    other = xp.Generator()
    other.set_state(state)
    assert xp.randn(700, generator=other).tolist() == expected.tolist()


def test_a_seed_repeats_what_was_drawn_and_another_does_not() -> None:
    drawn = [xp.rand(4, generator=xp.Generator().manual_seed(seed)).tolist() for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_normal_number_in_stock_is_used_once() -> None:
    generator = xp.Generator().manual_seed(1)
    one = [xp.randn(1, generator=generator).item() for _ in range(4)]
    assert one == xp.randn(4, generator=xp.Generator().manual_seed(1)).tolist()
    assert len(set(one)) == 4


def test_a_permutation_has_each_number_once() -> None:
    assert sorted(xp.randperm(50).tolist()) == list(range(50))


def test_numbers_are_written_in_the_order_of_memory() -> None:
    rows = xp.zeros(2, 3).uniform_(generator=xp.Generator().manual_seed(1))
    columns = xp.zeros(3, 2).t().uniform_(generator=xp.Generator().manual_seed(1))
    assert rows.flatten().tolist() == columns.t().flatten().tolist()


def test_limits_are_checked() -> None:
    with pytest.raises(RuntimeError, match="expects to return a"):
        xp.zeros(2).uniform_(1, 0)
    with pytest.raises(RuntimeError, match="to be less than 'to'"):
        xp.zeros(2).random_(3, 3)


def test_a_forked_generator_draws_the_same_again() -> None:
    xp.manual_seed(4)
    with xp.random.fork_rng(devices=[]):
        inside = xp.rand(3).tolist()
    assert xp.rand(3).tolist() == inside
    with xp.random.fork_rng(enabled=False):
        apart = xp.rand(3).tolist()
    assert xp.rand(3).tolist() != apart


def test_there_are_no_generators_of_devices_to_fork() -> None:
    with pytest.raises(RuntimeError, match=r"fork_rng\(devices=\[\]\)"), xp.random.fork_rng([0]):
        pass


@pytest.mark.parametrize(
    "through", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]
)
def test_a_copied_generator_goes_on_alike(through: Callable[[Any], Any]) -> None:
    generator = xp.Generator().manual_seed(3)
    xp.randn(5, generator=generator)
    made = through(generator)
    assert made is not generator
    assert made.initial_seed() == 3
    drawn = [xp.randn(4, generator=each).tolist() for each in (made, generator)]
    assert drawn[0] == drawn[1]


def test_what_is_no_state_is_refused() -> None:
    generator = xp.Generator().manual_seed(3)
    with pytest.raises(TypeError, match="expected a seed, an offset and a state"):
        generator.__setstate__((1, None))
    assert generator.initial_seed() == 3


def test_other_devices_have_no_generators() -> None:
    with pytest.raises(RuntimeError, match="Device type CUDA is not supported"):
        xp.Generator("cuda")
    assert xp.Generator("npu").device.type == "npu"


def test_a_count_of_infinitely_many_events_is_what_c_makes_of_infinity() -> None:
    rates = xp.tensor([float("inf"), 1e30], dtype=xp.float64)
    assert xp.poisson(rates).tolist() == [-(2.0**63)] * 2
