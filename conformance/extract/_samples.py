"""Questions about optimizers' steps and about samples, for ``neural.json``: see
:mod:`conformance.extract.neural`."""

from collections.abc import Callable

import torch

from conformance.extract._asking import error_of


def step_of_too_many() -> None:
    """Of gradient descent that has a momentum and needs none."""
    ones = [torch.ones(1)]
    switches = {"nesterov": False, "maximize": False, "is_first_step": False}
    numbers = {"weight_decay": 0.0, "momentum": 0.0, "lr": 0.1, "dampening": 0.0}
    torch.ops.aten._fused_sgd_(ones, ones, ones, **numbers, **switches)


HABITS: dict[str, Callable[[], bool]] = {
    "a list of a step is asked whether it is empty": lambda: (
        "empty()" in error_of(step_of_too_many)[1]
    ),
    "a binomial sample looks at dtypes first": lambda: (
        error_of(lambda: torch.binomial(torch.ones(1).long(), torch.ones(1)))[0] == "ValueError"
    ),
}
