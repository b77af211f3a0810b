"""Switches of the process: what deterministic algorithms change, and numbers of threads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import mindtorch_v2 as torch


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    torch.use_deterministic_algorithms(False)
    torch.utils.deterministic.fill_uninitialized_memory = True
    torch.set_num_threads(threads)


def _isnan(tensor: torch.Tensor) -> list[bool]:
    return tensor.isnan().tolist()


def test_new_memory_has_known_contents() -> None:
    torch.use_deterministic_algorithms(True)
    for made in (torch.empty(2), torch.empty_like(torch.zeros(2)), torch.Tensor(2)):
        assert _isnan(made) == [True, True]
    assert torch.empty(1, dtype=torch.int8).tolist() == [127]
    assert torch.empty(1, dtype=torch.bool).tolist() == [True]
    assert _isnan(torch.zeros(2).resize_(4)) == [False, False, True, True]


def test_memory_is_left_alone_if_that_is_asked_for() -> None:
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False
    assert _isnan(torch.zeros(1).resize_(3)) == [False, False, False]
    with pytest.raises(RuntimeError, match=r"^expected a bool, but got int$"):
        torch.utils.deterministic.fill_uninitialized_memory = 1


def test_what_may_answer_otherwise_is_refused_or_warned_of() -> None:
    target, place, value = torch.zeros(2), torch.tensor([1]), torch.ones(1)
    torch.use_deterministic_algorithms(True)
    with pytest.raises(RuntimeError, match=r"^put_ does not have a deterministic implementation"):
        target.put_(place, value)
    assert target.tolist() == [0, 0]
    target.put_(place, value, accumulate=True)
    torch.use_deterministic_algorithms(True, warn_only=True)
    with pytest.warns(UserWarning, match="warn_only=True"):
        target.put_(place, value)
    assert target.tolist() == [0, 1]


@pytest.mark.parametrize(("mode", "number"), [("default", 0), ("warn", 1), ("error", 2), (2, 2)])
def test_a_mode_is_a_word_or_a_number(mode: int | str, number: int) -> None:
    torch.set_deterministic_debug_mode(mode)
    assert torch.get_deterministic_debug_mode() == number
    assert torch.are_deterministic_algorithms_enabled() is (number > 0)
    assert torch.is_deterministic_algorithms_warn_only_enabled() is (number == 1)


def test_threads_are_counted() -> None:
    torch.set_num_threads(3)
    assert torch.get_num_threads() == 3
    for wrong, message in ((0, "a positive integer"), (1.5, "an int, but got float")):
        with pytest.raises(RuntimeError, match=f"^set_num_threads expects {message}"):
            torch.set_num_threads(wrong)
    with pytest.raises(TypeError, match=r"takes no arguments \(1 given\)"):
        torch.get_num_threads(1)


def test_a_saved_tensor_is_not_made_by_hand() -> None:
    with pytest.raises(RuntimeError, match="is forbidden"):
        torch.autograd.SavedTensor()
