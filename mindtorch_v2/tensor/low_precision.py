"""Floating-point formats that NumPy lacks: bfloat16 and the float8 kinds, as their bits.

Mirrors ``c10/util/BFloat16.h`` and ``c10/util/Float8_*.h``: values are rounded to nearest, ties
to even, and what lies beyond the largest becomes the format's infinity or else its NaN, or in
some releases the largest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor.support import HABITS

if TYPE_CHECKING:
    import numpy.typing as npt

Bits: TypeAlias = "npt.NDArray[Any]"
Floats: TypeAlias = "npt.NDArray[np.float32]"


def _bits_of(values: Floats) -> Bits:
    return np.array(values, np.float32, order="C").view(np.uint32)


def bfloat16_to_float32(bits: Bits) -> Floats:
    """The upper half of a float32, completed by zeros."""
    widened: Floats = (bits.astype(np.uint32) << 16).view(np.float32)
    return widened


def float32_to_bfloat16(values: Floats) -> Bits:
    """The upper half, rounded; every NaN becomes the same."""
    bits = _bits_of(values)
    odd = (bits >> 16) & 1
    rounded = ((bits.astype(np.uint64) + 0x7FFF + odd) >> 16).astype(np.uint16)
    chosen: Bits = np.where(np.isnan(values), np.uint16(0x7FC0), rounded)
    return chosen


@dataclass(frozen=True)
class Float8:
    """A format of eight bits: sign, exponent, mantissa."""

    exponent_bits: int
    mantissa_bits: int
    bias: int
    #: "ieee": infinities and NaN in the last exponent; "fn": NaN alone, in its last code;
    #: "fnuz": NaN in the place of negative zero.
    specials: str
    saturates: bool = False
    """Whether what lies beyond the largest becomes the largest."""

    @cached_property
    def positive(self) -> npt.NDArray[np.float64]:
        """The values of the codes 0 to 127 as if all were finite, in ascending order."""
        codes = np.arange(128)
        exponent, mantissa = codes >> self.mantissa_bits, codes & ((1 << self.mantissa_bits) - 1)
        normal = exponent > 0
        fraction = mantissa / (1 << self.mantissa_bits) + normal
        scaled: npt.NDArray[np.float64] = np.ldexp(
            fraction, np.where(normal, exponent, 1) - self.bias
        )
        return scaled

    @property
    def last_finite(self) -> int:
        """The code of the largest value."""
        if self.specials == "ieee":
            return 0x7F - (1 << self.mantissa_bits)
        return 0x7E if self.specials == "fn" else 0x7F

    @property
    def has_infinity(self) -> bool:
        return self.specials == "ieee"

    @property
    def nan(self) -> int:
        """The code that a conversion makes of a NaN."""
        return 0x80 if self.specials == "fnuz" else 0x7F

    @property
    def overflow(self) -> int:
        """The code of what lies beyond the largest."""
        if self.saturates:
            return self.last_finite
        return self.last_finite + 1 if self.specials == "ieee" else self.nan

    @cached_property
    def table(self) -> Floats:
        """The value of each of the 256 codes."""
        values = self.positive.copy()
        if self.specials == "ieee":
            values[self.last_finite + 1] = np.inf
            values[self.last_finite + 2 :] = np.nan
        elif self.specials == "fn":
            values[self.nan] = np.nan
        both = np.concatenate([values, -values]).astype(np.float32)
        if self.specials == "fnuz":
            both[self.nan] = np.nan
        return both

    def decode(self, bits: Bits) -> Floats:
        values: Floats = self.table[bits]
        return values

    def encode(self, values: Floats) -> Bits:
        """The nearest code of each value; of two as near, the even one."""
        magnitude = np.abs(values).astype(np.float64)
        steps = self._with_next()
        below = np.clip(np.searchsorted(steps, magnitude, side="right") - 1, 0, len(steps) - 2)
        middle = (steps[below] + steps[below + 1]) / 2
        up = (magnitude > middle) | ((magnitude == middle) & (below % 2 == 1))
        code = np.where(up, below + 1, below)
        code = np.where(np.isinf(magnitude) | (code > self.last_finite), self.overflow, code)
        code = np.where(np.isnan(magnitude), self.nan, code)
        return self._signed(code, values)

    def _with_next(self) -> npt.NDArray[np.float64]:
        """The finite values, and the one that would follow: beyond halfway there is overflow."""
        finite = self.positive[: self.last_finite + 1]
        following = np.float64(2 * finite[-1] - finite[-2])
        return np.append(finite, following)

    def _signed(self, code: Bits, values: Floats) -> Bits:
        if self.specials == "fnuz":
            plain = (code == 0) | (code == self.nan)
            signed = np.where(np.signbit(values) & ~plain, code | 0x80, code)
        else:
            signed = np.where(np.signbit(values), code | 0x80, code)
        return signed.astype(np.uint8)


FLOAT8: Final = {
    "float8_e5m2": Float8(5, 2, 15, "ieee"),
    "float8_e4m3fn": Float8(
        4, 3, 7, "fn", HABITS["what is too large for float8_e4m3fn becomes its largest"]
    ),
    "float8_e5m2fnuz": Float8(5, 2, 16, "fnuz"),
    "float8_e4m3fnuz": Float8(4, 3, 8, "fnuz"),
}


def e8m0_to_float32(bits: Bits) -> Floats:
    """A power of two by its exponent; the last code is NaN."""
    with np.errstate(over="ignore"):  # by the last code
        values = np.ldexp(np.float32(1), bits.astype(np.int32) - 127).astype(np.float32)
    chosen: Floats = np.where(bits == 0xFF, np.float32(np.nan), values)
    return chosen


def float32_to_e8m0(values: Floats) -> Bits:
    """The exponent, rounded up as the mantissa says; signs are lost."""
    bits = _bits_of(values)
    exponent = (bits >> 23) & 0xFF
    guard = (bits & 0x400000) > 0
    rest = (bits & 0x3FFFFF) > 0
    up = guard & ((exponent > 0) | rest)
    rounded = np.where(exponent == 0xFF, 0xFF, exponent + up)
    return rounded.astype(np.uint8)
