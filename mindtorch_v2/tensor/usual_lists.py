"""What nearly every call makes a tensor of: a number, or lists of numbers, of Python's own types.

What :mod:`mindtorch_v2.tensor.construct` finds out number by number is known of these at once.
Nothing in a list is asked anything, so one that is not of this kind can still be looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mindtorch_v2.numpy_later import np
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.dtype import DTYPES, DType, float32, int64
from mindtorch_v2.tensor.elements import Array, elements_of

_MOST_DIMS: Final = 16
_DTYPES: Final[Mapping[type, tuple[DType, ...]]] = {
    float: (float32, DTYPES["float64"]),
    int: (int64,),
    bool: (DTYPES["bool"],),
}
"""By the type of all numbers: what they become without a look at their values."""


def usual_array(data: Any, dtype: DType | None) -> tuple[Array, DType] | None:
    """The values of a number or of nested lists as they are stored, and their dtype, by default
    that which follows from the numbers; None for lists of several lengths, for anything else, and
    out of range.  Their dtypes are such as NumPy computes with, and the array is nobody else's."""
    sizes = []
    if type(data) is list:
        sizes.append(len(data))
    else:
        data = [data]
    while sizes and data and type(data[0]) is list:
        width = len(data[0])
        if len(sizes) == _MOST_DIMS:
            return None
        for row in data:
            if type(row) is not list or len(row) != width:
                return None
        sizes.append(width)
        data = [item for row in data for item in row]
    kinds = set(map(type, data))
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind not in _DTYPES or 0 in sizes:
        return None
    wanted = dtype or (get_default_dtype() if kind is float else _DTYPES[kind][0])
    if wanted not in _DTYPES[kind]:
        return None
    try:
        values = np.array(data, kind)
    except OverflowError:  # which has words of its own
        return None
    return elements_of(wanted).encode(values).reshape(sizes), wanted
