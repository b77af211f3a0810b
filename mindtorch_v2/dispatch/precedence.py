"""Which of an operator's registrations serves a runtime key.

Mirrors ``OperatorEntry::computeDispatchTableEntryWithDebug``.  It depends on nothing but the keys
that have a kernel, and operators that have kernels at the same keys are many: what follows from a
set of keys is found once.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import cache, lru_cache
from itertools import chain
from types import MappingProxyType
from typing import Final, NamedTuple

from mindtorch_v2 import profile
from mindtorch_v2.dispatch.key import (
    EXTENSION_KEYS,
    NPU_BIT,
    DispatchKey,
    is_alias_dispatch_key,
    key_name,
    to_backend_bit,
)
from mindtorch_v2.dispatch.keyset import (
    FULL,
    backend_keyset_from_autograd,
    has,
    is_included_in_alias,
    mask_of,
    runtime_dispatch_keyset,
    runtime_keys,
)

RUNTIME_KEYS: Final = (int(DispatchKey.Undefined), *runtime_keys(FULL))
"""The keys of torch's that a table has entries for, in the order in which it is dumped."""
EXTENSIONS: Final = tuple(EXTENSION_KEYS.values())
"""Those of this package, which stand behind them."""
_TABLE_KEYS: Final = (*RUNTIME_KEYS, *EXTENSIONS)
_TABLE_KEY_SET: Final = frozenset(_TABLE_KEYS)
_SETS_KEPT: Final = 4096
"""How many sets of keys are remembered: aten's operators have fewer than 200."""

_NON_FUNCTIONAL: Final = DispatchKey.CompositeExplicitAutogradNonFunctional
_EXPLICIT: Final = DispatchKey.CompositeExplicitAutograd
_IMPLICIT: Final = DispatchKey.CompositeImplicitAutograd
_NESTED: Final = DispatchKey.CompositeImplicitAutogradNestedTensor
_FOR_BACKENDS: Final = (_NON_FUNCTIONAL, _EXPLICIT, _IMPLICIT)
_LAST_ALIASES: Final = (
    (DispatchKey.Autograd, "autograd kernel"),
    (DispatchKey.FuncTorchBatchedDecomposition, "batched kernel"),
)
_AUTOGRAD_OTHER_BACKENDS: Final[int] = profile.active().keys.constants[
    "_dispatch_autogradother_backends"
]


class Source(NamedTuple):
    """Where the kernel for a key is registered, and why it is that one, in the words of a dump.

    ``key`` is None where two registrations would do and neither is the better one.
    """

    key: int | None
    reason: str


@lru_cache(maxsize=_SETS_KEPT)
def sources(registered: frozenset[int]) -> Mapping[int, Source]:
    """By runtime key, for all that one of these registrations serves."""
    served = (_served(key) if key in _ALIASES else (key,) for key in registered)
    keys = _TABLE_KEY_SET.intersection(chain.from_iterable(served))
    found = {key: source(key, registered) for key in keys}
    return MappingProxyType({key: each for key, each in found.items() if each is not None})


def source(key: int, registered: Set[int]) -> Source | None:
    """The registration that serves a runtime key; the numbers are those of the Note
    [DispatchTable computation] in OperatorEntry.cpp, whose 3. and 4. are no registrations."""
    # 1. a kernel registered for this key
    if key in registered:
        return Source(key, "kernel")
    # 2.1, 2.2. a kernel for every backend
    for alias in (_NON_FUNCTIONAL, _EXPLICIT):
        if alias in registered and key in _served(alias):
            return Source(alias, "default backend kernel")
    # 2.3. a composition of other operators
    composed = _composition(key, registered)
    if composed is not None:
        return composed
    # 2.4, 2.5. a kernel for every autograd or batched key
    for alias, reason in _LAST_ALIASES:
        if alias in registered and key in _served(alias):
            return Source(alias, reason)
    return None


def _composition(key: int, registered: Set[int]) -> Source | None:
    if _NESTED in registered and key in _served(_NESTED):
        return Source(_NESTED, "nested kernel")
    if _IMPLICIT not in registered or key not in _served(_IMPLICIT):
        return None
    if key == DispatchKey.AutogradOther and not _keys_of(_AUTOGRAD_OTHER_BACKENDS).isdisjoint(
        registered
    ):
        return Source(None, "ambiguous autogradother")
    if _EXPLICIT in registered or not _backends(key).isdisjoint(registered):
        return None
    return Source(_IMPLICIT, "math kernel")


_ALIASES: Final = frozenset((*_FOR_BACKENDS, _NESTED, *(pair[0] for pair in _LAST_ALIASES)))


@cache
def _served(alias: int) -> frozenset[int]:
    """The keys that a kernel at ``alias`` is for; Undefined counts as a backend."""
    served = frozenset(key for key in _TABLE_KEYS if is_included_in_alias(key, alias))
    return served | {int(DispatchKey.Undefined)} if alias in _FOR_BACKENDS else served


@cache
def _keys_of(keyset: int) -> frozenset[int]:
    """The keys, no aliases, that a keyset has."""
    return frozenset(
        int(key) for key in DispatchKey if not is_alias_dispatch_key(key) and has(keyset, key)
    )


def _backends(key: int) -> frozenset[int]:
    """The backends behind an autograd key."""
    return _keys_of(backend_keyset_from_autograd(key))


@cache
def affected(key: int) -> tuple[int, ...]:
    """The keys whose entries torch computes anew when something changes at ``key``."""
    if key == DispatchKey.Undefined:
        return (key,)
    found = [] if _has_no_runtime_keys(key) else list(runtime_keys(runtime_dispatch_keyset(key)))
    if key in _FOR_BACKENDS:
        found.append(int(DispatchKey.Undefined))
    if _is_backend(key):
        found.append(_autograd_key(to_backend_bit(key)))
    return tuple(found)


def _has_no_runtime_keys(alias: int) -> bool:
    return key_name(alias) in profile.active().registrations["aliases_without_runtime_keys"]


def _is_backend(key: int) -> bool:
    """``isBackendDispatchKey``."""
    backends = _AUTOGRAD_OTHER_BACKENDS | mask_of(DispatchKey.Dense)
    return not is_alias_dispatch_key(key) and key != DispatchKey.NestedTensor and has(backends, key)


def _autograd_key(backend_bit: int) -> int:
    """``getAutogradKeyFromBackend``."""
    if backend_bit == NPU_BIT:
        return int(DispatchKey.AutogradNPU)
    backends = profile.active().keys.backends
    name = backends[backend_bit.bit_length() - 1] if backend_bit else ""
    names = profile.active().keys.autograd_key_of_backend
    return int(DispatchKey[names.get(name, "AutogradOther")])
