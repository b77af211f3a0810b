"""``x[index] = 2`` where the release hands the number to an operator, not a tensor made of it.

Mirrors the shorter ways of ``THPVariable_setitem`` for Python numbers, which 2.15 has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mindtorch_v2 import profile
from mindtorch_v2.binding.python import checks
from mindtorch_v2.binding.python.manual import call_operator
from mindtorch_v2.binding.python.unpack import kept, unpack_long
from mindtorch_v2.tensor.dtype import DTYPES, int64
from mindtorch_v2.tensor.geometry import is_contiguous
from mindtorch_v2.tensor.low_precision import FLOAT8
from mindtorch_v2.tensor.masks import check_mask
from mindtorch_v2.tensor.symbolic import SymBool, SymFloat, SymInt
from mindtorch_v2.tensor.tensor import Tensor

Number = int | float | complex

NUMBERS_STAY: Final[bool] = profile.active().indexing["assigns_numbers_as_such"]
_INDEX_PUT: Final = {
    dtype for name, dtype in DTYPES.items() if dtype._is_quantized or name in FLOAT8
}
"""Which have ``index_put_`` by indices, as there is no ``index_fill_`` of them."""
_MASKS: Final = (DTYPES["uint8"], DTYPES["bool"])


def plain_number(given: object) -> Number | None:
    """What is assigned, if it is a number, of Python's or symbolic; a truth value counts as an
    integer."""
    if not NUMBERS_STAY or isinstance(given, Tensor):
        return None
    if checks.is_integer(given) or isinstance(given, bool):
        return int(unpack_long(given))
    if isinstance(given, (SymInt, SymFloat, SymBool)):
        symbolic: Number = kept(given)
        return symbolic
    if isinstance(given, float):
        return float(given)
    return complex(given) if isinstance(given, complex) else None


def fill(target: Tensor, number: Number) -> None:
    call_operator("aten::fill_.Scalar", self=target, value=number)


def fill_chosen(target: Tensor, indices: Sequence[Tensor | None], number: Number) -> bool:
    """Fill what one index chooses, by an operator for that; False if there is none for it."""
    dim = len(indices) - 1
    index = indices[dim]
    if index is None or any(each is not None for each in indices[:dim]):
        return False
    if index._device != target._device:
        return False
    if index._dtype in _MASKS:
        check_mask(target, index, dim)
        for _ in range(len(target._sizes) - dim - len(index._sizes)):
            index = call_operator("aten::unsqueeze", self=index, dim=-1)
        call_operator("aten::masked_fill_.Scalar", self=target, mask=index, value=number)
        return True
    if index._dtype is not int64 or target._dtype in _INDEX_PUT:
        return False
    if len(index._sizes) != 1:
        if not is_contiguous(index._sizes, index._strides):
            return False
        index = call_operator("aten::view", self=index, size=[-1])
    call_operator("aten::index_fill_.int_Scalar", self=target, dim=dim, index=index, value=number)
    return True
