"""Pipeline mode keeps the program's order: of memory, of threads and of random numbers.

The sentences of the design that are held here are in the table of ``test_pipeline.py``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindtorch_v2 as torch

from .pipeline_events import names

# --- order ------------------------------------------------------------------------------------


def test_what_was_called_before_a_change_sees_none_of_it() -> None:
    x = torch.ones(2)
    view = x[:1]
    with torch.pipeline():
        before = x * 10
        view.add_(1)
        after = x * 10
    assert before.tolist() == [10.0, 10.0]
    assert after.tolist() == [20.0, 10.0]
    assert x._version == 1


def test_a_view_whose_base_waits_is_no_reason_to_flush() -> None:
    x = torch.ones(2, 2, requires_grad=True)
    y = torch.ones(2, 2)
    view, other = x.t(), y.t()
    with torch.pipeline() as p, torch.no_grad():
        z = x + y
        z = view @ other + z
        assert not names(p, "run")
    assert z.tolist() == [[4.0, 4.0]] * 2


def test_views_of_a_list_wait_until_their_memory_is_changed() -> None:
    x = torch.ones(2, 2, requires_grad=True) * 1
    with torch.pipeline() as p:
        one, two = x.chunk(2)
        y = one.view(2) * two
        assert not names(p, "run")
        assert not names(p, "at its place")
        with torch.no_grad():
            x.mul_(2)
        with pytest.raises(RuntimeError, match=r"Output 0 of .* has been modified inplace"):
            one.view(2)
    assert y.tolist() == [[1.0, 1.0]]


def test_another_name_for_the_memory_flushes_too() -> None:
    x = torch.ones(2)
    view = x.view(2)
    with torch.pipeline():
        x.add_(1)
        assert view.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("share", [torch.from_numpy, torch.from_dlpack])
def test_memory_that_numpy_knows_is_used_at_the_place_of_the_call(
    share: Callable[[Any], Any],
) -> None:
    array = np.ones(2, np.float32)
    x = share(array)
    with torch.pipeline():
        y = x + 1
        array[:] = 5
    assert y.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("give", [lambda t: t.numpy(), np.from_dlpack, torch.to_dlpack])
def test_memory_that_a_block_gives_away_is_used_at_the_place_of_the_call(
    give: Callable[[Any], Any],
) -> None:
    with torch.pipeline() as p:
        x = torch.ones(2) * 3
        given = give(x)
        x.add_(1)
        assert names(p, "at its place")[-1] == "aten::add_.Tensor"
        array = given if isinstance(given, np.ndarray) else torch.from_dlpack(given)
        assert array.tolist() == [4.0, 4.0]


def test_another_thread_sees_what_eager_mode_would_have_shown_it() -> None:
    x = torch.ones(2)
    seen: list[Any] = []
    with torch.pipeline() as p:
        y = x + 1
        x.add_(1)

        def look() -> None:
            assert (
                torch._C._dispatch_tls_is_dispatch_key_included(torch._C.DispatchKey.CPU) is False
            )
            x.mul_(10)
            seen.append((y.tolist(), x.tolist()))

        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        assert len(p) == 0
    assert seen == [([2.0, 2.0], [20.0, 20.0])]


def test_a_block_belongs_to_its_thread() -> None:
    pending: list[Any] = []
    with torch.pipeline():
        thread = threading.Thread(target=lambda: pending.append((torch.ones(1) + 1)._pending))
        thread.start()
        thread.join()
    assert pending == [None]


# --- random numbers ---------------------------------------------------------------------------


def drawn() -> list[Any]:
    """Numbers of two generators, and between them what changes one's state."""
    torch.manual_seed(3)
    own = torch.Generator().manual_seed(5)
    found = [torch.rand(3), torch.randn(2, generator=own), torch.zeros(4).uniform_()]
    torch.manual_seed(4)
    found += [torch.bernoulli(torch.full((3,), 0.5)), torch.rand(2, generator=own)]
    return [*found, torch.get_rng_state(), own.get_state(), torch.rand(1)]


def test_random_numbers_wait_and_come_in_the_order_of_the_program() -> None:
    expected = [each.tolist() for each in drawn()]
    with torch.pipeline():
        found = drawn()
    assert [each.tolist() for each in found] == expected


def test_operators_that_take_random_numbers_wait() -> None:
    with torch.pipeline() as p:
        torch.manual_seed(3)
        x = torch.rand(2)
        y = torch.zeros(2).normal_()
        assert not names(p, "run")
        assert names(p, "queued")[-1] == "aten::normal_"
    assert (x != y).all()


ASKED: dict[str, Callable[[Any], object]] = {
    "its state": lambda g: g.get_state(),
    "another state": lambda g: g.set_state(g.get_state()),
    "a seed": lambda g: g.manual_seed(1),
    "any seed": lambda g: g.seed(),
    "its first seed": lambda g: g.initial_seed(),
    "another thread's numbers": lambda g: in_thread(lambda: torch.rand(1, generator=g)),
}


def in_thread(run: Callable[[], object]) -> None:
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_what_has_to_do_with_a_generator_flushes_what_takes_its_numbers(
    ask: Callable[[Any], object],
) -> None:
    own = torch.Generator().manual_seed(5)
    expected = torch.rand(2, generator=own).tolist()
    own.manual_seed(5)
    with torch.pipeline() as p:
        x = torch.rand(2, generator=own)
        ask(own)
        assert names(p, "run") == ["aten::rand.generator"]
    assert x.tolist() == expected
