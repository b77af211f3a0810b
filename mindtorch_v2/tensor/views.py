"""Views: tensors that share a storage with another, and where their elements lie in it.

What is here needs no operator: elements as C++ and storages reach them, and the geometry that
:mod:`mindtorch_v2.kernels.views.reshaping` asks for.  ``Tensor._as_view`` makes the view.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from mindtorch_v2.messages import out_of_bounds
from mindtorch_v2.tensor.geometry import check_numel, check_strides, int64_of, numel, wrap_dim
from mindtorch_v2.tensor.support import HABITS

if TYPE_CHECKING:
    from mindtorch_v2.tensor.tensor import Tensor

_WORD: Final = 1 << 64
_SHOWS_SHAPE: Final = HABITS["a shape with a negative size is shown"]


def select(tensor: Tensor, dim: int, index: int) -> Tensor:
    """One element along a dimension, which goes away."""
    sizes, strides = tensor._sizes, tensor._strides
    dim = wrap_dim(dim, len(sizes))
    place = index + sizes[dim] if index < 0 else index
    offset = tensor._storage_offset + place * strides[dim]
    return tensor._as_view(
        sizes[:dim] + sizes[dim + 1 :], strides[:dim] + strides[dim + 1 :], offset
    )


def slice_(tensor: Tensor, dim: int, start: int, stop: int, step: int) -> Tensor:
    """A range along a dimension, its bounds within it."""
    sizes, strides = list(tensor._sizes), list(tensor._strides)
    offset = tensor._storage_offset + start * strides[dim]
    sizes[dim] = max(0, -(-(stop - start) // step))
    strides[dim] *= step
    return tensor._as_view(tuple(sizes), tuple(strides), offset)


def is_alias_of(one: object, two: object) -> bool:
    """Whether, for certain, two values are tensors over one storage (``IValue::isAliasOf``)."""
    from mindtorch_v2.tensor.tensor import Tensor

    if not (isinstance(one, Tensor) and isinstance(two, Tensor)):
        return False
    return one._storage is not None and one._storage is two._storage


# --- view and reshape ---------------------------------------------------------------------------


def view_geometry(tensor: Tensor, shape: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes and strides of such a view."""
    sizes = infer_size(shape, numel(tensor._sizes))
    strides = view_strides(tensor._sizes, tensor._strides, sizes)
    check_numel(sizes)
    if strides is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return sizes, strides


def infer_size(shape: Sequence[int], count: int) -> tuple[int, ...]:
    """``shape`` with its -1 worked out for ``count`` elements (``at::infer_size``)."""
    inferred = None
    known = 1
    for dim, size in enumerate(shape):
        if size == -1:
            if inferred is not None:
                raise RuntimeError("only one dimension can be inferred")
            inferred = dim
        elif size < 0:
            shown = f" at index {dim} of shape {list(shape)}" if _SHOWS_SHAPE else ""
            raise RuntimeError(f"invalid shape dimension {size}{shown}")
        else:
            known = int64_of(known * size)
    fits = count == known if inferred is None else known > 0 and count % known == 0
    if not fits and not (inferred is not None and known == 0 and count == 0):
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {count}")
    if inferred is None:
        return tuple(shape)
    if known == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the "
            "unspecified dimension size -1 can be any value and is ambiguous"
        )
    return (*shape[:inferred], count // known, *shape[inferred + 1 :])


def view_strides(
    sizes: Sequence[int], strides: Sequence[int], wanted: Sequence[int]
) -> tuple[int, ...] | None:
    """Strides of a view of another shape, or None (``at::detail::computeStride``).

    Dimensions that lie in one stretch of memory can be cut in any way; no size of ``wanted`` may
    reach over the border of two stretches.
    """
    sizes = tuple(sizes)  # a Size would be asked for each of them
    if 0 in sizes:
        return tuple(strides) if sizes == tuple(wanted) else _dense(wanted)
    if not sizes:
        return (1,) * len(wanted)
    found = [0] * len(wanted)
    dim = len(wanted) - 1
    base, stretch, filled = strides[-1], 1, 1
    for place in range(len(sizes) - 1, -1, -1):
        stretch *= sizes[place]
        if place and (sizes[place - 1] == 1 or strides[place - 1] == stretch * base):
            continue
        while dim >= 0 and (filled < stretch or wanted[dim] == 1):
            found[dim] = filled * base
            filled *= wanted[dim]
            dim -= 1
        if filled != stretch:
            return None
        if place:
            base, stretch, filled = strides[place - 1], 1, 1
    return tuple(found) if dim == -1 else None


def _dense(sizes: Sequence[int]) -> tuple[int, ...]:
    """Of no elements: RuntimeError where strides or sizes are beyond 64 bits, but for a stride
    that wraps around to what can be one."""
    strides, step = [], 1
    for size in reversed(tuple(sizes)):
        strides.append(step)
        step = step * max(size, 1) % _WORD
    check_strides(strides)
    check_numel(sizes)
    return tuple(reversed(strides))


# --- elements and slices ------------------------------------------------------------------------


def get_item(tensor: Tensor, index: int | slice) -> Tensor:
    """``tensor[index]``; IndexError for what is outside, ValueError for no step forward."""
    if isinstance(index, slice):
        return _sliced(tensor, 0, index)
    return _selected(tensor, 0, index, 0)


def _selected(tensor: Tensor, dim: int, index: int, shown_dim: int) -> Tensor:
    if index == 0 and not tensor._sizes:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
        )
    size = tensor._sizes[dim] if tensor._sizes else 0
    if not -size <= index < size:
        raise IndexError(out_of_bounds(index, shown_dim, size))
    return select(tensor, dim, index)


def _sliced(tensor: Tensor, dim: int, item: slice) -> Tensor:
    if item.step is not None and item.step == 0:
        raise ValueError("slice step cannot be zero")
    if item.step is not None and item.step < 0:
        raise ValueError("step must be greater than zero")
    return slice_within(tensor, dim, item)


def slice_within(tensor: Tensor, dim: int, bounds: slice) -> Tensor:
    """The part of a dimension within bounds, which may be negative or lie outside."""
    if not tensor._sizes:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    return slice_(tensor, dim, *bounds.indices(tensor._sizes[dim]))


def unbind(tensor: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The elements along a dimension."""
    if not tensor._sizes:
        raise RuntimeError("Dimension specified as 0 but tensor has no dimensions")
    dim = wrap_dim(dim, len(tensor._sizes))
    return tuple(select(tensor, dim, place) for place in range(tensor._sizes[dim]))


def iterate(tensor: Tensor) -> Iterator[Tensor]:
    """The elements along the first dimension."""
    if not tensor._sizes:
        raise TypeError("iteration over a 0-d tensor")
    return iter(unbind(tensor))
