"""View operators: another geometry over the same storage.

Mirrors the view functions of ``aten/src/ATen/native/TensorShape.cpp``.  A kernel here makes a
plain alias; what makes it a view for autograd stands at ADInplaceOrView.  Most end with
``self.as_strided(…)``, which is an operator: see :func:`called`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import functionality_bit
from mindtorch_v2.kernels.elementwise.broadcasting import infer_expand_geometry
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views.plain import detaching, geometric
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.tensor.dtype import (
    COMPLEX_OF_REAL,
    CPP_LAYOUTS,
    DTYPES,
    REAL_OF_COMPLEX,
    sparse_compressed,
    sparse_coo,
)
from mindtorch_v2.tensor.geometry import (
    check_dimensionality,
    check_numel,
    check_symints,
    completed_strides,
    dim_list,
    int64_of,
    wrap_dim,
)
from mindtorch_v2.tensor.plain import forget
from mindtorch_v2.tensor.support import CPP_NAMES, HABITS, worded
from mindtorch_v2.tensor.symbolic import SymInt
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_string import type_string
from mindtorch_v2.tensor.version import VersionCounter

BACKENDS: Final = ("CPU", "Meta", "CompositeExplicitAutograd")
"""Where releases register a view operator: with the backends, or once for all of them."""

_WORD: Final = 1 << 64
_COMPLEX_OF_REAL: Final = {
    DTYPES[name]: COMPLEX_OF_REAL[DTYPES[name]] for name in ("float16", "float32", "float64")
}
_STORAGE_MAX: Final = (1 << 63) - 1
_ALIAS: Final = OperatorHandle("aten::alias")
_AS_STRIDED: Final = OperatorHandle("aten::as_strided")
_SELECT: Final = OperatorHandle("aten::select.int")
_SLICE: Final = OperatorHandle("aten::slice.Tensor")
_TRANSPOSE: Final = OperatorHandle("aten::transpose.int")


_Made = TypeVar("_Made")


def called(operator: OperatorHandle, kernel: Callable[..., _Made], *stack: Any) -> _Made:
    """An operator that a kernel calls on its own tensor.

    Below autograd's kernels, where kernels are as a rule, that ends at the kernel of the same
    backend, which is called at once unless it is somebody else's.  Where nobody has masked
    autograd it sees the call.
    """
    if tls.is_just_above_backends() and operator.operator.is_untouched(stack[0]._keys):
        return kernel(*stack)
    made: _Made = operator(*stack)
    return made


def alias(self: Tensor, sizes: Sequence[int], strides: Sequence[int], offset: int) -> Tensor:
    return self._as_view(tuple(sizes), tuple(strides), offset)


def _strided(self: Tensor, sizes: Sequence[int], strides: Sequence[int], offset: int) -> Tensor:
    """``self.as_strided(…)``."""
    return called(_AS_STRIDED, alias, self, sizes, strides, offset)


def _strided_somewhere(
    self: Tensor, sizes: Sequence[int], strides: Sequence[int], offset: int | None
) -> Tensor:
    """The same of numbers that the tensor's own memory may not have."""
    check_symints(sizes)
    check_symints(strides)
    return called(_AS_STRIDED, as_strided, self, sizes, strides, offset)


def without(values: Sequence[int], place: int) -> tuple[int, ...]:
    return (*values[:place], *values[place + 1 :])


@kernel("aten::alias", keys=BACKENDS)
@geometric()
def alias_(self: Tensor) -> Tensor:
    return self._alias()


@kernel("aten::detach", keys=BACKENDS)
@detaching
def detach(self: Tensor) -> Tensor:
    """An alias; that its changes are the base's too is for ADInplaceOrView to say."""
    twin = self._detached()
    if tls.is_below_inplace_or_view() and not self._is_inference():
        twin._versions = VersionCounter()
    return twin


# --- as_strided -------------------------------------------------------------------------------


@kernel("aten::as_strided", keys=(*BACKENDS, "ZeroTensor"))
def as_strided(
    self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None
) -> Tensor:
    offset = self._storage_offset if storage_offset is None else storage_offset
    if self.is_meta:
        _check_strided_on_meta(size, stride, offset)
        stride = completed_strides(size, stride)
    else:
        check_strided(self, size, stride, offset)
    check_numel(size)
    return alias(self, size, stride, offset)


def _check_strided_on_meta(sizes: Sequence[int], strides: Sequence[int], offset: int) -> None:
    """The same without the storage, which has no memory to leave."""
    if not HABITS["as_strided takes negative strides on meta"]:
        _check_strides(sizes, strides)
        check_offset(offset)
    else:
        check_dimensionality(sizes, strides)


def check_strided(
    self: Tensor,
    sizes: Sequence[int],
    strides: Sequence[int],
    offset: int,
    *,
    nbytes: Callable[[Sequence[int], Sequence[int], int], int] | None = None,
) -> None:
    """``setStrided``: RuntimeError for a geometry that the storage cannot have."""
    _check_strides(sizes, strides)
    if HABITS["as_strided looks at the offset before the storage"]:
        check_offset(offset)
    itemsize = self._dtype.itemsize
    needed = (nbytes or unsigned_nbytes)(sizes, strides, itemsize)
    if nbytes is None and HABITS["as_strided counts bytes from the offset"]:
        if offset < 0 and not strides:
            raise RuntimeError(f"Storage size calculation overflowed with sizes={list(sizes)}")
        unsigned_nbytes(sizes, strides, itemsize, offset)
    available = self.untyped_storage().nbytes()
    check_in_bounds_for_storage(sizes, strides, offset, itemsize, needed, available)
    check_offset(offset)


def check_in_bounds_for_storage(
    sizes: Sequence[int],
    strides: Sequence[int],
    offset: int,
    itemsize: int,
    needed: int,
    available: int,
) -> None:
    """``checkInBoundsForStorage``: RuntimeError for a geometry that needs so many bytes behind its
    offset, in elements, where a storage has not as many."""
    if needed and needed + offset * itemsize > available:
        raise RuntimeError(
            f"setStorage: sizes {list(sizes)}, strides {list(strides)}, storage offset {offset}, "
            f"and itemsize {itemsize} requiring a storage size of {needed + offset * itemsize} "
            f"are out of bounds for storage of size {available}"
        )


def _check_strides(sizes: Sequence[int], strides: Sequence[int]) -> None:
    if len(sizes) != len(strides):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(stride < 0 for stride in strides):
        raise RuntimeError(
            "as_strided: Negative strides are not supported at the moment, got strides: "
            f"{list(strides)}"
        )


def check_offset(offset: int) -> None:
    """RuntimeError for a storage offset below zero."""
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")


def unsigned_nbytes(
    sizes: Sequence[int], strides: Sequence[int], itemsize: int, offset: int = 0
) -> int:
    """``computeStorageNbytes`` of integers: a negative size, or offset, is a large one."""
    if 0 in sizes:
        return 0
    count, overflow = (1 + offset) % _WORD, False
    for size, stride in zip(sizes, strides, strict=True):
        step = stride * ((size - 1) % _WORD)
        count += step % _WORD
        overflow |= step >= _WORD or count >= _WORD
        count %= _WORD
    if overflow or count * itemsize > _STORAGE_MAX:
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(sizes)} and "
            f"strides={list(strides)}"
        )
    return count * itemsize


# --- dimensions in another order --------------------------------------------------------------


@kernel("aten::permute", keys=BACKENDS)
@geometric(_AS_STRIDED)
def permute(self: Tensor, dims: Sequence[int]) -> Tensor:
    rank = len(self._sizes)
    if len(dims) != rank:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {rank} is not equal "
            f"to len(dims) = {len(dims)}"
        )
    order: list[int] = []
    for dim in dims:
        wrapped = wrap_dim(dim, rank)
        if wrapped in order:
            raise RuntimeError("permute(): duplicate dims are not allowed.")
        order.append(wrapped)
    return _reordered(self, order)


def _reordered(self: Tensor, order: Sequence[int]) -> Tensor:
    sizes, strides = tuple(self._sizes), self._strides
    return _strided(
        self,
        [sizes[dim] for dim in order],
        [strides[dim] for dim in order],
        self._storage_offset,
    )


@kernel("aten::transpose.int", keys=BACKENDS)
@geometric(_ALIAS, _AS_STRIDED)
def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
    rank = len(self._sizes)
    dim0, dim1 = wrap_dim(dim0, rank), wrap_dim(dim1, rank)
    if dim0 == dim1:
        return called(_ALIAS, alias_, self)
    return _reordered(self, _swapped(rank, dim0, dim1))


def _swapped(rank: int, dim0: int, dim1: int) -> list[int]:
    order = list(range(rank))
    order[dim0], order[dim1] = dim1, dim0
    return order


@kernel("aten::t", keys=BACKENDS)
@geometric(_TRANSPOSE, _ALIAS, _AS_STRIDED)
def t(self: Tensor) -> Tensor:
    check_t(self, "t()")
    return called(_TRANSPOSE, transpose, self, 0, 0 if len(self._sizes) < 2 else 1)


def check_t(self: Tensor, name: str) -> None:
    if len(self._sizes) > 2:
        raise RuntimeError(
            f"{name} expects a tensor with <= 2 dimensions, but self is {len(self._sizes)}D"
        )


# --- dimensions of size one -------------------------------------------------------------------


@kernel("aten::squeeze", keys=BACKENDS)
@geometric(_AS_STRIDED)
def squeeze(self: Tensor) -> Tensor:
    return _squeezed(self, range(len(self._sizes)))


@kernel("aten::squeeze.dim", keys=BACKENDS)
@geometric(_AS_STRIDED)
def squeeze_dim(self: Tensor, dim: int) -> Tensor:
    dim = wrap_dim(dim, len(self._sizes))
    return _squeezed(self, (dim,) if self._sizes else ())


@kernel("aten::squeeze.dims", keys=BACKENDS)
@geometric(_AS_STRIDED)
def squeeze_dims(self: Tensor, dims: Sequence[int]) -> Tensor:
    return _squeezed(self, dim_list(dims, len(self._sizes)))


def squeezed_geometry(self: Tensor, dims: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes and strides without those of ``dims`` that are of size one."""
    kept = [place for place, size in enumerate(self._sizes) if size != 1 or place not in dims]
    return (
        tuple(self._sizes[place] for place in kept),
        tuple(self._strides[place] for place in kept),
    )


def _squeezed(self: Tensor, dims: Sequence[int]) -> Tensor:
    return _strided(self, *squeezed_geometry(self, dims), self._storage_offset)


@kernel("aten::unsqueeze", keys=BACKENDS)
@geometric(_AS_STRIDED)
def unsqueeze(self: Tensor, dim: int) -> Tensor:
    return _strided(self, *unsqueezed_geometry(self, dim), self._storage_offset)


def unsqueezed_geometry(self: Tensor, dim: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    sizes, strides = self._sizes, self._strides
    dim = wrap_dim(dim, len(sizes) + 1)
    stride = sizes[dim] * strides[dim] if dim < len(sizes) else 1
    return (*sizes[:dim], 1, *sizes[dim:]), (*strides[:dim], stride, *strides[dim:])


@kernel("aten::expand", keys=BACKENDS)
@geometric(_AS_STRIDED)
def expand(self: Tensor, size: Sequence[int], implicit: bool) -> Tensor:
    if len(size) < len(self._sizes):
        raise RuntimeError(
            f"expand({type_string(self)}{{{list(self._sizes)}}}, size={list(size)}): the number "
            f"of sizes provided ({len(size)}) must be greater or equal to the number of "
            f"dimensions in the tensor ({len(self._sizes)})"
        )
    if self._layout is sparse_coo or self._layout in sparse_compressed:
        raise RuntimeError(f"expand is unsupported for {CPP_LAYOUTS[self._layout]} tensors")
    sizes, strides = infer_expand_geometry(self._sizes, self._strides, size)
    check_numel(sizes)
    return _strided(self, sizes, strides, self._storage_offset)


# --- parts ------------------------------------------------------------------------------------


@kernel("aten::select.int", keys=BACKENDS)
@geometric(_AS_STRIDED)
def select(self: Tensor, dim: int, index: int) -> Tensor:
    if not self._sizes:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = wrap_dim(dim, len(self._sizes))
    size = self._sizes[dim]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(self._sizes)} at "
            f"dimension {dim}"
        )
    place = index + size if index < 0 else index
    offset = self._storage_offset + place * self._strides[dim]
    return _strided(self, without(self._sizes, dim), without(self._strides, dim), offset)


@kernel("aten::slice.Tensor", keys=BACKENDS)
@geometric(_AS_STRIDED)
def slice_(self: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Tensor:
    if not self._sizes:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if isinstance(start, SymInt) or isinstance(end, SymInt) or isinstance(step, SymInt):
        start, end, step = map(_guarded, (start, end, step))
    dim = wrap_dim(dim, len(self._sizes))
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    first, last = _clamped_range(self._sizes[dim], start, end)
    sizes, strides = list(self._sizes), list(self._strides)
    offset = self._storage_offset + first * strides[dim]
    count, stride = last - first + step - 1, strides[dim] * step
    is_wrapped = max(count, stride) > _STORAGE_MAX
    sizes[dim], strides[dim] = _quotient(int64_of(count), step), int64_of(stride)
    if is_wrapped:
        return _strided_somewhere(self, sizes, strides, offset)
    return _strided(self, sizes, strides, offset)  # which the tensor's own memory has


def _quotient(number: int, divisor: int) -> int:
    """C++ cuts off what is behind the point, where Python looks for the integer below."""
    return number // divisor if number >= 0 else -(-number // divisor)


def _guarded(number: Any) -> Any:
    """``guard_int``: the plain number that a symbolic one equals, if it equals one."""
    return int(number) if isinstance(number, SymInt) else number


def _clamped_range(size: int, start: int | None, end: int | None) -> tuple[int, int]:
    first = 0 if start is None else start
    last = size if end is None else end
    first = first + size if first < 0 else first
    last = last + size if last < 0 else last
    first = min(max(first, 0), size)
    return first, min(max(last, first), size)


def narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """``at::native::narrow``, which the splits call; the operator is a composite."""
    return called(_SLICE, slice_, self, dim, start, start + length, 1)


@kernel("aten::diagonal", keys=BACKENDS)
@geometric(_AS_STRIDED)
def diagonal(self: Tensor, offset: int, dim1: int, dim2: int) -> Tensor:
    rank = len(self._sizes)
    one, two = wrap_dim(dim1, rank), wrap_dim(dim2, rank)
    if one == two:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    sizes, strides = self._sizes, self._strides
    above, below = max(offset, 0), max(-offset, 0)
    length = max(min(sizes[one] - below, sizes[two] - above), 0)
    start = self._storage_offset
    if length:
        start += above * strides[two] + below * strides[one]
    last, first = max(one, two), min(one, two)
    return _strided(
        self,
        (*without(without(sizes, last), first), length),
        (*without(without(strides, last), first), strides[one] + strides[two]),
        start,
    )


@kernel("aten::unfold", keys=BACKENDS)
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    rank = len(self._sizes)
    dim = wrap_dim(dimension, rank)
    longest = self._sizes[dim] if rank else 1
    if size < 0 and HABITS["unfold looks at a negative size itself"]:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > longest:
        raise RuntimeError(
            f"maximum size for tensor at dimension {dim} is {longest} but size is {size}"
        )
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    sizes, strides = [*self._sizes, size], [*self._strides, self._strides[dim] if rank else 1]
    if rank:
        sizes[dim] = (sizes[dim] - size) // step + 1
        strides[dim] = int64_of(strides[dim] * step)
    return _strided_somewhere(self, sizes, strides, None)


# --- several parts ----------------------------------------------------------------------------


@kernel("aten::unbind.int", keys=BACKENDS)
def unbind(self: Tensor, dim: int) -> list[Tensor]:
    dim = wrap_dim(dim, len(self._sizes))
    return [called(_SELECT, select, self, dim, place) for place in range(size_at(self, dim))]


def size_at(self: Tensor, dim: int) -> int:
    """``Tensor::size``; IndexError for a dimension that is not there."""
    return int(self._sizes[wrap_dim(dim, len(self._sizes), scalar=False)])


@kernel("aten::split.Tensor", keys=BACKENDS)
def split(self: Tensor, split_size: int, dim: int) -> list[Tensor]:
    if not self._sizes:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if split_size < 0:
        raise RuntimeError(
            f"split expects split_size be non-negative, but got split_size={split_size}"
        )
    size = size_at(self, dim)
    if split_size == 0 and size:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
        )
    count = max(-(-size // split_size), 1) if split_size else 1
    starts = [place * split_size for place in range(count)]
    return [narrow(self, dim, start, min(split_size, size - start)) for start in starts]


@kernel("aten::split_with_sizes", keys=BACKENDS)
def split_with_sizes(self: Tensor, split_sizes: Sequence[int], dim: int) -> list[Tensor]:
    if not self._sizes:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    size, start = size_at(self, dim), 0
    parts = []
    for length in split_sizes:
        if length < 0:
            raise RuntimeError(
                "split_with_sizes expects split_sizes have only non-negative entries, but got "
                f"split_sizes={list(split_sizes)}"
            )
        parts.append(slice_(self, dim, start, start + length, 1))
        start += length
    if start != size:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size "
            f"at dimension {dim}), but got split_sizes={list(split_sizes)}"
        )
    return parts


# --- another dtype over the same bytes --------------------------------------------------------


@kernel("aten::view_as_complex", keys=BACKENDS)
def view_as_complex(self: Tensor) -> Tensor:
    if self._dtype.is_complex:
        raise worded("view_as_complex of complex numbers", ComplexFloat=CPP_NAMES[self._dtype])
    if self._dtype not in _COMPLEX_OF_REAL:
        raise worded("view_as_complex of integers", Int=CPP_NAMES[self._dtype])
    if not self._sizes:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if self._sizes[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if self._strides[-1] != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    ones_count = not HABITS["view_as_complex asks no stride of one element"]
    strides = zip(self._sizes[:-1], self._strides[:-1], strict=True)
    if any(stride % 2 for size, stride in strides if ones_count or size != 1):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if self._storage_offset % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return self._as_view(
        self._sizes[:-1],
        tuple(stride // 2 for stride in self._strides[:-1]),
        self._storage_offset // 2,
        dtype=_COMPLEX_OF_REAL[self._dtype],
    )


@kernel("aten::view_as_real", keys=BACKENDS)
def view_as_real(self: Tensor) -> Tensor:
    if not self._dtype.is_complex:
        raise worded("view_as_real of what is real")
    if self._is_conj():
        raise RuntimeError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the "
            "conjugate tensor so you can view it as real, use self.resolve_conj(); however, be "
            "warned that the resulting tensor will NOT alias the original."
        )
    return self._as_view(
        (*self._sizes, 2),
        (*(2 * stride for stride in self._strides), 1),
        2 * self._storage_offset,
        dtype=REAL_OF_COMPLEX[self._dtype],
    )


@kernel("aten::_conj", keys=BACKENDS)
def conj(self: Tensor) -> Tensor:
    _check_has_alias(self)
    if not self._dtype.is_complex:
        condition = "isComplexType(typeMetaToScalarType(dtype()))"
        raise RuntimeError(internal_assert(condition, "TensorImpl._set_conj"))
    return _with_bit(self, DispatchKey.Conjugate)


@kernel("aten::_neg_view", keys=BACKENDS)
def neg_view(self: Tensor) -> Tensor:
    _check_has_alias(self)
    return _with_bit(self, DispatchKey.Negative)


def _check_has_alias(self: Tensor) -> None:
    """RuntimeError or NotImplementedError for a tensor without strides, or without storage."""
    self.stride()
    self._untyped_storage()


def _with_bit(self: Tensor, key: DispatchKey) -> Tensor:
    """An alias that has a lazy bit where the tensor has none."""
    made = called(_ALIAS, alias_, self)
    forget(made)._keys ^= functionality_bit(key)
    return made
