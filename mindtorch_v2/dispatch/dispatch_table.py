"""The table that a call reads: where a keyset's kernel stands, and which keys are passed over.

Mirrors ``getDispatchTableIndexForDispatchKeySet`` and ``initializeFunctionalityOffsetsAndMasks`` in
``c10/core/DispatchKeySet``, and the masks of ``aten/src/ATen/core/dispatch/DispatchKeyExtractor``.

Note [Runtime index]
    An operator's kernels stand in one row of :data:`NUM_RUNTIME_ENTRIES` places.  A functionality
    starts at its offset; one that is customizable per backend takes a place for each backend, in
    the order of their bits, any other takes one.  The extension keys stand behind all of torch's,
    so that torch's places are torch's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from mindtorch_v2 import profile
from mindtorch_v2.dispatch.kernel import MISSING, Kernel
from mindtorch_v2.dispatch.key import (
    BACKEND_ORDER,
    BLOCKS,
    EXTENSION_KEYS,
    FULL_BACKEND_MASK,
    NUM_BACKENDS,
    NUM_FUNCTIONALITY_KEYS,
    DispatchKey,
    is_per_backend_functionality_key,
    to_backend_bit,
    to_functionality_key,
)
from mindtorch_v2.dispatch.keyset import (
    EXTENSION_BITS,
    FULL,
    difference,
    functionality_bit,
    highest_backend_bit,
    highest_functionality_key,
    highest_priority_type_id,
    intersection,
    mask_of,
    runtime_keys,
)

if TYPE_CHECKING:
    from mindtorch_v2.dispatch.calls import Target

NUM_RUNTIME_ENTRIES: Final = NUM_FUNCTIONALITY_KEYS + len(BLOCKS) * (NUM_BACKENDS - 1)
"""Places of torch's row (``c10::num_runtime_entries``): Undefined's is the first."""

_BY_MASKED_BACKEND: Final = profile.active().keys.fallthrough_by_masked_backend
"""Whether the backend that decides what is passed over is that of the masked keys."""


class FunctionalityOffsetAndMask(NamedTuple):
    """Where a functionality's places begin, and the backend bits that tell them apart."""

    offset: int
    mask: int


def _offsets_and_masks() -> Iterator[FunctionalityOffsetAndMask]:
    offset = 0
    for functionality in range(NUM_FUNCTIONALITY_KEYS):
        per_backend = is_per_backend_functionality_key(functionality)
        yield FunctionalityOffsetAndMask(offset, FULL_BACKEND_MASK if per_backend else 0)
        offset += NUM_BACKENDS if per_backend else 1


OFFSETS_AND_MASKS: Final = tuple(_offsets_and_masks())
"""By functionality key, Undefined included (``DispatchKeySet::offsetsAndMasks``)."""

_EXTENSION_INDEX: Final = {
    key: NUM_RUNTIME_ENTRIES + place for place, key in enumerate(EXTENSION_KEYS.values())
}


def table_index(mask: int) -> int:
    """The place of the kernel at the highest key of a mask.

    A functionality without a backend has the place of the first backend, as in torch.  IndexError
    for bits that are no key's.
    """
    if mask & EXTENSION_BITS:
        index = _EXTENSION_INDEX.get(highest_priority_type_id(mask))
        if index is not None:
            return index
    offset, backends = OFFSETS_AND_MASKS[highest_functionality_key(mask)]
    backend = (mask & backends).bit_length()
    return offset + backend - 1 if backend else offset


def table_index_of_key(key: int) -> int:
    """The same for the set of one key (``getDispatchTableIndexForDispatchKey``): 0 for an alias."""
    return table_index(mask_of(key))


_KEYS: Final = (int(DispatchKey.Undefined), *runtime_keys(FULL), *EXTENSION_KEYS.values())
"""The runtime keys in the order of their places."""


class DispatchTable(Mapping[int, Kernel]):
    """The valid entries of an operator by runtime key, the extension keys among them; immutable.

    What dispatch needs of them is computed when it is first asked for.
    """

    def __init__(self, kernels: Mapping[int, Kernel]) -> None:
        self._kernels = {key: each for key, each in kernels.items() if each is not MISSING}
        #: Where calls go, by their keys as the thread has masked them, and their keys.
        self.targets: dict[tuple[int, int], Target] = {}

    def __getitem__(self, key: int) -> Kernel:
        return self._kernels[key]

    def __contains__(self, key: object) -> bool:
        return key in self._kernels

    def __iter__(self) -> Iterator[int]:
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)

    def updated(self, kernels: Mapping[int, Kernel]) -> DispatchTable:
        """This one with other entries at some keys; MISSING for none."""
        return DispatchTable({**self._kernels, **kernels})

    def agrees_with(self, other: DispatchTable) -> bool:
        """Whether calls come to the same code by either."""
        one, another = self._kernels, other._kernels
        return one.keys() == another.keys() and all(
            kernel is another[key] or kernel.code == another[key].code
            for key, kernel in one.items()
        )

    def lookup(self, mask: int) -> tuple[int, Kernel]:
        """The highest runtime key of a mask, and the kernel there; MISSING if there is none."""
        key = _KEYS[table_index(mask)]
        return key, self._kernels.get(key, MISSING)

    # --- fallthrough --------------------------------------------------------------------------

    @property
    def requires_bitset_per_backend(self) -> bool:
        """Whether a functionality is passed over on some backends and not on others."""
        return len(set(self.non_fallthrough_keys_per_backend.values())) > 1

    @cached_property
    def non_fallthrough_keys_per_backend(self) -> Mapping[int, int]:
        """The key mask by the highest backend bit of a call: all keys but its fallthroughs."""
        fallthrough, fallthrough_on = 0, dict.fromkeys(BACKEND_ORDER, 0)
        for key, kernel in self._kernels.items():
            if kernel.is_fallthrough:
                functionality = functionality_bit(to_functionality_key(key))
                own = to_backend_bit(key)
                if own:
                    fallthrough_on[own] |= functionality
                else:
                    fallthrough |= functionality
        return {
            backend: difference(FULL, fallthrough | own) for backend, own in fallthrough_on.items()
        }

    def non_fallthrough(self, mask: int, keys: int) -> int:
        """``mask``, which is ``keys`` as the thread has masked them, without what is passed over.

        That depends on the highest backend; the first stands in where there is none.
        """
        backend = highest_backend_bit(mask if _BY_MASKED_BACKEND else keys) or BACKEND_ORDER[0]
        return intersection(mask, self.non_fallthrough_keys_per_backend[backend])
