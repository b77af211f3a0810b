"""``torch.Generator``: a random number generator of the CPU, and the one that is there by default.

Mirrors ``torch/csrc/Generator.cpp`` and ``aten/src/ATen/CPUGeneratorImpl.cpp``.  A generator of
another device has a place and no numbers.
"""

from __future__ import annotations

import os
import struct
from typing import Any, Final

import numpy as np

from mindtorch_v2 import profile
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.made_in_c import MadeInC
from mindtorch_v2.tensor.mt19937 import SIZE, Mt19937, Words
from mindtorch_v2.tensor.pending import Pending, settled, settling
from mindtorch_v2.tensor.support import exception_of

_FACTS: Final = profile.active().neural

DEFAULT_SEED: Final = 67280421310721
"""``default_rng_seed_val``, of every generator that a program makes."""

_STATE: Final = struct.Struct("<QiiQ624Q3di4xf?3x")
"""``CPUGeneratorImplState``: seed, left, seeded, next, the words of the engine; three doubles of
which the second is the normal number in stock, whether there is one; the same for a float."""


class Generator(metaclass=MadeInC):
    """A generator on a device, the CPU if none is named."""

    __slots__ = ("__weakref__", "_device", "_engine", "_next_normal", "_pending")
    __module__ = "mindtorch_v2._C"

    _engine: Mt19937
    _next_normal: float | None
    _pending: Pending | None

    __getattr__ = settling("_engine", "_next_normal")

    def __init__(self, device: Device | str = "cpu") -> None:
        self._device = Device(device)
        self._seed(DEFAULT_SEED)

    @property
    def device(self) -> Device:
        return self._device

    # --- seeds --------------------------------------------------------------------------------

    def manual_seed(self, seed: Any) -> Generator:
        """Start anew from ``seed``: -2**63 to 2**64 - 1."""
        if type(seed) is not int:
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        if not -(2**63) <= seed < 2**64:
            raise exception_of(*_FACTS["overflow"])
        self._seed(seed % 2**64)
        return self

    def seed(self) -> int:
        """Start anew from a number that nobody can foresee, and answer it."""
        seed = int.from_bytes(os.urandom(7), "little") >> 3  # 53 bits: getNonDeterministicRandom's
        self._seed(seed)
        return seed

    def initial_seed(self) -> int:
        return self._engine.seed

    def _seed(self, seed: int) -> None:
        settled(self)._engine = Mt19937(seed)
        self._next_normal = None

    # --- numbers ------------------------------------------------------------------------------

    def words(self, count: int) -> Words:
        """``random()``, as often."""
        return self._engine.words(count)

    def double_words(self, count: int) -> Words:
        """``random64()``, as often."""
        return self._engine.double_words(count)

    # --- state --------------------------------------------------------------------------------

    def get_state(self) -> Any:
        """The state as a tensor of bytes."""
        from mindtorch_v2.tensor.factories import from_numpy

        engine, stock = self._engine, self._next_normal
        packed = _STATE.pack(
            *(engine.seed, engine.left, 1, engine.next, *map(int, engine.state)),
            *(0.0, stock or 0.0, 0.0, stock is not None, 0.0, False),
        )
        return from_numpy(np.frombuffer(bytearray(packed), np.uint8))

    def set_state(self, new_state: Any) -> Generator:
        """Continue from a state; TypeError or RuntimeError if it is none."""
        from mindtorch_v2.tensor.tensor import Tensor

        if not isinstance(new_state, Tensor):
            found = type(new_state).__name__
            raise TypeError(f"expected a torch.ByteTensor, but got {found}")
        if new_state._dtype is not DTYPES["uint8"] or new_state._device.type != "cpu":
            raise TypeError("RNG state must be a torch.ByteTensor")
        packed = bytes(new_state.numpy().tobytes())
        if len(packed) != _STATE.size:
            raise RuntimeError(f"{_FACTS['state_size']}{len(packed)}")
        seed, left, seeded, position, *rest = _STATE.unpack(packed)
        if seeded != 1 or not 0 < left <= SIZE or position > SIZE:
            raise RuntimeError("Invalid mt19937 state")
        self._engine.seed = seed
        self._engine.set_state(np.array(rest[:SIZE], np.uint64), left, position)
        _, stock, _, has_stock, _, _ = rest[SIZE:]
        self._next_normal = stock if has_stock else None
        return self

    def clone_state(self) -> Generator:
        """Another generator in the same state."""
        return Generator(self._device).set_state(self.get_state())

    graphsafe_get_state = clone_state

    def graphsafe_set_state(self, new_state: Generator) -> Generator:
        return self.set_state(new_state.get_state())


default_generator: Final = Generator()
"""``torch.default_generator``: the one of every call that names none."""

default_generator.seed()
