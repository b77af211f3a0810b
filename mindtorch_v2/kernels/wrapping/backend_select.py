"""The kernel at BackendSelect: what is made goes where its options say, and its tensors, if any.

Mirrors what ``torchgen/dest/register_dispatch_key.py`` and ``gen_backend_select`` write for each
operator whose only word about a backend are a dtype, a layout and a device.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, Final

from mindtorch_v2.binding.operators import Call, Operator, find_operator
from mindtorch_v2.binding.values import to_python
from mindtorch_v2.dispatch.kernel import MISSING
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import full_after, intersection, mask_of
from mindtorch_v2.dispatch.native import NONE, Native
from mindtorch_v2.kernels import rows
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.dtype import DType, strided
from mindtorch_v2.tensor.options import compute_dispatch_key
from mindtorch_v2.tensor.tensor import Tensor

_OPTIONS: Final = ("dtype", "layout", "device")
_BELOW: Final = full_after(DispatchKey.BackendSelect)
_OWN: Final = frozenset(
    DispatchKey[f"{layout}NPU"] for layout in ("", "Quantized", "Sparse", "SparseCsr")
)
"""Keys of our own, where torch has no kernels: what a tensor is is known there all the same."""


@cache
def _places(operator: Operator) -> tuple[int, ...]:
    names = [argument.name for argument in operator.schema.arguments]
    return tuple(map(names.index, _OPTIONS))


@lru_cache(maxsize=1000)
def _key_of(
    operator: Operator, dtype: int | None, layout: int | None, where: str, default: DType
) -> int:
    """The backend key of these options, of which dtype and layout are as a stack has them."""
    arguments, places = operator.schema.arguments, _places(operator)
    found = default if dtype is None else to_python(arguments[places[0]], dtype)
    how = strided if layout is None else to_python(arguments[places[1]], layout)
    return compute_dispatch_key(found, how, where)


def _select(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    """Raises as computeDispatchKey does."""
    dtype, layout, device = _places(operator)
    where = "cpu" if stack[device] is None else stack[device].type
    key = _key_of(operator, stack[dtype], stack[layout], where, get_default_dtype())
    mask = mask_of(key)
    if key in _OWN and operator.entry.table.lookup(mask)[1] is MISSING:
        made = rows.find(operator.canonical, DispatchKey.CPU).function
        if made is not None:
            return made(*stack)
    for value in stack:
        if isinstance(value, Tensor):
            mask |= intersection(value._keys, _BELOW)
    return Call(operator, stack).redispatch(mask)


def _find(name: str, key: int) -> Native:
    if key != DispatchKey.BackendSelect or not _makes(name):
        return NONE
    return Native(_select, with_keyset=True)


def _makes(name: str) -> bool:
    """Whether an operator is told of what it makes; those that pin memory are told a device."""
    base, _, overload_name = name.partition(".")
    operator = find_operator(base, overload_name)
    names = [argument.name for argument in operator.schema.arguments] if operator else ()
    return all(option in names for option in _OPTIONS)


rows.DERIVED.append(_find)
