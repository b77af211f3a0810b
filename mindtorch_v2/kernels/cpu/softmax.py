"""Softmax, its logarithm, and their derivatives.

Mirrors ``aten/src/ATen/native/SoftMax.cpp`` and ``cpu/SoftMaxKernel.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.functions.fused import fused
from mindtorch_v2.kernels.cpu.functions.vector_functions import exp_of_vectors, log_of_vectors
from mindtorch_v2.kernels.dtypes import HABITS
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.outputs import set_output
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import dispatch, is_known
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

_FLOAT: Final = DTYPES["float32"]
_HALF: Final = DTYPES["float16"]


def _softmax(values: Array, dim: int, dtype: DType) -> Array:
    """Over the last dimension a product with the sum's reciprocal; over another one a quotient of
    what the output has been given before."""
    powers = exp_of_vectors(values - values.max(axis=dim, keepdims=True))
    total = powers.sum(axis=dim, keepdims=True)
    if _is_last(values, dim):
        return np.asarray(powers * (1 / total))
    return np.asarray(rounded(powers, dtype) / total)


def _log_softmax(values: Array, dim: int, dtype: DType) -> Array:
    """Over the last dimension the sum and its logarithm are values of ``dtype``."""
    shifted = values - values.max(axis=dim, keepdims=True)
    total = exp_of_vectors(shifted).sum(axis=dim, keepdims=True)
    if _is_last(values, dim):
        return np.asarray(shifted - rounded(log_of_vectors(rounded(total, dtype)), dtype))
    return np.asarray(shifted - log_of_vectors(total))


def _softmax_backward(grad: Array, output: Array, dim: int, dtype: DType) -> Array:
    total = _total(grad * output, dim)
    if _rounds_sum(grad, dim):
        total = rounded(total, dtype)
    return np.asarray(output * (grad - total))


def _log_softmax_backward(grad: Array, output: Array, dim: int, dtype: DType) -> Array:
    total = _total(grad, dim)
    if _rounds_sum(grad, dim):
        total = rounded(total, dtype)
    return fused(-exp_of_vectors(output), total, grad)


def _total(terms: Array, dim: int) -> Array:
    """Over the last dimension negative zeros alone make a negative zero: the sum starts with one of
    them, and not with zero."""
    start = -0.0 if _is_last(terms, dim) else 0.0
    return np.asarray(terms.sum(axis=dim, keepdims=True, initial=start))


def _is_last(values: Array, dim: int) -> bool:
    """Over the last dimension another kernel computes."""
    return dim == values.ndim - 1


def _rounds_sum(values: Array, dim: int) -> bool:
    return HABITS["a gradient of softmax rounds its sum"] and _is_last(values, dim)


def _switch(name: str, dim: int, rank: int) -> str:
    """Which kernel computes: over the last dimension there is another one."""
    kernel = "lastdim_kernel_impl" if dim == max(rank - 1, 0) else "kernel_impl"
    own = f"{name}_{kernel}"
    return own if is_known(own) else own.removeprefix("log_")


def _forward(name: str, compute: Callable[[Array, int, DType], Array]) -> None:
    def run(outputs: Outputs, self: Tensor, dim: int, half_to_float: bool) -> tuple[Tensor, ...]:
        rank = len(self._sizes)
        wrapped = wrap_dim(dim, rank)
        dtype = _FLOAT if half_to_float else self._dtype
        output = set_output(outputs[0], self._sizes, dtype, self._device)
        if output.is_meta:
            return (output,)
        if half_to_float:
            raise RuntimeError("softmax with half to float conversion is not supported on CPU")
        if numel(self._sizes):
            dispatch(_switch(name[1:], wrapped, rank), dtype)
            with np.errstate(all="ignore"):
                values = as_array(self, dtype)
                found = compute(values.reshape(values.shape or (1,)), wrapped, dtype)
                store(output, rounded(found.reshape(values.shape), dtype))
        return (output,)

    structured.add(f"aten::{name}", run)


_forward("_softmax", _softmax)
_forward("_log_softmax", _log_softmax)


def _check_same(grad: Array, output: Array) -> None:
    """RuntimeError where torch reads as many elements of one as the other has."""
    if grad.shape != output.shape:
        raise RuntimeError(f"a gradient of shape {list(grad.shape)} of {list(output.shape)}")


def _backward(
    name: str, compute: Callable[[Array, Array, int, DType], Array], *, checks: bool
) -> None:
    """``checks``: for sizes that are the same; where not, it is the output that may be empty."""

    def run(
        outputs: Outputs, grad_output: Tensor, output: Tensor, dim: int, input_dtype: int
    ) -> tuple[Tensor, ...]:
        rank = len(grad_output._sizes)
        if checks and tuple(grad_output._sizes) != tuple(output._sizes):
            raise RuntimeError(
                f"Expected tensor for argument #1 'grad' to have same size as tensor for "
                f"argument #2 'output'; but {list(grad_output._sizes)} does not equal "
                f"{list(output._sizes)} (while checking arguments for softmax_backward)"
            )
        wrapped = wrap_dim(dim, rank)
        dtype = grad_output._dtype
        made = _HALF if dtype is _FLOAT and input_dtype == enum_value(_HALF) else dtype
        result = set_output(outputs[0], grad_output._sizes, made, grad_output._device)
        if not result.is_meta and numel((grad_output if checks else output)._sizes):
            dispatch(_switch(f"{name[1:]}_backward", wrapped, rank), dtype)
            check_pointers(dtype, result, output)
            if not numel(grad_output._sizes):
                return (result,)
            with np.errstate(all="ignore"):
                arrays: list[Any] = [as_array(each, dtype) for each in (grad_output, output)]
                _check_same(*arrays)
                one, two = (each.reshape(each.shape or (1,)) for each in arrays)
                found = compute(one, two, wrapped, dtype).reshape(arrays[0].shape)
                store(result, rounded(found, dtype))
        return (result,)

    structured.add(f"aten::{name}_backward_data", run)


_backward("_softmax", _softmax_backward, checks=True)
_backward("_log_softmax", _log_softmax_backward, checks=False)
