"""Operators of lists: ``aten::sorted.int``, ``aten::index.list_str``, ``prim::min.int_list`` …

Mirrors ``torch/csrc/jit/runtime/register_ops_utils.h`` and ``register_ops_utils.cpp``.  A call from
Python hands C++ a copy of a list, so that who sorts one in place has nothing to show for it.  Of a
list of any type (``t[]``) only an empty one comes here: nothing else is converted without a type.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import Any, Final

from mindtorch_v2.kernels.formatting import printed
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.interpreter.strings import sliced
from mindtorch_v2.kernels.interpreter.values import Operation, int32, normalized
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.copying import value_array
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.support import CPP_NAMES, streamed
from mindtorch_v2.tensor.tensor import Tensor

_EQ: Final = OperatorHandle("aten::eq.Tensor")
_LT: Final = OperatorHandle("aten::lt.Tensor")
_IS_NONZERO: Final = OperatorHandle("aten::is_nonzero")
_SELECT: Final = OperatorHandle("aten::select.int")

_ASKS_THE_SECOND: Final = HABITS["the longer of two lists is asked of the second"]
"""Of which elements that are not comparable tell."""
_INT32: Final = DTYPES["int32"]

Values = list[Any]


def find(base: str, types: tuple[str, ...]) -> Operation | None:
    """The operator for lists of one of the types that C++ has lists of."""
    lists = [type for type in types if type.startswith("List[")]
    return _OF_LISTS.get((base, len(lists))) if lists else None


# --- equal elements -------------------------------------------------------------------------------


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor):
        return bool(_IS_NONZERO(_EQ(a, b)))
    return bool(a == b)


def _are_equal(a: Values, b: Values) -> bool:
    return len(a) == len(b) and all(map(_equal, a, b))


def _differ(a: Values, b: Values) -> bool:
    return not _are_equal(a, b)


def _place(values: Values, element: Any) -> int | None:
    """Where the first that is equal stands; of tensors the one that is looked for is asked."""
    return next((place for place, each in enumerate(values) if _equal(element, each)), None)


def _shown(value: Any) -> str:
    """As a stream of C++ shows it."""
    if isinstance(value, Tensor):
        return printed(value)
    if isinstance(value, float):
        return streamed(value)
    return str(int(value)) if isinstance(value, bool) else str(value)


def _index(values: Values, element: Any) -> int:
    place = _place(values, element)
    if place is None:
        raise RuntimeError(f"'{_shown(element)}' is not in list")
    return place


def _remove(values: Values, element: Any) -> None:
    if _place(values, element) is None:
        raise RuntimeError("list.remove(x): x not in list")


def _count(values: Values, element: Any) -> int:
    return sum(_equal(element, each) for each in values)


def _contains(values: Values, element: Any) -> bool:
    return _place(values, element) is not None


# --- order ----------------------------------------------------------------------------------------


def _compare_tensors(a: Tensor, b: Tensor) -> int:
    if a is b:
        return 0
    return -1 if _IS_NONZERO(_LT(a, b)) else 1


def _sorted(values: Values) -> Values:
    if values and isinstance(values[0], Tensor):
        return sorted(values, key=cmp_to_key(_compare_tensors))
    return sorted(values)


def _sort(values: Values, reverse: bool) -> None:
    """In place of a copy: what is left of it is what comparing refuses."""
    _sorted(values)


def _least(values: Values) -> Any:
    if not values:
        raise RuntimeError("min() arg is an empty sequence")
    found = values[0]
    for each in values[1:]:
        found = each if each < found else found
    return found


def _greatest(values: Values) -> Any:
    if not values:
        raise RuntimeError("max() arg is an empty sequence")
    found = values[0]
    for each in values[1:]:
        found = each if each > found else found
    return found


def _lesser(left: Values, right: Values) -> Values:
    for a, b in zip(left, right, strict=False):
        if a != b:
            is_less = a < b if not _ASKS_THE_SECOND else not b < a
            return left if is_less else right
    return left if len(left) < len(right) else right


def _greater(left: Values, right: Values) -> Values:
    for a, b in zip(left, right, strict=False):
        if a != b:
            is_more = a > b if not _ASKS_THE_SECOND else not b > a
            return left if is_more else right
    return left if len(left) > len(right) else right


# --- of all elements ------------------------------------------------------------------------------


def _sum(values: Values) -> Any:
    """Of integers in 32 bits."""
    found = sum(values)
    return int32(found) if isinstance(found, int) else found


def _sum_of_floats(values: Values) -> float:
    return float(sum(values, 0.0))


def _sum_of_complex(values: Values) -> complex:
    return complex(sum(values, 0j))


_OF_LISTS: Final[dict[tuple[str, int], Callable[..., Any]]] = {
    ("aten::__contains__", 1): _contains,
    ("aten::all", 1): all,
    ("aten::any", 1): any,
    ("aten::count", 1): _count,
    ("aten::dict", 1): dict,
    ("aten::eq", 2): _are_equal,
    ("aten::index", 1): _index,
    ("aten::ne", 2): _differ,
    ("aten::remove", 1): _remove,
    ("aten::sort", 1): _sort,
    ("aten::sorted", 1): _sorted,
    ("aten::sum", 1): _sum,
    ("prim::max", 1): _greatest,
    ("prim::max", 2): _greater,
    ("prim::min", 1): _least,
    ("prim::min", 2): _lesser,
}
"""By name and how many of the arguments are lists."""


# --- of any type ----------------------------------------------------------------------------------


def _item(values: Values, index: int) -> Any:
    place = normalized(index, len(values))
    if not 0 <= place < len(values):
        raise IndexError("list index out of range")
    return values[place]


def _pop(values: Values, index: int) -> Any:
    if not values:
        raise RuntimeError("pop from empty list")
    return _item(values, index)


def _delete(values: Values, index: int) -> None:
    if not values:
        raise RuntimeError("pop index out of range")
    _item(values, index)


def _joined(a: Values, b: Values) -> Values:
    return [*a, *b]


def _repeated(values: Values, count: int) -> Values:
    return values * count


def _repeated_by(count: int, values: Values) -> Values:
    return values * count


def _nothing(*values: Any) -> None:
    """What it changes is a copy that nobody sees."""


def _length_of_tensor(tensor: Tensor) -> int:
    if not tensor._dim():
        raise RuntimeError("len() of a 0-d tensor")
    return int(tensor._sizes[0])


def _rangelist(count: int) -> Values:
    if count < 0:
        raise ValueError("vector::reserve")
    return list(range(count))


def _tensor_to_list(self: Tensor) -> Values:
    """Of integers with 32 bits."""
    if not self._dim():
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if self._sizes[0] and self._dtype is not _INT32:
        raise RuntimeError(f"expected scalar type Int but found {CPP_NAMES[self._dtype]}")
    rows = (_SELECT(self, 0, place) for place in range(self._sizes[0]))
    return [value_array(row).flat[0].item() for row in rows]


OPERATIONS: Final[dict[str, Operation]] = {
    "aten::Delete.t": _delete,
    "aten::Size": list,
    "aten::__getitem__.t": _item,
    "aten::_tensor_to_list": _tensor_to_list,
    "aten::add.t": _joined,
    "aten::add_.t": _joined,
    "aten::clear.t": _nothing,
    "aten::copy.t": list,
    "aten::extend.t": _nothing,
    "aten::len.Tensor": _length_of_tensor,
    "aten::len.any": len,
    "aten::len.t": len,
    "aten::list.t": list,
    "aten::mul.left_t": _repeated,
    "aten::mul.right_": _repeated_by,
    "aten::mul_.t": _repeated,
    "aten::pop.t": _pop,
    "aten::reverse.t": _nothing,
    "aten::select.t": _item,
    "aten::slice.t": sliced,
    "aten::sum.complex": _sum_of_complex,
    "aten::sum.float": _sum_of_floats,
    "prim::rangelist": _rangelist,
}
