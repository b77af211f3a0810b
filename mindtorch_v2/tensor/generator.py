"""``torch.Generator``: a random number generator of the CPU, and the one that is there by default.

Mirrors ``torch/csrc/Generator.cpp`` and ``aten/src/ATen/CPUGeneratorImpl.cpp``.  A generator of
another device has a place and no numbers.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor.device import EXTENSION_DEVICE, Device
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.made_in_c import METH_NOARGS, METH_O, MadeInC
from mindtorch_v2.tensor.mt19937 import SIZE, Mt19937, Words
from mindtorch_v2.tensor.pending import Pending, Settling, settled, settling
from mindtorch_v2.tensor.scalars import type_name
from mindtorch_v2.tensor.support import exception_of

_FACTS: Final = profile.active().neural

DEFAULT_SEED: Final = 67280421310721
"""``default_rng_seed_val``, of every generator that a program makes."""

_NO_OFFSET: Final = "CPU Generator does not use offset"

ARGUMENTS: Final[list[Callable[[Any, Any], Device]]] = [lambda args, kwargs: Device(*args)]
"""Reads where a generator is made; the Python binding puts its own here, which refuses."""

_STATE: Final = struct.Struct("<QiiQ624Q3di4xf?3x")
"""``CPUGeneratorImplState``: seed, left, seeded, next, the words of the engine; three doubles of
which the second is the normal number in stock, whether there is one; the same for a float."""


class Generator(metaclass=MadeInC):
    """A generator on a device, the CPU if none is named."""

    __slots__ = ("__weakref__", "_device", "_pending", "_raw_engine", "_raw_next_normal")
    __module__ = "mindtorch_v2._C"

    _engine: Settling[Mt19937] = settling("_raw_engine")
    _next_normal: Settling[float | None] = settling("_raw_next_normal")
    _raw_engine: Mt19937
    _raw_next_normal: float | None
    _pending: Pending | None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """On ``device``, the CPU if none is named; RuntimeError where there is no generator."""
        device = ARGUMENTS[0](args, kwargs) if args or kwargs else None
        if device is None or device.type == "cpu":  # of which there is one, without a number
            device = Device("cpu")
        _check_has_generators(device.type)
        self._device, self._pending = device, None
        self._seed(DEFAULT_SEED)

    @property
    def device(self) -> Device:
        return self._device

    @property
    def _cdata(self) -> int:
        return id(self)

    # --- seeds --------------------------------------------------------------------------------

    @METH_O
    def manual_seed(self, seed: Any, /) -> Generator:
        """Start anew from ``seed``: -2**63 to 2**64 - 1."""
        self._seed(_unsigned("manual_seed", seed))
        return self

    @METH_NOARGS
    def seed(self) -> int:
        """Start anew from a number that nobody can foresee, and answer it."""
        seed = int.from_bytes(os.urandom(7), "little") >> 3  # 53 bits: getNonDeterministicRandom's
        self._seed(seed)
        return seed

    @METH_NOARGS
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

    @METH_NOARGS
    def get_state(self) -> Any:
        """The state as a tensor of bytes."""
        from mindtorch_v2.tensor.factories import from_numpy

        engine, stock = self._engine, self._next_normal
        packed = _STATE.pack(
            *(engine.seed, engine.left, 1, engine.next, *map(int, engine.state)),
            *(0.0, stock or 0.0, 0.0, stock is not None, 0.0, False),
        )
        return from_numpy(np.frombuffer(bytearray(packed), np.uint8))

    @METH_O
    def set_state(self, new_state: Any, /) -> Generator:
        """Continue from a state; TypeError or RuntimeError if it is none."""
        from mindtorch_v2.tensor.tensor import Tensor

        if not isinstance(new_state, Tensor):
            found = type(new_state).__name__
            raise TypeError(f"expected a torch.ByteTensor, but got {found}")
        if new_state._dtype is not DTYPES["uint8"] or new_state._device.type != "cpu":
            raise TypeError("RNG state must be a torch.ByteTensor")
        packed = bytes(new_state.numpy().tobytes())
        if len(packed) != _STATE.size:
            raise RuntimeError(f"{_FACTS['generator']['state_size']}{len(packed)}")
        seed, left, seeded, position, *rest = _STATE.unpack(packed)
        if seeded != 1 or not 0 < left <= SIZE or position > SIZE:
            raise RuntimeError("Invalid mt19937 state")
        self._engine.seed = seed
        self._engine.set_state(np.array(rest[:SIZE], np.uint64), left, position)
        _, stock, _, has_stock, _, _ = rest[SIZE:]
        self._next_normal = stock if has_stock else None
        return self

    @METH_NOARGS
    def clone_state(self) -> Generator:
        """Another generator in the same state."""
        return Generator(self._device).set_state(self.get_state())

    @METH_NOARGS
    def graphsafe_get_state(self) -> Generator:
        """Of a device that records graphs; NotImplementedError here."""
        raise NotImplementedError("graphsafe_get_state is not supported in this Generator")

    @METH_O
    def graphsafe_set_state(self, new_state: Any, /) -> Generator:
        """Of a device that records graphs; NotImplementedError here."""
        if not isinstance(new_state, Generator):
            raise TypeError(f"expected a Generator, but got {type(new_state).__name__}")
        raise NotImplementedError("graphsafe_set_state is not supported in this Generator")

    @METH_NOARGS
    def get_offset(self) -> int:
        """How far a counter has come; RuntimeError here, where no generator counts."""
        raise RuntimeError(_NO_OFFSET)

    @METH_O
    def set_offset(self, offset: Any, /) -> Generator:
        """As ``get_offset``."""
        _unsigned("manual_offset", offset)
        raise RuntimeError(_NO_OFFSET)

    # --- pickling -----------------------------------------------------------------------------

    @METH_NOARGS
    def __reduce__(self) -> Any:
        return Generator, (self._device,), (self.initial_seed(), None, self.get_state())

    @METH_O
    def __setstate__(self, state: Any, /) -> None:
        """Of what ``__reduce__`` answers last; TypeError for anything else, where torch crashes."""
        if not isinstance(state, tuple) or len(state) != 3:
            raise TypeError(f"expected a seed, an offset and a state, but got {state!r}")
        self.manual_seed(state[0])
        self.set_state(state[2])


def _check_has_generators(device_type: str) -> None:
    """RuntimeError for a type of device that has no random numbers."""
    if device_type in ("cpu", EXTENSION_DEVICE):
        return
    refused = {**_FACTS["generator"]["refused"], **profile.active().devices["generators"]}
    raise exception_of(*refused[device_type])


def _unsigned(name: str, number: Any) -> int:
    """``unpack_uint64``: an integer of 64 bits, with a sign or without.

    NumPy's integers pass for a long; CPython, which is asked for the bits, takes its own alone.
    """
    if not isinstance(number, (int, np.integer)) or isinstance(number, bool):
        raise RuntimeError(f"{name} expected a long, but got {type_name(number)}")
    if not isinstance(number, int):
        raise TypeError("an integer is required")
    if not -(2**63) <= number < 2**64:
        raise exception_of(*_FACTS["generator"]["overflow"])
    return int(number) % 2**64


default_generator: Final = Generator()
"""``torch.default_generator``: the one of every call that names none."""

default_generator.seed()
