"""Modules and optimizers: what is registered, saved, moved and changed."""

from __future__ import annotations

import copy
import weakref
from typing import Any

import pytest

import mindtorch_v2 as xp
from mindtorch_v2 import nn, optim
from mindtorch_v2.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)


class Twice(nn.Module):
    """A module with one of everything."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.scale = nn.Parameter(xp.ones(2))
        self.register_buffer("seen", xp.zeros(1))
        self.register_buffer("unsaved", xp.zeros(1), persistent=False)

    def forward(self, input: xp.Tensor) -> xp.Tensor:
        return self.inner(input) * self.scale


def test_attributes_are_registered_by_what_they_are() -> None:
    module = Twice()
    assert [name for name, _ in module.named_parameters()] == [
        "scale",
        "inner.weight",
        "inner.bias",
    ]
    assert list(module.state_dict()) == ["scale", "seen", "inner.weight", "inner.bias"]
    assert [name for name, _ in module.named_modules()] == ["", "inner"]


def test_a_parameter_that_two_modules_share_is_named_once() -> None:
    shared = nn.Linear(2, 2)
    assert len(list(nn.Sequential(shared, shared).parameters())) == 2


def test_a_state_is_copied_not_shared() -> None:
    one, two = Twice(), Twice()
    two.load_state_dict(one.state_dict())
    with xp.no_grad():
        one.scale.mul_(3)
    assert two.scale.tolist() == [1.0, 1.0]


def test_a_state_that_does_not_fit_changes_nothing_that_it_says_nothing_of() -> None:
    module = nn.Linear(2, 1)
    before = module.bias.tolist()
    with pytest.raises(RuntimeError, match=r'Missing key.*"bias"'):
        module.load_state_dict({"weight": xp.ones(1, 2)})
    assert module.bias.tolist() == before


def test_a_module_moves_with_its_gradients() -> None:
    module = nn.Linear(2, 1)
    module(xp.ones(1, 2)).sum().backward()
    module.double()
    assert module.weight.dtype is module.weight.grad.dtype is xp.float64
    assert isinstance(module.to("meta").weight, nn.Parameter)


def test_a_step_of_momentum_goes_further_than_the_gradient() -> None:
    param = xp.zeros(1, requires_grad=True)
    optimizer = optim.SGD([param], lr=1.0, momentum=0.5)
    places = []
    for _ in range(3):
        optimizer.zero_grad()
        param.sum().backward()
        optimizer.step()
        places.append(param.item())
    assert places == [-1.0, -2.5, -4.25]


def test_a_frozen_parameter_stays() -> None:
    one, two = xp.ones(1, requires_grad=True), xp.ones(1, requires_grad=True)
    optimizer = optim.AdamW([one, two], lr=0.1)
    (one * 2).sum().backward()
    optimizer.step()
    assert two.item() == 1.0 != one.item()


def test_dropout_does_nothing_when_it_is_not_trained() -> None:
    module = nn.Dropout(0.5)
    given = xp.ones(50)
    assert 0.0 in module(given).tolist()
    assert module.eval()(given) is given


def test_hooks_are_told_what_a_state_lacks_and_may_forgive_it() -> None:
    module = nn.Linear(1, 1)
    told: list[str] = []

    def forgive(module: nn.Module, keys: Any) -> None:
        told.extend(keys.missing_keys)
        keys.missing_keys.clear()

    module.register_load_state_dict_post_hook(forgive)
    assert repr(module.load_state_dict({})) == "<All keys matched successfully>"
    assert told == ["weight", "bias"]


def test_a_hook_after_a_state_came_answers_nothing() -> None:
    module = nn.ReLU()
    module.register_load_state_dict_post_hook(lambda module, keys: 1)
    with pytest.raises(AssertionError, match="to return new values"):
        module.load_state_dict({})


def test_an_optimizer_tells_hooks_of_states_that_come_back() -> None:
    optimizer = optim.SGD([xp.ones(1)], lr=0.1)
    told: list[str] = []
    optimizer.register_load_state_dict_pre_hook(lambda optimizer, state: told.append("before"))
    optimizer.register_load_state_dict_post_hook(lambda optimizer: told.append("after"))
    optimizer.register_load_state_dict_pre_hook(
        lambda optimizer, state: told.append("first"), prepend=True
    )
    optimizer.load_state_dict(optimizer.state_dict())
    assert told == ["first", "before", "after"]


def test_a_new_module_has_what_hooks_need_in_torchs_order() -> None:
    names = list(nn.Module().__dict__)
    assert names[:4] == ["training", "_parameters", "_buffers", "_non_persistent_buffers_set"]
    assert names[-1] == "_modules"


def test_hooks_of_all_optimizers_come_around_those_of_one() -> None:
    optimizer = optim.SGD([xp.ones(1)], lr=0.1)
    told: list[str] = []
    handles = [
        register(lambda *given, name=name: told.append(name))
        for register, name in (
            (register_optimizer_step_pre_hook, "all before"),
            (register_optimizer_step_post_hook, "all after"),
            (optimizer.register_step_pre_hook, "before"),
            (optimizer.register_step_post_hook, "after"),
        )
    ]
    optimizer.step()
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert told == ["all before", "before", "after", "all after"]


def test_a_hook_that_is_given_its_module_does_not_keep_it_alive() -> None:
    module = nn.Linear(1, 1)
    module._register_load_state_dict_pre_hook(lambda *given: None, with_module=True)
    (hook,) = module._load_state_dict_pre_hooks.values()
    assert copy.deepcopy(module)._load_state_dict_pre_hooks.keys()
    is_alive = weakref.ref(module)
    del module
    assert is_alive() is None
    with pytest.raises(RuntimeError, match="the hook of a dead Module"):
        hook({}, "")
