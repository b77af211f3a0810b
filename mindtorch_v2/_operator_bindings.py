"""Operators by name, as torch binds them; ``_C`` shows what :data:`EXPORTS` has.

Mirrors the look-ups of ``torch/csrc/jit/python/init.cpp`` and
``torch/csrc/utils/python_dispatch.cpp``.  The logic is in :mod:`mindtorch_v2.binding.operators`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2._schema_bindings import EXPORTS as _SCHEMAS
from mindtorch_v2._schema_bindings import Bound
from mindtorch_v2.binding.operators import Operator, Packet, find_operator, find_packet
from mindtorch_v2.dispatch.operator_names import check_qualified, in_registration_order, registered
from mindtorch_v2.messages import NULL_STRING
from mindtorch_v2.pybind import cast as _cast
from mindtorch_v2.pybind.classes import bind_methods
from mindtorch_v2.pybind.function import Overload, cpp_function
from mindtorch_v2.pybind.signature import parse_docstring
from mindtorch_v2.schema.function_schema import FunctionSchema

_functions: Final = profile.active().bindings["functions"]
_classes: Final = profile.active().bindings["classes"]

EXPORTS: Final[dict[str, Any]] = {}
"""Names of torch._C to what stands there."""

wrap_schema: Final[Callable[[FunctionSchema], Any]] = _SCHEMAS["FunctionSchema"].wrap


def _define(
    name: str,
    implementation: Callable[..., Any],
    wrap: Callable[[Any], Any],
    loaders: Mapping[str, _cast.Loader] | None = None,
) -> None:
    doc = _functions.get(name)
    if doc is not None:
        (signature,) = parse_docstring(doc)
        overload = Overload(signature, implementation, loaders, wrap)
        EXPORTS[name] = cpp_function(name, (overload,), doc)


def _itself(value: Any) -> Any:
    return value


def _wrap_schemas(schemas: list[FunctionSchema]) -> list[Any]:
    return list(map(wrap_schema, schemas))


# --- schemas by operator ----------------------------------------------------------------------


def _schema_of(name: str, overload_name: str) -> FunctionSchema:
    operator = find_operator(name, overload_name)
    if operator is None:
        raise RuntimeError("Found no matching schema")
    return operator.schema


def _schemas_of(name: str) -> list[FunctionSchema]:
    check_qualified(name)
    overloads = (text.overload_name for text in in_registration_order(name))
    return [_schema_of(name, overload_name) for overload_name in overloads]


def _all_schemas() -> list[FunctionSchema]:
    by_name = {schema.full_name: schema for name in registered() for schema in _schemas_of(name)}
    texts = profile.active().schemas["schemas"]
    return [by_name[text.partition("(")[0]] for text in texts]


_define("_get_schema", _schema_of, wrap_schema)
_define("_jit_get_schemas_for_operator", _schemas_of, _wrap_schemas)
_define("_jit_get_all_schemas", _all_schemas, _wrap_schemas)


# --- packets ----------------------------------------------------------------------------------


class BoundPacket(cpp_function):
    """The function that torch makes of all overloads of a name."""

    def __init__(self, packet: Packet) -> None:
        lines = "".join(f"  {operator.text}\n" for operator in packet.overloads.values())
        doc = f"Automatically bound operator '{packet.name}' with schema(s):\n{lines}"
        super().__init__(packet.name.partition("::")[2], (), doc)
        self.packet = packet

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.packet.bind(args, kwargs).run()


def _operation(name: str) -> tuple[BoundPacket, list[str]] | tuple[None, None]:
    packet = find_packet(name)
    return (None, None) if packet is None else (BoundPacket(packet), list(packet.overloads))


_define("_jit_get_operation", _operation, _itself)


# --- the dispatcher ---------------------------------------------------------------------------


class _DispatchOperatorHandle(Bound, cpp_name="torch._C._DispatchOperatorHandle"):
    """``c10::OperatorHandle``."""

    __slots__ = ()
    __module__ = "mindtorch_v2._C"
    __doc__ = None


bind_methods(
    _DispatchOperatorHandle,
    _classes["_DispatchOperatorHandle"]["methods"],
    {"schema": lambda operator: operator.schema},
    slot="_cpp",
)
_cast.register_class(
    "torch._C._DispatchOperatorHandle",
    _DispatchOperatorHandle,
    lambda self: self._cpp,
    _DispatchOperatorHandle.wrap,
)
EXPORTS["_DispatchOperatorHandle"] = _DispatchOperatorHandle


def _find_schema_or_throw(name: str | None, overload_name: str | None) -> Operator:
    if name is None or overload_name is None:
        raise RuntimeError(NULL_STRING)
    operator = find_operator(name, overload_name) if "::" in name else None
    if operator is None or not operator.in_dispatcher:
        raise RuntimeError(f"Could not find schema for {name}.{overload_name}")
    return operator


_define(
    "_dispatch_find_schema_or_throw",
    _find_schema_or_throw,
    _DispatchOperatorHandle.wrap,
    {"arg0": _cast.load_c_string, "arg1": _cast.load_c_string},
)
_define(
    "_dispatch_get_all_op_names",
    lambda: list(profile.active().schemas["dispatcher_names"]),
    _itself,
)
