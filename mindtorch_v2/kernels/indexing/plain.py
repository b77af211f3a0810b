"""Plain calls of ``index``: one index in front, of a plain tensor.

A mask, or a row of places, is what NumPy takes as it is, and the result lies row by row.  So there
is nothing to be arranged; whatever could be wrong with an index the long way finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mindtorch_v2.dispatch.observers import OBSERVERS
from mindtorch_v2.dispatch.tls import thread_local
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.own import Own
from mindtorch_v2.kernels.switches import dispatch
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.plain import array_of, of_array
from mindtorch_v2.tensor.tensor import Tensor

_LONG, _BOOL = DTYPES["int64"], DTYPES["bool"]

_MASKS_ARE_OURS: Final = Own([OperatorHandle("aten::nonzero"), OperatorHandle("aten::select.int")])


def picked_from_plain(self: Tensor, indices: Sequence[Tensor | None]) -> Tensor | None:
    """What a plain call of ``index`` answers; None for any other."""
    if len(indices) != 1 or OBSERVERS.count or thread_local.raw.inference_mode:
        return None
    (index,) = indices
    if index is None:
        return None
    array, places = array_of(self), array_of(index)
    if array is None or places is None or not _is_usual(index, places, array):
        return None
    dispatch("index_cpu", self._dtype)
    try:
        found = array[places]
    except IndexError:
        return None
    return of_array(Tensor, found, self._dtype) if found.size else None


def _is_usual(index: Tensor, places: Array, array: Array) -> bool:
    """Whether it is a mask of leading dimensions, or a row of places along the first."""
    rank = places.ndim
    if index._dtype is _BOOL:
        is_ours = bool(_MASKS_ARE_OURS) or _MASKS_ARE_OURS.look()
        return 0 < rank <= array.ndim and places.shape == array.shape[:rank] and is_ours
    return index._dtype is _LONG and rank == 1 and array.ndim > 0
