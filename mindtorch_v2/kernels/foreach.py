"""``_foreach_…``: an operator for each tensor of lists.

Mirrors ``aten/src/ATen/native/ForeachOpsKernels.cpp``, of which a CPU takes the slow path: one call
of the operator after the other.  Which operator that is follows from the schemas: the one of the
same name whose arguments are the elements of the lists, and the others as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, Final

from mindtorch_v2.binding.operators import find_operator
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.native import NONE, Native
from mindtorch_v2.dispatch.operator_names import in_registration_order
from mindtorch_v2.kernels import rows
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.schema.function_schema import FunctionSchema
from mindtorch_v2.schema.parser import parse_known_schema
from mindtorch_v2.tensor.copying import value_array
from mindtorch_v2.tensor.geometry import is_contiguous, numel
from mindtorch_v2.tensor.tensor import Tensor

_KEYS: Final = (int(DispatchKey.CompositeExplicitAutograd), int(DispatchKey.Meta))
_PREFIX: Final = "aten::_foreach_"
_TENSORS: Final = "List[Tensor]"
_SCALARS: Final = "List[number]"
_ELEMENTS: Final = {_TENSORS: "Tensor", _SCALARS: "number"}
_COPY: Final = OperatorHandle("aten::copy")
_MAX: Final = OperatorHandle("aten::max")
_POWSUM: Final = OperatorHandle("aten::linalg__powsum")
_VECTOR_NORM: Final = OperatorHandle("aten::linalg_vector_norm")

#: Operators that have another name for one tensor.
_OTHER_NAMES: Final = {"maximum": "clamp_min", "minimum": "clamp_max"}

#: Whether norms of lists have checks of their own.
_LOOKS_ITSELF: Final = HABITS["norms of lists have checks of their own"]
_LOOKS_FOR_A_MAXIMUM: Final = HABITS["a maximum of a list has a check of its own"]

Each = Callable[..., Any]
Check = Callable[[Sequence[Sequence[Any]], Sequence[Any] | None], None]


def _types(schema: FunctionSchema) -> list[str]:
    return [str(argument.type) for argument in schema.arguments]


@cache
def _of_one(base: str, types: tuple[str, ...]) -> Each | None:
    """The operator that takes arguments of these types, and more only if they have defaults."""
    for found in in_registration_order(base):
        schema = parse_known_schema(found.schema)
        rest = schema.arguments[len(types) :]
        if _types(schema)[: len(types)] != list(types) or any(each.is_out for each in rest):
            continue
        if all(each.has_default for each in rest):
            return OperatorHandle(schema.full_name)
    return None


def _norm(tensor: Tensor, ord: Any, dtype: int | None) -> Any:
    if _LOOKS_ITSELF:
        _check_norm(tensor, ord)
    return _VECTOR_NORM(tensor, ord, [], False, dtype)


def _powsum(tensor: Tensor, ord: Any, dtype: int | None) -> Any:
    return _POWSUM(tensor, ord, [], False, dtype=dtype)


def _check_norm(tensor: Tensor, ord: Any) -> None:
    is_meta = tensor._device.type == "meta"
    if not is_meta and isinstance(ord, (bool, complex)):
        raise RuntimeError("foreach_tensor_norm_slow expects ord to be integer or float")
    if float(ord) == math.inf and not numel(tensor._sizes):
        what = (
            "infinity norm on empty tensor" if is_meta else "the infinity norm on an empty tensor"
        )
        why = "" if is_meta else " because the operation does not have an identity"
        raise RuntimeError(f"_foreach_norm cannot compute {what}{why}")


def _max(tensor: Tensor) -> Any:
    if _LOOKS_FOR_A_MAXIMUM and not numel(tensor._sizes):
        raise RuntimeError(
            "_foreach_max cannot compute the maximum of an empty tensor; max over zero elements is "
            "undefined."
        )
    return _MAX(tensor)


def _copies(self: Sequence[Tensor], src: Sequence[Tensor], non_blocking: bool) -> list[Any]:
    """``_foreach_copy``, which counts nothing: there are as many as sources."""
    return [_COPY(target, source, non_blocking) for target, source in zip(self, src, strict=False)]


# --- checks -----------------------------------------------------------------------------------


def _check_lists(tensors: Sequence[Sequence[Any]], scalars: Sequence[Any] | None) -> None:
    """``check_foreach_api_restrictions``."""
    if not all(tensors):
        raise RuntimeError("Tensor list must have at least one tensor.")
    first, *others = tensors
    for other in others:
        check_count(first, other)
    if scalars is not None and len(scalars) != len(first):
        is_counted = others and HABITS["numbers for each tensor are counted"]
        counts = f", got {len(first)} and {len(scalars)}" if is_counted else "."
        raise RuntimeError(f"Tensor list must have same number of elements as scalar list{counts}")


def check_count(first: Sequence[Any], other: Sequence[Any]) -> None:
    """RuntimeError for two lists of other lengths."""
    if len(other) != len(first):
        raise RuntimeError(
            f"Tensor lists must have the same number of tensors, got {len(first)} and {len(other)}"
        )


def _check_products(tensors: Sequence[Sequence[Any]], scalars: Sequence[Any] | None) -> None:
    """``_foreach_mm``'s own."""
    self, mat2 = tensors
    if not self or not mat2:
        raise RuntimeError("_foreach_mm requires non-empty tensor lists")
    if len(self) != len(mat2):
        raise RuntimeError("_foreach_mm: self and mat2 must have the same number of tensors")


def _check_scalar_tensor(scalar: Tensor) -> None:
    if scalar._sizes:
        raise RuntimeError(
            f"scalar tensor expected to be 0 dim but it has {len(scalar._sizes)} dimensions and "
            f"{numel(scalar._sizes)} elements."
        )


def _scalars_of(tensor: Tensor, count: int) -> list[Any]:
    """``convert_tensor_to_scalar_list``."""
    if tensor._device.type != "cpu":
        raise RuntimeError(f"Expected scalars to be on CPU, got {tensor._device} instead.")
    if not is_contiguous(tensor._sizes, tensor._strides):
        raise RuntimeError("Expected scalars to be contiguous.")
    if len(tensor._sizes) != 1:
        raise RuntimeError(
            f"Expected packed scalar Tensor to be of dimension 1. Got {len(tensor._sizes)} instead."
        )
    if tensor._sizes[0] != count:
        raise RuntimeError(
            f"Expected length of scalars to match input of length {count} but got "
            f"{tensor._sizes[0]} instead."
        )
    return list(value_array(tensor).tolist())


_OF_ONE: Final[dict[str, Each]] = {"max": _max, "norm": _norm, "powsum": _powsum}
"""What is done with one tensor where it is more than a call of an operator."""


# --- the kernel -------------------------------------------------------------------------------


def _run(check: Check, types: tuple[str, ...], each: Each, writes: bool, /, *stack: Any) -> Any:
    values = list(stack)
    lists = [value for value, type in zip(values, types, strict=True) if type == _TENSORS]
    if types[-1:] == ("Tensor",) and len(lists) > 1:  # of numbers, packed
        values[-1] = _scalars_of(values[-1], len(lists[0]))
        types = (*types[:-1], _SCALARS)
    scalars = None
    for value, type in zip(values, types, strict=True):
        if type == "Tensor":
            _check_scalar_tensor(value)
        elif type == _SCALARS:
            scalars = value
    check(lists, scalars)
    found = [
        each(
            *(
                value[place] if type in _ELEMENTS else value
                for value, type in zip(values, types, strict=True)
            )
        )
        for place in range(len(lists[0]))
    ]
    return None if writes else found


def _find(name: str, key: int) -> Native:
    if key not in _KEYS or not name.startswith(_PREFIX):
        return NONE
    base, _, overload_name = name.partition(".")
    operator = find_operator(base, overload_name)
    if operator is None or any(argument.is_out for argument in operator.schema.arguments):
        return NONE
    short = base.removeprefix(_PREFIX)
    types = tuple(_types(operator.schema))
    writes = any(argument.is_write for argument in operator.schema.arguments)
    if short == "copy":
        return Native(_copies)
    each = _OF_ONE.get(short)
    if each is None:
        plain = short.removesuffix("_") if writes else short
        mark = "_" if writes else ""
        packed = types[-1:] == ("Tensor",) and types.count(_TENSORS) > 1
        of_one = [_ELEMENTS.get(type, type) for type in types]
        if packed:
            of_one[-1] = "number"
        each = _of_one(f"aten::{_OTHER_NAMES.get(plain, plain)}{mark}", tuple(of_one))
    if each is None:
        return NONE
    check = _check_products if short == "mm" else _check_lists
    return Native(partial(_run, check, types, each, writes))


rows.DERIVED.append(_find)
