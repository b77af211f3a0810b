"""Modules and optimizers: what is registered, saved, moved and changed."""

from __future__ import annotations

import pytest

import mindtorch_v2 as xp
from mindtorch_v2 import nn, optim


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
