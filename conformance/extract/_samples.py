"""Questions about optimizers' steps, about samples and about gradients of few, for
``neural.json``: see :mod:`conformance.extract.neural`."""

from collections.abc import Callable

import torch

from conformance.extract import takes
from conformance.extract._asking import error_of

A = torch.ops.aten


def step_of_too_many() -> None:
    """Of gradient descent that has a momentum and needs none."""
    ones = [torch.ones(1)]
    switches = {"nesterov": False, "maximize": False, "is_first_step": False}
    numbers = {"weight_decay": 0.0, "momentum": 0.0, "lr": 0.1, "dampening": 0.0}
    A._fused_sgd_(ones, ones, ones, **numbers, **switches)


def descended() -> tuple[torch.Tensor, torch.Tensor]:
    """A vector of halves after a step, and its momentum."""
    parameter, momentum = (torch.full((16,), x, dtype=torch.bfloat16) for x in (13.0, 0.0))
    numbers = {"weight_decay": 0.1, "momentum": 0.5, "lr": 0.1, "dampening": 0.0}
    switches = {"nesterov": False, "maximize": False, "is_first_step": True}
    A._fused_sgd_([parameter], [torch.zeros_like(momentum)], [momentum], **numbers, **switches)
    return parameter, momentum


HABITS: dict[str, Callable[[], bool]] = {
    "a list of a step is asked whether it is empty": lambda: (
        "empty()" in error_of(step_of_too_many)[1]
    ),
    "a step of halves rounds its numbers": lambda: descended()[1][0].item() == 1.3046875,
    "a descent leaves vectors of halves where they are": lambda: descended()[0][0].item() == 13,
    "a gelu gradient with gradients is computed in floats": lambda: (
        A.infinitely_differentiable_gelu_backward(torch.ones(1), torch.ones(1).half()).dtype
        is torch.float32
    ),
    "matrix_exp_backward looks for square matrices": lambda: (
        "square" in error_of(lambda: A.matrix_exp_backward(torch.ones(2, 3), torch.ones(2, 3)))[1]
    ),
    "a Sobol engine looks at its sizes": lambda: not takes(
        lambda: torch._sobol_engine_ff_(torch.ones(1).long(), -1, torch.ones(1, 30).long(), 1, 0)
    ),
    "volumes are sampled by cubes": lambda: takes(
        lambda: A.grid_sampler_3d(torch.ones(1, 1, 1, 1, 1), torch.ones(1, 1, 1, 1, 3), 2, 0, True)
    ),
    "a gradient of a grid is like what was sampled": lambda: not takes(
        lambda: A.grid_sampler_3d_backward(
            *(torch.ones(1, 1, 1, 1, 2), torch.ones(1, 1, 1, 1, 1), torch.ones(1, 1, 1, 1, 3)),
            *(0, 0, False, [True, True]),
        )
    ),
    "a binomial sample looks at dtypes first": lambda: (
        error_of(lambda: torch.binomial(torch.ones(1).long(), torch.ones(1)))[0] == "ValueError"
    ),
}
