"""Sums in levels, which keep the parts of a long sum short.

Mirrors the loops of ``nll_loss_out_frame`` (``aten/src/ATen/native/LossNLL.cpp``).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.elementwise.pointwise import rounded
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.elements import Array

_LEVELS: Final = 8


def cascade_sum(values: Array, kept: Array, dtype: DType) -> Any:
    """The sum of those values that are ``kept``, each step of it a value of ``dtype``.

    At each place whose number is a multiple of a level's step, the level is added to the next.
    """
    power = max(4, (values.size - 1).bit_length() // _LEVELS)
    sums: list[Any] = [values.dtype.type(0)] * _LEVELS
    for place in np.flatnonzero(kept).tolist():
        sums[0] = _add(sums[0], values[place], dtype)
        level = 0
        while level + 1 < _LEVELS and place % (1 << (level + 1) * power) == 0:
            sums[level + 1] = _add(sums[level + 1], sums[level], dtype)
            sums[level] = values.dtype.type(0)
            level += 1
    total = values.dtype.type(0)
    for each in sums:
        total = _add(total, each, dtype)
    return total


def _add(one: Any, two: Any, dtype: DType) -> Any:
    return rounded(np.asarray(one + two), dtype)[()]
