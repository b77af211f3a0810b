"""The reference functions that reduce dimensions.

Mirrors ``_reduction`` and its callers in ``torch/_refs/__init__.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mindtorch_v2.kernels.cpu.reductions import reduced_shape
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import HABITS, elementwise, get_computation_dtype, to_dtype
from mindtorch_v2.kernels.refs.wrappers import written_out
from mindtorch_v2.tensor.dtype import DType, int64
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.tensor import Tensor

_REFS: Final = "torch._refs."
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_SUM_OUT: Final = OperatorHandle("aten::sum.IntList_out")


def _reduction_dims(rank: int, dims: Sequence[int] | None) -> tuple[int, ...]:
    """``reduction_dims``: all for None or an empty list."""
    if not dims:
        return tuple(range(rank))
    wrapped = tuple(wrap_dim(dim, rank) for dim in dims)
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError("duplicate value in the list of dims")
    return wrapped


def _reduction(
    a: Tensor,
    dims: Sequence[int] | None,
    keepdim: bool,
    dtype: DType | None,
    out: Tensor | None = None,
    *,
    has_identity: bool = True,
    keep_promoted: bool = False,
) -> Tensor:
    if out is not None and dtype is not None and dtype is not out._dtype:
        raise RuntimeError("dtype argument and out dtype must match in reduction")
    rank = len(a._sizes)
    reduced = _reduction_dims(rank, dims)
    if not has_identity and rank and not all(a._sizes[dim] for dim in reduced):
        raise RuntimeError(
            "reducing over zero-size dimension for reduction operation without identity"
        )
    result_dtype = dtype or a._dtype
    computed = get_computation_dtype(result_dtype)
    shape = reduced_shape(a._sizes, reduced, keepdim=False)
    result = new_tensor(shape, computed, a._device)
    if keepdim:
        result = _with_dims(result, a, reduced)
    if out is not None:
        return written_out(out, result)
    return result if keep_promoted or computed is result_dtype else _converted(result, result_dtype)


def _with_dims(result: Tensor, a: Tensor, reduced: Sequence[int]) -> Tensor:
    """``prims.broadcast_in_dim``: the reduced dimensions again, of size 1."""
    strides: list[int] = []
    place = 0
    for dim in range(len(a._sizes)):
        if dim not in reduced:
            strides.append(result._strides[place])
            place += 1
        elif place == len(result._sizes):
            strides.append(1)
        else:
            strides.append(result._strides[place] * result._sizes[place])
    shape = reduced_shape(a._sizes, reduced, keepdim=True)
    return new_tensor(shape, result._dtype, result._device, tuple(strides))


def _converted(tensor: Tensor, dtype: DType) -> Tensor:
    """``prims.convert_element_type``."""
    like = elementwise(tensor)
    return new_tensor(like._sizes, dtype, like._device, like._strides)


@body(_REFS + "sum")
def sum_(
    a: Tensor,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor:
    if dtype is None:
        if out is not None:
            dtype = out._dtype
        else:
            dtype = int64 if is_integral(a._dtype) else a._dtype
    return _reduction(a, dim, keepdim, dtype, out)


@body("torch._decomp.decompositions.sum_default")
def sum_default(self: Tensor, *, dtype: DType | None = None, out: Tensor | None = None) -> Tensor:
    if out is None:
        summed: Tensor = _SUM(self, [], False, dtype)
    else:
        summed = _SUM_OUT(self, [], False, dtype, out=out)
    return summed


@body(_REFS + "amax", _REFS + "amin")
def amax(
    a: Tensor,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    return _reduction(a, dim, keepdim, None, out, has_identity=False)


@body(_REFS + "mean")
def mean(
    a: Tensor,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
) -> Tensor:
    asked = dtype or a._dtype
    if HABITS["a mean goes into its own dtype"] and out is not None and out._dtype is not asked:
        raise RuntimeError(
            f"Expected out tensor to have dtype {asked}, but got {out._dtype} instead"
        )
    result = _reduction(a, dim, keepdim, asked, keep_promoted=True)
    if not asked.is_floating_point and not asked.is_complex:
        what = "Input" if dtype is None else "Optional"
        raise RuntimeError(
            f"mean(): could not infer output dtype. {what} dtype must be either a floating point "
            f"or complex dtype. Got: {asked}"
        )
    result = to_dtype(elementwise(result), asked)
    return result if out is None else written_out(out, result)
