"""Reductions to an extreme or to its place.

Mirrors ``amax``, ``argmax``, ``aminmax`` and their siblings of
``aten/src/ATen/native/ReduceOps.cpp``, ``ReduceAllOps.cpp``, ``TensorCompare.cpp`` and
``Sorting.cpp``.  NaN is the largest and the least; of equal elements the first counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.along_dim import compare_base_kernel, write_chosen
from mindtorch_v2.kernels.cpu.functions.std_extremes import first_zeros
from mindtorch_v2.kernels.cpu.reduce import (
    foreach_reduced_elt,
    review_reduce_result,
    shares_storage,
)
from mindtorch_v2.kernels.cpu.reductions import (
    reduced_dims,
    reduced_shape,
    run_reduction,
)
from mindtorch_v2.kernels.dtypes import HABITS as KERNEL_HABITS
from mindtorch_v2.kernels.dtypes import check_implemented, check_supported
from mindtorch_v2.kernels.elementwise.pointwise import as_array
from mindtorch_v2.kernels.elementwise.promotion import can_cast
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import check_out, new_tensor, resize_output, set_output, set_sizes
from mindtorch_v2.kernels.overlap import do_overlap
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.messages import expected
from mindtorch_v2.tensor.copying import fill, raw_array, store, store_bits
from mindtorch_v2.tensor.dtype import DTYPES, DType, int64
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import check_listed_rank, numel, wrap_dim
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn_once

_BFLOAT16: Final = DTYPES["bfloat16"]
_AMINMAX: Final = OperatorHandle("aten::aminmax")
_DEPRECATED: Final = (
    "_aminmax is deprecated as of PyTorch 1.11 and will be removed in a future release. Use "
    "aminmax instead. This warning will only appear once per process."
)


def check_not_empty(name: str, self: Tensor, dim: int) -> None:
    """``zero_numel_check_dims``: of nothing there is no largest; a scalar has been wrapped."""
    if self._sizes and not self._sizes[wrap_dim(dim, len(self._sizes))]:
        raise IndexError(f"{name}: Expected reduction dim {dim} to have non-zero size.")


def check_no_dim_empty(name: str, self: Tensor, dims: Sequence[int]) -> None:
    if not dims:
        raise RuntimeError(
            f"{name}: Expected reduction dim to be specified for input.numel() == 0. Specify the "
            "reduction dim with the 'dim' argument."
        )
    for dim in dims:
        check_not_empty(name, self, dim)


def _limit(dtype: np.dtype[Any], sign: int) -> Any:
    """``lower_bound`` or, of a positive sign, ``upper_bound``: what no element is beyond."""
    if dtype.kind == "b":
        return sign > 0
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return limits.max if sign > 0 else limits.min
    return sign * np.inf


# --- amax, amin, aminmax ----------------------------------------------------------------------


def _extreme(name: str, compute: Any) -> None:
    def run(
        outputs: Outputs, self: Tensor, dim: Sequence[int], keepdim: bool
    ) -> tuple[Tensor, ...]:
        (output,) = outputs
        if output is not None and output._dtype is not self._dtype:
            raise RuntimeError(
                "Expected the dtype for input and out to match, but got "
                f"{CPP_NAMES[self._dtype]} for input's dtype and {CPP_NAMES[output._dtype]} for "
                "out's dtype."
            )
        if not numel(self._sizes):
            check_no_dim_empty(f"{name}()", self, dim)
        facts = f"aten::{name}"
        fills = not (name == "amin" and self._dtype is int64)  # pytorch/pytorch#43254
        return run_reduction(facts, compute, outputs, self, dim, keepdim, self._dtype, fills=fills)

    structured.add(f"aten::{name}", run)


def _largest(values: Array, dims: tuple[int, ...]) -> Array:
    return first_zeros(np.max(values, dims, initial=_limit(values.dtype, -1)), values, dims)


def _smallest(values: Array, dims: tuple[int, ...]) -> Array:
    return first_zeros(np.min(values, dims, initial=_limit(values.dtype, 1)), values, dims)


_extreme("amax", _largest)
_extreme("amin", _smallest)


@structured.structured("aten::aminmax", outputs=2)
def aminmax(outputs: Outputs, self: Tensor, dim: int | None, keepdim: bool) -> tuple[Tensor, ...]:
    check_supported("aten::aminmax", self._dtype)
    _check_outputs(outputs, self)
    rank = len(self._sizes)
    reduced = tuple(range(rank))
    if dim is not None:
        place = wrap_dim(dim, rank)
        reduced = (place,) if rank else ()
        check_not_empty("aminmax", self, place)
    elif not numel(self._sizes):
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
            "identity."
        )
    shape = reduced_shape(self._sizes, reduced, keepdim=keepdim)
    found = tuple(set_output(given, shape, self._dtype, self._device) for given in outputs)
    if found[0].is_meta:
        return found
    check_listed_rank(rank)
    if dim is None or self._sizes:  # of nothing as well
        check_implemented("aten::aminmax", self._dtype)
    elif self._dtype.is_complex and HABITS["aminmax refuses a complex scalar"]:
        raise RuntimeError(f"aminmax not implemented for {CPP_NAMES[self._dtype]}")
    if not numel(shape):
        return found
    if dim is None:
        _write_both(found, self, None)
    elif not self._sizes:
        for output in found:
            set_sizes(output, ())
            store_bits(output, raw_array(self))
    else:
        compare_base_kernel(_write_both, found, self, dim, keepdim=keepdim)
    return found


def _check_outputs(outputs: Outputs, self: Tensor) -> None:
    """What is looked at before the dimension."""
    least, largest = outputs
    if least is None or largest is None:
        return
    if KERNEL_HABITS["aminmax looks at its outputs first"]:
        for output in (least, largest):
            check_out(output, self._dtype, self._device)
    if not KERNEL_HABITS["the outputs of aminmax may overlap"] and do_overlap(least, largest):
        raise ValueError("aminmax(): the `min` and `max` out= tensors must not overlap.")


def _write_both(outputs: Sequence[Tensor], self: Tensor, dim: int | None) -> None:
    values = as_array(self, self._dtype)
    if dim is None:  # of zeros, vectors answer one or the other
        extremes = [extreme_of_all(values, each, self._dtype) for each in (np.min, np.max)]
    else:
        extremes = [np.asarray(compute(values, axis=dim)) for compute in (np.min, np.max)]
        extremes = [first_zeros(each, values, (dim,)) for each in extremes]
        extremes = [_first_nans(each, values, dim) for each in extremes]
    for output, found in zip(outputs, extremes, strict=True):
        store(output, found.reshape(tuple(output._sizes)))


def extreme_of_all(values: Array, compute: Callable[[Array], Any], dtype: DType) -> Array:
    """What ``compute`` finds among all of them; a NaN that vectors find is a mask, whose sign
    bfloat16 loses."""
    found = np.asarray(compute(values))
    is_mask = values.size > 1 and dtype is not _BFLOAT16 and found.dtype.kind == "f"
    return np.asarray(np.copysign(found, -1)) if is_mask and np.isnan(found) else found


def _first_nans(found: Array, values: Array, dim: int) -> Array:
    """Where there is one, the first: of two, the signs may differ."""
    if found.dtype.kind != "f" or not np.isnan(found).any():
        return found
    places = np.expand_dims(np.isnan(values).argmax(dim), dim)
    firsts = np.take_along_axis(values, places, dim).squeeze(dim)
    return np.where(np.isnan(found), firsts, found)


# --- where the extremes are -------------------------------------------------------------------


def _extreme_place(name: str, compute: Any) -> None:
    def run(outputs: Outputs, self: Tensor, dim: int | None, keepdim: bool) -> tuple[Tensor, ...]:
        rank = len(self._sizes)
        if HABITS["the place of an extreme looks at the dtype first"]:
            check_supported(f"aten::{name}", self._dtype)
        if dim is not None:
            dim = wrap_dim(dim, rank)
            check_not_empty(f"{name}()", self, dim)
        elif not numel(self._sizes):
            raise IndexError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
            )
        check_supported(f"aten::{name}", self._dtype)
        reduced = reduced_dims(None if dim is None else [dim], rank)
        shape = reduced_shape(self._sizes, reduced, keepdim=keepdim)
        output = set_output(outputs[0], shape, int64, self._device)
        if output.is_meta or not numel(shape):
            return (output,)
        if output is self:  # of another geometry now
            rank = len(self._sizes)
            dim = None if dim is None else wrap_dim(dim, rank)
        if dim is not None and rank and self._sizes[dim] == 1:
            store(output, np.asarray(0))
            return (output,)
        check_implemented(f"aten::{name}", self._dtype)
        if shares_storage(output, self):
            place_each(output, dim, keepdim=keepdim, self=self)
            return (output,)
        found = compute(as_array(self, self._dtype), axis=dim if rank else None)
        store(output, np.asarray(found).reshape(shape))
        return (output,)

    def place_each(output: Tensor, dim: int | None, *, keepdim: bool, self: Tensor) -> None:
        """Into memory of ``self``: see Note [Outputs that are inputs]."""

        def read() -> Array:
            values = as_array(self, self._dtype)
            return values.reshape(-1) if dim is None else values

        viewed = review_reduce_result(
            output, (0,) if dim is None else (dim,), keepdim=keepdim and dim is not None
        )
        foreach_reduced_elt(viewed, read, lambda row, dims: compute(row, axis=dims[0]))

    structured.add(f"aten::{name}", run)


_extreme_place("argmax", np.argmax)
_extreme_place("argmin", np.argmin)


# --- max, min: the extreme and its place ------------------------------------------------------


def _along_dim(name: str, find: Callable[..., Array]) -> None:
    facts = f"aten::{name}.dim"

    def run(outputs: Outputs, self: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, ...]:
        rank = len(self._sizes)
        dim = wrap_dim(dim, rank)
        check_not_empty(f"{name}()", self, dim)
        if self._dtype.is_complex:
            check_supported(facts, self._dtype)
        reduced = (dim,) if rank else ()
        shape = reduced_shape(self._sizes, reduced, keepdim=keepdim)
        values = set_output(outputs[0], shape, self._dtype, self._device)
        indices = set_output(outputs[1], shape, int64, self._device)
        if values.is_meta or not numel(shape):
            return values, indices
        if not self._sizes:
            store_bits(values, raw_array(self))
            store(indices, np.asarray(0))
            return values, indices
        check_implemented(facts, self._dtype)
        compare_base_kernel(choose, (values, indices), self, dim, keepdim=keepdim)
        return values, indices

    def choose(outputs: Sequence[Tensor], self: Tensor, dim: int) -> None:
        places = np.expand_dims(find(as_array(self, self._dtype), axis=dim), dim)
        write_chosen(outputs, self, dim, places)

    structured.add(facts, run, outputs=2)


_along_dim("max", np.argmax)
_along_dim("min", np.argmin)


def _over_all(name: str, compute: Any, sign: int) -> None:
    """``sign`` is that of the limit at which C++ begins, all that an output gets of nothing."""

    def write(self: Tensor, out: Tensor) -> Tensor:
        check_implemented(f"aten::{name}", self._dtype)
        values = as_array(self, self._dtype)
        if values.size:
            store(out, extreme_of_all(values, compute, self._dtype))
        else:
            fill(out, _limit(values.dtype, sign))
        return out

    def run(self: Tensor) -> Tensor:
        if not numel(self._sizes):
            raise RuntimeError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify "
                "the reduction dim with the 'dim' argument."
            )
        return write(self, new_tensor((), self._dtype, self._device))

    def run_out(self: Tensor, out: Tensor) -> Tensor:
        prepare((out,), self)
        return write(self, out)

    @structured.prologue(f"aten::{name}")
    def prepare(outputs: Sequence[Tensor], self: Tensor) -> None:
        (out,) = outputs
        if self._device != out._device:
            raise RuntimeError(expected("self.device() == out.device()"))
        if not can_cast(self._dtype, out._dtype):
            raise RuntimeError(expected(_CAN_CAST))
        resize_output(out, ())

    kernel(f"aten::{name}")(run)
    kernel(f"aten::{name}.unary_out")(run_out)


_CAN_CAST: Final = "canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype()))"

_over_all("max", np.max, -1)
_over_all("min", np.min, 1)


@kernel("aten::_aminmax")
def aminmax_all(self: Tensor) -> Any:
    warn_once("_aminmax_all", _DEPRECATED)
    return _AMINMAX(self)


@kernel("aten::_aminmax.dim")
def aminmax_dim(self: Tensor, dim: int, keepdim: bool) -> Any:
    warn_once("_aminmax", _DEPRECATED)
    return _AMINMAX(self, dim=dim, keepdim=keepdim)
