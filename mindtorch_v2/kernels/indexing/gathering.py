"""Elements along a dimension by their indices: ``gather``, ``scatter`` and their like.

Mirrors ``aten/src/ATen/native/TensorAdvancedIndexing.cpp`` and ``ScatterGatherChecks.h``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

import numpy as np

from mindtorch_v2.kernels.elementwise.broadcasting import infer_size
from mindtorch_v2.kernels.elementwise.pointwise import as_array, element, rounded
from mindtorch_v2.kernels.elementwise.promotion import Number
from mindtorch_v2.kernels.elementwise.tensor_iterator import Config, TensorIterator
from mindtorch_v2.kernels.factories.filling import copy_
from mindtorch_v2.kernels.foretold import foretell
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, resize_output, set_output
from mindtorch_v2.kernels.overlap import (
    assert_no_internal_overlap,
    assert_no_overlap,
    assert_no_partial_overlap,
)
from mindtorch_v2.kernels.refs.common import HABITS as REFS_HABITS
from mindtorch_v2.kernels.refused import refused
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs, changed_in_place, prologue, structured
from mindtorch_v2.kernels.switches import dispatch
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.messages import out_of_bounds
from mindtorch_v2.tensor.copying import raw_array, store, store_bits, value_array
from mindtorch_v2.tensor.dtype import DTYPES, int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import is_contiguous, numel, wrap_dim
from mindtorch_v2.tensor.support import CPP_NAMES, HABITS, worded
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn_once

_NONZERO: Final = OperatorHandle("aten::nonzero")
_TAKEN: Final = Config(check_mem_overlap=False, check_all_same_dtype=False, resize_outputs=False)
_UNBIND: Final = OperatorHandle("aten::unbind.int")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_INDEX_DTYPES: Final = (int64, DTYPES["int32"])
_GATHERED_BY: Final = _INDEX_DTYPES if HABITS["gather takes int32"] else (int64,)


def _rank(tensor: Tensor) -> int:
    """``ensure_nonempty_dim``: a tensor without dimensions counts as one of size 1."""
    return max(len(tensor._sizes), 1)


def _size(tensor: Tensor, dim: int) -> int:
    """``ensure_nonempty_size``; IndexError for a dimension that is not there."""
    return size_at(tensor, dim) if tensor._sizes else 1


def _along(tensor: Array) -> Array:
    return tensor.reshape(1) if tensor.ndim == 0 else tensor


# --- gather -----------------------------------------------------------------------------------


@structured("aten::gather")
def gather(
    outputs: Outputs, self: Tensor, dim: int, index: Tensor, sparse_grad: bool
) -> tuple[Tensor, ...]:
    dim = wrap_dim(dim, len(self._sizes))
    (given,) = outputs
    output = set_output(given, index._sizes, self._dtype, self._device)
    if given is not None:
        assert_no_internal_overlap(output)
        assert_no_overlap(output, self)
        assert_no_partial_overlap(output, index)
    if numel(index._sizes):
        if index._dtype not in _GATHERED_BY:
            raise worded("gather by floats")
        _check_gathered(self, dim, index)
        if not output.is_meta:
            dispatch(
                "scatter_gather_tensor_cpu", self._dtype, said=_switch(output, dim, index, self)
            )
            source, places = _along(raw_array(self)), _along(value_array(index))
            size = source.shape[dim]
            reached = _reached(places, size)
            if not reached.any():
                raise _out_of_bounds(places, reached, dim, size)
            sizes = list(places.shape)
            sizes[dim] = size
            part = source[tuple(map(slice, sizes))]
            is_refused = not reached.all()
            read = np.where(reached, places, 0) if is_refused else places
            found = np.take_along_axis(part, read, axis=dim)
            if is_refused:
                found = np.where(reached, found, _along(raw_array(output)))
            store_bits(output, found.reshape(tuple(output._sizes)))
            if is_refused:
                written = reached.reshape(tuple(output._sizes))
                raise refused(_out_of_bounds(places, reached, dim, size), output, written)
    return (output,)


def _switch(output: Tensor, dim: int, index: Tensor, self: Tensor) -> str:
    """The kernel's, or that of a faster one for an index that repeats (``gather_expanded_index``).

    Mirrors ``can_use_expanded_index_path``.
    """
    inner = range(1, len(index._sizes))
    is_expanded = (
        dim == 0
        and self._dtype.is_floating_point
        and index._strides[:1] == (1,)
        and all(index._strides[at] <= (index._sizes[at] == 1) for at in inner)
        and all(self._sizes[at] == index._sizes[at] for at in inner)
        and all(is_contiguous(each._sizes, each._strides) for each in (self, output))
    )
    return "gather_expanded_index" if is_expanded else "scatter_gather_tensor_cpu"


def _check_gathered(self: Tensor, dim: int, index: Tensor) -> None:
    if _rank(self) != _rank(index):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for at in range(_rank(self)):
        if at != dim and _size(index, at) > _size(self, at):
            words = {
                "[1, 2]": str(list(index._sizes)),
                "[1, 1]": str(list(self._sizes)),
                "dimension 1 ": f"dimension {at} ",
                "from dimension 0": f"from dimension {dim}",
            }
            raise worded("gather with a large index", **words)


def _reached(places: Array, size: int) -> Array:
    """Which come before the first one that is out of bounds: what is read or written by then has
    been.  The loops go by rows, but over three dimensions or more that lie in another order."""
    return np.logical_and.accumulate(((places >= 0) & (places < size)).reshape(-1)).reshape(
        places.shape
    )


def _out_of_bounds(places: Array, reached: Array, dim: int, size: int) -> RuntimeError:
    return RuntimeError(out_of_bounds(places[~reached].flat[0], dim, size))


# --- scatter ----------------------------------------------------------------------------------

Combine = Callable[[Array, tuple[Array, ...], Array], None]
"""Puts values at places of an array, the latter one index for each dimension."""


def replace(target: Array, places: tuple[Array, ...], values: Array) -> None:
    target[places] = values


def add_to(target: Array, places: tuple[Array, ...], values: Array) -> None:
    np.add.at(target, places, values)


def multiply_by(target: Array, places: tuple[Array, ...], values: Array) -> None:
    np.multiply.at(target, places, values)


_REDUCTIONS: Final[dict[str, Combine]] = {"add": add_to, "multiply": multiply_by}


def _scatter(
    outputs: Outputs,
    self: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor | Number,
    reduce: str | None,
) -> tuple[Tensor, ...]:
    dim = wrap_dim(dim, len(self._sizes))
    tensor = source if isinstance(source, Tensor) else None
    check_scattered(self, dim, index, tensor)
    (given,) = outputs
    if given is not None and not given.is_meta:  # whose kernels in Python do not ask
        assert_no_internal_overlap(given)
        assert_no_overlap(given, index)
        if tensor is not None:
            assert_no_overlap(given, tensor)
    output = set_output(
        given, self._sizes, self._dtype, self._device, self=changed_in_place(outputs)
    )
    if reduce is not None and reduce not in _REDUCTIONS:
        raise RuntimeError("reduce argument must be either add or multiply.")
    if not output.is_meta:
        if output is not self:
            copy_(output, self, False)
        if numel(index._sizes):
            kind = "scalar" if tensor is None else "tensor"
            dispatch(f"scatter_gather_{kind}_cpu", self._dtype)
            combine = replace if reduce is None else _REDUCTIONS[reduce]
            scatter_into(output, dim, index, source, self, combine)
    return (output,)


def scatter_into(
    output: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor | Number,
    self: Tensor,
    combine: Combine,
) -> None:
    result = np.array(as_array(output, output._dtype))  # halves in a buffer of more precision
    target, places = _along(result), _along(value_array(index))
    reached = _reached(places, target.shape[dim])
    grid: list[Array] = list(np.indices(places.shape, sparse=True))
    grid[dim] = places
    if isinstance(source, Tensor):
        values = _along(as_array(source, self._dtype))[
            tuple(slice(0, size) for size in places.shape)
        ]
    else:
        values = np.full(places.shape, element(source, self._dtype), target.dtype)
    with np.errstate(all="ignore"):
        combine(
            target, tuple(each[reached] for each in np.broadcast_arrays(*grid)), values[reached]
        )
    store(output, rounded(result, output._dtype))
    if not reached.all():
        raise refused(_out_of_bounds(places, reached, dim, target.shape[dim]), output)


def check_scattered(self: Tensor, dim: int, index: Tensor, source: Tensor | None) -> None:
    if numel(index._sizes) and index._dtype not in _GATHERED_BY:
        raise worded("scatter by floats")
    if source is not None and source._dtype is not self._dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if not numel(index._sizes):
        return
    if _rank(self) != _rank(index):
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    dims = range(_rank(self))
    fits = all(at == dim or _size(index, at) <= _size(self, at) for at in dims)
    if source is None:
        if not fits:
            raise _too_large(self, dim, index, None)
        return
    # IndexError for a source of too few dimensions, which C++ notices later
    fits = fits and all(_size(index, at) <= _size(source, at) for at in dims)
    if _rank(source) != _rank(index):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    if not fits:
        raise _too_large(self, dim, index, source)


def _too_large(self: Tensor, dim: int, index: Tensor, source: Tensor | None) -> Exception:
    words = {
        "[1, 2]": str(list(index._sizes)),
        "[1, 1]": str(list(self._sizes)),
        "dimension 0": f"dimension {dim}",
    }
    if source is None:
        return worded("scatter a number with a large index", **words)
    return worded("scatter with a large index", **words, **{"[3, 3]": str(list(source._sizes))})


@structured("aten::scatter.src")
def scatter_src(
    outputs: Outputs, self: Tensor, dim: int, index: Tensor, src: Tensor
) -> tuple[Tensor, ...]:
    return _scatter(outputs, self, dim, index, src, None)


@structured("aten::scatter.value")
def scatter_value(
    outputs: Outputs, self: Tensor, dim: int, index: Tensor, value: Number
) -> tuple[Tensor, ...]:
    return _scatter(outputs, self, dim, index, value, None)


@structured("aten::scatter.reduce")
def scatter_reduce(
    outputs: Outputs, self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str
) -> tuple[Tensor, ...]:
    warn_once(
        "scatter_meta",
        "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed "
        "in a future PyTorch release. Use torch.scatter_reduce instead for more reduction options.",
    )
    return _scatter(outputs, self, dim, index, src, reduce)


@structured("aten::scatter.value_reduce")
def scatter_value_reduce(
    outputs: Outputs, self: Tensor, dim: int, index: Tensor, value: Number, reduce: str
) -> tuple[Tensor, ...]:
    return _scatter(outputs, self, dim, index, value, reduce)


@structured("aten::scatter_add")
def scatter_add(
    outputs: Outputs, self: Tensor, dim: int, index: Tensor, src: Tensor
) -> tuple[Tensor, ...]:
    return _scatter(outputs, self, dim, index, src, "add")


# --- index_select -----------------------------------------------------------------------------


@kernel("aten::index_select", keys=("CPU", "Meta"))
def index_select(self: Tensor, dim: int, index: Tensor) -> Tensor:
    return index_select_out(self, dim, index, new_tensor((0,), self._dtype, self._device))


@prologue("aten::index_select")
def _prepare_index_select(outputs: Sequence[Tensor], self: Tensor, dim: int, index: Tensor) -> None:
    (out,) = outputs
    dim = wrap_dim(dim, len(self._sizes))
    count = numel(index._sizes)
    if len(index._sizes) > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if not self._sizes and count != 1:
        raise RuntimeError(
            f"index_select(): Index to scalar can have only 1 value, got {count} value(s)"
        )
    if index._dtype not in _INDEX_DTYPES:
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if self._dtype is not out._dtype:
        raise RuntimeError("index_select(): self and result must have the same scalar type")
    assert_no_internal_overlap(out)
    assert_no_overlap(out, self)
    assert_no_overlap(out, index)
    sizes = list(self._sizes)
    if sizes:
        sizes[dim] = count
    resize_output(out, sizes)


@kernel("aten::index_select.out", keys=("CPU", "Meta"))
def index_select_out(self: Tensor, dim: int, index: Tensor, out: Tensor) -> Tensor:
    _prepare_index_select((out,), self, dim, index)
    dim = wrap_dim(dim, len(self._sizes))
    if out.is_meta:
        return out
    if len(self._sizes) < 2:
        dispatch("index_select", self._dtype)
    if numel(index._sizes):
        if len(self._sizes) > 1 and not self._sizes[dim]:
            raise RuntimeError("index_select(): self indexing axis dim should be positive")
        places, source = value_array(index).reshape(-1), _along(raw_array(self))
        wrong = places[(places < 0) | (places >= source.shape[dim])]
        is_by_columns = dim == 1 and is_contiguous(out._sizes, out._strides)
        is_of_nothing = len(self._sizes) > 1 and not source.size
        if wrong.size and (is_by_columns or is_of_nothing):
            error = RuntimeError(
                f"INDICES element is out of DATA bounds, id={wrong[0]} axis_dim={source.shape[dim]}"
            )
            raise refused(error, out, slice(0))
        if wrong.size:
            _select_reached(source, places, dim, out)
        store_bits(out, np.take(source, places, axis=dim).reshape(tuple(out._sizes)))
    return out


def _select_reached(source: Array, places: Array, dim: int, out: Tensor) -> NoReturn:
    """The slices before the first that there is not; then IndexError."""
    outside = (places < 0) | (places >= source.shape[dim])
    reached = slice(int(np.argmax(outside)))
    np.moveaxis(_along(raw_array(out)), dim, 0)[reached] = np.moveaxis(source, dim, 0)[
        places[reached]
    ]
    written = (*(slice(None),) * dim, reached) if out._sizes else slice(0)
    raise refused(IndexError("index out of range in self"), out, written)


# --- nonzero, take, masked_select -------------------------------------------------------------


@kernel("aten::nonzero")
def nonzero(self: Tensor) -> Tensor:
    return nonzero_out(self, new_tensor((0,), int64, self._device))


@kernel("aten::nonzero_static")
def nonzero_static(self: Tensor, size: int, fill_value: int) -> Tensor:
    """The first places of what is not zero; where there are fewer, ``fill_value`` for the rest."""
    _check_static_size(size)
    result = new_tensor((size, len(self._sizes)), int64, self._device)
    foretell("aten::nonzero_static", result)
    return nonzero_static_out(self, size, fill_value, result)


@prologue("aten::nonzero_static")
def _prepare_static(outputs: Sequence[Tensor], self: Tensor, size: int, fill_value: int) -> None:
    (out,) = outputs
    _check_static_size(size)
    if out._dtype is not int64:
        raise RuntimeError(
            "nonzero_static: Expected out tensor to have scalar type Long but got scalar type"
            f"{CPP_NAMES[out._dtype]}"
        )
    resize_output(out, (size, len(self._sizes)))
    assert_no_internal_overlap(out)
    assert_no_overlap(out, self)


@kernel("aten::nonzero_static.out")
def nonzero_static_out(self: Tensor, size: int, fill_value: int, out: Tensor) -> Tensor:
    _prepare_static((out,), self, size, fill_value)
    shape = tuple(out._sizes)
    if numel(shape):
        found = value_array(_NONZERO(self))[:size]
        places = np.full(shape, fill_value, np.int64)
        places[: len(found)] = found
        store(out, places)
    return out


@kernel("aten::nonzero_static", key="Meta")
def nonzero_static_meta(self: Tensor, size: int, fill_value: int) -> Tensor:
    """By columns, as CUDA makes it, since releases look at where a tensor is."""
    shape = (size, len(self._sizes))
    by_columns = REFS_HABITS["nonzero_static goes by columns"]
    return new_tensor(shape, int64, self._device, (1, size) if by_columns else None)


def _check_static_size(size: int) -> None:
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")


@kernel("aten::nonzero", key="Meta")
def nonzero_on_meta(self: Tensor) -> NoReturn:
    raise NotImplementedError(
        "The register_meta function for torch.nonzero() raises unimplemented by default, as a "
        "correct data-independent implementation does not exist. This implementation returns a "
        "fake value, assuming all elements of the tensor are non-zero. To enable this "
        "registration, please set 'torch.fx.experimental._config.meta_nonzero_assume_all_nonzero' "
        "to True."
    )


@kernel("aten::where", key="CompositeImplicitAutograd")
@kernel("aten::nonzero_numpy", key="CompositeImplicitAutograd")
def nonzero_numpy(self: Tensor) -> Any:
    """The indices of each dimension; a number counts as a row of one."""
    return _UNBIND(_NONZERO(self if self._sizes else _UNSQUEEZE(self, 0)), 1)


@kernel("aten::nonzero.out")
def nonzero_out(self: Tensor, out: Tensor) -> Tensor:
    if out._dtype is not int64:
        raise RuntimeError(
            "nonzero: Expected out tensor to have scalar type Long but got scalar type"
            f"{CPP_NAMES[out._dtype]}"
        )
    assert_no_internal_overlap(out)
    assert_no_overlap(out, self)
    dispatch("nonzero_count_cpu", self._dtype)
    values = value_array(self)
    found = np.argwhere(values) if values.ndim else np.empty((int(bool(values)), 0), np.int64)
    resize_output(out, found.shape, (1, found.shape[0]))
    store(out, found)
    return out


@kernel("aten::masked_select")
def masked_select(self: Tensor, mask: Tensor) -> Tensor:
    return masked_select_out(self, mask, new_tensor((0,), self._dtype, self._device))


@kernel("aten::masked_select.out")
def masked_select_out(self: Tensor, mask: Tensor, out: Tensor) -> Tensor:
    if mask._dtype is not DTYPES["bool"]:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    if self._dtype is not out._dtype:
        raise RuntimeError("masked_select(): self and result must have the same scalar type")
    assert_no_internal_overlap(out)
    assert_no_overlap(out, self)
    assert_no_overlap(out, mask)
    shape = infer_size(mask._sizes, self._sizes)
    chosen = np.broadcast_to(value_array(mask), shape)
    if chosen.any():
        dispatch("masked_select", self._dtype)
    found = np.broadcast_to(raw_array(self), shape)[chosen]
    resize_output(out, found.shape)
    store_bits(out, found)
    return out


@kernel("aten::take", keys=("CPU", "Meta"))
def take(self: Tensor, index: Tensor) -> Any:
    return take_out(self, index, new_tensor(index._sizes, self._dtype, self._device))


@kernel("aten::take.out", keys=("CPU", "Meta"))
def take_out(self: Tensor, index: Tensor, out: Tensor) -> Tensor:
    _prepare_take((out,), self, index)
    count = numel(self._sizes)
    if numel(index._sizes) and not out.is_meta:
        dispatch("take_cpu", self._dtype)
        places = value_array(index)
        if ((places < -count) | (places >= count)).any():
            _take_reached(self, index, out)
        store_bits(out, raw_array(self).reshape(-1)[places])
    return out


def _take_reached(self: Tensor, index: Tensor, out: Tensor) -> NoReturn:
    """The elements before the first that there is not, in the order of the loops; then
    IndexError."""
    loops = TensorIterator(_TAKEN, (out,), (index,)).loops
    places, count = value_array(index).transpose(loops).reshape(-1), numel(self._sizes)
    first = int(np.argmax((places < -count) | (places >= count)))
    written = np.zeros(tuple(out._sizes), bool)
    written.transpose(loops).flat[:first] = True
    raw_array(out).transpose(loops).flat[:first] = raw_array(self).reshape(-1)[places[:first]]
    error = IndexError(
        f"out of range: tried to access index {places[first]} on a tensor of {count} elements."
    )
    raise refused(error, out, written)


@prologue("aten::take")
def _prepare_take(outputs: Sequence[Tensor], self: Tensor, index: Tensor) -> None:
    (out,) = outputs
    _check_taken(self, index, out)
    resize_output(out, index._sizes)


def _check_taken(self: Tensor, index: Tensor, out: Tensor) -> None:
    if index._dtype is not int64:
        raise RuntimeError(
            f"take(): Expected a long tensor for index, but got {CPP_NAMES[index._dtype]}"
        )
    if self._dtype is not out._dtype:
        raise RuntimeError(
            "take(): self and out expected to have the same dtype, but got self.dtype = "
            f"{CPP_NAMES[self._dtype]} and out.dtype = {CPP_NAMES[out._dtype]}"
        )
    if not self.is_meta and not self._device == out._device == index._device:
        raise RuntimeError(
            "take(): self, index and out expected to be in the same device, but got self.device "
            f"= {self._device}, index.device = {index._device}, and out.device = {out._device}"
        )
    if not numel(self._sizes) and numel(index._sizes):
        raise IndexError("take(): tried to take from an empty tensor")
    assert_no_internal_overlap(out)
    assert_no_overlap(out, index)
    assert_no_overlap(out, self)
