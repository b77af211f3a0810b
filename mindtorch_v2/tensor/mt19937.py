"""The random number engine of the CPU generator: ``at::mt19937``.

Mirrors ``aten/src/ATen/core/MT19937RNGEngine.h``.  NumPy has the same generator, whose words it
hands out in bulk; the state is kept here in torch's form when it is asked for.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mindtorch_v2.numpy_later import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Words: TypeAlias = "NDArray[np.uint64]"

SIZE: Final = 624
"""Words of state."""

_MULTIPLIER: Final = 1812433253
_MASK: Final = 2**32 - 1


class Mt19937:
    """The engine, seeded with the lowest 32 bits of ``seed``."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._is_fresh = True

    def words(self, count: int) -> Words:
        """The next ``count`` numbers of 32 bits."""
        if count:
            self._is_fresh = False
        return np.asarray(self._bits.random_raw(count), np.uint64)

    def double_words(self, count: int) -> Words:
        """The next ``count`` numbers of 64 bits, each made of two, the higher half first."""
        words = self.words(2 * count)
        return np.asarray((words[0::2] << np.uint64(32)) | words[1::2], np.uint64)

    @cached_property
    def _bits(self) -> Any:
        """NumPy's generator; it takes long to import, and few need it."""
        bits: Any = np.random.MT19937()
        bits.state = _state(_initial(self.seed & _MASK), SIZE)
        return bits

    # --- state --------------------------------------------------------------------------------

    @property
    def left(self) -> int:
        """How many words there are to hand out, and one more, before the state moves on."""
        return 1 if self._is_fresh else SIZE + 1 - self._position

    @property
    def next(self) -> int:
        """The place of the next word."""
        return 0 if self._is_fresh else self._position

    @property
    def state(self) -> Words:
        return np.asarray(self._bits.state["state"]["key"], np.uint64)

    @property
    def _position(self) -> int:
        return int(self._bits.state["state"]["pos"])

    def set_state(self, state: Words, left: int, next: int) -> None:
        """Continue from a state that was read before."""
        self._bits.state = _state(state, next if next else SIZE)
        self._is_fresh = left == 1 and next == 0


def _state(words: Words, position: int) -> dict[str, Any]:
    """A state as NumPy has it."""
    return {
        "bit_generator": "MT19937",
        "state": {"key": words.astype(np.uint32), "pos": position},
    }


def _initial(seed: int) -> Words:
    """``init_with_uint32``."""
    state = [seed]
    for place in range(1, SIZE):
        last = state[-1]
        state.append((_MULTIPLIER * (last ^ (last >> 30)) + place) & _MASK)
    return np.array(state, np.uint64)
