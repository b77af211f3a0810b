"""Zeros that are not stored, as autograd makes them (``aten/src/ATen/ZeroTensorFallback.cpp``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import functionality_bit

if TYPE_CHECKING:
    from mindtorch_v2.tensor.tensor import Tensor

_ZERO: Final = functionality_bit(DispatchKey.ZeroTensor)


def is_zero_tensor(tensor: Tensor) -> bool:
    """What ``_is_zerotensor`` answers to programs: from here nobody can have overridden it."""
    return tensor._keys & _ZERO != 0
