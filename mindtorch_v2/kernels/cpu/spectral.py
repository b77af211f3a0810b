"""The discrete Fourier transform: of complex numbers, of real ones, and back to real ones.

Mirrors ``aten/src/ATen/native/mkl/SpectralOps.cpp``, as it is where torch computes with MKL.  NumPy
transforms in double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf, prod, sqrt
from typing import Any, Final, TypeAlias

import numpy as np

from mindtorch_v2.kernels.elementwise.pointwise import as_array
from mindtorch_v2.kernels.foretold import foretell
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, resize_output
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import COMPLEX_TYPES, FLOATING_TYPES, dispatch_over
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import contiguous_strides, numel
from mindtorch_v2.tensor.quiet import quietly
from mindtorch_v2.tensor.support import CPP_NAMES, has_words, worded
from mindtorch_v2.tensor.tensor import Tensor

_CLONE: Final = OperatorHandle("aten::clone")
_COPY_: Final = OperatorHandle("aten::copy_")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_PERMUTE: Final = OperatorHandle("aten::permute")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_MOST_DIMS: Final = 7
"""That MKL transforms at once."""


Transform: TypeAlias = Callable[[Array], Array]

NONE, BY_ROOT_N, BY_N = range(3)
"""``fft_norm_mode``: what a transform is divided by."""


# --- where the elements of a spectrum lie ------------------------------------------------------


def sorted_dims(
    self: Tensor, dims: Sequence[int], *, exclude_last: bool = False
) -> tuple[int, ...]:
    """``_sort_dims``: the outermost first, but for the last if it has to stay the last."""
    count = len(dims) - exclude_last
    return (*outermost_first(dims[:count], self), *dims[count:])


def outermost_first(dims: Iterable[int], self: Tensor) -> list[int]:
    return sorted(dims, key=self._strides.__getitem__, reverse=True)


def _batch_dims(rank: int, dims: Sequence[int]) -> list[int]:
    """The dimensions that are not transformed, in the order in which ``std::partition`` puts them:
    the last ones take the places of transformed ones."""
    places, first, last = list(range(rank)), 0, rank
    while True:
        while first < last and places[first] not in dims:
            first += 1
        while first < last and places[last - 1] in dims:
            last -= 1
        if first >= last:
            return places[:first]
        places[first], places[last - 1] = places[last - 1], places[first]


def spectrum_strides(
    self: Tensor, sizes: Sequence[int], batch: Iterable[int], dims: Sequence[int]
) -> tuple[int, ...]:
    """What ``_exec_fft`` gives a result of these sizes: the transformed dimensions lie row-major
    within the others, which keep the order that they have in the input."""
    outer = outermost_first(batch, self)
    inner = [sizes[dim] for dim in dims]
    if not prod(self._sizes[dim] for dim in dims):  # RuntimeError: how many of nothing are there?
        _RESHAPE(_PERMUTE(self, [*outer, *dims]), [-1, *(self._sizes[dim] for dim in dims)])
    step, *steps = contiguous_strides((prod(self._sizes[dim] for dim in outer), *inner))
    strides = dict(zip(dims, steps, strict=True))
    for dim in reversed(outer):
        strides[dim] = step
        step *= sizes[dim]
    return tuple(strides[dim] for dim in range(len(sizes)))


def _check_dims(self: Tensor, dims: Sequence[int]) -> None:
    """RuntimeError for what is no dimension: torch looks for its size outside of the sizes."""
    rank = len(self._sizes)
    for dim in dims:
        if not -rank <= dim < rank:
            raise RuntimeError(f"fft: dimension {dim} is none of a tensor of {rank} dimensions")


def _check_last(dims: Sequence[int]) -> None:
    if not dims:
        raise RuntimeError("ArrayRef: attempted to access back() of empty list")


# --- the kernels --------------------------------------------------------------------------------


def _new_spectrum(self: Tensor, sizes: Sequence[int], dims: Sequence[int], dtype: DType) -> Tensor:
    """For ``_exec_fft``, a tensor of these sizes; RuntimeError for what MKL has no plan for."""
    batch = _batch_dims(len(self._sizes), dims)
    if is_of_nothing(sizes):
        return new_tensor(sizes, dtype, self._device)
    strides = spectrum_strides(self, sizes, batch, dims)
    real = self._dtype.to_real()
    if real not in FLOATING_TYPES:
        _EMPTY(sizes, dtype=dtype, device=self._device)  # where torch may warn of the dtype
        raise worded("fft of halves by MKL", Half=CPP_NAMES[real])
    if not all(self._sizes[dim] for dim in batch):
        if has_words("fft of no signals"):
            raise worded("fft of no signals")
        return new_tensor(sizes, dtype, self._device)
    if len(dims) > _MOST_DIMS:
        raise worded("fft of too many dimensions")
    return new_tensor(sizes, dtype, self._device, strides)


def is_of_nothing(sizes: Sequence[int]) -> bool:
    """Whether a release answers a spectrum of these sizes at once, row-major and of any dtype."""
    return not numel(sizes) and not has_words("fft of no signals")


def _foretold(name: str, result: Tensor) -> Tensor:
    """On meta it lies as on a GPU, or row-major."""
    foretell(f"aten::{name}", result)
    return result


def _transformed(self: Tensor, result: Tensor, transform: Transform) -> Tensor:
    if numel(result._sizes):
        store(result, quietly(transform, _doubles(self)))
    return result


def _scaled(values: Array, scale: float) -> Array:
    """Part by part: a complex product would make NaNs of infinities."""
    values.real *= scale
    if values.dtype.kind == "c":
        values.imag *= scale
    return values


def _doubles(self: Tensor) -> Array:
    values = as_array(self, self._dtype)
    return values.astype(np.complex128 if self._dtype.is_complex else np.float64)


def _scale(normalization: int, sizes: Sequence[int], dims: Sequence[int]) -> float:
    if normalization == NONE:
        return 1.0
    count = prod(sizes[dim] for dim in dims)
    if not count:
        return inf
    return 1 / sqrt(count) if normalization == BY_ROOT_N else 1 / count


@kernel("aten::_fft_c2c")
def fft_c2c(self: Tensor, dim: Sequence[int], normalization: int, forward: bool) -> Any:
    if not self._dtype.is_complex:
        raise worded("fft of real numbers", Float=CPP_NAMES[self._dtype])
    if not dim:
        return _CLONE(self, memory_format=None)
    _check_dims(self, dim)
    sizes = self._sizes
    scale = _scale(normalization, sizes, dim)

    def transform(values: Array) -> Array:
        if forward:
            return _scaled(np.fft.fftn(values, axes=dim), scale)
        return _scaled(np.fft.ifftn(values, axes=dim, norm="forward"), scale)

    result = _new_spectrum(self, sizes, sorted_dims(self, dim), self._dtype)
    return _transformed(self, _foretold("_fft_c2c", result), transform)


@kernel("aten::_fft_r2c")
def fft_r2c(self: Tensor, dim: Sequence[int], normalization: int, onesided: bool) -> Tensor:
    if not self._dtype.is_floating_point:
        raise worded("fft of complex numbers as real ones", ComplexFloat=CPP_NAMES[self._dtype])
    _check_last(dim)
    _check_dims(self, dim)
    sizes = onesided_sizes(self, dim) if onesided else self._sizes
    scale = _scale(normalization, self._sizes, dim)

    def transform(values: Array) -> Array:
        half = _scaled(np.fft.rfftn(values, axes=dim), scale)
        return half if onesided else _both_sides(half, dim, sizes[dim[-1]])

    dims = sorted_dims(self, dim, exclude_last=True)
    result = _new_spectrum(self, sizes, dims, self._dtype.to_complex())
    return _transformed(self, _foretold("_fft_r2c", result), transform)


def onesided_sizes(self: Tensor, dims: Sequence[int]) -> list[int]:
    """Of a spectrum whose other half is the conjugate of this one."""
    sizes = list(self._sizes)
    sizes[dims[-1]] = sizes[dims[-1]] // 2 + 1
    return sizes


def _both_sides(half: Array, dims: Sequence[int], size: int) -> Array:
    """``_fft_fill_with_conjugate_symmetry_``: what the last dimension lacks of its size."""
    *others, last = dims
    missing = np.arange(size - half.shape[last], 0, -1)
    other = np.conj(np.take(half, missing, last))
    for dim in others:  # from the front, where the first stays the first
        other = np.roll(np.flip(other, dim), 1, dim)
    return np.concatenate((half, other), last)


@kernel("aten::_fft_c2r")
def fft_c2r(self: Tensor, dim: Sequence[int], normalization: int, last_dim_size: int) -> Tensor:
    """The last dimension after the others."""
    if not self._dtype.is_complex:
        raise worded("fft of real numbers", Float=CPP_NAMES[self._dtype])
    _check_last(dim)
    _check_dims(self, dim)
    *others, last = dim
    sizes = list(self._sizes)
    sizes[last] = last_dim_size
    scale = _scale(normalization, sizes, [last])
    input = self
    if others:
        input = _new_spectrum(self, self._sizes, sorted_dims(self, others), self._dtype)
    result = _foretold("_fft_c2r", _new_spectrum(input, sizes, [last], self._dtype.to_real()))
    if others:
        input = fft_c2c(self, others, normalization, False)
    return _transformed(
        *(input, result),
        lambda values: _scaled(np.fft.irfft(values, last_dim_size, last, norm="forward"), scale),
    )


# --- into an output -----------------------------------------------------------------------------


@kernel("aten::_fft_c2c.out")
def fft_c2c_out(
    self: Tensor, dim: Sequence[int], normalization: int, forward: bool, out: Tensor
) -> Any:
    return _copied(out, fft_c2c(self, dim, normalization, forward))


@kernel("aten::_fft_c2r.out")
def fft_c2r_out(
    self: Tensor, dim: Sequence[int], normalization: int, last_dim_size: int, out: Tensor
) -> Any:
    return _copied(out, fft_c2r(self, dim, normalization, last_dim_size))


@kernel("aten::_fft_r2c.out")
def fft_r2c_out(
    self: Tensor, dim: Sequence[int], normalization: int, onesided: bool, out: Tensor
) -> Any:
    """The other half of both sides is filled in where the output is."""
    copied = _copied(out, fft_r2c(self, dim, normalization, onesided))
    if not onesided and self._sizes[dim[-1]] > 2:
        dispatch_over(COMPLEX_TYPES, "_fft_fill_with_conjugate_symmetry", out._dtype)
    return copied


def _copied(out: Tensor, result: Tensor) -> Any:
    resize_output(out, result._sizes)
    return _COPY_(out, result)
