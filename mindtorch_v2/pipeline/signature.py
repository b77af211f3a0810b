"""What metadata tell of a call: two calls of one signature answer tensors that look alike.

What was foreseen of a call, and what its plan kernel answered, is good for every later call of the
same signature; a loop over the same shapes finds both out once.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final

from mindtorch_v2.binding.operators import Call
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.tensor import Tensor

Signature = tuple[Hashable, ...]

_PLAIN: Final = frozenset((int, bool, str, type(None), Device))
_SIGNED: Final = frozenset((float, complex))
"""Types whose zeros have a sign, and which have values that do not equal themselves."""


def signature_of(call: Call, keyset: int, tensors: Sequence[Tensor]) -> Signature | None:
    """The operator, its arguments' metadata, and the state that its kernels may ask.

    None for a value of a type that nobody here knows.
    """
    raw = tls.local_dispatch_key_set()
    parts: list[Any] = [
        *(call.operator.canonical, DISPATCHER.version, keyset, get_default_dtype()),
        *(raw.included, raw.excluded, raw.inference_mode),
    ]
    if len(tensors) > 1:
        names = [id(tensor) for tensor in tensors]
        if len(set(names)) < len(names):  # which are the same tensor
            parts.append(tuple(map(names.index, names)))
    return tuple(parts) if _describe(call.stack, parts) else None


def _describe(values: Sequence[Any], parts: list[Any]) -> bool:
    """Add what is known of the values; False for one of which nothing is."""
    for value in values:
        kind = type(value)
        if kind in _PLAIN:
            parts += (kind, value)
        elif isinstance(value, Tensor):
            parts.append(
                (
                    *(value._sizes, value._strides, value._storage_offset),
                    *(value._dtype, value._keys, value._device.type, value._device._index),
                )
            )
        elif kind in _SIGNED:
            parts.append(repr(value))
        elif kind is list or kind is tuple:
            parts.append((kind, len(value)))
            if not _describe(value, parts):
                return False
        else:
            return False
    return True
