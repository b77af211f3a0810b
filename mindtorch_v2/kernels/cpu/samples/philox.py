"""Random numbers that a key determines, and nothing else: Philox's cipher and what is made of it.

Mirrors ``aten/src/ATen/cpu/StatelessPhilox4x32.h`` and the samples of
``aten/src/ATen/native/PhiloxStatelessRNG.cpp``, which are compiled for any processor: no product is
fused with a sum unless that is written.
"""

from __future__ import annotations

import math
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mindtorch_v2.kernels.cpu.functions import c_library_floats
from mindtorch_v2.kernels.cpu.samples.distributions import DIGITS, FLOAT64
from mindtorch_v2.kernels.cpu.unary import one_by_one
from mindtorch_v2.kernels.elementwise.pointwise import rounded
from mindtorch_v2.kernels.elementwise.promotion import to_opmath
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array, elements_of

Words: TypeAlias = "npt.NDArray[np.uint64]"

_ROUNDS: Final = 10
_WORD: Final = np.uint64(32)
_LOW: Final = np.uint64(0xFFFFFFFF)
_FACTORS: Final = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_STEPS: Final = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_UNIT: Final = 2.0**-32
"""What a word of 32 bits is multiplied by to be less than one."""

_log: Final = one_by_one(math.log)
_sin: Final = one_by_one(math.sin)
_cos: Final = one_by_one(math.cos)


# --- the cipher -------------------------------------------------------------------------------


def encrypted(seeds: Words, offsets: Words) -> Words:
    """Four words of 32 bits for each seed and offset, in one more dimension."""
    seeds, offsets = np.broadcast_arrays(seeds, offsets)
    key = [seeds & _LOW, seeds >> _WORD]
    counter = [offsets & _LOW, offsets >> _WORD, np.zeros_like(offsets), np.zeros_like(offsets)]
    for _ in range(_ROUNDS):
        one, two = counter[0] * _FACTORS[0], counter[2] * _FACTORS[1]
        counter = [
            *((two >> _WORD) ^ counter[1] ^ key[0], two & _LOW),
            *((one >> _WORD) ^ counter[3] ^ key[1], one & _LOW),
        ]
        key = [(part + step) & _LOW for part, step in zip(key, _STEPS, strict=True)]
    return np.stack(counter, axis=-1)


def derived(keys: Words, steps: Words) -> Words:
    """Keys, ``(..., 2)``, that others become so many steps on."""
    return joined(encrypted(keys[..., 0], keys[..., 1] + steps))


def joined(words: Words) -> Words:
    """Pairs of words of 32 bits as one, the lower half first."""
    return words[..., ::2] | (words[..., 1::2] << _WORD)


def _streams(keys: Words, count: int, at_once: int) -> Words:
    """The words for ``count`` samples of each of the keys, ``at_once`` of which four words make."""
    calls = np.arange(-(-count // at_once), dtype=np.uint64)
    return encrypted(keys[:, :1], keys[:, 1:] + calls)


def _number(value: float, kind: Any) -> Array:
    with np.errstate(all="ignore"):
        return np.asarray(value, np.float64).astype(kind)


# --- samples ----------------------------------------------------------------------------------


def uniform(keys: Words, count: int, dtype: DType, low: float, high: float) -> Array:
    """As many samples of each key: a row of them."""
    words = _streams(keys, count, 2 if dtype is FLOAT64 else 4)
    if dtype is FLOAT64:  # here the upper half is first
        words = (words[..., ::2] << _WORD) | words[..., 1::2]
    kind = elements_of(to_opmath(dtype)).computed.type
    digits = DIGITS[dtype]
    start, end = (rounded(_number(each, kind), dtype) for each in (low, high))
    with np.errstate(all="ignore"):
        shares = (words & np.uint64(2**digits - 1)).astype(kind) * kind(2.0**-digits)
        found: Array = shares * rounded(end - start, dtype) + start
    return found.reshape(len(keys), -1)[:, :count]


def normal(keys: Words, count: int, dtype: DType, mean: float, std: float) -> Array:
    """The same of a normal distribution, by Box and Muller's transform."""
    words = _streams(keys, count, 2 if dtype is FLOAT64 else 4)
    kind = elements_of(to_opmath(dtype)).computed
    made = _normal_doubles(words) if dtype is FLOAT64 else _normal_floats(words)
    with np.errstate(all="ignore"):
        found = made * _number(std, kind) + _number(mean, kind)
    return found.reshape(len(keys), -1)[:, :count]


def _normal_floats(words: Words) -> Array:
    """Two samples of each two words."""
    kind = np.float32
    numbers = (words.astype(kind).astype(np.float64) * _UNIT + _UNIT / 2).astype(kind)
    radius = np.sqrt(kind(-2) * c_library_floats.log(numbers[..., ::2]))
    angle = kind(2 * math.pi) * numbers[..., 1::2]
    pairs = (radius * c_library_floats.cos(angle), radius * c_library_floats.sin(angle))
    return np.stack(pairs, axis=-1)


def _normal_doubles(words: Words) -> Array:
    """Two samples of each four words."""
    high, low = (words[..., start::2].astype(np.float64) for start in (0, 1))
    numbers = high * _UNIT + (low * _UNIT**2 + _UNIT**2 / 2)
    radius = np.sqrt(-2.0 * _log(numbers[..., 0]))
    angle = 2 * math.pi * numbers[..., 1]
    return np.stack((radius * _cos(angle), radius * _sin(angle)), axis=-1)
