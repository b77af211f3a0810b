"""Plain calls of pointwise operators: operands of the CPU that lie alike, and one array function.

A call that has been made before with the same dtype, geometry and further arguments needs no
checks: a :class:`~mindtorch_v2.kernels.pointwise.Pointwise` keeps what they came to as a
:class:`Plan`, and the short way goes from the tensors to NumPy and back.  It calls no operator and
reads nothing of the thread but the inference mode, so who stands above may call it as it is,
without masking keys for it.  Whatever is not plain it leaves alone, and answers UNUSUAL.  Operands
are of the class Tensor itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_v2.binding.unboxed import UNUSUAL, Run
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import mask_of
from mindtorch_v2.kernels.alike import tensor_of
from mindtorch_v2.tensor.device import NO_INDEX
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.options import tensor_keyset
from mindtorch_v2.tensor.quiet import quietly

KEYS: Final = tensor_keyset(mask_of(DispatchKey.CPU))
"""Those of a dense tensor of the CPU that is nothing else."""

_MOST_PLANS: Final = 1000


class Plan(NamedTuple):
    """What is computed of operands with a geometry."""

    raw: np.dtype[Any]
    compute: Callable[..., Array]
    #: What ``compute`` gets after the operands.
    rest: tuple[Any, ...]


class Plans(dict[Any, Plan]):
    """By dtype, sizes, strides and further arguments with their types."""

    def keep(self, key: Any, plan: Plan) -> None:
        if len(self) < _MOST_PLANS:
            self[key] = plan


def unary(plans: Plans) -> Run:
    """The short way of an operator of one operand."""

    def run(self: Any, *rest: Any) -> Any:
        sizes = self._sizes
        try:
            plan = plans.get((self._dtype, sizes, self._strides, rest, *map(type, rest)))
        except TypeError:  # further arguments that are no numbers
            return UNUSUAL
        if plan is None or self._keys != KEYS or self._device._index != NO_INDEX:
            return UNUSUAL
        raw, compute, rest = plan
        start = self._storage_offset * raw.itemsize
        return tensor_of(
            quietly(compute, np.ndarray(sizes, raw, self._storage._bytes, start), *rest), self
        )

    return run


def binary(plans: Plans, *, in_place: bool) -> Run:
    """The short way of an operator of two operands, the first of which the result may replace."""

    def run(self: Any, other: Any, *rest: Any) -> Any:
        dtype, sizes, strides = self._dtype, self._sizes, self._strides
        try:
            plan = plans.get((dtype, sizes, strides, rest, *map(type, rest)))
        except TypeError:  # further arguments that are no numbers
            return UNUSUAL
        if (
            plan is None
            or self._keys != KEYS
            or other._keys != KEYS
            or other._dtype is not dtype
            or other._sizes != sizes
            or other._strides != strides
            or self._device._index != NO_INDEX
            or other._device._index != NO_INDEX
        ):
            return UNUSUAL
        storage, others = self._storage, other._storage
        if in_place and storage is others and self is not other:
            return UNUSUAL
        raw, compute, rest = plan
        itemsize = raw.itemsize
        left = np.ndarray(sizes, raw, storage._bytes, self._storage_offset * itemsize)
        right = np.ndarray(sizes, raw, others._bytes, other._storage_offset * itemsize)
        computed = quietly(compute, left, right, *rest)
        if not in_place:
            return tensor_of(computed, self)
        left[...] = computed
        return self

    return run
