"""Arithmetic with tensors of zeros that store none: what comes of it is known without computing.

Mirrors ``add_zerotensor`` and its like in ``aten/src/ATen/native/BinaryOps.cpp``, and what
``aten/src/ATen/ZeroTensorFallback.cpp`` makes of such a tensor.
"""

from __future__ import annotations

import math
from typing import Any, Final

from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import mask_of
from mindtorch_v2.kernels.elementwise.promotion import Number, Operand, number_dtype
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.scalar_ops import scalar_tensor_static
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.zeros import is_zero_tensor

_ADD: Final = OperatorHandle("aten::add.Tensor")
_CROSS: Final = OperatorHandle("aten::linalg_cross")
_DIV: Final = OperatorHandle("aten::div.Tensor")
_EXPAND: Final = OperatorHandle("aten::expand")
_FULL: Final = OperatorHandle("aten::full")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_TO: Final = OperatorHandle("aten::to.dtype_layout")
_TO_COPY: Final = OperatorHandle("aten::_to_copy")
_ZEROS: Final = OperatorHandle("aten::_efficientzerotensor")
_STORED: Final = OperatorHandle("aten::zeros")

_META: Final = mask_of(DispatchKey.Meta)


def _tensor(operand: Operand) -> Tensor:
    """``scalar_to_tensor`` of a number, which counts as any tensor then."""
    if isinstance(operand, Tensor):
        return operand
    return scalar_tensor_static(operand, number_dtype(operand))


def _on_meta(operand: Tensor) -> Any:
    """The iterator's broadcasting and promotion are asked for with tensors of no values."""
    return _TO(operand, device=Device("meta"))


def _device(self: Tensor, other: Tensor) -> Device:
    """``correct_out_device``: that of an operand which is not on the CPU."""
    return other._device if self._device.type == "cpu" else self._device


def _options(like: Any, device: Device) -> dict[str, Any]:
    return {"dtype": like._dtype, "layout": like._layout, "device": device}


def _zeros(like: Any, device: Device) -> Any:
    return _ZEROS(list(like._sizes), **_options(like, device))


def materialised(tensor: Tensor) -> Tensor:
    """What other kernels see in the tensor's place: one zero that is stored, and expanded."""
    zero = _STORED([], dtype=tensor._dtype, layout=tensor._layout, device=tensor._device)
    expanded: Tensor = _EXPAND(zero, list(tensor._sizes))
    return expanded


@kernel("aten::add.Tensor", key="ZeroTensor")
def add(self: Tensor, other: Operand, alpha: Number) -> Any:
    other = _tensor(other)
    device = _device(self, other)
    found = _ADD.redispatch(_META, _on_meta(self), _on_meta(other), alpha=alpha)
    if not is_zero_tensor(self):
        return _copied(self, found, device)
    if is_zero_tensor(other):
        return _zeros(found, device)
    copied = _copied(other, found, device)
    return copied if alpha == 1 else _MUL(copied, alpha)


def _copied(tensor: Tensor, like: Any, device: Device) -> Any:
    return _TO_COPY(_EXPAND(tensor, list(like._sizes)), **_options(like, device))


@kernel("aten::sub.Tensor", key="ZeroTensor")
def sub(self: Tensor, other: Operand, alpha: Number) -> Any:
    if isinstance(alpha, bool):
        raise RuntimeError("torch boolean negative, the `-` operator, is not supported.")
    return add(self, other, -alpha)


@kernel("aten::mul.Tensor", key="ZeroTensor")
def mul(self: Tensor, other: Operand) -> Any:
    other = _tensor(other)
    found = _MUL.redispatch(_META, _on_meta(self), _on_meta(other))
    return _zeros(found, _device(self, other))


@kernel("aten::div.Tensor", key="ZeroTensor")
def div(self: Tensor, other: Operand) -> Any:
    other = _tensor(other)
    device = _device(self, other)
    found = _DIV.redispatch(_META, _on_meta(self), _on_meta(other))
    if not is_zero_tensor(other):
        return _zeros(found, device)
    value = math.nan if is_zero_tensor(self) else math.inf
    return _FULL(list(found._sizes), value, **_options(found, device))


@kernel("aten::linalg_cross", key="ZeroTensor")
def linalg_cross(self: Tensor, other: Tensor, dim: int) -> Any:
    found = _CROSS.redispatch(_META, _on_meta(self), _on_meta(other), dim=dim)
    return _zeros(found, _device(self, other))
