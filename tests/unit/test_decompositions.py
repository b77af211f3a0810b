"""Decompositions of matrices are factors of them, of the kinds that their names say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mindtorch_v2 as torch


def _matrix(rows: int, columns: int) -> Any:
    numbers = (torch.arange(rows * columns) + 3) ** 2 * 7 % 31 * 0.25 - 3.4
    return numbers.view(rows, columns).to(torch.complex128) * (1 + 0.5j)


def _close(one: Any, two: Any) -> bool:
    return bool(np.allclose(one.tolist(), two.tolist()))


@pytest.mark.parametrize("sizes", [(3, 3), (4, 3), (3, 4), (0, 3), (3, 0)])
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_q_is_orthogonal_and_r_is_triangular(sizes: tuple[int, int], mode: str) -> None:
    x = _matrix(*sizes)
    q, r = torch.linalg.qr(x, mode=mode)
    assert _close(q @ r, x)
    assert _close(q.mH @ q, torch.eye(q.shape[1]))
    assert torch.equal(r, r.triu())
    assert q.mT.is_contiguous()


def test_reflections_multiply_to_the_same_q() -> None:
    x, c = _matrix(4, 3), _matrix(4, 2)
    packed, tau = torch.geqrf(x)
    q, _ = torch.linalg.qr(x, mode="complete")
    assert _close(torch.linalg.householder_product(packed, tau), q[:, :3])
    for turned, factor in ((False, q), (True, q.mH)):
        assert _close(torch.ormqr(packed, tau, c, True, turned), factor @ c)
        assert _close(torch.ormqr(packed, tau, c.mT.contiguous(), False, turned), c.mT @ factor)


@pytest.mark.parametrize("full", [True, False])
def test_singular_vectors_and_values_multiply_to_the_matrix(full: bool) -> None:
    x = _matrix(4, 3)
    u, s, vh = torch.linalg.svd(x, full_matrices=full)
    assert u.shape == ((4, 4) if full else (4, 3))
    assert _close(u[:, :3] * s @ vh, x)
    assert _close(torch.linalg.svdvals(x), s)
    assert _close(torch.linalg.norm(x, "nuc"), s.sum())


def test_eigenvectors_are_stretched_by_eigenvalues() -> None:
    x = _matrix(3, 3)
    values, vectors = torch.linalg.eig(x)
    assert _close(x @ vectors, vectors * values)
    hermitian = x + x.mH
    for triangle in "LU":
        values, vectors = torch.linalg.eigh(hermitian, UPLO=triangle)
        assert _close(hermitian @ vectors, vectors * values)


def test_what_is_not_finite_has_no_singular_values() -> None:
    x = torch.full((2, 2), float("nan"))
    with pytest.raises(torch.linalg.LinAlgError, match="contained non-finite values"):
        torch.linalg.svd(x)
    assert torch.linalg.svdvals(torch.full((2, 2), float("inf"))).isnan().all()


@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
def test_least_squares_are_those_of_the_pseudo_inverse(driver: str) -> None:
    a, b = _matrix(4, 3), _matrix(4, 2)
    solution, residuals, rank, _ = torch.linalg.lstsq(a, b, driver=driver)
    assert _close(solution, torch.linalg.pinv(a) @ b)
    if driver != "gels":
        assert int(rank) == 3
    if driver != "gelsy":
        assert _close(residuals, ((a @ solution - b).abs() ** 2).sum(0))


def test_columns_that_depend_on_others_are_left_out() -> None:
    a = torch.tensor([[1.0, 2.0], [2.0, 4.0], [0.0, 0.0]])
    solution, _, rank, _ = torch.linalg.lstsq(a, torch.tensor([[5.0], [10.0], [1.0]]))
    assert int(rank) == int(torch.linalg.matrix_rank(a)) == 1
    assert _close(solution, torch.tensor([[1.0], [2.0]]))


@pytest.mark.parametrize("scale", [1e-17, 1e-9, 1e-5, 1e-3, 0.02, 0.5, 5.0])
def test_an_exponential_times_that_of_the_negative_is_one(scale: float) -> None:
    x = _matrix(3, 3).real * scale / 4
    assert _close(torch.matrix_exp(x) @ torch.matrix_exp(-x), torch.eye(3))
    assert _close(torch.matrix_exp(torch.stack([x, x]))[1], torch.matrix_exp(x))


def test_a_gradient_of_singular_values_is_that_of_their_vectors() -> None:
    x = _matrix(3, 4).real.requires_grad_()
    torch.linalg.svdvals(x).sum().backward()
    u, _, vh = torch.linalg.svd(x.detach(), full_matrices=False)
    assert _close(x.grad, u @ vh)
