"""Helpers of decompositions of matrices, of pseudo-inverses and of exponentials.

As in C++, the right operand of a sum or a product, and the last argument, is called first.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.autograd.at import TensorOptions, call
from mindtorch_v2.autograd.operators import add, div, mul, negative, sub
from mindtorch_v2.kernels.cpu.linalg.orthogonal import parse_qr_mode
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.linear_algebra import is_vector_rhs
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like

_PINV: Final = OperatorHandle("aten::linalg_pinv.atol_rtol_tensor")


def _matmul(*matrices: Any) -> Any:
    """The first times the product of the others."""
    *others, found = matrices
    for matrix in reversed(others):
        found = call("matmul", matrix, found)
    return found


def _mh(matrix: Any) -> Any:
    return call("mH", matrix)


def _row(vector: Any) -> Any:
    return call("unsqueeze", vector, -2)


def _column(vector: Any) -> Any:
    return call("unsqueeze", vector, -1)


def _diagonal(matrix: Any) -> Any:
    return call("diagonal", matrix, 0, -2, -1)


def _imaginary_close(one: Any, two: Any) -> bool:
    return bool(call("allclose", one, two, 1e-2, 1e-2))


# --- singular values ----------------------------------------------------------------------------


def svd_backward(gU: Any, gS: Any, gVh: Any, U: Any, S: Any, Vh: Any) -> Any:  # noqa: N803
    if gS is None and gU is None and gVh is None:
        return None
    rows, columns = U._sizes[-2], Vh._sizes[-1]
    if gU is None and gVh is None:
        if rows >= columns:
            return _matmul(U, mul(_column(gS), Vh))
        return _matmul(mul(U, _row(gS)), Vh)
    of_u = None if gU is None else _skew(_matmul(_mh(U), gU))
    of_vh = None if gVh is None else _skew(_matmul(Vh, _mh(gVh)))
    if U._dtype.is_complex:
        _check_phases(of_u, of_vh, S)
    found = _inner(of_u, of_vh, S)
    if gS is not None:
        found = add(found, call("diag_embed", gS))
    if U._dtype.is_complex and of_u is not None and of_vh is not None:
        doubled = mul(2.0, S)
        found = add(found, call("diag_embed", div(_diagonal(of_u), doubled)))
    if rows > columns and gU is not None:
        found = _matmul(U, found)
        scaled = div(gU, _row(S))
        within = _matmul(U, _matmul(_mh(U), scaled))
        return _matmul(sub(add(found, scaled), within), Vh)
    if rows < columns and gVh is not None:
        found = _matmul(found, Vh)
        scaled = div(gVh, _column(S))
        within = _matmul(_matmul(scaled, _mh(Vh)), Vh)
        return _matmul(U, sub(add(found, scaled), within))
    return _matmul(U, found, Vh) if rows >= columns else _matmul(_matmul(U, found), Vh)


def _skew(matrix: Any) -> Any:
    return sub(matrix, _mh(matrix))


def _check_phases(of_u: Any, of_vh: Any, singular: Any) -> None:
    """RuntimeError where the loss depends on what singular vectors are unique up to."""
    zeros = None if of_u is not None and of_vh is not None else call("zeros_like", singular)
    one, two = (zeros if each is None else call("imag", _diagonal(each)) for each in (of_u, of_vh))
    if not _imaginary_close(one, negative(two)):
        raise RuntimeError(
            "svd_backward: The singular vectors in the complex case are specified up to "
            "multiplication by e^{i phi}. The specified loss function depends on this phase term, "
            "making it ill-defined."
        )


def _inner(of_u: Any, of_vh: Any, singular: Any) -> Any:
    """What is between the singular vectors, of their gradients alone."""
    differences = _differences(mul(singular, singular), 1)
    if of_u is None:
        return mul(_column(singular), div(of_vh, differences))
    if of_vh is None:
        return mul(div(of_u, differences), _row(singular))
    right = mul(_column(singular), of_vh)
    return div(add(mul(of_u, _row(singular)), right), differences)


def _differences(values: Any, diagonal: float) -> Any:
    """Of each value and each other, by which something is divided."""
    column = _column(values)
    found = sub(_row(values), column)
    call("fill_", _diagonal(found), diagonal)
    return found


# --- eigenvalues --------------------------------------------------------------------------------


def linalg_eig_backward(
    gL: Any,  # noqa: N803
    gV: Any,  # noqa: N803
    L: Any,  # noqa: N803
    V: Any,  # noqa: N803
    is_hermitian: bool,
    symeig_eigenvectors: bool = True,
) -> Any:
    if not symeig_eigenvectors:
        raise RuntimeError(
            "linalg_eig_backward: torch.symeig(A, eigenvectors=False) is not differentiable. Use "
            "torch.linalg.eigvalsh(A) instead."
        )
    if gL is None and gV is None:
        return None
    if gV is None:
        if is_hermitian:
            adjoint = _mh(V)
            return _matmul(mul(V, _row(gL)), adjoint)
        adjoint = _mh(V)
        scaled = mul(_column(gL), adjoint)
        return call("linalg_solve", _mh(V), scaled)
    found = _matmul(_mh(V), gV)
    diagonal = _diagonal(found)
    if V._dtype.is_complex and not is_tensor_subclass_like(diagonal):
        imaginary = call("imag", diagonal)
        if not _imaginary_close(imaginary, call("zeros_like", imaginary)):
            raise RuntimeError(
                f"{'linalg_eigh_backward' if is_hermitian else 'linalg_eig_backward'}: The "
                "eigenvectors in the complex case are specified up to multiplication by "
                "e^{i phi}. The specified loss function depends on this quantity, so it is "
                "ill-defined."
            )
    if is_hermitian:
        found = mul(0.5, _skew(found))
    else:
        scaled = mul(V, _row(call("real", diagonal)))
        found = sub(found, _matmul(_mh(V), scaled))
    found = call("div_", found, _differences(call("conj", L), 1.0))
    if gL is not None and is_tensor_subclass_like(gL):
        found = call("diagonal_scatter", found, gL, 0, -2, -1)
    elif gL is not None:
        call("copy_", _diagonal(found), gL)
    turned = _matmul(found, _mh(V))
    return _matmul(V, turned) if is_hermitian else call("linalg_solve", _mh(V), turned)


# --- QR -----------------------------------------------------------------------------------------


def linalg_qr_backward(gQ: Any, gR: Any, Q: Any, R: Any, mode: str) -> Any:  # noqa: N803
    computes_q, is_reduced = parse_qr_mode(mode)
    if not computes_q:
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. "
            "Please use linalg.qr(A, mode='reduced') if you are going to differentiate through "
            "linalg.qr."
        )
    rows, columns = Q._sizes[-2], R._sizes[-1]
    if not is_reduced and rows > columns:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
        )
    if gQ is None and gR is None:
        return None
    if gQ is None:
        found = _matmul(gR, _mh(R))
    elif gR is None:
        found = negative(_matmul(_mh(Q), gQ))
    else:
        right = _matmul(_mh(Q), gQ)
        found = sub(_matmul(gR, _mh(R)), right)
    if rows >= columns:
        found = _matmul(Q, _halved_diagonal(call("triu", found)))
        if gQ is not None:
            found = add(found, gQ)
        return _divided(found, R)
    found = _matmul(Q, _lower_skew(negative(found)))
    found = _divided(found, call("narrow", R, -1, 0, rows))
    missing = [*R._sizes[:-1], columns - rows]
    zeros = call("new_zeros", found, missing)
    found = call("cat", [found, zeros], -1)
    return found if gR is None else add(found, _matmul(Q, gR))


def _divided(matrix: Any, r: Any) -> Any:
    """By the adjoint of a triangular matrix, from the right."""
    return call("linalg_solve_triangular", _mh(r), matrix, upper=False, left=False)


def _halved_diagonal(matrix: Any) -> Any:
    """``syminvadj``."""
    found = add(matrix, _mh(matrix))
    call("mul_", call("real", _diagonal(found)), 0.5)
    return found


def _lower_skew(matrix: Any) -> Any:
    """``trilImInvAdjSkew``."""
    found = call("tril", _skew(matrix))
    if matrix._dtype.is_complex:
        call("mul_", call("imag", _diagonal(found)), 0.5)
    return found


# --- pseudo-inverses ----------------------------------------------------------------------------


def pinv_backward(grad: Any, pinvA: Any, A: Any) -> Any:  # noqa: N803
    rows, columns = A._sizes[-2:]
    adjoint, gradh = _mh(pinvA), _mh(grad)
    if rows <= columns:
        inner = _matmul(gradh, pinvA)
        outer = _matmul(inner, adjoint)
        left = _matmul(adjoint, pinvA)
        fourth = _matmul(left, sub(gradh, _matmul(inner, A)))
        third = _matmul(_matmul(A, pinvA), outer)
        first = negative(_mh(_matmul(pinvA, inner)))
        return add(sub(add(first, outer), third), fourth)
    inner = _matmul(pinvA, gradh)
    outer = _matmul(adjoint, inner)
    fourth = _matmul(_matmul(outer, pinvA), A)
    second = _matmul(_matmul(sub(gradh, _matmul(A, inner)), pinvA), adjoint)
    first = negative(_mh(_matmul(inner, pinvA)))
    return sub(add(add(first, second), outer), fourth)


def linalg_lstsq_backward(gX: Any, *rest: Any) -> tuple[Any, Any]:  # noqa: N803
    """Of the solution, and in releases whose residuals have a gradient, of these."""
    gL, A, B, X, mask = rest if len(rest) == 5 else (None, *rest[:2], None, rest[2])  # noqa: N806
    if (gX is None and gL is None) or not any(mask):
        return None, None
    is_vector = is_vector_rhs(A, B)

    def matrix(values: Any) -> Any:
        return _column(values) if is_vector else values

    def vector(values: Any) -> Any:
        return call("squeeze", values, -1) if is_vector else values

    right = matrix(B)
    of_a = of_b = None
    if gX is not None:
        of_solution = matrix(gX)
        inverse = _PINV(A)
        if mask[0]:
            of_a = pinv_backward(_matmul(of_solution, _mh(right)), inverse, A)
        if mask[1]:
            of_b = vector(_matmul(_mh(inverse), of_solution))
    if gL is not None and numel(gL._sizes):  # of a square matrix there are none
        solution = matrix(X)
        residual = sub(_matmul(A, solution), right)
        row = _row(gL)
        if mask[0]:
            weighted = mul(2, mul(row, residual))
            more = _matmul(weighted, _mh(solution))
            of_a = more if of_a is None else add(of_a, more)
        if mask[1]:
            less = vector(mul(mul(-2, row), residual))
            of_b = less if of_b is None else add(of_b, less)
    return of_a, of_b


# --- exponentials -------------------------------------------------------------------------------


def linalg_matrix_exp_differential(self: Any, grad: Any, adjoint: bool) -> Any:
    """That of a matrix of four: the matrix twice, and above the gradient."""
    own = call("conj", call("transpose", self, -2, -1)) if adjoint else self
    size = own._sizes[-1]
    if is_tensor_subclass_like(own) or is_tensor_subclass_like(grad):
        upper = call("cat", [own, grad], -1)
        lower = call("cat", [call("zeros_like", own), own], -1)
        whole = call("cat", [upper, lower], -2)
    else:
        sizes = [*own._sizes[:-2], 2 * size, 2 * size]
        whole = call("zeros", sizes, TensorOptions.of(grad))
        for top, left, part in ((0, 0, own), (size, size, own), (0, size, grad)):
            call("copy_", _block(whole, top, left, size), part)
    return _block(call("linalg_matrix_exp", whole), 0, size, size)


def _block(matrix: Any, top: int, left: int, size: int) -> Any:
    return call("narrow", call("narrow", matrix, -2, top, size), -1, left, size)
