"""Elements that come more than once: tiles, repeated elements, grids, one-hot labels.

Mirrors ``aten/src/ATen/native/Repeat.cpp`` and ``Onehot.cpp``, and ``tile``, ``meshgrid``,
``diag`` and its relatives in ``TensorShape.cpp``.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.dtypes import HABITS
from mindtorch_v2.kernels.elementwise.broadcasting import infer_size
from mindtorch_v2.kernels.elementwise.promotion import can_cast
from mindtorch_v2.kernels.formatting import printed
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS as NEURAL_HABITS
from mindtorch_v2.kernels.switches import dispatch
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS, int64
from mindtorch_v2.tensor.geometry import check_size_nonnegative, numel, wrap_dim
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn_once

_IMPLICIT: Final = "CompositeImplicitAutograd"
_CONTIGUOUS_FORMAT: Final = MEMORY_FORMATS["contiguous_format"]

_ARANGE: Final = OperatorHandle("aten::arange")
_BROADCAST_TO: Final = OperatorHandle("aten::broadcast_to")
_CLONE: Final = OperatorHandle("aten::clone")
_CONJ: Final = OperatorHandle("aten::conj")
_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_COPY_: Final = OperatorHandle("aten::copy_")
_DIAG: Final = OperatorHandle("aten::diag")
_DIAGONAL: Final = OperatorHandle("aten::diagonal")
_DIAGONAL_COPY: Final = OperatorHandle("aten::diagonal_copy")
_DIAGONAL_COPY_OUT: Final = OperatorHandle("aten::diagonal_copy.out")
_DIAG_EMBED: Final = OperatorHandle("aten::diag_embed")
_DIAG_EMBED_OUT: Final = OperatorHandle("aten::diag_embed.out")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_EQ: Final = OperatorHandle("aten::eq.Tensor")
_EXPAND: Final = OperatorHandle("aten::expand")
_FLATTEN: Final = OperatorHandle("aten::flatten.using_ints")
_GATHER: Final = OperatorHandle("aten::gather")
_GATHER_OUT: Final = OperatorHandle("aten::gather.out")
_INDEX_SELECT: Final = OperatorHandle("aten::index_select")
_ITEM: Final = OperatorHandle("aten::item")
_MAX: Final = OperatorHandle("aten::max")
_MESHGRID: Final = OperatorHandle("aten::meshgrid.indexing")
_AMINMAX: Final = OperatorHandle("aten::aminmax")
_MIN: Final = OperatorHandle("aten::min")
_NEG_VIEW: Final = OperatorHandle("aten::_neg_view")
_REPEAT: Final = OperatorHandle("aten::repeat")
_REPEAT_INTERLEAVE: Final = OperatorHandle("aten::repeat_interleave.Tensor")
_REMAINDER: Final = OperatorHandle("aten::remainder.Scalar")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_SCATTER_: Final = OperatorHandle("aten::scatter_.value")
_TO: Final = OperatorHandle("aten::to.dtype")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_VIEW: Final = OperatorHandle("aten::view")
_ZEROS: Final = OperatorHandle("aten::zeros")


@kernel("aten::tile", key=_IMPLICIT)
def tile(self: Tensor, dims: Sequence[int]) -> Any:
    return _REPEAT(self, [1] * (len(self._sizes) - len(dims)) + list(dims))


# --- repeat_interleave ------------------------------------------------------------------------


_INDICES: Final = (int64, DTYPES["int32"])


@kernel("aten::repeat_interleave.Tensor")
def repeat_interleave(repeats: Tensor, output_size: int | None) -> Tensor:
    """Each place as often as the element there says."""
    dispatch("repeat_interleave_cpu", repeats._dtype)
    if len(repeats._sizes) != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if repeats._dtype not in _INDICES and not NEURAL_HABITS["any integers repeat"]:
        raise RuntimeError("repeats has to be Long or Int tensor")
    if not repeats._sizes[0]:
        return new_tensor((0,), repeats._dtype, repeats._device)
    counts = value_array(repeats)
    total = int(counts.sum())
    if output_size is not None:
        check_size_nonnegative([output_size])
    if (counts < 0).any():  # torch writes out of bounds where a size is given
        raise RuntimeError("repeats can not be negative")
    if output_size is not None and output_size != total:
        raise RuntimeError("allocated size does not match required size")
    result = new_tensor((total,), repeats._dtype, repeats._device)
    store(result, np.repeat(np.arange(len(counts)), counts))
    return result


@kernel("aten::repeat_interleave.Tensor", key="Meta")
def repeat_interleave_on_meta(repeats: Tensor, output_size: int | None) -> Tensor:
    if output_size is None:
        raise RuntimeError("cannot repeat_interleave a meta tensor without output_size")
    return new_tensor((output_size,), repeats._dtype, repeats._device)


@kernel("aten::repeat_interleave.self_Tensor", key=_IMPLICIT)
def repeat_interleave_tensor(
    self: Tensor, repeats: Tensor, dim: int | None, output_size: int | None
) -> Any:
    conj, neg = self._is_conj(), self._is_neg()
    input: Any = _CONJ(self) if conj else self
    if neg:
        input = _NEG_VIEW(input)
    if dim is None:
        input, dim = _FLATTEN(input, 0, -1), 0
    shape = tuple(repeats._sizes)
    if len(shape) > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if shape in ((), (1,)):
        one = _RESHAPE(repeats, [1])
        repeats = _EXPAND(one, [size_at(input, dim)])
    elif shape[0] != (wanted := size_at(input, dim)):
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{shape[0]} and input.size({dim}) = {wanted}"
        )
    places = _REPEAT_INTERLEAVE(repeats, output_size=output_size)
    if places._dtype not in _INDICES:  # where any integers repeat
        places = _TO(places, int64)
    found = _INDEX_SELECT(input, dim, places)
    if conj:
        found = _CONJ(found)
    return _NEG_VIEW(found) if neg else found


@kernel("aten::repeat_interleave.self_int", key=_IMPLICIT)
def repeat_interleave_int(
    self: Tensor, repeats: int, dim: int | None, output_size: int | None
) -> Any:
    input: Any = self if dim is not None else _FLATTEN(self, 0, -1)
    wrapped = wrap_dim(dim or 0, len(self._sizes))
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    input = _UNSQUEEZE(input, wrapped + 1)
    sizes = list(input._sizes)
    sizes[wrapped + 1] = repeats
    input = _EXPAND(input, sizes)
    total = repeats * sizes[wrapped]
    if output_size is not None and output_size != total:
        raise RuntimeError(
            f"repeat_interleave: Invalid output_size, expected {total} but got {output_size}"
        )
    return _FLATTEN(_CLONE(input, memory_format=_CONTIGUOUS_FORMAT), wrapped, wrapped + 1)


# --- grids ------------------------------------------------------------------------------------


@kernel("aten::meshgrid", key=_IMPLICIT)
def meshgrid(tensors: Sequence[Tensor]) -> Any:
    warn_once(
        "meshgrid",
        "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
        "argument.",
    )
    return meshgrid_indexing(tensors, "ij")


@kernel("aten::meshgrid.indexing", key=_IMPLICIT)
def meshgrid_indexing(tensors: Sequence[Tensor], indexing: str) -> list[Any]:
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for one, two in itertools.pairwise(tensors):
        if one._dtype is not two._dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
        if one._device != two._device:
            raise RuntimeError("meshgrid expects all tensors to have the same device")
    order = list(tensors)
    if indexing == "xy":
        order[:2] = order[:2][::-1]
    elif indexing != "ij":
        raise RuntimeError(
            'torch.meshgrid: indexing must be one of "xy" or "ij", but received: ' + indexing
        )
    for tensor in order:
        if len(tensor._sizes) > 1:
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
                + printed(tensor)
            )
    shape = [numel(tensor._sizes) for tensor in order]
    grids = [
        _EXPAND(_VIEW(tensor, [-1 if dim == place else 1 for dim in range(len(order))]), shape)
        for place, tensor in enumerate(order)
    ]
    if indexing == "xy":
        grids[:2] = grids[:2][::-1]
    return grids


# --- diagonals --------------------------------------------------------------------------------


@kernel("aten::diag_embed", keys=("Meta", "CompositeExplicitAutogradNonFunctional"))
def diag_embed(self: Tensor, offset: int, dim1: int, dim2: int) -> Any:
    rank = len(self._sizes) + 1
    one, two = sorted((wrap_dim(dim1, rank), wrap_dim(dim2, rank)))
    if one == two:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    length = abs(offset) + size_at(self, -1)
    sizes = list(self._sizes[:-1])
    sizes.insert(one, length)
    sizes.insert(two, length)
    options = {"dtype": self._dtype, "layout": self._layout, "device": self._device}
    result = _ZEROS(sizes, **options)
    _COPY_(_DIAGONAL(result, offset, dim1, dim2), self)
    return result


@kernel("aten::diag", key=_IMPLICIT)
def diag(self: Tensor, diagonal: int) -> Any:
    rank = len(self._sizes)
    if rank not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {rank}D")
    return _DIAG_EMBED(self, diagonal) if rank == 1 else _DIAGONAL_COPY(self, diagonal)


@kernel("aten::diag.out", key=_IMPLICIT)
def diag_out(self: Tensor, diagonal: int, out: Tensor) -> Any:
    rank = len(self._sizes)
    if rank not in (1, 2):
        raise RuntimeError(f"Supports 1D or 2D tensors. Got {rank}D")
    if rank == 2:
        return _DIAGONAL_COPY_OUT(self, diagonal, out=out)
    if not can_cast(self._dtype, out._dtype):
        raise RuntimeError(
            f"diag: result type {CPP_NAMES[self._dtype]} can't be cast to the desired out= type "
            f"{CPP_NAMES[out._dtype]}"
        )
    return _DIAG_EMBED_OUT(self, diagonal, out=out)


@kernel("aten::diagflat", key=_IMPLICIT)
def diagflat(self: Tensor, offset: int) -> Any:
    return _DIAG(_VIEW(_CONTIGUOUS(self, memory_format=_CONTIGUOUS_FORMAT), [-1]), offset)


# --- labels and places ------------------------------------------------------------------------


@kernel("aten::one_hot", key=_IMPLICIT)
def one_hot(self: Tensor, num_classes: int) -> Any:
    if self._dtype is not int64:
        of_type = " of type LongTensor" if NEURAL_HABITS["one_hot says what it takes"] else ""
        raise RuntimeError(f"one_hot is only applicable to index tensor{of_type}.")
    options = {"dtype": self._dtype, "layout": self._layout, "device": self._device}
    if self.is_meta:
        count = _ITEM(_MAX(self)) + 1 if num_classes == -1 else num_classes
        return _TO(_EQ(_UNSQUEEZE(self, -1), _ARANGE(count, **options)), int64)
    sizes = list(self._sizes)
    if not numel(sizes):
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return _EMPTY([*sizes, num_classes], **options)
    both = _AMINMAX(self) if NEURAL_HABITS["one_hot asks for both extremes at once"] else None
    if _ITEM(_MIN(self) if both is None else both[0]) < 0:
        raise RuntimeError("Class values must be non-negative.")
    largest = _ITEM(_MAX(self) if both is None else both[1])
    if num_classes == -1:
        num_classes = largest + 1
    elif num_classes <= largest:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return _SCATTER_(_ZEROS([*sizes, num_classes], **options), -1, _UNSQUEEZE(self, -1), 1)


@kernel("aten::take_along_dim", key=_IMPLICIT)
def take_along_dim(self: Tensor, indices: Tensor, dim: int | None) -> Any:
    if dim is None and self._device == indices._device:
        return _GATHER(_VIEW(self, [-1]), 0, _VIEW(indices, [-1]))
    return _GATHER(*_gathered(self, indices, dim, (self, indices)))


@kernel("aten::take_along_dim.out", key=_IMPLICIT)
def take_along_dim_out(self: Tensor, indices: Tensor, dim: int | None, out: Tensor) -> Any:
    return _GATHER_OUT(*_gathered(self, indices, dim, (self, indices, out)), out=out)


def _gathered(
    self: Tensor, indices: Tensor, dim: int | None, tensors: Sequence[Tensor]
) -> tuple[Any, int, Any]:
    """The arguments of ``gather``: both broadcast, but along the dimension."""
    for tensor in tensors:
        if tensor._device != self._device:
            raise RuntimeError(
                f"Expected tensor to have {self._device} Device, but got tensor with "
                f"{tensor._device} Device (while checking arguments for torch.take_along_dim():)"
            )
    if dim is None:
        indices = _VIEW(indices, [-1])  # C++ takes its arguments from the last
        return _VIEW(self, [-1]), 0, indices
    rank = len(self._sizes)
    if rank != len(indices._sizes):
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {rank} dimensions for input, and {len(indices._sizes)} dimensions for indices"
        )
    if indices._dtype is not int64:
        raise RuntimeError(
            "torch.take_along_dim(): dtype of indices should be Long but got "
            f"{CPP_NAMES[indices._dtype]}"
        )
    wrapped = wrap_dim(dim, rank)
    if not HABITS["take_along_dim counts from the end"]:
        wrap_dim(wrapped, rank, scalar=False)  # of no dimension it asks for the size
    taken = infer_size(_with_size(self, wrapped, indices), tuple(indices._sizes))
    indices = _BROADCAST_TO(indices, list(taken))
    shape = infer_size(_with_size(indices, wrapped, self), tuple(self._sizes))
    self = _BROADCAST_TO(self, list(shape))
    if HABITS["take_along_dim counts from the end"]:
        indices = _REMAINDER(indices, size_at(self, wrapped))
    return self, wrapped, indices


def _with_size(tensor: Tensor, dim: int, other: Tensor) -> tuple[int, ...]:
    """Sizes of a tensor, that of another one in a dimension."""
    sizes = list(tensor._sizes)
    if sizes:
        sizes[dim] = other._sizes[dim]
    return tuple(sizes)
