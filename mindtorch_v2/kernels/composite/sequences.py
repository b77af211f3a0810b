"""Sequences of unlike lengths as one tensor, and many tensors as one row.

Mirrors ``pad_sequence`` of ``aten/src/ATen/native/PackedSequence.cpp``, and
``flatten_dense_tensors`` and its inverse, ``_dim_arange`` and ``_reshape_copy`` of
``TensorShape.cpp`` and ``TensorFactories.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.autograd.at import TensorOptions, call
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.messages import expected
from mindtorch_v2.tensor.copying import value_array
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS, int64
from mindtorch_v2.tensor.geometry import is_contiguous, numel
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.views import infer_size

_IMPLICIT: Final = "CompositeImplicitAutograd"
_EXPLICIT: Final = "CompositeExplicitAutograd"
_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]


@kernel("aten::pad_sequence", key=_IMPLICIT)
def pad_sequence(
    sequences: Sequence[Tensor],
    batch_first: bool,
    padding_value: float,
    padding_side: str = "right",
) -> Any:
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    if not sequences[0]._sizes:
        raise RuntimeError("ArrayRef: invalid slice, N = 1; size = 0")
    longest = max(size_at(each, 0) for each in sequences)
    counts = [len(sequences), longest] if batch_first else [longest, len(sequences)]
    sizes = [*counts, *sequences[0]._sizes[1:]]
    out = call("full", sizes, padding_value, TensorOptions.of(sequences[0]))
    for place, each in enumerate(sequences):
        count = each._sizes[0]
        start = longest - count if padding_side == "left" else 0
        if batch_first:
            part = call("narrow", call("select", out, 0, place), 0, start, count)
        else:
            part = call("select", call("narrow", out, 0, start, count), 1, place)
        call("copy_", part, each)
    return out


@kernel("aten::flatten_dense_tensors", key=_IMPLICIT)
def flatten_dense_tensors(tensors: Sequence[Tensor]) -> Any:
    rows = [call("view", call("contiguous", each), [-1]) for each in tensors]
    return rows[0] if len(rows) == 1 else call("cat", rows)


@kernel("aten::unflatten_dense_tensors", key=_IMPLICIT)
def unflatten_dense_tensors(flat: Tensor, tensors: Sequence[Tensor]) -> list[Any]:
    found, start = [], 0
    for each in tensors:
        count = numel(each._sizes)
        if count:
            found.append(call("view", call("narrow", flat, 0, start, count), each._sizes))
        else:  # which would share memory with another
            found.append(call("empty", [0], TensorOptions.of(flat)))
        start += count
    return found


@kernel("aten::norm_except_dim", key=_IMPLICIT)
def norm_except_dim(v: Tensor, pow: int, dim: int) -> Any:
    """One norm for each place in a dimension; of everything if that is -1."""
    rank = len(v._sizes)
    if dim == -1:
        return call("norm", v, pow)
    if dim not in (0, rank - 1):
        turned = call("norm_except_dim", call("transpose", v, 0, dim), pow, 0)
        return call("transpose", turned, 0, dim)
    size = size_at(v, dim)
    shape = [size if place == dim else 1 for place in range(rank)]
    rows = call("view", call("contiguous", v), [size, -1] if dim == 0 else [-1, size])
    return call("view", call("norm", rows, pow, [1 if dim == 0 else 0]), shape)


@kernel("aten::_dim_arange", key=_IMPLICIT)
def _dim_arange(like: Tensor, dim: int) -> Any:
    options = TensorOptions.of(like)._replace(dtype=int64)
    return call("arange", size_at(like, dim), options)


@kernel("aten::_reshape_from_tensor", key=_IMPLICIT)
def _reshape_from_tensor(self: Tensor, shape: Tensor) -> Any:
    if len(shape._sizes) != 1:
        raise RuntimeError(expected("shape_tensor.dim() == 1"))
    check_pointers(int64, shape)
    return call("reshape", self, value_array(shape).tolist())


@kernel("aten::_reshape_copy", key=_EXPLICIT)
def _reshape_copy(self: Tensor, size: Sequence[int]) -> Any:
    shape = infer_size(size, numel(self._sizes))
    if is_contiguous(self._sizes, self._strides):
        return call("clone", call("view", self, shape), _CONTIGUOUS)
    return call("_unsafe_view", call("clone", self, _CONTIGUOUS), shape)


@kernel("aten::slice_inverse", key=_EXPLICIT)
def slice_inverse(
    self: Tensor, src: Tensor, dim: int, start: int | None, end: int | None, step: int
) -> Any:
    return call("as_strided", self, src._sizes, src._strides, src._storage_offset)
