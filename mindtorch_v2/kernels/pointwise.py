"""Pointwise operators: a :class:`TensorIterator` and a function of NumPy arrays.

Mirrors ``aten/src/ATen/native/BinaryOps.cpp``, ``UnaryOps.cpp`` and their CPU kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.promotion import Operand, to_opmath
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.tensor_iterator import Config, TensorIterator
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array, elements_of
from mindtorch_v2.tensor.tensor import Tensor

Compute = Callable[..., Array]
"""From arrays of the dtype that is computed in, and the arguments after them, to an array."""


@dataclass(frozen=True)
class Pointwise:
    """A structured kernel: ``inputs`` operands, then arguments that ``compute`` gets as they are.

    ``check`` sees the iterator's common dtype and the arguments before anything is made;
    ``kernel`` names the CPU kernel whose dtypes the profile knows.
    """

    compute: Compute
    config: Config
    inputs: int
    kernel: str = ""
    check: Callable[..., None] | None = None

    def __call__(self, outputs: Outputs, *stack: Any) -> tuple[Tensor, ...]:
        operands, rest = stack[: self.inputs], stack[self.inputs :]
        iterator = TensorIterator(self.config, outputs, operands)
        if self.check is not None:
            self.check(iterator, *rest)
        (output,) = iterator.outputs
        if not output.is_meta:
            self._run(iterator, output, rest)
        return iterator.outputs

    def _run(self, iterator: TensorIterator, output: Tensor, rest: tuple[Any, ...]) -> None:
        dtype = iterator.common_dtype
        arrays = [as_array(operand, dtype) for operand in iterator.inputs]
        with np.errstate(all="ignore"):
            store(output, rounded(np.asarray(self.compute(*arrays, *rest)), dtype))


def as_array(operand: Operand, dtype: DType) -> Array:
    """The values of an operand after conversion to ``dtype``, in the precision of its kernels."""
    computed = elements_of(to_opmath(dtype)).computed
    if not isinstance(operand, Tensor):
        return np.asarray(operand).astype(computed)
    values = value_array(operand)
    if operand._dtype is not dtype:
        elements = elements_of(dtype)
        values = elements.decode(elements.encode(values))
    return values if values.dtype == computed else values.astype(computed)


def rounded(values: Array, dtype: DType) -> Array:
    """Results of a computation in higher precision, as values of ``dtype``."""
    if to_opmath(dtype) is dtype or values.dtype != elements_of(to_opmath(dtype)).computed:
        return values
    elements = elements_of(dtype)
    return elements.decode(elements.encode(values))


def pointwise(
    name: str,
    compute: Compute,
    config: Config,
    inputs: int,
    *,
    check: Callable[..., None] | None = None,
) -> None:
    """Register a pointwise operator and its forms, at CPU and Meta."""
    kernel = name.removeprefix("aten::").partition(".")[0]
    structured.add(name, Pointwise(compute, config, inputs, kernel, check))
