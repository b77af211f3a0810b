"""Dispatch keys: their values, their classes, their names, and one order of priority.

Mirrors ``c10/core/DispatchKey.h`` and ``DispatchKey.cpp``.  The facts (which keys, which
values) are the active profile's; the rules are here.

Note [Extension keys]
    ``Pipeline`` (a functionality) and ``NPU`` (a backend, with its per-backend keys) are ours.
    Their values lie above torch's 16-bit enum and their bits above torch's 64, so whatever
    concerns torch's keys alone is torch's to the bit.  Priority comes from :data:`PRIORITY`,
    not from bit numbers: ``Pipeline`` stands immediately below ``BackendSelect``, ``NPU``
    between ``PrivateUse3`` and ``Meta``.
"""

from __future__ import annotations

from enum import EnumMeta, IntEnum
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from mindtorch_v2 import profile

_FACTS: Final = profile.active().keys

NUM_BACKENDS: Final = len(_FACTS.backends)
NUM_FUNCTIONALITY_KEYS: Final = len(_FACTS.functionality_keys)
"""``Undefined`` included, as in torch."""
END_OF_FUNCTIONALITY_KEYS: Final = NUM_FUNCTIONALITY_KEYS
END_OF_RUNTIME_BACKEND_KEYS: Final = min(_FACTS.alias_keys.values()) - 1
FULL_BACKEND_MASK: Final = (1 << NUM_BACKENDS) - 1
TORCH_BITS: Final = 64

# --- extension keys ---------------------------------------------------------------------------

FIRST_EXTENSION_VALUE: Final = 1 << 16
EXTENSION_BACKEND: Final = "NPU"
EXTENSION_FUNCTIONALITY: Final = "Pipeline"
NPU_BIT: Final = 1 << TORCH_BITS
PIPELINE_BIT: Final = 1 << (TORCH_BITS + 1)


class Block(NamedTuple):
    """The runtime keys of one per-backend functionality: ``StartOf…`` is ``start``."""

    functionality: int
    name: str
    prefix: str
    start: int

    @property
    def end(self) -> int:
        return self.start + NUM_BACKENDS


def _blocks() -> tuple[Block, ...]:
    blocks = []
    start = END_OF_FUNCTIONALITY_KEYS + 1
    for name, prefix in _FACTS.per_backend.items():
        value = _FACTS.functionality_keys.index(name)
        blocks.append(Block(value, name, prefix, start))
        start += NUM_BACKENDS + 1
    return tuple(blocks)


BLOCKS: Final = _blocks()
_BLOCK_OF_FUNCTIONALITY: Final = {block.functionality: block for block in BLOCKS}

PIPELINE_VALUE: Final = FIRST_EXTENSION_VALUE
_NPU_VALUES: Final = {
    block.functionality: FIRST_EXTENSION_VALUE + 1 + index for index, block in enumerate(BLOCKS)
}
"""The NPU's runtime key of each per-backend functionality."""
_NPU_FUNCTIONALITIES: Final = {value: key for key, value in _NPU_VALUES.items()}
EXTENSION_KEYS: Final = {
    EXTENSION_FUNCTIONALITY: PIPELINE_VALUE,
    **{block.prefix + EXTENSION_BACKEND: _NPU_VALUES[block.functionality] for block in BLOCKS},
}


def _members() -> dict[str, int]:
    """Every key by name.  A name that comes later for the same value is an alias of the first."""
    members = {name: value for value, name in enumerate(_FACTS.functionality_keys)}
    members["EndOfFunctionalityKeys"] = END_OF_FUNCTIONALITY_KEYS
    for block in BLOCKS:
        members[f"StartOf{block.name}Backends"] = block.start
        for index, backend in enumerate(_FACTS.backends):
            members[block.prefix + backend] = block.start + 1 + index
        members[f"EndOf{block.name}Backends"] = block.end
    return members | dict(_FACTS.alias_keys) | EXTENSION_KEYS


class _DispatchKeyMeta(EnumMeta):
    if TYPE_CHECKING:  # the members are the profile's, which a type checker cannot see

        def __getattr__(cls, name: str) -> DispatchKey: ...


class DispatchKey(IntEnum, metaclass=_DispatchKeyMeta):
    """Every dispatch key of the active profile, and the extension keys.

    The values are torch's ``c10::DispatchKey`` for that release.  ``mindtorch_v2._C.DispatchKey``
    is the same enum as torch's Python binding shows it.
    """

    _ignore_ = "_name _value"
    for _name, _value in _members().items():
        vars()[_name] = _value


# --- classes of keys --------------------------------------------------------------------------


def is_alias_dispatch_key(key: int) -> bool:
    """Whether ``key`` stands for several runtime keys (c10::isAliasDispatchKey)."""
    return END_OF_RUNTIME_BACKEND_KEYS < key <= END_OF_RUNTIME_BACKEND_KEYS + len(_FACTS.alias_keys)


def is_per_backend_functionality_key(key: int) -> bool:
    """Whether ``key`` is a building block such as ``Dense`` (c10::isPerBackendFunctionalityKey)."""
    return key in _BLOCK_OF_FUNCTIONALITY


@lru_cache(maxsize=1000, typed=True)
def to_functionality_key(key: int) -> int:
    """What ``key`` does, whatever the backend; Undefined for an alias (c10::toFunctionalityKey)."""
    if key <= END_OF_FUNCTIONALITY_KEYS or key == PIPELINE_VALUE:
        return key
    for block in BLOCKS:
        if key <= block.end:
            return block.functionality
    return _NPU_FUNCTIONALITIES.get(key, DispatchKey.Undefined)


@lru_cache(maxsize=1000)
def to_backend_bit(key: int) -> int:
    """The backend bit of a runtime key, 0 if it has none (c10::toBackendComponent, as a mask)."""
    for block in BLOCKS:
        if block.start < key <= block.end:
            return 1 << (key - block.start - 1)
    return NPU_BIT if key in _NPU_FUNCTIONALITIES else 0


def to_runtime_key(functionality: int, backend_bit: int) -> int:
    """The runtime key of a per-backend functionality on one backend.

    Without a backend (0) it is the block's ``StartOf…`` placeholder, as in
    c10::toRuntimePerBackendFunctionalityKey; Undefined if ``functionality`` is no building block.
    """
    block = _BLOCK_OF_FUNCTIONALITY.get(functionality)
    if block is None:
        return DispatchKey.Undefined
    if backend_bit == NPU_BIT:
        return _NPU_VALUES[functionality]
    return block.start + backend_bit.bit_length()


# --- names ------------------------------------------------------------------------------------


@cache
def key_name(key: int) -> str:
    """The name as C++ prints it; placeholders and unknown values included (c10::toString)."""
    if key < NUM_FUNCTIONALITY_KEYS:
        return _FACTS.functionality_keys[key]
    for block in BLOCKS:
        if key == block.start:
            return block.prefix + "Undefined"
        if key <= block.end:
            break
    return _PRINTED.get(key, "UnknownUnknown")


_PRINTED: Final = {
    member.value: member.name for member in DispatchKey if member != END_OF_FUNCTIONALITY_KEYS
}


def parse_dispatch_key(name: str) -> int:
    """The key called ``name``; RuntimeError if there is none (c10::parseDispatchKey).

    torch's list of names is its own, shorter than the enum: ``SparseXLA`` is a key that does
    not parse.  It is a fact of the profile; the extension keys are added.
    """
    value = _FACTS.parse.get(name)
    if value is None:
        value = EXTENSION_KEYS.get(name)
    if value is None:
        raise RuntimeError(f"could not parse dispatch key: {name}")
    return value


# --- priority ---------------------------------------------------------------------------------


def _backend_bits() -> tuple[int, ...]:
    torch_bits = [1 << index for index in range(NUM_BACKENDS)]
    return (*torch_bits[:-1], NPU_BIT, torch_bits[-1])  # Meta stays the highest


def _functionality_order() -> tuple[int, ...]:
    order = list(range(1, NUM_FUNCTIONALITY_KEYS))
    order.insert(order.index(DispatchKey.BackendSelect), PIPELINE_VALUE)
    return tuple(order)


BACKEND_ORDER: Final = _backend_bits()
"""Backend bits, lowest priority first."""

FUNCTIONALITY_ORDER: Final = _functionality_order()
"""Functionality keys, lowest priority first."""


def _priority() -> tuple[DispatchKey, ...]:
    runtime: list[DispatchKey] = []
    for functionality in FUNCTIONALITY_ORDER:
        if is_per_backend_functionality_key(functionality):
            keys = [to_runtime_key(functionality, bit) for bit in BACKEND_ORDER]
            runtime.extend(DispatchKey(key) for key in keys)
        else:
            runtime.append(DispatchKey(functionality))
    aliases = sorted(_FACTS.alias_keys.values(), reverse=True)
    return tuple(DispatchKey(key) for key in aliases) + tuple(runtime)


PRIORITY: Final = tuple(reversed(_priority()))
"""Every key that can have a kernel, highest priority first.

The alias keys come last: a runtime key's own kernel always wins over an alias's.
"""
