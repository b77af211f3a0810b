"""A failure injected at every place of the queue, in 200 programs: what is left, and what is not.

Finished outputs are valid, all others invalid with their operator, its call site and the first
failure named; the queue is empty, and the pipeline takes calls again.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.pipeline.queue import Queued

PROGRAMS = 200
GROUPS = 20


class Step(NamedTuple):
    """A call of one operator; ``made`` says whether its outputs are new tensors."""

    operator: str
    run: Callable[[list[Any]], Any]
    made: bool


class InjectedError(Exception):
    pass


# --- programs -------------------------------------------------------------------------------------


def starts(recorded: bool) -> list[Any]:
    return [
        torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=recorded),
        torch.tensor([[0.5, 1.5, 2.5], [3.5, 4.5, 5.5]]),
    ]


class Writer:
    """Makes steps over a list of tensors, of which it knows shape and memory."""

    def __init__(self, chance: random.Random, recorded: bool) -> None:
        self.chance, self.recorded = chance, recorded
        #: Of each tensor how its shape comes from the first's, and whose memory it has.
        self.forms: list[tuple[tuple[int, ...], int]] = [((2, 3), 0), ((2, 3), 1)]

    def step(self) -> Step:
        kind = self.chance.random()
        if kind < 0.4:
            return self.computed()
        if kind < 0.7 or self.recorded:
            return self.viewed()
        return self.changed()

    def computed(self) -> Step:
        at, shape, _ = self.any()
        fitting = [other for other, form in enumerate(self.forms) if form[0] == shape]
        other = self.chance.choice(fitting)
        self.forms.append((shape, len(self.forms)))
        return self.chance.choice(
            [
                Step("aten::add.Tensor", lambda t: t.append(t[at] + t[other]), True),
                Step("aten::mul.Tensor", lambda t: t.append(t[at] * 2), True),
                Step("aten::neg", lambda t: t.append(-t[at]), True),
                Step("aten::clone", lambda t: t.append(t[at].clone()), True),
            ]
        )

    def viewed(self) -> Step:
        at, shape, memory = self.any()
        turned = (*shape[:-2], shape[-1], shape[-2])
        if self.chance.random() < 0.3:
            self.forms += [(shape[1:], memory)] * shape[0] if len(shape) > 2 else []
            if len(shape) > 2:
                return Step("aten::unbind.int", lambda t: t.extend(t[at].unbind()), True)
        if self.chance.random() < 0.5:
            self.forms.append((turned, memory))
            return Step("aten::transpose.int", lambda t: t.append(t[at].transpose(-1, -2)), True)
        self.forms.append(((1, *shape), memory))
        return Step("aten::unsqueeze", lambda t: t.append(t[at].unsqueeze(0)), True)

    def changed(self) -> Step:
        at, shape, memory = self.any()
        others = [
            other for other, form in enumerate(self.forms) if form[0] == shape and form[1] != memory
        ]
        if others and self.chance.random() < 0.5:
            other = self.chance.choice(others)
            return Step("aten::sub_.Tensor", lambda t: t[at].sub_(t[other]), False)
        return Step("aten::mul_.Tensor", lambda t: t[at].mul_(3), False)

    def any(self) -> tuple[int, tuple[int, ...], int]:
        at = self.chance.randrange(len(self.forms))
        return at, *self.forms[at]


def program(seed: int) -> tuple[bool, list[Step]]:
    """Whether its first tensor requires grad, and the steps."""
    chance = random.Random(seed)
    recorded = chance.random() < 0.3
    writer = Writer(chance, recorded)
    return recorded, [writer.step() for _ in range(chance.randint(2, 8))]


# --- the injection --------------------------------------------------------------------------------


@contextmanager
def failing(stage: str, place: int) -> Iterator[None]:
    """A block in which the queue's call at ``place`` fails in its plan or its impl."""
    original = getattr(Queued, stage)
    count = 0

    def counted(self: Queued) -> Any:
        nonlocal count
        count += 1
        if count == place + 1:
            raise InjectedError(f"at {place}")
        return original(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Queued, stage, counted)
        yield


def state(tensors: list[Any]) -> list[Any]:
    return [(t.tolist(), t._version, t.requires_grad, type(t.grad_fn).__name__) for t in tensors]


def eager(recorded: bool, steps: list[Step]) -> list[list[Any]]:
    """The state before and after each step in eager mode."""
    tensors = starts(recorded)
    states = [state(tensors)]
    for step in steps:
        step.run(tensors)
        states.append(state(tensors))
    return states


def check(
    recorded: bool, steps: list[Step], stage: str, place: int, expected: list[list[Any]]
) -> None:
    tensors = starts(recorded)
    made: list[int] = []  # after each step, how many tensors there are
    done = place if stage == "run" else 0
    with torch.pipeline() as p:
        for step in steps:
            step.run(tensors)
            made.append(len(tensors))
        assert len(p) == len(steps)
        with failing(stage, place), pytest.raises(InjectedError, match=f"^at {place}$"):
            p.flush()
        assert len(p) == 0
        valid = made[done - 1] if done else 2
        assert state(tensors[:valid]) == expected[done]
        for number, step in enumerate(steps):
            for output in tensors[max(valid, made[number - 1] if number else 2) : made[number]]:
                assert number >= done
                with pytest.raises(RuntimeError, match="was not computed") as raised:
                    output.tolist()
                told = str(raised.value)
                assert told.startswith(f"{step.operator} (called at {__file__}:")
                assert f"stopped at {steps[place].operator} (called at {__file__}:" in told
                assert told.endswith(f"with InjectedError: at {place}")
        again = starts(recorded)
        steps[0].run(again)
    assert state(again) == expected[1]


@pytest.mark.parametrize("group", range(GROUPS))
@pytest.mark.parametrize("stage", ["make_plan", "run"])
def test_a_failure_at_any_place_leaves_what_is_finished_and_nothing_else(
    stage: str, group: int
) -> None:
    for seed in range(group, PROGRAMS, GROUPS):
        recorded, steps = program(seed)
        expected = eager(recorded, steps)
        for place in range(len(steps)):
            check(recorded, steps, stage, place, expected)


USES: dict[str, Callable[[Any], object]] = {
    "values": lambda t: t.tolist(),
    "another call": lambda t: t + 1,
    "a change": lambda t: t.mul_(2),
    "a view": lambda t: t.unsqueeze(0),
    "detach()": lambda t: t.detach(),
    "repr()": repr,
    "requires_grad": lambda t: t.requires_grad,
    "_version": lambda t: t._version,
    "data_ptr()": lambda t: t.data_ptr(),
    "backward()": lambda t: t.backward(),
    "data": lambda t: t.data,
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_every_use_of_what_was_not_computed_says_why(use: Callable[[Any], object]) -> None:
    with torch.pipeline() as p:
        y = torch.ones(2) * 2
        with failing("run", 0), pytest.raises(InjectedError):
            p.flush()
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"aten::mul\.Tensor \(called at .*not computed"):
            use(y)


def test_the_programs_have_calls_of_every_kind() -> None:
    steps = [step for seed in range(PROGRAMS) for step in program(seed)[1]]
    names = {step.operator for step in steps}
    assert {re.sub(r"\..*", "", name).endswith("_") for name in names} == {True, False}
    assert len(names) >= 8
    assert len(steps) > 4 * PROGRAMS


def test_a_wrapper_takes_back_the_changes_that_it_has_counted() -> None:
    x = torch.zeros(1, 2)
    wrapper = torch._to_functional_tensor(x)
    with torch.pipeline() as queue:
        torch._enable_functionalization(reapply_views=True)
        try:
            wrapper.add_(1)
            queue.flush()
            torch.index_select(wrapper.clone(), 0, torch.tensor([1]), out=wrapper)
            with pytest.raises(IndexError, match="index out of range in self"):
                queue.flush()
        finally:
            torch._disable_functionalization()
    assert x._version == wrapper._version == 1
