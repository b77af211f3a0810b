"""The helpers of cases that watch a program under functionalization."""

import random
import re
from typing import Final

import pytest

import mindtorch_v2 as torch
from conformance.cases import functionalize_schemas
from conformance.functionalized import WAYS, attempt, functionalized
from mindtorch_v2 import profile


def _add(x: torch.Tensor) -> torch.Tensor:
    return x.view(-1).add_(1)


@pytest.mark.parametrize("way", WAYS)
def test_every_way_brings_the_change_to_the_argument(way: str) -> None:
    _, found, x, _ = functionalized(torch, _add, torch.zeros(1, 2), way, [])
    changed = found[1] if way.startswith("wrapped") else x
    assert changed.tolist() == [[1.0, 1.0]]


def test_the_log_has_the_operators_below_functionalization() -> None:
    def operators(way: str) -> list[str]:
        log = functionalized(torch, _add, torch.zeros(1, 2), way, [])[0]
        return [line.partition(" ")[0] for line in log]

    assert operators("eager") == ["aten.view.default", "aten.add_.Tensor"]
    assert operators("mutations_and_views")[:2] == ["aten.view_copy.default", "aten.add.Tensor"]


def test_what_the_function_raises_is_part_of_the_answer() -> None:
    def refused(x: torch.Tensor) -> None:
        raise ValueError("no")

    assert functionalized(torch, refused, torch.zeros(1), "eager", [])[1] == ("ValueError", "no")


def test_a_step_that_is_refused_is_logged_and_the_next_one_follows() -> None:
    log: list[object] = []
    done: list[int] = []
    attempt(log, [lambda: done.index(1), lambda: done.append(2)])
    assert (log, done) == (["1 is not in list"], [2])


def test_an_operator_that_failed_after_it_had_waited_is_not_in_the_log() -> None:
    def out_of_range(x: torch.Tensor) -> None:
        x[:1].index_fill_(0, torch.tensor([1]), 5)

    with torch.pipeline() as queue:
        x = torch.zeros(2, 3)
        log, found, _, _ = functionalized(torch, out_of_range, x, "wrapped", [], queue.flush)
    assert found[0] == "IndexError"
    assert [line.partition(" ")[0] for line in log] == [
        "aten.slice.Tensor",
        "aten.lift_fresh.default",
    ]


# --- programs from schemas ------------------------------------------------------------------------


PROFILE: Final = profile.active()
SEEDS: Final = range(1000)


def test_a_program_from_schemas_is_known_by_its_seed() -> None:
    first, second = (
        [functionalize_schemas.drawn_program(random.Random(seed), PROFILE.name) for seed in SEEDS]
        for _ in range(2)
    )
    assert first == second
    assert len(set(first)) > len(SEEDS) * 0.9


def test_programs_from_schemas_call_nearly_every_operator_that_they_may() -> None:
    schemas = functionalize_schemas.schemas_of(PROFILE.name)
    paths = {target.path for kind in schemas for target in kind}
    chances = map(random.Random, SEEDS)
    texts = "\n".join(functionalize_schemas.drawn_program(each, PROFILE.name) for each in chances)
    called = set(re.findall(r"xp\.ops\.aten\.\w+\.\w+", texts))
    assert called <= paths
    assert len(called) > len(paths) * 0.75


def test_what_programs_from_schemas_leave_out_is_an_operator() -> None:
    assert set(functionalize_schemas.LEFT_OUT) <= set(PROFILE.schemas["dispatcher_names"])
