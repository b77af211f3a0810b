"""The reference function of indexing with tensors: ``meta_index_Tensor``, and what calls it.

Mirrors it as it is in ``torch/_meta_registrations.py``.  It runs wherever the tensor or an index is
on meta, and looks at less than the kernel of the CPU does, in an order and in words of its own.
Indexing with a mask is in ``torch/_decomp/decompositions.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.elementwise.promotion import BOOL, Number
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.indexing.index import stand_together
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import HABITS, maybe_broadcast, output_strides
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.dtype import DTYPES, int64
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_DECOMPOSED: Final = "torch._decomp.decompositions."
_AS_STRIDED: Final = OperatorHandle("aten::as_strided")
_CLAMP: Final = OperatorHandle("aten::clamp")
_CLONE: Final = OperatorHandle("aten::clone")
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")
_MASKED_FILL: Final = OperatorHandle("aten::masked_fill.Scalar")
_NEW_FULL: Final = OperatorHandle("aten::new_full")
_NONZERO: Final = OperatorHandle("aten::nonzero")
_NOT: Final = OperatorHandle("aten::bitwise_not")
_PERMUTE: Final = OperatorHandle("aten::permute")
_SELECT: Final = OperatorHandle("aten::select.int")
_UNSAFE_INDEX: Final = OperatorHandle("aten::_unsafe_index.Tensor")
_UNSAFE_INDEX_PUT: Final = OperatorHandle("aten::_unsafe_index_put")

_MASKS: Final = (DTYPES["int8"], BOOL)
"""A byte is one with a sign here."""
_INDEXING: Final = (int64, DTYPES["int32"], *_MASKS)


@body("torch._meta_registrations.meta_index_Tensor")
def meta_index_tensor(self: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    if not indices:
        raise RuntimeError("at least one index must be provided")
    expanded = _expanded(self, indices)
    rank = len(self._sizes)
    if len(expanded) > rank:
        raise RuntimeError(f"too many indices for tensor of dimension {rank} (got {len(expanded)})")
    found: list[Any] = [*maybe_broadcast(*expanded), *[None] * (rank - len(expanded))]
    if not stand_together(found):
        order = sorted(range(rank), key=lambda dim: found[dim] is None)
        self, found = _PERMUTE(self, order), [found[dim] for dim in order]
    return _replaced(self, found)


def _expanded(self: Tensor, indices: Sequence[Tensor | None]) -> list[Any]:
    """Masks as the indices of their nonzero elements, which are looked for before the sizes are
    looked at."""
    found: list[Any] = []
    for place, index in enumerate(indices):
        if index is not None and index._dtype not in _INDEXING:
            raise RuntimeError("tensors used as indices must be long, int, byte or bool tensors")
        if index is None or index._dtype not in _MASKS:
            found.append(index)
            continue
        nonzero = _NONZERO(index)
        _check_mask(self, index, place, len(found))
        found += [_SELECT(nonzero, 1, dim) for dim in range(len(index._sizes))]
    return found


def _check_mask(self: Tensor, mask: Tensor, place: int, first: int) -> None:
    """IndexError unless the mask has the sizes of the dimensions from ``first`` on."""
    rank = len(self._sizes)
    if first + len(mask._sizes) > rank:
        raise IndexError(f"too many indices for tensor of dimension {rank}")
    for dim, size in enumerate(mask._sizes, first):
        if size != self._sizes[dim]:
            raise IndexError(
                f"The shape of the mask {mask._sizes} at index {place} does not match the shape "
                f"of the indexed tensor {self._sizes} at index {dim}"
            )


def _replaced(self: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """A tensor with the sizes of the last index, which a number on the CPU has of its own, for
    those of the dimensions that are indexed."""
    before: list[int] = []
    after: list[int] = []
    replacement: list[int] = []
    for size, index in zip(self._sizes, indices, strict=True):
        if index is not None:
            replacement = list(index._sizes)
        elif replacement:
            after.append(size)
        else:
            before.append(size)
    sizes, strides = before + replacement + after, None
    if HABITS["an index on meta lies as the tensor does"] and numel(self._sizes):
        steps = list(self._strides)
        steps[len(before) : len(steps) - len(after)] = [0] * len(replacement)
        restrided: Tensor = _AS_STRIDED(self, sizes, steps)
        strides = output_strides(sizes, (restrided,))
    return new_tensor(sizes, self._dtype, self._device, strides)


@body("torch._meta_registrations.meta_index_put")
def meta_index_put(
    self: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Any:
    return _EMPTY_LIKE(self)


# --- with a mask --------------------------------------------------------------------------------


def _check_masked(mask: Tensor, indices: Sequence[Tensor | None]) -> None:
    for index in indices:
        if index is not None and index._dtype not in _INDEXING[:2]:
            raise RuntimeError("tensors used as indices must be long or int tensors")
    if mask._dtype is not BOOL:
        raise RuntimeError("tensors used as masks must be bool tensors")


@body(_DECOMPOSED + "_unsafe_masked_index")
def _unsafe_masked_index(
    x: Tensor, mask: Tensor, indices: Sequence[Tensor | None], fill: Number
) -> Any:
    _check_masked(mask, indices)
    if not numel(x._sizes):
        return _NEW_FULL(x, meta_index_tensor(x, indices)._sizes, fill)
    clamped = [_in_bounds(x, dim, index) for dim, index in enumerate(indices)]
    return _MASKED_FILL(_UNSAFE_INDEX(x, clamped), _NOT(mask), fill)


@body(_DECOMPOSED + "_unsafe_masked_index_put_accumulate")
def _unsafe_masked_index_put_accumulate(
    x: Tensor, mask: Tensor, indices: Sequence[Tensor | None], values: Tensor
) -> Any:
    _check_masked(mask, indices)
    if not numel(x._sizes):
        return _CLONE(x)
    clamped = [_in_bounds(x, dim, index) for dim, index in enumerate(indices)]
    return _UNSAFE_INDEX_PUT(x, clamped, _MASKED_FILL(values, _NOT(mask), 0), accumulate=True)


def _in_bounds(x: Tensor, dim: int, index: Tensor | None) -> Any:
    return None if index is None else _CLAMP(index, 0, size_at(x, dim) - 1)
