"""Keys that the project's own entry points pass over wherever an operator has no kernel.

Only :mod:`mindtorch_v2.binding.entry_points` asks here.  Tables, dumps, ``torch.ops`` and their
errors are torch's: there a key is passed over if a fallthrough is registered for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from mindtorch_v2.dispatch.key import DispatchKey, to_backend_bit, to_functionality_key
from mindtorch_v2.dispatch.keyset import BACKEND_MASK, difference, functionality_bit, mask_of
from mindtorch_v2.dispatch.operator_entry import OperatorEntry

DEFAULT: Final = frozenset(
    int(DispatchKey[name])
    for name in (
        "PrivateUse1",
        "PrivateUse2",
        "PrivateUse3",
        "CompositeImplicitAutograd",
        "CompositeImplicitAutogradNestedTensor",
        "CompositeExplicitAutograd",
        "CompositeExplicitAutogradNonFunctional",
    )
)
_lock: Final = threading.Lock()
_keys: Final = [DEFAULT]


def global_fallthrough_keys() -> frozenset[int]:
    """The set as it is now."""
    return _keys[0]


def set_global_fallthrough(key: int, desired: bool = True) -> Callable[[], None]:
    """Put a key into the set or take it out; answers what puts the set back as it was."""
    with _lock:
        before = _keys[0]
        _keys[0] = before | {int(key)} if desired else before - {int(key)}

    def undo() -> None:
        with _lock:
            _keys[0] = before

    return undo


def restore_global_fallthrough_keys(keys: frozenset[int]) -> None:
    """Make the set what it was, as :func:`global_fallthrough_keys` said."""
    with _lock:
        _keys[0] = keys


def without_global_fallthrough(entry: OperatorEntry, mask: int) -> int:
    """A keyset without the keys of the set at which the operator has no kernel of its own, be it
    for the key or for an alias of it."""
    for key in global_fallthrough_keys():
        bits = mask_of(key)
        if bits and mask & bits == bits and not entry.has_kernel_serving(key):
            mask = _without(mask, key)
    return mask


def _without(mask: int, key: int) -> int:
    """Without a runtime key: its backend, if the set has another one, else its functionality."""
    backend = to_backend_bit(key)
    if backend and mask & BACKEND_MASK & ~backend:
        return mask & ~backend
    return difference(mask, functionality_bit(to_functionality_key(key)))
