"""Exponentials of matrices: Taylor polynomials with few products.

Mirrors ``linalg_matrix_exp`` of ``aten/src/ATen/native/LinearAlgebra.cpp``, which has the
polynomials from Bader, Blanes and Casas, Computing the Matrix Exponential with an Optimized Taylor
Polynomial Approximation, Mathematics 2019, 7, 1174.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.cpu.moments import real_value_type
from mindtorch_v2.kernels.cpu.products import product_of_batches
from mindtorch_v2.kernels.dtypes import check_implemented
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.linear_algebra import check_floating_or_complex, check_square
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.tensor import Tensor

_CLONE: Final = OperatorHandle("aten::clone")
_COPY_: Final = OperatorHandle("aten::copy_")
_EXP: Final = OperatorHandle("aten::exp")
_MATRIX_EXP: Final = OperatorHandle("aten::linalg_matrix_exp")
_MATRIX_EXP_OF: Final = OperatorHandle("aten::matrix_exp")
_MH: Final = OperatorHandle("aten::mH")
_NARROW: Final = OperatorHandle("aten::narrow")
_ZEROS: Final = OperatorHandle("aten::zeros")
_SINGLE: Final = frozenset(DTYPES[name] for name in ("float32", "complex64"))

_THETAS: Final = (
    2.220446049250313e-16,
    2.580956802971767e-08,
    3.397168839976962e-04,
    4.991228871115323e-02,
    2.996158913811580e-01,
    1.090863719290036e00,
)
_SINGLE_THETAS: Final = tuple(
    float(np.float32(theta))
    for theta in (
        1.192092800768788e-07,
        5.978858893805233e-04,
        5.116619363445086e-02,
        5.800524627688768e-01,
        1.461661507209034e00,
        3.010066362817634e00,
    )
)
"""Up to which norm polynomials of degree 1, 2, 4, 8, 12 and 18 will do."""

_DEGREE_12: Final = (
    (9.0198e-16, 0.46932117595418237389, -0.20099424927047284052, -0.04623946134063071740),
    (
        5.31597895759871264183,
        1.19926790417132231573,
        0.01179296240992997031,
        0.01108844528519167989,
    ),
    (
        0.18188869982170434744,
        0.05502798439925399070,
        0.09351590770535414968,
        0.00610700528898058230,
    ),
    (-2.0861320e-13, -0.13181061013830184015, -0.02027855540589259079, -0.00675951846863086359),
)
_DEGREE_18: Final = (
    (
        *(0.0, -1.00365581030144618291e-01, -8.02924648241156932449e-03),
        *(-8.92138498045729985177e-04, 0.0),
    ),
    (
        *(0.0, 3.97849749499645077844e-01, 1.36783778460411720168e00),
        *(4.98289622525382669416e-01, -6.37898194594723280150e-04),
    ),
    (
        *(-1.09676396052962061844e01, 1.68015813878906206114e00, 5.71779846478865511061e-02),
        *(-6.98210122488052056106e-03, 3.34975017086070470649e-05),
    ),
    (
        *(-9.04316832390810593223e-02, -6.76404519071381882256e-02, 6.75961301770459654925e-02),
        *(2.95552570429315521194e-02, -1.39180257516060693404e-05),
    ),
    (
        *(0.0, 0.0, -9.23364619367118555360e-02),
        *(-1.69364939002081722752e-02, -1.40086798182036094347e-05),
    ),
)


@kernel("aten::matrix_exp", key="CompositeImplicitAutograd")
def matrix_exp(self: Tensor) -> Any:
    return _MATRIX_EXP(self)


@kernel("aten::matrix_exp_backward", key="CompositeImplicitAutograd")
def matrix_exp_backward(self: Tensor, grad: Tensor) -> Any:
    """``backward_analytic_function_of_a_matrix``: a corner of that of a matrix twice as large."""
    if HABITS["matrix_exp_backward looks for square matrices"]:
        check_square(self, "matrix_exp_backward")
    adjoint = _MH(self)
    *batch, rows, columns = adjoint._sizes
    last, before = columns, -2
    options = {"dtype": grad._dtype, "layout": grad._layout, "device": grad._device}
    whole = _ZEROS([*batch, 2 * rows, 2 * columns], **options)
    for row, column, part in ((0, 0, adjoint), (last, last, adjoint), (0, last, grad)):
        _COPY_(_NARROW(_NARROW(whole, before, row, last), -1, column, last), part)
    return _NARROW(_NARROW(_MATRIX_EXP_OF(whole), before, 0, last), -1, last, last)


@kernel("aten::linalg_matrix_exp")
def linalg_matrix_exp(self: Tensor) -> Any:
    check_square(self, "linalg.matrix_exp")
    check_floating_or_complex(self, "linalg.matrix_exp")
    size = self._sizes[-1]
    if not size:
        return _CLONE(self)
    if size == 1:
        return _EXP(self)
    made = new_tensor(self._sizes, self._dtype, self._device)
    values = as_array(self, self._dtype)
    with np.errstate(all="ignore"):
        found = _Exponential(self._dtype).of(values.reshape(-1, size, size))
    store(made, found.reshape(values.shape))
    return made


@dataclass(frozen=True)
class _Exponential:
    """That of a batch of matrices of a dtype, to which what each operator makes is rounded."""

    dtype: DType

    @property
    def scalar(self) -> type[np.floating[Any]]:
        """Of the coefficients, which are in double precision for halves."""
        return np.float32 if self.dtype in _SINGLE else np.float64

    def of(self, matrices: Array) -> Array:
        """One matrix by the polynomial that its norm asks for; several by the last."""
        norms = self._norms(matrices)
        thetas = _SINGLE_THETAS if self.dtype in _SINGLE else _THETAS
        if len(matrices) != 1 or norms[0] >= thetas[-2]:
            return self._scaled(matrices, norms, thetas[-1])
        polynomials = (self._degree_1, self._degree_2, self._degree_4, self._degree_8)
        for theta, polynomial in zip(thetas, (*polynomials, self._degree_12), strict=False):
            if norms[0] <= theta:
                return polynomial(matrices)
        return np.full_like(matrices, np.nan)  # whose norm is not a number

    def _rounded(self, values: Any) -> Array:
        dtype = self.dtype if np.iscomplexobj(values) else real_value_type(self.dtype)
        return rounded(np.asarray(values), dtype)

    def _norms(self, matrices: Array) -> Array:
        """``operator_1_norm``."""
        sizes = self._rounded(np.abs(matrices))
        return np.asarray(self._rounded(sizes.sum(axis=-2)).max(axis=-1, initial=-np.inf))

    def _times(self, one: Array, two: Array) -> Array:
        check_implemented("aten::bmm", self.dtype)
        return self._rounded(product_of_batches(one, two, self.dtype))

    def _plus(self, one: Array, two: Array) -> Array:
        return self._rounded(one + two)

    def _powers(self, matrices: Array, count: int) -> list[Array]:
        """``_fill_matrix_powers``: the first of I, A, A^2, A^3 and A^6."""
        found = [np.broadcast_to(np.eye(matrices.shape[-1], dtype=matrices.dtype), matrices.shape)]
        found.append(matrices)
        for one, two in ((1, 1), (1, 2), (3, 3))[: count - 2]:
            found.append(self._times(found[one], found[two]))
        return found

    def _coefficients(self, rows: Sequence[Sequence[float]]) -> Array:
        """``from_blob`` in the dtype of the matrices: of halves, what doubles hold in their first
        bytes."""
        held = np.asarray(rows, self.scalar)
        elements = elements_of(real_value_type(self.dtype))
        read = held.reshape(-1).view(elements.raw)[: held.size]
        return np.reshape(elements.decode(read), held.shape)

    def _combined(self, powers: Sequence[Array], rows: Sequence[Sequence[float]]) -> list[Array]:
        """``_compute_linear_combination``: for each row of coefficients a sum."""
        found = []
        for row in self._coefficients(rows):
            total = np.zeros_like(powers[0])
            for power, coefficient in zip(powers, row, strict=True):
                term = self._rounded(power * coefficient.astype(power.real.dtype))
                total = self._plus(total, term)
            found.append(total)
        return found

    def _combination(self, powers: Sequence[Array], *row: float) -> Array:
        return self._combined(powers, [row])[0]

    def _degree_1(self, matrices: Array) -> Array:
        return self._rounded(sum(self._powers(matrices, 2)))

    def _degree_2(self, matrices: Array) -> Array:
        one, own, square = self._powers(matrices, 3)
        return self._rounded(one + own + self._rounded(square / 2))

    def _degree_4(self, matrices: Array) -> Array:
        powers = self._powers(matrices, 3)
        inner = self._combination(powers, 1 / 2.0, 1 / 6.0, 1 / 24.0)
        powers.append(self._times(powers[2], inner))
        return self._combination(powers, 1.0, 1.0, 0.0, 1.0)

    def _degree_8(self, matrices: Array) -> Array:
        def scalar(value: float) -> float:
            return float(self.scalar(value))

        root = scalar(0.1330413469565007072504e2)  # of 177
        x3 = scalar(2.0 / 3.0)
        x1 = x3 * ((1.0 + root) / 88.0)
        x2 = x3 * ((1.0 + root) / 352.0)
        x4 = (-271.0 + 29.0 * root) / (315.0 * x3)
        x5 = (-11.0 + 11.0 * root) / (1260.0 * x3)
        x6 = (-99.0 + 11.0 * root) / (5040.0 * x3)
        x7 = (89.0 - root) / (5040.0 * x3)
        if HABITS["a matrix exponential of degree 8 is one"]:
            x7 /= x3  # which older releases forget
        y2 = (857.0 - 58.0 * root) / 630.0
        powers = self._powers(matrices, 3)
        powers.append(self._times(powers[2], self._combination(powers[1:3], x1, x2)))
        left = self._combination(powers[2:4], x3, 1.0)
        powers.append(self._times(left, self._combination(powers, x4, x5, x6, x7)))
        return self._combination(powers, 1.0, 1.0, y2, 0.0, 1.0)

    def _degree_12(self, matrices: Array) -> Array:
        first, second, third, last = self._combined(self._powers(matrices, 4), _DEGREE_12)
        third = self._plus(third, self._times(last, last))
        return self._plus(first, self._times(self._plus(second, third), third))

    def _degree_18(self, matrices: Array) -> Array:
        first, second, third, fourth, last = self._combined(self._powers(matrices, 5), _DEGREE_18)
        fourth = self._plus(fourth, self._times(first, last))
        return self._plus(second, self._times(self._plus(third, fourth), fourth))

    def _scaled(self, matrices: Array, norms: Array, theta: float) -> Array:
        """``compute_T18_scale_square``: of a matrix halved until it is small, and squared as
        often."""
        quotients = self._rounded(norms / norms.dtype.type(theta))
        halvings = np.maximum(np.ceil(self._rounded(np.log2(quotients))), 0)
        scales = self._rounded(np.exp2(-halvings))
        found = self._degree_18(self._rounded(matrices * scales[:, None, None]))
        counts = np.where(np.isfinite(halvings), halvings, 0).astype(int)
        for done in range(counts.max(initial=0)):
            left = counts > done
            found[left] = self._times(found[left], found[left])
        return found
