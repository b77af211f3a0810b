"""The kernel at BackendSelect: what is made goes where its options say, and its tensors, if any.

Mirrors what ``torchgen/dest/register_dispatch_key.py`` and ``gen_backend_select`` write for each
operator whose only word about a backend are a dtype, a layout and a device.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from mindtorch_v2.binding.op_schema import Stack
from mindtorch_v2.binding.operators import Call, Operator, find_operator
from mindtorch_v2.binding.values import to_python
from mindtorch_v2.dispatch.kernel import MISSING
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import full_after, intersection, mask_of
from mindtorch_v2.dispatch.native import NONE, Native
from mindtorch_v2.kernels import rows
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.dtype import strided
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


def _options(operator: Operator, stack: Stack) -> Iterator[Any]:
    for place in _places(operator):
        value = stack[place]
        yield None if value is None else to_python(operator.schema.arguments[place], value)


def _select(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    """Raises as computeDispatchKey does."""
    dtype, layout, device = _options(operator, stack)
    where = "cpu" if device is None else device.type
    key = compute_dispatch_key(dtype or get_default_dtype(), layout or strided, where)
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
