"""Factors, solutions, inverses and determinants of matrices, and what is said of singular ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mindtorch_v2 as xp

REGULAR = [[4.0, 1.0, 0.5], [1.0, 5.0, 2.0], [0.5, 2.0, 6.0]]
INDEFINITE = [[0.0, 2.0, 1.0], [2.0, 0.0, 3.0], [1.0, 3.0, 0.0]]


def regular(**options: Any) -> Any:
    return xp.tensor(REGULAR, dtype=xp.float64, **options)


def is_close(one: Any, two: Any) -> bool:
    return np.allclose(np.array(one.tolist()), np.array(two.tolist()))


def test_factors_multiply_to_the_matrix() -> None:
    for shape in ((3, 3), (2, 4, 3), (2, 3, 5), (40, 40)):
        made = xp.arange(int(np.prod(shape)), dtype=xp.float64).view(shape) % 7 - 2
        permutation, lower, upper = xp.linalg.lu(made)
        assert is_close(permutation @ lower @ upper, made)


def test_factors_lie_column_by_column() -> None:
    factors, pivots = xp.linalg.lu_factor(regular().expand(2, 3, 3))
    assert factors.stride() == (9, 1, 3)
    assert pivots.dtype is xp.int32
    assert xp.linalg.cholesky(regular()).stride() == (1, 3)


@pytest.mark.parametrize("adjoint", [True, False])
@pytest.mark.parametrize("left", [True, False])
def test_a_solution_by_factors_is_one_of_the_equation(left: bool, adjoint: bool) -> None:
    matrix = regular() * (2 - 1j)
    right = xp.arange(9, dtype=xp.float64).view(3, 3) * (1 + 1j)
    found = xp.linalg.lu_solve(*xp.linalg.lu_factor(matrix), right, left=left, adjoint=adjoint)
    factor = matrix.mH if adjoint else matrix
    assert is_close(factor @ found if left else found @ factor, right)


def test_what_solves_from_the_right_is_marked_as_conjugated() -> None:
    found = xp.linalg.solve(regular().cdouble(), regular().cdouble(), left=False)
    assert found.is_conj()
    assert is_close(found, xp.eye(3))


def test_symmetric_matrices_without_a_diagonal_have_factors() -> None:
    matrix = xp.tensor(INDEFINITE, dtype=xp.float64)
    factors, pivots = xp.linalg.ldl_factor(matrix)
    assert pivots.min() < 0  # two rows make a block
    assert is_close(matrix @ xp.linalg.ldl_solve(factors, pivots, matrix), matrix)


def test_hermitian_matrices_have_factors() -> None:
    matrix = xp.tensor(INDEFINITE, dtype=xp.float64) * (1 + 0.5j)
    matrix = matrix + matrix.mH
    factors = xp.linalg.ldl_factor(matrix, hermitian=True)
    assert is_close(matrix @ xp.linalg.ldl_solve(*factors, matrix, hermitian=True), matrix)


def test_cholesky_is_undone_by_its_adjoint_and_inverted() -> None:
    upper = xp.linalg.cholesky(regular(), upper=True)
    assert is_close(upper.mH @ upper, regular())
    assert is_close(xp.cholesky_inverse(upper, upper=True) @ regular(), xp.eye(3))
    assert is_close(regular() @ xp.cholesky_solve(regular(), upper, upper=True), regular())


def test_determinants_have_signs() -> None:
    swapped = regular()[[1, 0, 2]]
    assert is_close(xp.det(swapped), -xp.det(regular()))
    sign, logabsdet = xp.slogdet(swapped)
    assert sign.item() == -1
    assert is_close(logabsdet.exp(), xp.det(regular()))
    assert xp.logdet(swapped).isnan()


def test_a_singular_matrix_is_refused_in_the_words_of_who_is_asked() -> None:
    batch = xp.stack([xp.eye(2), xp.zeros(2, 2)])
    for call, words in (
        (xp.linalg.inv, "(Batch element 1): The diagonal element 1 is zero"),
        (lambda each: xp.linalg.solve(each, each), "The solver failed"),
        (xp.linalg.cholesky, "the leading minor of order 1 is not positive-definite"),
    ):
        with pytest.raises(xp.linalg.LinAlgError) as caught:
            call(batch)
        assert words in str(caught.value)
    with pytest.raises(RuntimeError, match="is zero and using it on lu_solve"):
        xp.linalg.lu_factor(batch)


def test_who_asks_for_information_gets_it() -> None:
    batch = xp.stack([xp.eye(2), xp.zeros(2, 2)])
    assert xp.linalg.lu_factor_ex(batch).info.tolist() == [0, 1]
    assert xp.linalg.cholesky_ex(batch).info.tolist() == [0, 1]
    xp.set_warn_always(True)  # once in a process it may have been given already
    try:
        with pytest.warns(UserWarning, match="torch.lu is deprecated"):
            assert xp.lu(xp.eye(2), get_infos=True)[2].item() == 0
    finally:
        xp.set_warn_always(False)


@pytest.mark.parametrize(
    "call",
    [
        xp.linalg.inv,
        xp.linalg.cholesky,
        lambda a: xp.linalg.lu(a)[2],
        lambda a: xp.linalg.lu(a[:2])[1],
        lambda a: xp.linalg.lu(a[:, :2])[1],
        lambda a: xp.linalg.solve(a, a[0]),
        lambda a: xp.linalg.solve_triangular(a, a[:, :2], upper=True),
        lambda a: xp.slogdet(a)[1],
        xp.det,
    ],
)
def test_gradients_are_what_small_differences_tell(call: Any) -> None:
    matrix = regular().requires_grad_()
    call(matrix).sum().backward()
    step = 1e-6
    for place in ((0, 1), (1, 1), (2, 0)):
        change = xp.zeros(3, 3, dtype=xp.float64)
        change[place] = step
        if call is xp.linalg.cholesky:  # which takes the gradient for that of both triangles
            change = (change + change.mT) / 2
        ends = [call(regular() + sign * change).sum().item() for sign in (1, -1)]
        assert matrix.grad[place].item() == pytest.approx((ends[0] - ends[1]) / 2 / step, rel=1e-5)


def test_powers_of_matrices_are_products() -> None:
    assert is_close(xp.matrix_power(regular(), 5), np.linalg.matrix_power(np.array(REGULAR), 5))
    assert is_close(xp.matrix_power(regular(), -2) @ regular() @ regular(), xp.eye(3))
    assert xp.matrix_power(xp.tensor([[1, 2], [3, 4]]), 0).tolist() == [[1, 0], [0, 1]]


def test_tensors_are_solved_as_matrices() -> None:
    made = (xp.eye(6) * 2 + 1).view(2, 3, 6)
    assert xp.linalg.tensorinv(made).shape == (6, 2, 3)
    found = xp.linalg.tensorsolve(made, xp.ones(2, 3))
    assert is_close(xp.tensordot(made, found, 1), xp.ones(2, 3))


def test_on_meta_there_are_shapes_and_strides() -> None:
    found = xp.linalg.solve(regular(device="meta"), xp.empty(2, 3, 4, device="meta").double())
    assert found.shape == (2, 3, 4)
    assert found.stride() == (12, 1, 3)
