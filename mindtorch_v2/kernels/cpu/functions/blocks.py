"""Functions of many steps, a block of the elements at a time.

A step of NumPy's reads whole arrays and makes a whole one.  Of large arrays none of these stays in
the processor's cache, and each is memory that the system has to give first.  Mirrors what
``at::vec::map`` saves (``aten/src/ATen/cpu/vec/functional_base.h``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final

import numpy as np

from mindtorch_v2.tensor.elements import Array

AT_ONCE: Final = 1 << 13
"""Elements whose intermediate results stay in the cache."""


def by_blocks(function: Callable[..., Array]) -> Callable[..., Array]:
    """The same function of arrays of one shape and dtype, element by element."""

    @wraps(function)
    def of_all(*arrays: Array) -> Array:
        first = arrays[0]
        if first.size <= AT_ONCE:
            return function(*arrays)
        flat = [np.ravel(each) for each in arrays]
        found = np.empty(first.shape, first.dtype)
        places = found.reshape(-1)
        for start in range(0, first.size, AT_ONCE):
            at = slice(start, start + AT_ONCE)
            places[at] = function(*(each[at] for each in flat))
        return found

    return of_all
