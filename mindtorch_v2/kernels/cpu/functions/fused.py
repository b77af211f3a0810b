"""Products and sums of which a compiler makes one operation: the product is not rounded.

PyTorch's kernels are compiled for processors that have such an operation, in vectors or one
element at a time.  What a product loses when it is rounded is all that is left where a sum cancels
it out: ``1 - y * y`` of a ``tanh`` close to one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_v2.kernels.cpu.functions.blocks import AT_ONCE
from mindtorch_v2.tensor.elements import Array


def fused(a: Any, b: Any, c: Any) -> Array:
    """``a * b + c``, rounded once, of float32 or float64."""
    kind = np.result_type(a, b, c)
    a, b, c = np.asarray(a, kind), np.asarray(b, kind), np.asarray(c, kind)
    return (_fused_floats if kind == np.float32 else _fused_doubles)(a, b, c)


def _fused_floats(a: Array, b: Array, c: Array) -> Array:
    """In doubles, which have room for the product of any two floats."""
    if max(a.size, b.size, c.size) <= AT_ONCE:
        wide = a.astype(np.float64) * b.astype(np.float64)
        return np.asarray(wide + c, np.float32)
    a, b, c = np.broadcast_arrays(a, b, c)
    found = np.empty(a.shape, np.float32)
    rows = [each.reshape(-1) if each.strides != (0,) * each.ndim else each for each in (a, b, c)]
    places, wide = found.reshape(-1), np.empty(AT_ONCE)
    for start in range(0, found.size, AT_ONCE):
        at = slice(start, min(start + AT_ONCE, found.size))
        one, two, three = (each[at] if each.ndim == 1 else each.flat[0] for each in rows)
        work = wide[: at.stop - start]
        np.multiply(one, two, out=work, dtype=np.float64)
        np.add(work, three, out=work)
        places[at] = work
    return found


def _fused_doubles(a: Array, b: Array, c: Array) -> Array:
    """By Dekker's product and Knuth's sum, which answer their errors as well."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    total = product + c
    added = total - product
    lost = (product - (total - added)) + (c - added) + error
    exact = total + lost
    return np.where(np.isfinite(exact) & (lost != 0), exact, total)


def _split(value: Array) -> tuple[Array, Array]:
    """The upper and the lower half of the digits."""
    scaled = value * float(2**27 + 1)
    high = scaled - (scaled - value)
    return high, value - high
