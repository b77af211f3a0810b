"""Questions about matrices, for ``neural.json``: see :mod:`conformance.extract.neural`."""

import math
from collections.abc import Callable

import torch

from conformance.extract import takes
from conformance.extract._asking import error_of


def gradient_of_no_determinant() -> torch.Tensor | None:
    nothing = torch.empty(0, 0, requires_grad=True)
    torch.linalg.det(nothing).backward()
    return nothing.grad


NUMBERS = torch.eye(2, dtype=torch.float64) * 0.04

HABITS: dict[str, Callable[[], bool]] = {
    "a matrix exponential of degree 8 is one": lambda: (
        abs(torch.matrix_exp(NUMBERS)[0, 0].item() - math.exp(0.04)) < 1e-15
    ),
    "square matrices on meta are asserted": lambda: (
        error_of(lambda: torch.linalg.inv_ex(torch.empty(2, 3, device="meta")))[0]
        == "AssertionError"
    ),
    "linalg_solve factors what it is given": lambda: (
        torch.linalg.inv_ex(torch.tensor([[1.0, 2, 3], [0, 0, 4], [0, 0, 5]]))[1].item() == 2
    ),
    "a determinant of nothing has a gradient": lambda: (gradient_of_no_determinant() is not None),
    "ldl_solve looks at its pivots": lambda: (
        not takes(
            lambda: torch.linalg.ldl_solve(
                torch.ones(1, 1), torch.zeros(1, dtype=torch.int32), torch.ones(1, 0)
            )
        )
    ),
    "the dimensions of no matrix are told on meta": lambda: (
        "got 1" in error_of(lambda: torch.linalg.inv_ex(torch.empty(2, device="meta")))[1]
    ),
    "the largest norm of none is zero": lambda: takes(
        lambda: torch.linalg.matrix_norm(torch.ones(2, 0), 1)
    ),
    "ormqr counts its reflections": lambda: not takes(
        lambda: torch.ormqr(torch.ones(2, 2), torch.ones(1), torch.ones(2, 2))
    ),
    "a norm by its name is misspelt": lambda: (
        "mut be" in error_of(lambda: torch.linalg.norm(torch.ones(1), "fro", dim=[]))[1]
    ),
}
