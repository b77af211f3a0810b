"""Sums of powers of magnitudes: norms of vectors whose root nobody takes.

What ``linalg__powsum`` of ``aten/src/ATen/native/LinearAlgebra.cpp`` does in releases that have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.cpu.moments import real_value_type
from mindtorch_v2.kernels.cpu.reductions import reduced_dims, reduced_shape
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.elementwise.promotion import Number, dtype_numbered, to_opmath
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import COMPLEX_TYPES, FLOATING_TYPES, HALVES, dispatch_over
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, int64
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.scalars import is_integral, scalar_to
from mindtorch_v2.tensor.tensor import Tensor

_ABS: Final = OperatorHandle("aten::abs")
_POW: Final = OperatorHandle("aten::pow.Tensor_Scalar")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")


@kernel("aten::linalg__powsum")
def powsum(
    self: Tensor, ord: Number, dim: Sequence[int] | None, keepdim: bool, dtype: int | None
) -> Any:
    order = float(scalar_to(ord, DTYPES["float64"]))
    own = int64 if is_integral(self._dtype) else self._dtype
    computed = own if dtype is None else dtype_numbered(dtype)
    reduced = reduced_dims(dim, len(self._sizes))
    shape = reduced_shape(self._sizes, reduced, keepdim=keepdim)
    result = real_value_type(computed)
    found = new_tensor(shape, result, self._device)
    dispatch_over(FLOATING_TYPES | COMPLEX_TYPES | HALVES, "powsum_cpu", computed)
    with np.errstate(all="ignore"):
        sizes = np.abs(as_array(self, computed)).astype(elements_of(to_opmath(result)).computed)
        total = np.asarray(_sum(sizes, order, reduced)).reshape(shape)
        store(found, rounded(total, result))
    return found


def _sum(sizes: Array, order: float, dims: tuple[int, ...]) -> Any:
    if order == 1:
        return np.sum(sizes, axis=dims)
    powers = sizes * sizes if order == 2 else sizes ** sizes.dtype.type(order)
    return np.sum(powers, axis=dims)


@kernel("aten::linalg__powsum", key="CompositeExplicitAutograd")
def powsum_of_operators(
    self: Tensor, ord: Number, dim: Sequence[int] | None, keepdim: bool, dtype: int | None
) -> Any:
    powers = _POW(_ABS(self), ord)
    made = real_value_type(powers._dtype if dtype is None else dtype_numbered(dtype))
    return _SUM(powers, dim, keepdim, dtype=made)
