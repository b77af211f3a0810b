"""The base that a changed view makes of a base, for every view operator.

Mirrors ``aten/src/ATen/FunctionalInverses.cpp``.  A rule is called with the base, the changed view,
whether views may be made, the index among the outputs and the operator's further arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.tensor.geometry import dim_list, wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

Rule = Callable[..., Any]

INVERSES: Final[dict[str, Rule]] = {}
"""By the view operator's full name."""


def _inverse(*names: str) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        INVERSES.update(dict.fromkeys((f"aten::{name}" for name in names), rule))
        return rule

    return register


class _Either:
    """A view operator, or the one that copies."""

    def __init__(self, name: str, overload: str = "") -> None:
        suffix = f".{overload}" if overload else ""
        self._view = OperatorHandle(f"aten::{name}{suffix}")
        self._copy = OperatorHandle(f"aten::{name}_copy{suffix}")

    def __call__(self, views: bool, *args: Any) -> Any:
        return (self._view if views else self._copy)(*args)


_ALIAS: Final = _Either("alias")
_CONJ: Final = _Either("_conj")
_NEG_VIEW: Final = _Either("_neg_view")
_PERMUTE: Final = _Either("permute")
_RESHAPE_ALIAS: Final = _Either("_reshape_alias")
_SQUEEZE: Final = _Either("squeeze", "dim")
_T: Final = _Either("t")
_TRANSPOSE: Final = _Either("transpose", "int")
_UNSQUEEZE: Final = _Either("unsqueeze")
_VIEW: Final = _Either("view")
_VIEW_AS_COMPLEX: Final = _Either("view_as_complex")
_VIEW_AS_REAL: Final = _Either("view_as_real")
_VIEW_DTYPE: Final = _Either("view", "dtype")
_ADD: Final = OperatorHandle("aten::add.Tensor")
_AS_STRIDED_SCATTER: Final = OperatorHandle("aten::as_strided_scatter")
_CLONE: Final = OperatorHandle("aten::clone")
_DIAGONAL_SCATTER: Final = OperatorHandle("aten::diagonal_scatter")
_RESOLVE_CONJ: Final = OperatorHandle("aten::resolve_conj")
_SELECT_SCATTER: Final = OperatorHandle("aten::select_scatter")
_SLICE_SCATTER: Final = OperatorHandle("aten::slice_scatter")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_SUM_ALL: Final = OperatorHandle("aten::sum")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_UNFOLD_BACKWARD: Final = OperatorHandle("aten::unfold_backward")


# --- the same elements ----------------------------------------------------------------------------


@_inverse("alias")
def _alias(base: Tensor, changed: Tensor, views: bool, index: int) -> Any:
    return _ALIAS(views, changed)


@_inverse("detach", "lift_fresh")
def _itself(base: Tensor, changed: Tensor, views: bool, index: int) -> Any:
    return changed


@_inverse("_conj")
def _conj(base: Tensor, changed: Tensor, views: bool, index: int) -> Any:
    return _CONJ(views, changed)


@_inverse("_neg_view")
def _neg_view(base: Tensor, changed: Tensor, views: bool, index: int) -> Any:
    return _NEG_VIEW(views, changed)


@_inverse("view_as_real")
def _view_as_real(base: Tensor, changed: Tensor, views: bool, index: int) -> Any:
    return _VIEW_AS_COMPLEX(views, changed)


@_inverse("view_as_complex")
def _view_as_complex(base: Tensor, changed: Tensor, views: bool, index: int) -> Any:
    return _VIEW_AS_REAL(views, _RESOLVE_CONJ(changed))


@_inverse("view.dtype")
def _view_dtype(base: Tensor, changed: Tensor, views: bool, index: int, dtype: int) -> Any:
    return _VIEW_DTYPE(views, changed, base._dtype)


@_inverse("view")
def _view(base: Tensor, changed: Tensor, views: bool, index: int, size: Sequence[int]) -> Any:
    return _VIEW(views, changed, base._sizes)


@_inverse("_reshape_alias")
def _reshape_alias(
    base: Tensor,
    changed: Tensor,
    views: bool,
    index: int,
    size: Sequence[int],
    stride: Sequence[int],
) -> Any:
    return _RESHAPE_ALIAS(views, changed, base._sizes, base._strides)


# --- dimensions in another order, and of size one -------------------------------------------------


@_inverse("permute")
def _permute(base: Tensor, changed: Tensor, views: bool, index: int, dims: Sequence[int]) -> Any:
    order = [0] * len(dims)
    for place, dim in enumerate(dims):
        order[wrap_dim(dim, len(dims))] = place
    return _PERMUTE(views, changed, order)


@_inverse("t")
def _t(base: Tensor, changed: Tensor, views: bool, index: int) -> Any:
    return _T(views, changed)


@_inverse("transpose.int")
def _transpose(base: Tensor, changed: Tensor, views: bool, index: int, dim0: int, dim1: int) -> Any:
    return _TRANSPOSE(views, changed, dim0, dim1)


@_inverse("unsqueeze")
def _unsqueeze(base: Tensor, changed: Tensor, views: bool, index: int, dim: int) -> Any:
    return _SQUEEZE(views, changed, dim)


def _unsqueezed_to(changed: Any, base: Tensor, dims: Sequence[int], views: bool) -> Any:
    for dim in dims:
        if base._sizes[dim] == 1:
            changed = _UNSQUEEZE(views, changed, dim)
    return changed


@_inverse("squeeze")
def _squeeze(base: Tensor, changed: Tensor, views: bool, index: int) -> Any:
    return _unsqueezed_to(changed, base, range(len(base._sizes)), views)


@_inverse("squeeze.dim")
def _squeeze_dim(base: Tensor, changed: Tensor, views: bool, index: int, dim: int) -> Any:
    return _squeeze_dims(base, changed, views, index, (dim,))


@_inverse("squeeze.dims")
def _squeeze_dims(
    base: Tensor, changed: Tensor, views: bool, index: int, dims: Sequence[int]
) -> Any:
    rank = len(base._sizes)
    wrapped = sorted(dim_list(dims, rank))
    return _unsqueezed_to(changed, base, wrapped if rank else (), views)


@_inverse("expand")
def _expand(
    base: Tensor,
    changed: Tensor,
    views: bool,
    index: int,
    size: Sequence[int],
    implicit: bool,
) -> Any:
    return _ADD(base, _sum_to(_SUB(changed, base), base._sizes, views))


def _sum_to(tensor: Any, shape: Sequence[int], views: bool) -> Any:
    """``sum_to``: the elements that were one before it was expanded, added up."""
    if not shape:
        return _SUM_ALL(tensor)
    leading = len(tensor._sizes) - len(shape)
    dims = [
        dim
        for dim, size in enumerate(tensor._sizes)
        if dim < leading or (shape[dim - leading] == 1 and size != 1)
    ]
    if dims:
        tensor = _SUM(tensor, dims, True)
    if leading:
        return _VIEW(views, tensor, shape)
    return tensor if views else _CLONE(tensor)


# --- parts ----------------------------------------------------------------------------------------


@_inverse("as_strided")
def _as_strided(
    base: Tensor,
    changed: Tensor,
    views: bool,
    index: int,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None,
) -> Any:
    return _AS_STRIDED_SCATTER(base, changed, size, stride, storage_offset)


@_inverse("diagonal")
def _diagonal(
    base: Tensor, changed: Tensor, views: bool, index: int, offset: int, dim1: int, dim2: int
) -> Any:
    return _DIAGONAL_SCATTER(base, changed, offset, dim1, dim2)


@_inverse("select.int")
def _select(base: Tensor, changed: Tensor, views: bool, index: int, dim: int, place: int) -> Any:
    return _SELECT_SCATTER(base, changed, dim, place)


@_inverse("slice.Tensor")
def _slice(
    base: Tensor,
    changed: Tensor,
    views: bool,
    index: int,
    dim: int,
    start: int | None,
    end: int | None,
    step: int,
) -> Any:
    return _SLICE_SCATTER(base, changed, dim, start, end, step)


@_inverse("split.Tensor")
def _split(
    base: Tensor, changed: Tensor, views: bool, index: int, split_size: int, dim: int
) -> Any:
    dim = wrap_dim(dim, len(base._sizes))
    start = split_size * index
    end = min(split_size + start, base._sizes[dim])
    return _SLICE_SCATTER(base, changed, dim, start, end, 1)


@_inverse("split_with_sizes")
def _split_with_sizes(
    base: Tensor, changed: Tensor, views: bool, index: int, split_sizes: Sequence[int], dim: int
) -> Any:
    dim = wrap_dim(dim, len(base._sizes))
    start = sum(split_sizes[:index])
    end = min(start + split_sizes[index], base._sizes[dim])
    return _SLICE_SCATTER(base, changed, dim, start, end, 1)


@_inverse("unbind.int")
def _unbind(base: Tensor, changed: Tensor, views: bool, index: int, dim: int) -> Any:
    return _SELECT_SCATTER(base, changed, wrap_dim(dim, len(base._sizes)), index)


@_inverse("unfold")
def _unfold(
    base: Tensor, changed: Tensor, views: bool, index: int, dimension: int, size: int, step: int
) -> Any:
    if views and size > step:
        raise RuntimeError(
            "While executing unfold, functionalization encountered a tensor being mutated that "
            "has internal overlap. When using torch.compile (or running functionalization "
            "directly), this is banned as the behavior is not well defined. Consider cloning the "
            "tensor before mutating it, or removing the mutation from your model."
        )
    return _UNFOLD_BACKWARD(changed, base._sizes, dimension, size, step)
