"""The reference functions of Fourier transforms.

Mirrors ``torch/_meta_registrations.py``: on meta a spectrum lies as on a GPU, which transforms few
dimensions at once, or row-major.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.cpu.spectral import (
    is_of_nothing,
    onesided_sizes,
    outermost_first,
    sorted_dims,
    spectrum_strides,
)
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import HABITS, corresponding_complex_dtype, worded
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS, DType
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."
_AS_STRIDED: Final = OperatorHandle("aten::as_strided")
_AS_STRIDED_: Final = OperatorHandle("aten::as_strided_")
_PERMUTE: Final = OperatorHandle("aten::permute")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_RESIZE_: Final = OperatorHandle("aten::resize_")
_CLONE: Final = OperatorHandle("aten::clone")
_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]
_AS_ON_A_GPU: Final = HABITS["a spectrum on meta lies as on a GPU"]
_IN_ORDER: Final = HABITS["strides of a spectrum on meta are given to its dimensions in order"]
_IN_STAGES: Final = HABITS["complex numbers are transformed in stages on meta"]
_MOST_DIMS: Final = 3
"""``cufft_max_ndim``."""


def _executed(self: Tensor, sizes: Sequence[int], dtype: DType, dims: Sequence[int]) -> Tensor:
    """``_exec_fft``."""
    if _IN_ORDER:
        return _executed_in_order(self, sizes, dtype, dims)
    batch = [dim for dim in range(len(self._sizes)) if dim not in dims]
    if len(batch) + len(dims) != len(self._sizes):
        _PERMUTE(self, [*batch, *dims])  # which refuses it
    if is_of_nothing(sizes):
        return new_tensor(sizes, dtype, self._device)
    strides = spectrum_strides(self, sizes, batch, dims)
    return new_tensor(sizes, dtype, self._device, strides)


def _executed_in_order(
    self: Tensor, sizes: Sequence[int], dtype: DType, dims: Sequence[int]
) -> Tensor:
    """``_exec_fft`` that finds strides for the transformed dimensions as they are given, and gives
    them to these dimensions in order, so that a result may reach further than its memory."""
    rank = len(self._sizes)
    transformed = {dim % rank for dim in dims}
    batch = outermost_first((dim for dim in range(rank) if dim not in transformed), self)
    order = [*batch, *sorted(transformed)]
    first = rank - len(dims)
    permuted = _PERMUTE(self, order)
    count = _RESHAPE(permuted, [-1, *permuted._sizes[first:]])._sizes[0]
    found, wanted = new_tensor(sizes, dtype, self._device), [count, *(sizes[dim] for dim in dims)]
    if _AS_ON_A_GPU:
        _RESIZE_(found, wanted, memory_format=_CONTIGUOUS)
    else:
        found = _RESHAPE(found, wanted)
    step, *steps = found._strides
    strides = [0] * rank
    for place in reversed(range(first)):
        strides[order[place]] = step
        step *= sizes[order[place]]
    for place, stride in enumerate(steps, first):
        strides[order[place]] = stride
    if _AS_ON_A_GPU:
        _AS_STRIDED_(found, sizes, strides, found._storage_offset)  # which looks at the memory
    else:
        found = _AS_STRIDED(found, sizes, strides, found._storage_offset)
    return found


def _is_one_step(dims: Sequence[int]) -> bool:
    """``use_optimized_cufft_path``."""
    return len(dims) <= _MOST_DIMS and list(dims[:2]) != [0, 1]


def _in_stages(self: Tensor, sizes: Sequence[int], dtype: DType, dims: Sequence[int]) -> Tensor:
    """The innermost dimensions first, as they lie after what was done before."""
    left = list(dims)
    while left:
        left = outermost_first(left, self)
        self = _executed(self, sizes, dtype, left[-_MOST_DIMS:])
        left = left[:-_MOST_DIMS]
    return self


@body(_META + "meta_fft_c2c")
def meta_fft_c2c(self: Tensor, dim: Sequence[int], normalization: int, forward: bool) -> Any:
    if not self._dtype.is_complex:
        raise worded("fft of real numbers")
    if not dim:
        if _AS_ON_A_GPU:
            return _CLONE(self, memory_format=None)
        return new_tensor(self._sizes, self._dtype, self._device)
    if _IN_STAGES:
        return _in_stages(self, self._sizes, self._dtype, dim)
    if _AS_ON_A_GPU:
        return _executed(self, self._sizes, self._dtype, dim)
    return _executed(self, self._sizes, self._dtype, sorted_dims(self, dim))


@body(_META + "meta_fft_r2c")
def meta_fft_r2c(self: Tensor, dim: Sequence[int], normalization: int, onesided: bool) -> Tensor:
    if not self._dtype.is_floating_point:
        raise worded("fft of real numbers")
    dtype, whole = corresponding_complex_dtype(self._dtype), list(self._sizes)
    if not _AS_ON_A_GPU:
        sizes = onesided_sizes(self, dim) if onesided else whole
        return new_tensor(sizes, dtype, self._device)
    half = onesided_sizes(self, dim)
    sizes = half if onesided else whole
    if _is_one_step(dim):
        return _executed(self, sizes, dtype, dim)
    *others, last = dim
    found = _in_stages(_executed(self, half, dtype, [last]), half, dtype, others)
    return found if half == sizes else new_tensor(sizes, dtype, self._device)


@body(_META + "meta_fft_c2r")
def meta_fft_c2r(self: Tensor, dim: Sequence[int], normalization: int, lastdim: int) -> Tensor:
    if not self._dtype.is_complex:
        raise worded("fft of real numbers")
    others, last = dim[:-1], dim[-1]
    sizes = list(self._sizes)
    sizes[last] = lastdim
    dtype = self._dtype.to_real()
    if not _AS_ON_A_GPU:
        return new_tensor(sizes, dtype, self._device)
    if _is_one_step(dim) or not others:
        return _executed(_CLONE(self, memory_format=_CONTIGUOUS), sizes, dtype, dim)
    return _executed(meta_fft_c2c(self, others, normalization, False), sizes, dtype, [last])
