"""Products of vectors in space.

Mirrors ``aten/src/ATen/native/Cross.cpp`` and ``cpu/CrossKernel.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.kernels.dtypes import HABITS, check_implemented
from mindtorch_v2.kernels.elementwise.broadcasting import infer_size
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import set_output
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap, assert_no_overlap
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn_once

_FLOAT32: Final = DTYPES["float32"]
_FLOAT64: Final = DTYPES["float64"]
_IMPLICIT: Final = "CompositeImplicitAutograd"
_CROSS: Final = OperatorHandle("aten::linalg_cross")
_CROSS_OUT: Final = OperatorHandle("aten::linalg_cross.out")


@structured.structured("aten::linalg_cross")
def linalg_cross(outputs: Outputs, self: Tensor, other: Tensor, dim: int) -> tuple[Tensor, ...]:
    if len(self._sizes) != len(other._sizes):
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    found = (size_at(self, dim), size_at(other, dim))
    if found != (3, 3):
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {found[0]} and "
            f"{found[1]}"
        )
    shape = infer_size(tuple(self._sizes), tuple(other._sizes))
    output = set_output(outputs[0], shape, self._dtype, self._device)
    if output.is_meta:
        return (output,)
    if not HABITS["a cross product goes where it comes from"]:
        assert_no_internal_overlap(output)
        for each in (self, other):
            assert_no_overlap(output, each)
    dtype = output._dtype
    check_implemented("aten::linalg_cross", dtype)
    check_pointers(dtype, other)
    axis = wrap_dim(dim, len(shape))
    with np.errstate(all="ignore"):
        one, two = (np.broadcast_to(as_array(each, dtype), shape) for each in (self, other))
        store(output, _cross(np.moveaxis(one, axis, 0), np.moveaxis(two, axis, 0), axis, dtype))
    return (output,)


def _cross(one: Array, two: Array, axis: int, dtype: DType) -> Array:
    products = [
        _difference(
            *(one[(place + 1) % 3], two[(place + 2) % 3]),
            *(one[(place + 2) % 3], two[(place + 1) % 3]),
            dtype,
        )
        for place in range(3)
    ]
    return rounded(np.stack(products, axis), dtype)


def _difference(a: Array, b: Array, c: Array, d: Array, dtype: DType) -> Array:
    """``a * b - c * d``, of which a compiler makes a fused operation: ``a * b`` is not rounded.

    That is so for floats in their own precision; each operation on halves is rounded, and so is
    each on complex numbers.
    """
    if dtype in (_FLOAT32, _FLOAT64):
        return fused(a, b, -(c * d))
    return rounded(a * b, dtype) - rounded(c * d, dtype)


def _default_dim(self: Tensor, dim: int | None) -> int:
    """The first dimension of three elements, unless one is named."""
    if dim is not None:
        return dim
    found = next((place for place, size in enumerate(self._sizes) if size == 3), None)
    if found is None:
        raise RuntimeError("no dimension of size 3 in input")
    return found


@kernel("aten::cross", key=_IMPLICIT)
def cross(self: Tensor, other: Tensor, dim: int | None) -> Any:
    if dim is None:
        warn_once(
            "cross",
            "Using torch.cross without specifying the dim arg is deprecated.\n"
            "Please either pass the dim explicitly or simply use torch.linalg.cross.\n"
            "The default value of dim will change to agree with that of linalg.cross in a future "
            "release.",
        )
    return _CROSS(self, other, dim=_default_dim(self, dim))


@kernel("aten::cross.out", key=_IMPLICIT)
def cross_out(self: Tensor, other: Tensor, dim: int | None, out: Tensor) -> Any:
    return _CROSS_OUT(self, other, dim=_default_dim(self, dim), out=out)
