"""Direction numbers of Sobol's sequences in up to 21201 dimensions.

They are those of ``aten/src/ATen/native/SobolEngineOpsUtils.cpp``, which has them from S. Joe and
F. Y. Kuo, Constructing Sobol sequences with better two-dimensional projections, SIAM J. Sci.
Comput. 30, 2635-2654 (2008).  Each dimension has a primitive polynomial, in order, and as many
numbers as that has degrees.  The polynomials are found, the numbers are read from a file, where
``conformance/extract/_directions.py`` put them.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any, Final

import numpy as np

from mindtorch_v2.tensor.elements import Array

MAXDIM: Final = 21201
MAXBIT: Final = 30
COUNTS: Final = (1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630, 756, 1800, 2048, 7710, 7776)
"""How many polynomials there are of each degree from one on."""
_FILE: Final = "direction_numbers.bin"


def states(dimensions: int) -> Array:
    """A row of 30 numbers for each dimension, each to be moved up by the columns behind it."""
    found = np.ones((dimensions, MAXBIT), np.int64)
    start = 1
    for degree, of_degree in enumerate(COUNTS, start=1):
        count = min(of_degree, dimensions - start)
        if count <= 0:
            break
        rows = found[start : start + count]
        for column in range(degree):
            rows[:, column] = _numbers(degree, column)[:count]
        _continue(rows, degree, _polynomials(degree)[:count])
        start += count
    return found


def _continue(rows: Array, degree: int, polynomials: Array) -> None:
    """The recurrence of Bratley and Fox, Algorithm 659."""
    for column in range(degree, MAXBIT):
        found = rows[:, column - degree].copy()
        for step in range(degree):
            has_term = (polynomials >> (degree - 1 - step)) & 1
            found ^= has_term * (rows[:, column - step - 1] << (step + 1))
        rows[:, column] = found


# --- what is read -----------------------------------------------------------------------------


@cache
def _bits() -> Array:
    """Of all numbers, but for their lowest bits, which are set: column by column."""
    packed = resources.files(__package__).joinpath(_FILE).read_bytes()
    return np.unpackbits(np.frombuffer(packed, np.uint8))


@cache
def _numbers(degree: int, column: int) -> Any:
    """Those of the polynomials of a degree in a column."""
    start = sum(each * sum(COUNTS[each:]) for each in range(1, column))
    start += column * sum(COUNTS[column : degree - 1])
    count = COUNTS[degree - 1]
    bits = _bits()[start : start + column * count].reshape(count, column)
    return 1 + (bits @ (2 << np.arange(column, dtype=np.int64)))


# --- what is found ----------------------------------------------------------------------------


@cache
def _polynomials(degree: int) -> Any:
    """Primitive polynomials over two elements, as the bits of numbers: x is of the largest order
    modulo each."""
    found = np.arange((1 << degree) + 1, 2 << degree, 2, dtype=np.int64)
    order = (1 << degree) - 1
    found = found[_power_of_x(order, found, degree) == 1]
    for prime in _primes(order):
        found = found[_power_of_x(order // prime, found, degree) != 1]
    return found


def _power_of_x(exponent: int, modulus: Array, degree: int) -> Array:
    found = np.ones_like(modulus)
    power = np.full_like(modulus, 2)
    if degree == 1:  # of which x is another name of one
        power = power ^ modulus
    while exponent:
        if exponent & 1:
            found = _product(found, power, modulus, degree)
        power = _product(power, power, modulus, degree)
        exponent >>= 1
    return found


def _product(one: Array, two: Array, modulus: Array, degree: int) -> Array:
    found = np.zeros_like(one)
    for bit in range(degree):
        found ^= one * ((two >> bit) & 1)
        one = one << 1
        one = np.where((one >> degree) & 1, one ^ modulus, one)
    return found


def _primes(number: int) -> list[int]:
    """Those that divide it."""
    found, prime = [], 2
    while prime * prime <= number:
        if number % prime == 0:
            found.append(prime)
            while number % prime == 0:
                number //= prime
        prime += 1
    return [*found, number] if number > 1 else found
