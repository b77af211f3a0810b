"""Overloads that take names of dimensions: the places of the names, then the overload for those.

Factories make a tensor without, and look at the names then.  Mirrors ``dimname_to_position`` of
``aten/src/ATen/NamedTensorUtils.cpp`` and the one-line functions that call it.  Names of results
are left out.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any, Final

from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.native import NONE, Native
from mindtorch_v2.dispatch.operator_names import in_registration_order
from mindtorch_v2.kernels import rows
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.schema.function_schema import FunctionSchema
from mindtorch_v2.schema.parser import parse_known_schema
from mindtorch_v2.tensor.names import WILDCARD, set_names
from mindtorch_v2.tensor.tensor import Tensor

_NAME: Final = "str"
"""What a Dimname is to the schema's parser."""

_PLACES: Final = "List[int]"
_FACTORIES: Final = {"names": "", "generator_with_names": "generator"}
"""Overloads that name what they make, to those that do not."""


_NOT_YET: Final = (
    *("all", "any", "argsort", "gather", "index_add", "index_copy", "index_select", "scatter"),
    *("scatter_add", "sort"),
)
"""Operators whose overloads for names look at nothing."""


def _check_symbol(name: str) -> None:
    """``Symbol::fromQualString``: Python's parser qualifies, operators do not."""
    if "::" not in name:
        raise RuntimeError(
            f"all symbols must have a namespace, <namespace>::<string>, but found: {name}"
        )


def _position(tensor: Tensor, name: str) -> int:
    _check_symbol(name)
    if name == WILDCARD:
        raise RuntimeError("Please look up dimensions by name, got: name = None.")
    shown = ", ".join(["None"] * len(tensor._sizes))  # no tensor of this package has other names
    shown_name = name.removeprefix("dimname::")
    raise RuntimeError(f"Name '{shown_name}' not found in Tensor[{shown}].")


def _positions(tensor: Tensor, names: Any) -> Any:
    if isinstance(names, (list, tuple)):
        return [_position(tensor, name) for name in names]
    return _position(tensor, names)


def _kinds(schema: FunctionSchema) -> list[tuple[str, str]]:
    """Names of the arguments and their types, those of names as if they were places."""
    return [
        (
            argument.name,
            str(argument.real_type).replace(_NAME, "int").replace("Optional[List[int]]", _PLACES),
        )
        for argument in schema.arguments
    ]


@cache
def _by_place(name: str) -> tuple[str, int] | None:
    """The overload that takes places instead, and which argument holds them."""
    texts = [each.schema for each in in_registration_order(name.partition(".")[0])]
    schemas = {parse_known_schema(text).full_name: text for text in texts}
    if name not in schemas:
        return None
    own = parse_known_schema(schemas[name])
    taken = [
        place
        for place, argument in enumerate(own.arguments)
        if argument.name in ("dim", "dims") and _NAME in str(argument.real_type)
    ]
    if not taken:
        return None
    for full_name, text in schemas.items():
        if full_name != name and _kinds(parse_known_schema(text)) == _kinds(own):
            return full_name, taken[0]
    return None


def _run(target: OperatorHandle, place: int, /, *stack: Any) -> Any:
    values, first = list(stack), stack[0]
    if not isinstance(first, Tensor):  # of several, all have the names of the first
        if not first:
            raise RuntimeError("expected a non-empty list of Tensors")
        first = first[0]
    values[place] = _positions(first, stack[place])
    return target(*values)


def _refuse(name: str, place: int, /, *stack: Any) -> Any:
    """``reportNYIDimnameOverload``."""
    _check_symbol(stack[place])
    raise RuntimeError(
        f"{name}: You passed a dimname (string) to this op in place of a dimension index but it "
        "does not yet support this behavior. Please pass a dimension index to work around this."
    )


def _make(target: OperatorHandle, place: int, /, *stack: Any) -> Any:
    return set_names(target(*stack[:place], *stack[place + 1 :]), stack[place])


def _factory(name: str) -> Native:
    base, _, overload_name = name.partition(".")
    target = _FACTORIES.get(overload_name)
    if target is None:
        return NONE
    schemas = {
        (parsed := parse_known_schema(each.schema)).full_name: parsed
        for each in in_registration_order(base)
    }
    if name not in schemas:
        return NONE
    taken = [argument.name for argument in schemas[name].arguments]
    if "names" not in taken:  # of tensors that have them
        return NONE
    if base == "aten::empty":
        target = "memory_format"
    handle = OperatorHandle(f"{base}.{target}" if target else base)
    return Native(partial(_make, handle, taken.index("names")))


def _find(name: str, key: int) -> Native:
    if key == DispatchKey.CompositeExplicitAutograd:
        return _factory(name)
    if key != DispatchKey.CompositeImplicitAutograd:
        return NONE
    found = _by_place(name)
    if found is None:
        return NONE
    target, place = found
    base = name.removeprefix("aten::").partition(".")[0]
    if base in _NOT_YET:
        return Native(partial(_refuse, base, place))
    return Native(partial(_run, OperatorHandle(target), place))


rows.DERIVED.append(_find)
