"""Products of matrices of floats where NumPy's differ: the order of the sums, the signs of zeros.

Mirrors ``baddbmm_cpu_kernel`` of ``aten/src/ATen/native/LinearAlgebra.cpp``, and what MKL's
``gemm`` makes of small matrices.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.elements import Array

REAL: Final = (DTYPES["float32"], DTYPES["float64"])
BLAS: Final = (*REAL, DTYPES["complex64"], DTYPES["complex128"])
"""The dtypes of real and of all numbers that it multiplies."""
LEAST_FOR_MKL: Final = 400
"""Multiplications of a batch's matrices from which on MKL does them (``bmm_out_or_baddbmm_``)."""


def gemm(one: Array, two: Array, out: Array | None = None) -> Array:
    """A product of real matrices: the only term of a sum is not added to zero.

    Of a small one MKL, too, adds the terms one after the other.
    """
    rows, inner = one.shape[-2:]
    if inner == 1 and rows > 1 and two.shape[-1] > 1:
        return np.asarray(np.multiply(one, two, out=out))
    if inner > 1 and rows * inner * two.shape[-1] < LEAST_FOR_MKL:
        return sum_of_terms(one, two, out)
    return np.asarray(np.matmul(one, two, out=out))


def sum_of_terms(one: Array, two: Array, out: Array | None = None) -> Array:
    """A product of small matrices of floats, its terms rounded and added one after the other."""
    terms = np.swapaxes(one, -1, -2)[..., None] * two[..., None, :]
    sums = np.add.accumulate(terms, axis=-3)[..., -1, :, :]
    return np.asarray(np.add(sums, sums.dtype.type(0), out=out))
