"""Norms of vectors.

Mirrors ``linalg_vector_norm`` of ``aten/src/ATen/native/LinearAlgebra.cpp`` and ``norm`` of
``ReduceOps.cpp``, which calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.moments import real_value_type
from mindtorch_v2.kernels.cpu.reduce import (
    foreach_reduced_elt,
    review_reduce_result,
    shares_storage,
)
from mindtorch_v2.kernels.cpu.reductions import reduced_dims, reduced_shape
from mindtorch_v2.kernels.dtypes import HABITS, check_implemented
from mindtorch_v2.kernels.elementwise.pointwise import as_array, check_fill
from mindtorch_v2.kernels.elementwise.promotion import Number, dtype_numbered
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import resize_output, set_output
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.tensor.copying import store, warn_of_cast
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.experimental import raise_warning_for_complex_half, warn_of_copy
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.scalars import scalar_to
from mindtorch_v2.tensor.support import CPP_NAMES, promote_types, streamed, worded
from mindtorch_v2.tensor.tensor import Tensor

_NAME: Final = "linalg.vector_norm"
_FACTS: Final = "aten::linalg_vector_norm"
_VECTOR_NORM_OUT: Final = OperatorHandle("aten::linalg_vector_norm.out")
_NORM: Final = OperatorHandle("aten::norm.ScalarOpt_dim")
_NORM_DTYPE: Final = OperatorHandle("aten::norm.ScalarOpt_dim_dtype")

_COMPLEX_HALF: Final = DTYPES["complex32"]
_DROPS_IMAGINARY: Final = HABITS["a norm drops imaginary halves"]

#: On meta a function of Python is asked.
_KEYS: Final = ("CPU", "CompositeExplicitAutogradNonFunctional")


@structured.structured(_FACTS, keys=_KEYS)
def linalg_vector_norm(
    outputs: Outputs,
    self: Tensor,
    ord: Number,
    dim: Sequence[int] | None,
    keepdim: bool,
    dtype: int | None,
) -> tuple[Tensor, ...]:
    if not self._dtype.is_floating_point and not self._dtype.is_complex:
        raise worded("vector_norm of integers", Long=CPP_NAMES[self._dtype])
    if isinstance(ord, complex) and HABITS["a norm looks at the kind of its order"]:
        raise RuntimeError(f"{_NAME}: Expected a non-complex scalar as the order of norm.")
    order = float(scalar_to(ord, DTYPES["float64"]))
    if not numel(self._sizes) and (order < 0 or order == np.inf):
        _check_identity(self, ord, dim)
    asked = None if dtype is None else dtype_numbered(dtype)
    if asked is not None:
        check_dtype(self._dtype, asked)
    computed = asked or self._dtype
    reduced = reduced_dims(dim, len(self._sizes))
    shape = reduced_shape(self._sizes, reduced, keepdim=keepdim)
    is_named = bool(dim) and not self._sizes  # a dimension that is not there has no size of 1
    is_of_ones = not is_named and all(self._sizes[place] == 1 for place in reduced)
    output = set_output(outputs[0], shape, real_value_type(computed), self._device)
    if output is self and not output.is_meta:  # of another geometry now, and once more
        reduced = reduced_dims(dim, len(self._sizes))
        shape = reduced_shape(self._sizes, reduced, keepdim=keepdim)
        resize_output(output, shape)
    if computed.is_complex and not output.is_meta and (is_of_ones or np.isinf(order)):
        _warn_of_copies(self._dtype, computed, order)
    if numel(shape) and not output.is_meta:
        if output is not self and not is_of_ones:
            if numel(self._sizes):
                check_implemented(_FACTS, computed)
            else:
                check_fill(output, output._dtype)
        is_summed = np.isfinite(order) and not is_of_ones
        drops = computed is _COMPLEX_HALF and is_summed and _DROPS_IMAGINARY

        def read() -> Array:
            values = as_array(self, computed)
            return values.real if drops else values

        with np.errstate(all="ignore"):
            if shares_storage(output, self):  # see Note [Outputs that are inputs]
                viewed = review_reduce_result(output, reduced, keepdim=keepdim)
                foreach_reduced_elt(viewed, read, partial(_norm, order))
            else:
                store(output, np.asarray(_norm(order, read(), reduced)).reshape(shape))
    return (output,)


def _warn_of_copies(own: DType, computed: DType, order: float) -> None:
    """Of the input in another dtype, and of magnitudes, which are computed as complex numbers; what
    is not nought is found by comparing with a nought, into such numbers too."""
    warn_of_copy(own, computed)
    raise_warning_for_complex_half(computed)
    if not order:
        raise_warning_for_complex_half(computed)
        warn_of_cast(computed, real_value_type(computed))


def _shown(number: Number) -> str:
    """As C++ streams print a ``Scalar``."""
    return streamed(number) if isinstance(number, float) else str(number).lower()


def _check_identity(self: Tensor, ord: Number, dim: Sequence[int] | None) -> None:
    """Of nothing there is no largest, and nothing cannot be divided by."""
    if not dim:
        raise RuntimeError(
            f"{_NAME} cannot compute the {_shown(ord)} norm on an empty tensor because the "
            "operation does not have an identity"
        )
    for place in dim:
        if not self._sizes[wrap_dim(place, len(self._sizes))]:
            raise RuntimeError(
                f"{_NAME} cannot compute the {_shown(ord)} norm on the dimension {place}"
                "because this dimension is empty and the operation does not have an identity"
            )


def check_dtype(own: DType, dtype: DType, name: str = _NAME) -> None:
    """``check_linalg_norm_dtype``."""
    if not dtype.is_floating_point and not dtype.is_complex:
        raise RuntimeError(
            f"{name}: dtype should be floating point or complex, but got {CPP_NAMES[dtype]}"
        )
    if own.is_complex != dtype.is_complex:
        kind = "complex" if own.is_complex else "real"
        raise RuntimeError(
            f"{name}: dtype should be {kind} for {kind} inputs, but got {CPP_NAMES[dtype]}"
        )
    if promote_types(own, dtype) is not dtype:
        raise RuntimeError(
            f"{name}: the dtype of the input ({CPP_NAMES[own]}) should be convertible without "
            f"narrowing to the specified dtype ({CPP_NAMES[dtype]})"
        )


def _norm(order: float, values: Array, dims: tuple[int, ...]) -> Any:
    if order == 0 or not values.size:
        return np.sum(values != 0, axis=dims)
    sizes = np.abs(values)
    if all(values.shape[dim] == 1 for dim in dims):
        return sizes
    extreme = _EXTREMES.get(order)
    if extreme is not None:
        return extreme(sizes, axis=dims, initial=0 if order > 0 else None)
    if order == 1:
        return np.sum(sizes, axis=dims)
    if order == 2:
        return np.sqrt(np.sum(sizes * sizes, axis=dims))
    return np.sum(sizes**order, axis=dims) ** (1 / order)


_EXTREMES: Final[dict[float, Callable[..., Any]]] = {np.inf: np.max, -np.inf: np.min}


# --- norm -------------------------------------------------------------------------------------


def _run(
    output: Tensor,
    self: Tensor,
    p: Number | None,
    dim: Sequence[int],
    keepdim: bool,
    dtype: int | None,
) -> tuple[Tensor, ...]:
    order = 2.0 if p is None else p
    if output.is_meta:
        return linalg_vector_norm((output,), self, order, dim, keepdim, dtype)
    _VECTOR_NORM_OUT(self, order, list(dim), keepdim, dtype, out=output)
    return (output,)


@structured.structured("aten::norm.ScalarOpt_dim", keys=_KEYS)
def norm_dim(
    outputs: Outputs, self: Tensor, p: Number | None, dim: Sequence[int], keepdim: bool
) -> tuple[Tensor, ...]:
    if not self._dtype.is_floating_point and not self._dtype.is_complex:
        raise worded("norm of integers", Long=CPP_NAMES[self._dtype])
    wanted = real_value_type(self._dtype)
    return _run(_output(outputs, self, dim, keepdim, wanted), self, p, dim, keepdim, None)


@structured.structured("aten::norm.ScalarOpt_dim_dtype", keys=_KEYS)
def norm_dim_dtype(
    outputs: Outputs,
    self: Tensor,
    p: Number | None,
    dim: Sequence[int],
    keepdim: bool,
    dtype: int,
) -> tuple[Tensor, ...]:
    asked = dtype_numbered(dtype)
    if not asked.is_floating_point and not asked.is_complex:
        raise RuntimeError(
            "norm(): the desired output dtype should be either floating point or complex. Got "
            f"{CPP_NAMES[asked]} instead."
        )
    return _run(_output(outputs, self, dim, keepdim, asked), self, p, dim, keepdim, dtype)


def _output(
    outputs: Outputs, self: Tensor, dim: Sequence[int], keepdim: bool, dtype: DType
) -> Tensor:
    (given,) = outputs
    shape = reduced_shape(self._sizes, reduced_dims(dim, len(self._sizes)), keepdim=keepdim)
    return set_output(given, shape, dtype if given is None else given._dtype, self._device)


@kernel("aten::norm.Scalar", key="CompositeExplicitAutograd")
def norm(self: Tensor, p: Number) -> Any:
    return _NORM(self, p, [], False)


@kernel("aten::norm.ScalarOpt_dtype", key="CompositeExplicitAutograd")
def norm_dtype(self: Tensor, p: Number | None, dtype: int) -> Any:
    return _NORM_DTYPE(self, p, [], False, dtype=dtype_numbered(dtype))
