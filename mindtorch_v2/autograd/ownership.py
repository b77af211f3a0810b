"""Who else holds a gradient: torch reuses the memory of one that nobody else can see.

Stands for ``use_count()`` of intrusive pointers in ``torch/csrc/autograd/input_buffer.cpp`` and
``accumulate_grad.h``.  Here a tensor's references are Python's, so the engine keeps a gradient in
one list and nowhere else, and these functions are asked about a place of that list.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from sys import getrefcount
from typing import Any, Final

from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.tensor import Tensor


def others_that_hold(grads: Sequence[Any], place: int) -> int:
    """How many references there are to a gradient besides that of the list."""
    return getrefcount(grads[place]) - _OF_A_LIST


def has_storage_of_its_own(tensor: Tensor) -> bool:
    """Whether nothing but the tensor refers to its memory, no view and no base."""
    return getrefcount(tensor._storage) == _of_a_tensor()


# Measured, not assumed: how many references a call of getrefcount finds is the interpreter's.
_LIST: Final = [object()]
_OF_A_LIST: Final = getrefcount(_LIST[0])


@cache
def _of_a_tensor() -> int:
    tensor = Tensor._make((1,), DTYPES["float32"])
    return getrefcount(tensor._storage)
