"""The reference functions of what makes a tensor.

Mirrors ``full``, ``zeros`` and ``ones`` of ``torch/_refs/__init__.py``, and
``torch/_meta_registrations.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import check_is_size
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DType

_REFS: Final = "torch._refs."
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_FULL: Final = OperatorHandle("aten::full")


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
