"""Keysets as bitmasks.

Mirrors ``c10/core/DispatchKeySet.h`` and ``DispatchKeySet.cpp``: the low bits are backends, the
bits above them functionalities, and a runtime key such as ``SparseCUDA`` is the pair of its
functionality bit and its backend bit.

Note [Extension keys in torch's complete sets]
    Sets like ``_dispatch_keyset_full_after(Autograd)`` are masks: they mean "all keys below",
    and torch's own keys are all they show, so that they compare and print as torch's.  When such
    a mask meets a set that holds an extension key, that key must not be lost.  So a set that
    holds all of torch's backends holds the extension backend too, and a mask made complete below
    ``BackendSelect`` has a latent ``Pipeline``: a bit of its own, neither shown nor compared nor
    dispatched to, which stays when other keys are taken away and goes when ``Pipeline`` is.
    See :func:`completed` and :func:`implied`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from operator import index
from typing import Final, SupportsIndex

from mindtorch_v2 import profile
from mindtorch_v2.dispatch.key import (
    BACKEND_ORDER,
    END_OF_FUNCTIONALITY_KEYS,
    END_OF_RUNTIME_BACKEND_KEYS,
    FIRST_EXTENSION_VALUE,
    FULL_BACKEND_MASK,
    FUNCTIONALITY_ORDER,
    NPU_BIT,
    NUM_BACKENDS,
    NUM_FUNCTIONALITY_KEYS,
    PIPELINE_BIT,
    PIPELINE_VALUE,
    TORCH_BITS,
    DispatchKey,
    is_alias_dispatch_key,
    is_per_backend_functionality_key,
    key_name,
    to_backend_bit,
    to_functionality_key,
    to_runtime_key,
)
from mindtorch_v2.messages import internal_assert

_FACTS: Final = profile.active().keys

TORCH_MASK: Final = (1 << TORCH_BITS) - 1
BACKEND_MASK: Final = FULL_BACKEND_MASK | NPU_BIT
"""Every backend bit; the bits that subtraction leaves alone."""
EXTENSION_BITS: Final = NPU_BIT | PIPELINE_BIT
LATENT_PIPELINE_BIT: Final = 1 << (TORCH_BITS + 2)
"""``Pipeline`` in a mask of torch's that reaches above it; see the note above."""
_EITHER_PIPELINE: Final = PIPELINE_BIT | LATENT_PIPELINE_BIT


def functionality_bit(functionality: int) -> int:
    """The bit of a functionality key, ``EndOfFunctionalityKeys`` included; 0 for Undefined."""
    if functionality == PIPELINE_VALUE:
        return PIPELINE_BIT
    return 1 << (NUM_BACKENDS + functionality - 1) if functionality else 0


@cache
def mask_of(key: int) -> int:
    """The bits of one key: none for Undefined and for alias keys."""
    if key <= END_OF_FUNCTIONALITY_KEYS:
        return functionality_bit(key)
    if key <= END_OF_RUNTIME_BACKEND_KEYS or key >= FIRST_EXTENSION_VALUE:
        return functionality_bit(to_functionality_key(key)) | to_backend_bit(key)
    return 0


_BITS: Final = tuple((functionality_bit(key), key) for key in FUNCTIONALITY_ORDER)
_META_BIT: Final = to_backend_bit(DispatchKey.Meta)
_BELOW_BACKEND_SELECT: Final = (
    functionality_bit(DispatchKey.BackendSelect) - 1
) & ~FULL_BACKEND_MASK


def completed(mask: int) -> int:
    """One of torch's masks, with a latent Pipeline if it holds all that is below BackendSelect."""
    if mask & _BELOW_BACKEND_SELECT == _BELOW_BACKEND_SELECT:
        return mask | LATENT_PIPELINE_BIT
    return mask


def implied(mask: int) -> int:
    """The extension bits that ``mask`` holds without showing them; see the note above."""
    bits = PIPELINE_BIT if mask & LATENT_PIPELINE_BIT else 0
    if mask & FULL_BACKEND_MASK == FULL_BACKEND_MASK:
        bits |= NPU_BIT
    return bits


def equal(left: int, right: int) -> bool:
    """Whether two masks show the same keys."""
    return (left ^ right) | LATENT_PIPELINE_BIT == LATENT_PIPELINE_BIT


def intersection(left: int, right: int) -> int:
    """The keys in both masks; an extension key of one survives in a mask that implies it."""
    extension = (left | right) & EXTENSION_BITS
    if extension:
        return (left | implied(left) & extension) & (right | implied(right) & extension)
    return left & right


def difference(left: int, right: int) -> int:
    """``left`` without the functionalities of ``right``.

    Backend bits stay, as in torch (Note [Removing keys from DispatchKeySet Only Affects
    Functionality Keys] in DispatchKeySet.h): ``{CPU} - {AutogradCPU}`` is ``{CPU}``.
    """
    if right & _EITHER_PIPELINE:
        right |= _EITHER_PIPELINE
    return left & (BACKEND_MASK | ~right)


def highest_functionality_key(mask: int) -> int:
    """The functionality that is handled first; Undefined for a set of backends alone.

    Bits above the last functionality are no keys, but C++ counts them as if they were.
    """
    highest = (mask & TORCH_MASK).bit_length() - NUM_BACKENDS
    if mask & PIPELINE_BIT and highest < DispatchKey.BackendSelect:
        return PIPELINE_VALUE
    return max(highest, int(DispatchKey.Undefined))


def highest_backend_bit(mask: int) -> int:
    """The backend bit of highest priority, 0 if there is none."""
    if mask & NPU_BIT and not mask & _META_BIT:
        return NPU_BIT
    return 1 << (mask & FULL_BACKEND_MASK).bit_length() >> 1


def highest_priority_type_id(mask: int) -> int:
    """The runtime key that dispatch would go to (DispatchKeySet::highestPriorityTypeId)."""
    functionality = highest_functionality_key(mask)
    if is_per_backend_functionality_key(functionality):
        return to_runtime_key(functionality, highest_backend_bit(mask))
    return functionality


def runtime_keys(mask: int) -> Iterator[int]:
    """The runtime keys of a mask, lowest priority first (DispatchKeySet::iterator).

    A per-backend functionality is every backend of the set in turn, and nothing without one.
    """
    backends = [bit for bit in BACKEND_ORDER if mask & bit]
    for bit, functionality in _BITS:
        if not mask & bit:
            continue
        if is_per_backend_functionality_key(functionality):
            for backend in backends:
                yield to_runtime_key(functionality, backend)
        else:
            yield functionality


def has(mask: int, key: int) -> bool:
    """Whether all bits of ``key`` are set: true for Undefined and for alias keys."""
    bits = mask_of(key)
    return (mask | implied(mask)) & bits == bits


def raw_repr(mask: int) -> int:
    """torch's 64-bit representation."""
    return mask & TORCH_MASK


@lru_cache(maxsize=1000, typed=True)
def table_key(key: int) -> int:
    """The runtime key whose entry of a table ``key`` has.

    A building block without a backend, ``Dense``, has that of the first backend
    (DispatchKeySet::getDispatchTableIndexForDispatchKeySet).
    """
    functionality = to_functionality_key(key)
    if is_per_backend_functionality_key(functionality) and not to_backend_bit(key):
        return to_runtime_key(functionality, 1)
    return key


class DispatchKeySet:
    """A set of dispatch keys, immutable, as one integer.

    The operations are torch's: ``-`` and :meth:`remove` take away functionalities and leave
    backends.
    """

    __slots__ = ("_mask",)

    _mask: int

    def __init__(self, key: SupportsIndex = 0) -> None:
        """The set of one key: empty for Undefined and for alias keys, as in torch."""
        self._mask = mask_of(index(key))

    @property
    def mask(self) -> int:
        """torch's 64-bit representation for the active profile, and bits above it for ours."""
        return self._mask

    @classmethod
    def from_mask(cls, mask: int) -> DispatchKeySet:
        """The set of these bits (``DispatchKeySet(RAW, mask)``)."""
        self = cls.__new__(cls)
        self._mask = mask
        return self

    @classmethod
    def of(cls, *keys: SupportsIndex) -> DispatchKeySet:
        """The set of these keys."""
        mask = 0
        for key in keys:
            mask |= mask_of(index(key))
        return cls.from_mask(mask)

    def has(self, key: SupportsIndex) -> bool:
        """Whether all bits of ``key`` are set: true for Undefined and for alias keys."""
        return has(self.mask, index(key))

    def add(self, key: SupportsIndex) -> DispatchKeySet:
        return self.from_mask(self.mask | mask_of(index(key)))

    def remove(self, key: SupportsIndex) -> DispatchKeySet:
        """Without the functionality of ``key``; its backend stays."""
        return self.from_mask(difference(self.mask, mask_of(index(key))))

    def without(self, keys: DispatchKeySet | Iterable[SupportsIndex]) -> DispatchKeySet:
        """Without the functionalities of all ``keys``."""
        if not isinstance(keys, DispatchKeySet):
            keys = DispatchKeySet.of(*keys)
        return self - keys

    def iter_keys(self) -> Iterator[DispatchKey]:
        """The runtime keys of the set, highest priority first."""
        return (DispatchKey(key) for key in reversed(list(runtime_keys(self.mask))))

    def highestPriorityTypeId(self) -> int:  # noqa: N802 (torch's name)
        """The key that dispatch would go to, a placeholder such as StartOfDenseBackends included.

        Undefined for a set without functionalities.
        """
        return highest_priority_type_id(self.mask)

    def raw_repr(self) -> int:
        """torch's 64-bit representation."""
        return raw_repr(self.mask)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return self.from_mask(self.mask | other.mask)

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return self.from_mask(intersection(self.mask, other.mask))

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        return self.from_mask(difference(self.mask, other.mask))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DispatchKeySet):
            return NotImplemented
        return equal(self.mask, other.mask)

    def __hash__(self) -> int:
        return hash(self.mask & ~LATENT_PIPELINE_BIT)

    def __repr__(self) -> str:
        return to_string(self.mask)


def to_string(mask: int) -> str:
    """The set as C++ prints it: runtime keys, lowest priority first.

    C++ iterates no further than ``EndOfFunctionalityKeys``.  That placeholder's own bit ends the
    iteration, unless a backend has been met on the way: then it is shown, as an unknown key.  A
    bit above it that does not follow it trips an assertion of the iterator.
    """
    if mask & _BEYOND_THE_END and not mask & _END:
        raise RuntimeError(
            internal_assert("next_functionality_ <= iterator::end_iter_mask_val", "iterator")
        )
    keys = list(runtime_keys(mask))
    if mask & _END and any(map(to_backend_bit, keys)):
        keys.append(END_OF_FUNCTIONALITY_KEYS)
    return f"DispatchKeySet({', '.join(map(key_name, keys))})"


_END: Final = functionality_bit(END_OF_FUNCTIONALITY_KEYS)
_BEYOND_THE_END: Final = TORCH_MASK & ~((_END << 1) - 1)


# --- sets with names --------------------------------------------------------------------------

FULL: Final = completed((1 << (NUM_BACKENDS + NUM_FUNCTIONALITY_KEYS - 1)) - 1)
"""Every key of torch (``DispatchKeySet(FULL)``)."""


@cache
def full_after(key: int) -> int:
    """Every key below the functionality of ``key``, and PythonDispatcher, which never is masked.

    As in ``DispatchKeySet(FULL_AFTER, key)``, Undefined and alias keys count as functionality 0.
    """
    never_masked = mask_of(DispatchKey.PythonDispatcher)
    functionality = to_functionality_key(key)
    if functionality == PIPELINE_VALUE:
        return (functionality_bit(DispatchKey.BackendSelect) - 1) | never_masked
    below = (1 << (NUM_BACKENDS + functionality - 1)) - 1
    return completed(below | never_masked)


AUTOGRAD_KEYS: Final = (
    functionality_bit(DispatchKey.AutogradFunctionality)
    | functionality_bit(DispatchKey.AutogradOther)
    | functionality_bit(DispatchKey.AutogradNestedTensor)
)

BELOW_INPLACE_OR_VIEW: Final = AUTOGRAD_KEYS | mask_of(DispatchKey.ADInplaceOrView)
"""What is excluded where neither history nor views are noted (``AutoDispatchBelowADInplaceOrView``
in ``aten/src/ATen/core/LegacyTypeDispatch.h``)."""


PYTHON_KEYS: Final = functionality_bit(DispatchKey.Python) | functionality_bit(
    DispatchKey.PythonTLSSnapshot
)
"""``c10::python_ks``: what a tensor has whose class overrides operators."""

TENSOR_SUBCLASS_LIKE: Final = to_backend_bit(DispatchKey.Meta) | sum(
    functionality_bit(DispatchKey[name])
    for name in (
        *("FuncTorchGradWrapper", "FuncTorchBatched", "Functionalize"),
        *("Batched", "Sparse", "SparseCsr", "Python"),
    )
)
"""``kTensorSubclassLike`` of ``aten/src/ATen/TensorSubclassLikeUtils.h``."""


def backend_keyset_from_autograd(key: int) -> int:
    """The backends behind an autograd key, as a mask; 0 for any other key."""
    if key == DispatchKey.AutogradNPU:
        return mask_of(DispatchKey.NPU)
    return _FACTS.autograd_backends.get(key_name(key), 0)


def _alias_masks() -> dict[int, int]:
    """The runtime keyset of each alias key, put together from the keys it includes.

    The extension backend belongs wherever PrivateUse1, its model in torch, belongs.
    """
    private = to_backend_bit(DispatchKey.PrivateUse1)
    masks = {}
    for name, values in _FACTS.alias_members.items():
        mask = 0
        for value in values:
            if value <= END_OF_RUNTIME_BACKEND_KEYS:
                mask |= mask_of(value)
        masks[_FACTS.alias_keys[name]] = mask | (NPU_BIT if mask & private else 0)
    return masks


ALIAS_MASKS: Final = _alias_masks()


def runtime_dispatch_keyset(key: int) -> int:
    """The runtime keys that ``key`` stands for, as a mask (c10::getRuntimeDispatchKeySet)."""
    return ALIAS_MASKS.get(key, mask_of(key))


def is_included_in_alias(key: int, alias: int) -> bool:
    """Whether a kernel registered at ``alias`` can serve ``key`` (c10::isIncludedInAlias).

    An ``alias`` that is no alias key includes only itself.
    """
    if key == DispatchKey.Undefined:
        return False
    if alias == DispatchKey.Undefined:
        raise RuntimeError(
            internal_assert("t != DispatchKey::Undefined", "runtimeDispatchKeySetHas")
        )
    if not is_alias_dispatch_key(alias):
        return key == alias
    if alias == DispatchKey.Autograd:
        key = to_functionality_key(key)
    elif key == DispatchKey.NestedTensor and alias in _WITHOUT_NESTED_TENSOR:
        return False
    bits = mask_of(key)
    return ALIAS_MASKS[alias] & bits == bits


_WITHOUT_NESTED_TENSOR: Final = (
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeExplicitAutogradNonFunctional,
)
"""Note [NestedTensor Not Included in Backend Keys] in DispatchKeySet.cpp."""
