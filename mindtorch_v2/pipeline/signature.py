"""What metadata tell of a call: two calls of one signature answer tensors that look alike.

What was foreseen of a call, and what its plan kernel answered, is good for every later call of the
same signature; a loop over the same shapes finds both out once.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final

from mindtorch_v2.dispatch import tls
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.tensor import Tensor

Signature = tuple[Hashable, ...]
"""Of calls of one operator at one keyset."""

_PLAIN: Final = frozenset((int, bool, str, type(None), Device))
_SIGNED: Final = frozenset((float, complex))
"""Types whose zeros have a sign, and which have values that do not equal themselves."""


def signature_of(stack: Sequence[Any], tensors: list[Tensor]) -> Signature | None:
    """The arguments' metadata, and the state that kernels may ask.

    ``tensors`` gets those among the arguments, in their order, those in lists too.  None for a
    value of a type that nobody here knows.
    """
    raw = tls.thread_local.raw
    parts: list[Any] = [raw.sets, raw.inference_mode, get_default_dtype()]
    is_known = _describe(stack, parts, tensors)
    if len(tensors) > 1:
        names = [*map(id, tensors)]
        if len(set(names)) < len(names):  # which are the same tensor
            parts.append(tuple(map(names.index, names)))
    return tuple(parts) if is_known else None


def _describe(values: Sequence[Any], parts: list[Any], tensors: list[Tensor]) -> bool:
    """Add what is known of the values; False if there is one of which nothing is."""
    is_known = True
    for value in values:
        kind = type(value)
        if kind is Tensor or isinstance(value, Tensor):
            tensors.append(value)
            device = value._device
            parts.append(
                (
                    *(value._sizes, value._strides, value._storage_offset),
                    *(value._dtype, value._keys, device.type, device._index),
                )
            )
        elif kind in _PLAIN:
            parts += (kind, value)
        elif kind in _SIGNED:
            parts.append(repr(value))
        elif kind is list or kind is tuple:
            parts.append((kind, len(value)))
            is_known &= _describe(value, parts, tensors)
        elif isinstance(value, (list, tuple)):
            is_known = _describe(value, parts, tensors) and False
        else:
            is_known = False
    return is_known
