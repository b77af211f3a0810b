"""Memory that nobody has written to, which has known contents while algorithms are deterministic.

Mirrors ``fill_empty_deterministic_`` of ``aten/src/ATen/native/TensorFactories.h`` and
``fill_resize_deterministic_`` of ``ResizeCommon.h``.
"""

from __future__ import annotations

from math import nan
from typing import Any

from mindtorch_v2.context import fills_uninitialized_memory
from mindtorch_v2.kernels.elementwise.promotion import BOOL
from mindtorch_v2.kernels.switches import dispatch
from mindtorch_v2.tensor.copying import fill
from mindtorch_v2.tensor.dtype import DType, strided
from mindtorch_v2.tensor.support import IINFO
from mindtorch_v2.tensor.tensor import Tensor


def filled_if_deterministic(tensor: Tensor) -> Tensor:
    """A new tensor: NaN everywhere, or the largest integer, if it has to be something."""
    is_on_cpu = tensor._device.type == "cpu" and tensor._layout is strided
    if fills_uninitialized_memory() and is_on_cpu and not tensor._dtype._is_quantized:
        _fill(tensor)
    return tensor


def fill_grown(tensor: Tensor, nbytes: int) -> None:
    """What a tensor's storage has more than the ``nbytes`` that it had."""
    if not fills_uninitialized_memory() or tensor._device.type != "cpu":
        return
    itemsize = tensor._dtype.itemsize
    first, end = nbytes // itemsize, tensor.untyped_storage().nbytes() // itemsize
    if end > first:
        _fill(tensor._as_view((end - first,), (1,), first))


def _fill(tensor: Tensor) -> None:
    dispatch("fill_empty_deterministic_", tensor._dtype)
    fill(tensor, _content(tensor._dtype))


def _content(dtype: DType) -> Any:
    if dtype.is_floating_point or dtype.is_complex:
        return nan
    return True if dtype is BOOL else IINFO[dtype]["max"]
