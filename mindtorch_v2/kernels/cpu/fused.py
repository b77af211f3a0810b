"""Sums of products of which a compiler makes one operation: the product is not rounded."""

from __future__ import annotations

import numpy as np

from mindtorch_v2.tensor.elements import Array


def multiply_subtract(a: Array, b: Array, c: Array) -> Array:
    """``fma(a, b, -c)`` of arrays of floats, or of doubles."""
    if a.dtype == np.float32:
        wide = np.float64  # which has room for the product of any two
        difference = np.multiply(a, b, dtype=wide) - np.asarray(c, wide)
        return np.asarray(difference, np.float32)
    return _subtract_doubles(a, b, c)


def _subtract_doubles(a: Array, b: Array, c: Array) -> Array:
    """By Dekker's product and Knuth's sum, which answer their errors as well."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    difference = product - c
    taken = difference - product
    lost = (product - (difference - taken)) - (c + taken)
    exact = difference + (lost + error)
    return np.where(np.isfinite(exact), exact, difference)


def _split(value: Array) -> tuple[Array, Array]:
    """The upper and the lower half of the digits."""
    scaled = value * float(2**27 + 1)
    high = scaled - (scaled - value)
    return high, value - high
