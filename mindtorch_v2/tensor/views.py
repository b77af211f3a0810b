"""Views: tensors that share a storage with another, and where their elements lie in it.

Mirrors the view functions of ``aten/src/ATen/native/TensorShape.cpp`` and the basic half of
``torch/csrc/autograd/python_variable_indexing.cpp``.  A function here computes sizes, strides and
offset; ``Tensor._as_view`` makes the view.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.scalars import type_name
from mindtorch_v2.tensor.support import HABITS

if TYPE_CHECKING:
    from mindtorch_v2.tensor.tensor import Tensor

_SHOWS_SHAPE: Final = HABITS["a shape with a negative size is shown"]


def as_strided(
    tensor: Tensor, sizes: Sequence[int], strides: Sequence[int], offset: int | None = None
) -> Tensor:
    where = tensor._storage_offset if offset is None else offset
    return tensor._as_view(tuple(sizes), tuple(strides), where)


def permute(tensor: Tensor, order: Sequence[int]) -> Tensor:
    sizes, strides = tensor._sizes, tensor._strides
    return tensor._as_view(
        tuple(sizes[dim] for dim in order),
        tuple(strides[dim] for dim in order),
        tensor._storage_offset,
    )


def transpose(tensor: Tensor, one: int, two: int) -> Tensor:
    rank = len(tensor._sizes)
    one, two = wrap_dim(one, rank), wrap_dim(two, rank)
    order = list(range(rank))
    if rank:
        order[one], order[two] = order[two], order[one]
    return permute(tensor, order)


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


def unsqueeze(tensor: Tensor, dim: int) -> Tensor:
    sizes, strides = tensor._sizes, tensor._strides
    dim = wrap_dim(dim, len(sizes) + 1)
    stride = sizes[dim] * strides[dim] if dim < len(sizes) else 1
    return tensor._as_view(
        (*sizes[:dim], 1, *sizes[dim:]),
        (*strides[:dim], stride, *strides[dim:]),
        tensor._storage_offset,
    )


def expand(tensor: Tensor, sizes: Sequence[int]) -> Tensor:
    """Repeated along dimensions of size 1 and new ones in front; ``sizes`` fit."""
    missing = len(sizes) - len(tensor._sizes)
    strides = [0] * missing + [
        0 if old == 1 and new != 1 else stride
        for old, new, stride in zip(tensor._sizes, sizes[missing:], tensor._strides, strict=True)
    ]
    return tensor._as_view(tuple(sizes), tuple(strides), tensor._storage_offset)


# --- view and reshape ---------------------------------------------------------------------------


def view(tensor: Tensor, shape: Sequence[int]) -> Tensor:
    """The same elements in the same order in another shape; RuntimeError if they do not lie so."""
    sizes = infer_size(shape, numel(tensor._sizes))
    strides = view_strides(tensor._sizes, tensor._strides, sizes)
    if strides is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return tensor._as_view(sizes, strides, tensor._storage_offset)


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
            known *= size
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
    if numel(sizes) == 0:
        return tuple(strides) if tuple(sizes) == tuple(wanted) else _dense(wanted)
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
    from mindtorch_v2.tensor.geometry import contiguous_strides

    return contiguous_strides(sizes)


# --- indexing with integers, slices, None and ... -----------------------------------------------


def get_item(tensor: Tensor, index: Any) -> Tensor:
    """``tensor[index]`` without index tensors."""
    if index is Ellipsis:
        return tensor._alias()
    if index is None:
        return unsqueeze(tensor, 0)
    if _is_integer(index):
        return _selected(tensor, 0, index, 0)
    if isinstance(index, slice):
        found = _sliced(tensor, 0, index)
        return tensor._alias() if found is tensor else found
    return _get_items(tensor, index if isinstance(index, tuple) else (index,))


def _get_items(tensor: Tensor, indices: tuple[Any, ...]) -> Tensor:
    rank = len(tensor._sizes)
    used = sum(item is not None and item is not Ellipsis for item in indices)
    if used > rank:
        raise IndexError(f"too many indices for tensor of dimension {rank}")
    result, dim = tensor, 0
    for place, item in enumerate(indices):
        if item is Ellipsis:
            dim += rank - used
        elif item is None:
            result, dim = unsqueeze(result, dim), dim + 1
        elif isinstance(item, slice):
            result, dim = _sliced(result, dim, item), dim + 1
        elif _is_integer(item):
            result = _selected(result, dim, item, place)
        else:
            raise _no_index(item)
    return tensor._alias() if result is tensor else result


def _is_integer(item: Any) -> bool:
    return not isinstance(item, bool) and hasattr(type(item), "__index__")


def _no_index(item: Any) -> Exception:
    if isinstance(item, (str, bytes)):
        return TypeError(f"new(): invalid data type '{type_name(item)}'")
    if isinstance(item, bool) or hasattr(type(item), "__getitem__"):
        return NotImplementedError("mindtorch_v2 has no kernel for aten::index.Tensor yet")
    return IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "
        f"are valid indices (got {type_name(item)})"
    )


def _selected(tensor: Tensor, dim: int, item: Any, shown_dim: int) -> Tensor:
    index = item.__index__()
    if index == 0 and not tensor._sizes:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
        )
    size = tensor._sizes[dim] if tensor._sizes else 0
    if not -size <= index < size:
        raise IndexError(
            f"index {index} is out of bounds for dimension {shown_dim} with size {size}"
        )
    return select(tensor, dim, index)


def _sliced(tensor: Tensor, dim: int, item: slice) -> Tensor:
    if item.step is not None and item.step == 0:
        raise ValueError("slice step cannot be zero")
    if item.step is not None and item.step < 0:
        raise ValueError("step must be greater than zero")
    if not tensor._sizes:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    start, stop, step = item.indices(tensor._sizes[dim])
    if (start, stop, step) == (0, tensor._sizes[dim], 1):
        return tensor
    return slice_(tensor, dim, start, stop, step)


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
