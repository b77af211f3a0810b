"""The reference functions of what makes a tensor.

Mirrors ``full``, ``zeros`` and ``ones`` of ``torch/_refs/__init__.py``, and
``torch/_meta_registrations.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import check_is_size, get_computation_dtype, to_dtype
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DType

_REFS: Final = "torch._refs."
_DECOMPOSED: Final = "torch._decomp.decompositions."
_ARANGE: Final = OperatorHandle("aten::arange")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_FULL: Final = OperatorHandle("aten::full")
_NARROW: Final = OperatorHandle("aten::narrow")


@body(_REFS + "full")
def full(
    shape: Sequence[int],
    fill_value: Any,
    *,
    dtype: DType | None = None,
    layout: Any = None,
    device: Device | None = None,
    pin_memory: bool = False,
) -> Any:
    check_is_size(*shape)  # where strides are computed
    return _FULL(shape, fill_value, dtype=dtype, device=device)


def _filled_with(name: str, value: int) -> None:
    @body(_REFS + name)
    def filled(
        size: Sequence[int],
        *,
        dtype: DType | None = None,
        layout: Any = None,
        device: Device | None = None,
        pin_memory: bool | None = None,
    ) -> Any:
        check_is_size(*size)
        options = {"layout": layout, "device": device, "pin_memory": pin_memory}
        return _FULL(size, value, dtype=dtype or get_default_dtype(), **options)


_filled_with("zeros", 0)
_filled_with("ones", 1)


@body("torch._meta_registrations.meta_zeros", "torch._meta_registrations.meta_ones")
def meta_zeros(
    size: Sequence[int],
    *,
    dtype: DType | None = None,
    device: Device | None = None,
    **options: Any,
) -> Any:
    return _EMPTY(size, dtype=dtype, device=device, **options)


@body(_DECOMPOSED + "hann_window_periodic")
def hann_window_periodic(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | None = None,
    layout: Any = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
) -> Any:
    """Numbers that are counted, and cut off at the end."""
    dtype = dtype or get_default_dtype()
    options = {"layout": layout, "device": device, "pin_memory": pin_memory}
    if window_length in (0, 1):
        return _FULL([window_length], 1, dtype=dtype, **options)
    count = window_length + 1 if periodic else window_length
    _ = 2.0 * pi / (count - 1)
    numbers = _ARANGE(count, dtype=get_computation_dtype(dtype), **options)
    window = _NARROW(numbers, 0, 0, window_length) if periodic else numbers
    return to_dtype(window, dtype)


@body(_DECOMPOSED + "hann_window")
def hann_window(
    window_length: int,
    *,
    dtype: DType | None = None,
    layout: Any = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
) -> Any:
    options = {"layout": layout, "device": device, "pin_memory": pin_memory}
    return hann_window_periodic(window_length, dtype=dtype, **options)
