"""Functions of complex numbers as formulas of their real and imaginary parts.

NumPy's are the C library's, whose answers for infinities and nans the standard prescribes.  What
torch computes in vectors until 2.6 comes from the formulas alone, which answer nan where the
library knows better, and lose what is small.

Mirrors ``aten/src/ATen/cpu/vec/vec256/vec256_complex_float.h`` and its twin of doubles.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.support import HABITS

_OF_PARTS: Final = HABITS["complex functions are formulas of real parts"]
_LN2: Final = math.log(2)


def exp(self: Array) -> Array:
    """exp(a) (cos(b) + i sin(b))"""
    if not _OF_PARTS:
        return np.exp(self)
    modulus = np.exp(self.real)
    return _of(modulus * np.cos(self.imag), modulus * np.sin(self.imag))


def exp2(self: Array) -> Array:
    """By the library in every release: so few elements that they fill no vector are meant."""
    return np.exp(_of(self.real * _LN2, self.imag * _LN2))


def log1p(self: Array) -> Array:
    """Of a complex number with a correction for what is lost when 1 is added."""
    if self.dtype.kind != "c":
        return np.log1p(self)
    more = np.array(self)
    more.real += 1  # and not a complex number, whose other part would take a zero's sign
    kept = more.copy()
    kept.real -= 1
    logarithm = np.log(more)
    corrected = np.where(kept == self, logarithm, logarithm * (self / kept))
    return np.where(more == 1, self, corrected)


def asin(self: Array) -> Array:
    """-i ln(iz + sqrt(1 - z²))"""
    if not _OF_PARTS:
        return np.arcsin(self)
    a, b = self.real, self.imag
    product = a * -b  # in this order: what bits a nan has decides the sign of a root
    root = np.sqrt(_of(1 - (a * a - b * b), product + product))
    logarithm = np.log(_of(root.real - b, root.imag + a))
    return _of(logarithm.imag, -logarithm.real)


def acos(self: Array) -> Array:
    """π/2 - asin(z) in doubles, and the library's in floats."""
    if not _OF_PARTS or self.dtype == np.complex64:
        return np.arccos(self)
    found = asin(self)
    return _of(math.pi / 2 - found.real, 0 - found.imag)


def atan(self: Array) -> Array:
    """i/2 ln((i + z) / (i - z))"""
    if not _OF_PARTS:
        return np.arctan(self)
    a, b = self.real, self.imag
    logarithm = np.log(_divided(_of(0 + a, 1 + b), _of(0 - a, 1 - b)))
    real, imag = logarithm.real, logarithm.imag
    return _of(0 * real - imag / 2, 0 * imag + real / 2)


def product(left: Array, right: Array) -> Array:
    """As C multiplies: what is infinite stays so where the formula knows no part of a product."""
    a, b, c, d = np.broadcast_arrays(left.real, left.imag, right.real, right.imag)
    found = _of(a * c - b * d, a * d + b * c)
    is_lost = np.isnan(found.real) & np.isnan(found.imag)
    if not is_lost.any():
        return found
    is_left, is_right = np.isinf(a) | np.isinf(b), np.isinf(c) | np.isinf(d)
    overflows = np.isinf(a * c) | np.isinf(b * d) | np.isinf(a * d) | np.isinf(b * c)
    a, b = _direction(a, is_left), _direction(b, is_left)
    c, d = _direction(c, is_right), _direction(d, is_right)
    infinite = _of(np.inf * (a * c - b * d), np.inf * (a * d + b * c))
    return np.where(is_lost & (is_left | is_right | overflows), infinite, found)


def _direction(part: Array, is_infinite: Array) -> Array:
    """A part that is nan as nought; of an infinite number the infinite parts as one, no others."""
    boxed = np.where(np.isinf(part), part.dtype.type(1), part.dtype.type(0))
    known = np.where(np.isnan(part), part.dtype.type(0), part)
    return np.asarray(np.copysign(np.where(is_infinite, boxed, known), part))


def _divided(left: Array, right: Array) -> Array:
    """A quotient, scaled by the divisor's larger part first."""
    scale = 1 / np.maximum(abs(right.real), abs(right.imag))
    a, b = left.real * scale, left.imag * scale
    c, d = right.real * scale, right.imag * scale
    square = c * c + d * d
    return _of((a * c + b * d) / square, (b * c - a * d) / square)


def _of(real: Array, imag: Array) -> Array:
    found = np.empty(real.shape, np.result_type(real.dtype, np.complex64))
    found.real, found.imag = real, imag
    return found
