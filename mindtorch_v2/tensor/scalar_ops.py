"""Tensors without dimensions that C++ makes of numbers.

Mirrors ``at::detail::scalar_tensor_static`` in ``aten/src/ATen/ScalarOps.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.low_precision import FLOAT8
from mindtorch_v2.tensor.scalars import scalar_to
from mindtorch_v2.tensor.support import HABITS, check_dtype
from mindtorch_v2.tensor.tensor import Tensor

_BY_WAY_OF_DOUBLE: Final = (
    frozenset(
        DTYPES[name]
        for name in ("float16", "bfloat16", "float8_e8m0fnu", *FLOAT8)
        if name in DTYPES
    )
    if HABITS["a scalar too large for a half becomes infinite"]
    else frozenset()
)
"""Reduced floats, to which a release converts numbers without looking at their range."""


def scalar_tensor_static(number: Any, dtype: DType) -> Tensor:
    """A tensor on the CPU; RuntimeError for a number out of range, or a dtype without kernel."""
    check_dtype("fill_out", dtype)
    made = Tensor._make((), dtype)
    by_way_of = DTYPES["float64"] if dtype in _BY_WAY_OF_DOUBLE else dtype
    store(made, np.asarray(scalar_to(number, by_way_of)))
    return made
