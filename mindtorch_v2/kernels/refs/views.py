"""The reference functions of gradients of views, and of what is put back where a view was.

Mirrors ``torch/_decomp/decompositions.py``, ``torch/_refs/__init__.py`` and, for
``as_strided_scatter``, ``torch/_prims/__init__.py``.  The functional operators look at less than
the functions here, which write to outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

from mindtorch_v2.kernels.composite.repeating import diag_embed
from mindtorch_v2.kernels.elementwise.promotion import BOOL
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.views.copies import clone_preserve_strides
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

_DECOMPOSED: Final = "torch._decomp.decompositions."
_REFS: Final = "torch._refs."
_CLONE: Final = OperatorHandle("aten::clone")
_DIAGONAL: Final = OperatorHandle("aten::diagonal")
_EXPAND: Final = OperatorHandle("aten::expand")
_NEW_ZEROS: Final = OperatorHandle("aten::new_zeros")
_REPEAT: Final = OperatorHandle("aten::repeat")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_WHERE: Final = OperatorHandle("aten::where.self")


def _backward_of_a_view(view: str) -> None:
    """Zeros that the gradient is put into by the functional operator."""
    scatter = OperatorHandle(f"aten::{view}_scatter")

    @body(f"{_DECOMPOSED}{view}_backward")
    def backward(grad_output: Tensor, input_sizes: Sequence[int], *place: int) -> Any:
        return scatter(_NEW_ZEROS(grad_output, list(input_sizes)), grad_output, *place)


for _view in ("select", "slice", "diagonal"):
    _backward_of_a_view(_view)


def _mask(x: Tensor, dim: int) -> Tensor:
    """A truth value for each place along one dimension."""
    sizes = [1] * len(x._sizes)
    sizes[dim] = -1  # the list's IndexError is torch's as well
    sizes[dim] = x._sizes[dim]
    return new_tensor(sizes, BOOL, x._device)


@body(_REFS + "select_scatter")
def select_scatter(x: Tensor, src: Tensor, dim: int, index: int) -> Any:
    """Which does not look at the index."""
    dim = wrap_dim(dim, len(x._sizes))
    mask = _mask(x, dim)
    return _WHERE(mask, _EXPAND(_UNSQUEEZE(src, dim), list(x._sizes)), x)


@body(_DECOMPOSED + "slice_scatter")
def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Any:
    dim = wrap_dim(dim, len(input._sizes))
    size = input._sizes[dim]
    start, end = _normalize_start_end(size, start, end)
    part = list(input._sizes)
    part[dim] = (end - start + (step - 1)) // step  # Python's ZeroDivisionError is torch's as well
    src = _EXPAND(src, part)
    if (start, end, step) == (0, size, 1):
        return _CLONE(src, memory_format=None)
    chosen = new_tensor(input._sizes, src._dtype, input._device)
    return _WHERE(_mask(input, dim), chosen, input)


def _normalize_start_end(size: int, start: int | None, end: int | None) -> tuple[int, int]:
    """Both between nothing and the size, the end not before the start."""

    def clamp_wrap(value: int | None, lower: int, default: int) -> int:
        if value is None:
            return default
        return min(max(value + size if value < 0 else value, lower), size)

    first = clamp_wrap(start, 0, 0)
    return first, clamp_wrap(end, first, size)


@body(_REFS + "diag_embed")
def diag_embed_of_wrapped(t: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Which tells of the dimensions as they are counted from the front."""
    rank = len(t._sizes) + 1
    return diag_embed(t, offset, wrap_dim(dim1, rank), wrap_dim(dim2, rank))


@body(_REFS + "diagonal_scatter")
def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Any:
    out = clone_preserve_strides(input)
    diagonal = _DIAGONAL(out, offset, dim1, dim2)
    if tuple(diagonal._sizes) != tuple(src._sizes):
        raise RuntimeError(
            "expected src to have a size equal to the diagonal of the input."
            f"Got {src._sizes} for a diagonal of shape {diagonal._sizes}"
        )
    return out


@body(_REFS + "as_strided_scatter")
def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Any:
    """Which does not mind another number of strides than of sizes."""
    size, stride, offset = list(size), list(stride), storage_offset or 0
    reach = sum((count - 1) * step for count, step in zip(size, stride, strict=False))
    required = 1 + offset + reach if prod(size) else 0
    count, itemsize = prod(input._sizes), input._dtype.itemsize
    if count < required:
        raise RuntimeError(
            f"as_strided_scatter: sizes {size}, strides {stride}, storage offset {offset}  and "
            f"itemsize {itemsize} requiring a storage size of {required * itemsize} are out of "
            f"bounds for storage of size {count * itemsize}"
        )
    if list(src._sizes) != size:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{src._sizes}, slice size = {size}"
        )
    return clone_preserve_strides(input)


@body(_REFS + "repeat")
def repeat(a: Tensor, repeat_shape: Sequence[int]) -> Any:
    if len(repeat_shape) < len(a._sizes):
        raise RuntimeError(
            "repeat: Number of dimensions of repeat dims can not be smaller than number of "
            "dimensions of tensor"
        )
    return _REPEAT(a, list(repeat_shape))
