"""Values added to places of an array one after the other, as loops of C++ do it.

Mirrors the ``*(scalar_t*)dst += *(scalar_t*)src`` of ``aten/src/ATen/native/cpu/IndexKernel.cpp``:
where ``scalar_t`` is a half, each sum is one before the next is added.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_v2.kernels.elementwise.pointwise import rounded
from mindtorch_v2.kernels.elementwise.promotion import to_opmath
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array


def add_in_turn(target: Array, places: Any, values: Array, dtype: DType) -> None:
    """``target[places] += values``, each sum a value of ``dtype``; a place may occur again.

    The arrays are in the precision in which ``dtype`` is computed.
    """
    if to_opmath(dtype) is dtype:
        np.add.at(target, places, values)
        return
    reached = np.arange(target.size).reshape(target.shape)[places]
    added = np.broadcast_to(values, reached.shape).reshape(-1)
    flat, turns = reached.reshape(-1), _turns(reached.reshape(-1))
    elements: Any = target.flat
    for turn in range(int(turns.max(initial=-1)) + 1):
        now = turns == turn
        with np.errstate(all="ignore"):
            elements[flat[now]] = rounded(elements[flat[now]] + added[now], dtype)


def _turns(places: Array) -> Array:
    """How often each place has occurred before."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    begins = np.concatenate(([True], ordered[1:] != ordered[:-1]))[: ordered.size]
    firsts = np.flatnonzero(begins)
    turns = np.empty(places.size, np.int64)
    turns[order] = np.arange(places.size) - firsts[np.cumsum(begins) - 1]
    return turns
