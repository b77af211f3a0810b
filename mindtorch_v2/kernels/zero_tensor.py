"""Arithmetic with tensors of zeros that store none: what comes of it is known without computing.

Mirrors ``add_zerotensor`` and ``mul_zerotensor`` of ``aten/src/ATen/native/BinaryOps.cpp``, and
what ``aten/src/ATen/ZeroTensorFallback.cpp`` makes of such a tensor.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import mask_of
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.promotion import Number, Operand
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.tensor import Tensor

_ADD: Final = OperatorHandle("aten::add.Tensor")
_EXPAND: Final = OperatorHandle("aten::expand")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_TO: Final = OperatorHandle("aten::to.dtype_layout")
_TO_COPY: Final = OperatorHandle("aten::_to_copy")
_ZEROS: Final = OperatorHandle("aten::_efficientzerotensor")
_STORED: Final = OperatorHandle("aten::zeros")

_META: Final = mask_of(DispatchKey.Meta)


def _on_meta(operand: Operand) -> Operand:
    """The iterator's broadcasting and promotion are asked for with tensors of no values."""
    if not isinstance(operand, Tensor):
        return operand
    moved: Tensor = _TO(operand, device=Device("meta"))
    return moved


def _zeros(like: Any, device: Device) -> Any:
    return _ZEROS(list(like._sizes), dtype=like._dtype, layout=like._layout, device=device)


def materialised(tensor: Tensor) -> Tensor:
    """What other kernels see in the tensor's place: one zero that is stored, and expanded."""
    zero = _STORED([], dtype=tensor._dtype, layout=tensor._layout, device=tensor._device)
    expanded: Tensor = _EXPAND(zero, list(tensor._sizes))
    return expanded


@kernel("aten::add.Tensor", key="ZeroTensor")
def add(self: Tensor, other: Operand, alpha: Number) -> Any:
    found = _ADD.redispatch(_META, _on_meta(self), _on_meta(other), alpha=alpha)
    if not self._is_zerotensor():
        return _copied(self, found)
    if not isinstance(other, Tensor) or other._is_zerotensor():
        return _zeros(found, self._device)
    copied = _copied(other, found)
    return copied if alpha == 1 else _MUL(copied, alpha)


def _copied(tensor: Tensor, like: Any) -> Any:
    expanded = _EXPAND(tensor, list(like._sizes))
    return _TO_COPY(expanded, dtype=like._dtype, layout=like._layout, device=tensor._device)


@kernel("aten::mul.Tensor", key="ZeroTensor")
def mul(self: Tensor, other: Operand) -> Any:
    found = _MUL.redispatch(_META, _on_meta(self), _on_meta(other))
    return _zeros(found, self._device)
