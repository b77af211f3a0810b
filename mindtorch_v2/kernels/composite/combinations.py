"""Elements combined with each other, and powers of elements.

Mirrors ``aten/src/ATen/native/Itertools.cpp``, ``vander`` of ``TensorFactories.cpp`` and
``linalg_vander`` of ``BatchLinearAlgebra.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import comb
from typing import Any, Final

from mindtorch_v2.binding.values import dtype_of_value
from mindtorch_v2.kernels.dtypes import HABITS
from mindtorch_v2.kernels.elementwise.promotion import BOOL
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.dtype import DTYPES, int64
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.support import CPP_NAMES, worded
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_ARANGE: Final = OperatorHandle("aten::arange")
_CAT: Final = OperatorHandle("aten::cat")
_COPY_: Final = OperatorHandle("aten::copy_")
_CUMPROD: Final = OperatorHandle("aten::cumprod")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_EXPAND: Final = OperatorHandle("aten::expand")
_FILL_: Final = OperatorHandle("aten::fill_.Scalar")
_FLATTEN: Final = OperatorHandle("aten::flatten.using_ints")
_FLIP: Final = OperatorHandle("aten::flip")
_FULL: Final = OperatorHandle("aten::full")
_LE: Final = OperatorHandle("aten::le.Tensor")
_LT: Final = OperatorHandle("aten::lt.Tensor")
_INDEX: Final = OperatorHandle("aten::index.Tensor")
_NONZERO_STATIC: Final = OperatorHandle("aten::nonzero_static")
_MASKED_SELECT: Final = OperatorHandle("aten::masked_select")
_MESHGRID: Final = OperatorHandle("aten::meshgrid.indexing")
_MUL_: Final = OperatorHandle("aten::mul_.Tensor")
_NEW_ONES: Final = OperatorHandle("aten::new_ones")
_SELECT: Final = OperatorHandle("aten::select.int")
_PROMOTE_TYPES: Final = OperatorHandle("aten::promote_types")
_SLICE: Final = OperatorHandle("aten::slice.Tensor")
_STACK: Final = OperatorHandle("aten::stack")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")


def _options(like: Tensor, **changed: Any) -> dict[str, Any]:
    return {"dtype": like._dtype, "layout": like._layout, "device": like._device, **changed}


# --- elements with each other -------------------------------------------------------------------


def _check_vector(tensor: Tensor) -> None:
    if len(tensor._sizes) != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(tensor._sizes)}")


@kernel("aten::cartesian_prod", key=_IMPLICIT)
def cartesian_prod(tensors: Sequence[Tensor]) -> Any:
    for tensor in tensors:
        _check_vector(tensor)
    if len(tensors) == 1:
        return tensors[0]
    return _STACK([_FLATTEN(grid) for grid in _MESHGRID(tensors, indexing="ij")], 1)


@kernel("aten::combinations", key=_IMPLICIT)
def combinations(self: Tensor, r: int, with_replacement: bool) -> Any:
    _check_vector(self)
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return _EMPTY([0], **_options(self))
    if HABITS["combinations are counted before they are looked for"]:
        mask = _ascending(self, r, strictly=not with_replacement)
        return _INDEX(self, [_NONZERO_STATIC(mask, size=_count(self, r, with_replacement))])
    grids = _MESHGRID([self] * r, indexing="ij")
    mask = _ascending(self, r, strictly=not with_replacement)
    return _STACK([_MASKED_SELECT(grid, mask) for grid in grids], 1)


def _count(self: Tensor, r: int, with_replacement: bool) -> int:
    count = numel(self._sizes)
    if with_replacement:
        count += r - 1 if count else 0
    return comb(count, r)


def _ascending(self: Tensor, dims: int, *, strictly: bool) -> Any:
    """``_triu_mask``: where places of a grid go up."""
    places = _ARANGE(numel(self._sizes), **_options(self, dtype=int64))
    grids = _MESHGRID([places] * dims, indexing="ij")
    mask = _FULL(list(grids[0]._sizes), True, **_options(self, dtype=BOOL))
    compare = _LT if strictly else _LE
    for low, high in pairwise(grids):
        _MUL_(mask, compare(low, high))
    return mask


# --- powers of elements -------------------------------------------------------------------------


@kernel("aten::vander", key=_IMPLICIT)
def vander(x: Tensor, N: int | None, increasing: bool) -> Any:  # noqa: N803 (torch's name)
    if len(x._sizes) != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    size = x._sizes[0]
    count = size if N is None else N
    if count < 0:
        raise RuntimeError("N must be non-negative.")
    dtype = dtype_of_value(_PROMOTE_TYPES(x._dtype, int64))
    made = _EMPTY([size, count], **_options(x, dtype=dtype))
    if count > 0:
        _FILL_(_SELECT(made, 1, 0), 1)
    if count > 1:
        _COPY_(_SLICE(made, 1, 1), _UNSQUEEZE(x, 1))
        _COPY_(_SLICE(made, 1, 1), _CUMPROD(_SLICE(made, 1, 1), 1))
    return made if increasing else _FLIP(made, [1])


_FLOATING: Final = tuple(DTYPES[name] for name in ("float32", "float64", "complex64", "complex128"))


@kernel("aten::linalg_vander", key=_IMPLICIT)
def linalg_vander(x: Tensor, N: int | None) -> Any:  # noqa: N803 (torch's name)
    dtype = x._dtype
    if dtype not in _FLOATING and (dtype is BOOL or not is_integral(dtype)):
        raise worded("vander of halves", Half=CPP_NAMES[dtype])
    values = x if x._sizes else _UNSQUEEZE(x, -1)
    sizes = list(values._sizes)
    count = sizes[-1] if N is None else N
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    powers = _CUMPROD(_EXPAND(_UNSQUEEZE(values, -1), [*sizes, count - 1]), -1)
    return _CAT([_NEW_ONES(powers, [*sizes, 1]), powers], -1)
