"""What MKL's ``gemm`` makes of floats where NumPy's product differs: the signs of zeros."""

from __future__ import annotations

from typing import Final

import numpy as np

from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.elements import Array

REAL: Final = (DTYPES["float32"], DTYPES["float64"])
BLAS: Final = (*REAL, DTYPES["complex64"], DTYPES["complex128"])
"""The dtypes of real and of all numbers that it multiplies."""


def gemm(one: Array, two: Array, out: Array | None = None) -> Array:
    """A product of real matrices: the only term of a sum is not added to zero."""
    rows, inner = one.shape[-2:]
    is_outer = inner == 1 and rows > 1 and two.shape[-1] > 1
    return np.asarray((np.multiply if is_outer else np.matmul)(one, two, out=out))
