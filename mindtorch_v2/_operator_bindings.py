"""Operators by name, as torch binds them; ``_C`` shows what :data:`EXPORTS` has.

Mirrors the look-ups of ``torch/csrc/jit/python/init.cpp`` and
``torch/csrc/utils/python_dispatch.cpp``.  The logic is in :mod:`mindtorch_v2.binding.operators`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import Parameter, Signature
from typing import Any, Final, Literal

from mindtorch_v2 import profile
from mindtorch_v2._schema_bindings import EXPORTS as _SCHEMAS
from mindtorch_v2._schema_bindings import Bound
from mindtorch_v2.binding.api_functions import api_function_named
from mindtorch_v2.binding.convert import shown_as_number
from mindtorch_v2.binding.errors import ReferenceCastError, SchemaMatchError
from mindtorch_v2.binding.op_schema import OpSchema
from mindtorch_v2.binding.operators import (
    Call,
    Operator,
    Packet,
    find_operator,
    find_packet,
    takes_numbers,
)
from mindtorch_v2.binding.python_kernel import NumbersAsTensors
from mindtorch_v2.binding.unboxed import Unboxed
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.dispatch.operator_names import check_qualified, in_registration_order, registered
from mindtorch_v2.messages import std_string
from mindtorch_v2.pybind import cast as _cast
from mindtorch_v2.pybind.classes import bind_methods, make_enum
from mindtorch_v2.pybind.function import Overload, cpp_function, pass_for_builtin
from mindtorch_v2.pybind.module import bound_functions
from mindtorch_v2.pybind.signature import parse_signature
from mindtorch_v2.schema.function_schema import FunctionSchema
from mindtorch_v2.slot_called import SlotCalled
from mindtorch_v2.torch_function import handle_torch_function, is_mode_enabled

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
    EXPORTS.update(bound_functions(_functions, {name: implementation}, loaders, wrap))


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
    known = [text.overload_name for text in in_registration_order(name)]
    schemas = [_schema_of(name, overload_name) for overload_name in known]
    return schemas + [entry.defined_schema.schema for entry in DISPATCHER.defined(name)]


def _all_schemas() -> list[FunctionSchema]:
    by_name = {schema.full_name: schema for name in registered() for schema in _schemas_of(name)}
    texts = profile.active().schemas["schemas"]
    return [by_name[text.partition("(")[0]] for text in texts]


_define("_get_schema", _schema_of, wrap_schema)
_define("_jit_get_schemas_for_operator", _schemas_of, _wrap_schemas)
_define("_jit_get_all_schemas", _all_schemas, _wrap_schemas)


# --- calls ------------------------------------------------------------------------------------


def called(
    name: str,
    overload_name: str | None,
    run: Callable[[], Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """``_get_operation_for_overload_or_packet``: overrides are asked before anything is bound.

    They see the overload, or for None the packet, of the qualified name that the user typed.
    TypeError for an answer from Python that is none of the operator's.
    """
    # Imported late: the argument parser takes keysets, which are torch._C's.
    from mindtorch_v2.binding.python.checks import overriding_arguments

    overloaded = overriding_arguments((*args, *kwargs.values()))
    if overloaded or is_mode_enabled():
        function = api_function_named(name, overload_name)
        shown_name = f"torch.ops{name.replace('::', '.')}"  # without a dot, as in torch
        return handle_torch_function(
            function, shown_name, overloaded, args, kwargs, warns_python=False
        )
    with NumbersAsTensors(takes_numbers(name)):
        try:
            return shown_as_number(run())
        except _cast.PybindTypeError as error:
            raise TypeError(str(error)) from None


class _SignatureOfCalls:
    """What :func:`inspect.signature` says of an object with a slot in place of a method.

    Of the class it says what the constructor takes, which nothing here tells it.
    """

    _taken: Final = Signature(
        [
            Parameter("args", Parameter.VAR_POSITIONAL),
            Parameter("kwargs", Parameter.VAR_KEYWORD),
        ]
    )

    def __get__(self, instance: Any, owner: type) -> Signature | None:
        return None if instance is None else self._taken


class Entered(SlotCalled):
    """What calls of an operator enter by.

    First that takes the long way with every call.  Once there have been some, it is the short way
    of an operator, which hands on what is not for it.
    """

    __slots__ = ("_unboxed",)
    __signature__ = _SignatureOfCalls()

    def __init__(self) -> None:
        self._unboxed: Unboxed | None = None
        self.__call__ = lambda *args, **kwargs: self._called(args, kwargs)

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The long way."""
        raise NotImplementedError

    def _enter(self, operator: Operator) -> None:
        """A call has come to ``operator``, to which calls may come by the short way then."""
        if operator.is_worth_compiling() and self._unboxed is not operator.unboxed:
            self._unboxed = operator.unboxed
            self.__call__ = self._unboxed.entry(self._called)


# --- packets ----------------------------------------------------------------------------------


class BoundPacket(Entered, cpp_function):
    """The function that torch makes of all overloads of a name."""

    def __init__(self, packet: Packet) -> None:
        Entered.__init__(self)
        lines = "".join(f"  {operator.text}\n" for operator in packet.overloads.values())
        doc = f"Automatically bound operator '{packet.name}' with schema(s):\n{lines}"
        cpp_function.__init__(self, packet.name.partition("::")[2], tuple, doc)
        self.packet = packet
        self._first = next(iter(packet.overloads.values()), None)

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.called(self, args, kwargs)

    def called(self, by: Entered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call of whichever overload takes it; ``by`` takes the first's short way in time."""

        def run() -> Any:
            call = self.packet.bind(args, kwargs)
            if call.operator is self._first:
                by._enter(call.operator)
            return call.run()

        return called(self.packet.name, None, run, args, kwargs)


pass_for_builtin(BoundPacket)


def _resolve_packet(name: str | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The name of the overload that takes these arguments."""
    qualified = std_string(name)
    packet = find_packet(qualified) or Packet(qualified, ())
    with _reference_casts_refused():
        return packet.match(args, kwargs).operator.overload_name or "default"


def _check_schema(
    schema: FunctionSchema, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Literal[True]:
    """Whether a schema takes these arguments; RuntimeError if it does not."""
    with _reference_casts_refused():
        try:
            OpSchema(schema).match(args, kwargs)
        except SchemaMatchError as error:
            raise RuntimeError(str(error)) from None
    return True


@contextmanager
def _reference_casts_refused() -> Iterator[None]:
    """To pybind11 they say that the function which it called does not take its arguments."""
    try:
        yield
    except ReferenceCastError:
        raise _cast.NoMatch from None


def _operation(name: str) -> tuple[BoundPacket, list[str]] | tuple[None, None]:
    packet = find_packet(name)
    return (None, None) if packet is None else (BoundPacket(packet), list(packet.overloads))


_define("_jit_get_operation", _operation, _itself)
_define("_jit_resolve_packet", _resolve_packet, _itself, {"arg0": _cast.load_c_string})
_define("_check_schema_allow_fake_script_object", _check_schema, _itself)


# --- overloads --------------------------------------------------------------------------------

_TAG_FACTS: Final = _classes["Tag"]

Tag: Any = make_enum(
    "torch._C.Tag", "mindtorch_v2", _TAG_FACTS, _TAG_FACTS["members"], _cast.unsigned_loader(32)
)
"""What is known of an operator besides its schema: ``torch.Tag``."""
EXPORTS["Tag"] = Tag

_CALL: Final = parse_signature("(*args, **kwargs) -> object")
_CALL_AT_KEY: Final = parse_signature("(arg0: torch.DispatchKey, *args, **kwargs) -> object")


def _bound(operator: Operator, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call:
    """``createStackForSchema``, in a function that pybind11 calls."""
    with _reference_casts_refused():
        try:
            return Call(operator, operator.binder.match(args, kwargs))
        except SchemaMatchError as error:
            raise RuntimeError(str(error)) from None


def bound_overload(operator: Operator, *, takes_key: bool) -> cpp_function:
    """The function that torch makes of an overload, or of one that is called at a key."""

    def call(*loaded: Any) -> Any:
        *key, args, kwargs = loaded

        def run() -> Any:
            bound = _bound(operator, args, kwargs)
            return bound.run_at_key(key[0]) if takes_key else bound.run()

        return called(operator.name, operator.overload_name, run, args, kwargs)

    signature = _CALL_AT_KEY if takes_key else _CALL
    overload = Overload(signature, call, {"arg0": _cast.load_dispatch_key}, _itself)
    return cpp_function("", lambda: (overload,), f"{signature.text}\n")


def _operation_overload(
    name: str, overload_name: str
) -> tuple[cpp_function, cpp_function, list[Any]] | None:
    """An overload as a function, the same at a key, and its tags; None if there is no such.

    RuntimeError for the latter where the release has no None for it.
    """
    operator = find_operator(name, overload_name)
    if operator is None:
        if _functions["_get_operation_overload"].strip().endswith("-> tuple"):
            raise RuntimeError("Found no matching operator overload")
        return None
    tags = [getattr(Tag, tag) for tag in operator.registered_tags]
    calls = (bound_overload(operator, takes_key=takes_key) for takes_key in (False, True))
    return (*calls, tags)  # type: ignore[return-value]


_define("_get_operation_overload", _operation_overload, _itself)


# --- the dispatcher ---------------------------------------------------------------------------


class _DispatchOperatorHandle(Bound, cpp_name="torch._C._DispatchOperatorHandle"):
    """``c10::OperatorHandle``."""

    __slots__ = ()
    __module__ = "mindtorch_v2._C"
    __doc__ = None


bind_methods(
    _DispatchOperatorHandle,
    _classes["_DispatchOperatorHandle"]["methods"],
    {
        "schema": lambda operator: operator.schema,
        "debug": lambda operator: operator.entry.debug,
        "redispatch_boxed": lambda handle, keyset, args, kwargs: _bound(
            handle._cpp, args, kwargs
        ).redispatch(keyset),
    },
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
    name, overload_name = std_string(name), std_string(overload_name)
    operator = find_operator(name, overload_name) if "::" in name else None
    if operator is None or not operator.in_dispatcher:
        raise no_schema(name, overload_name)
    return operator


def no_schema(name: str, overload_name: str) -> RuntimeError:
    """What is said of an operator that is not defined; it may have kernels."""
    reason = f"Could not find schema for {name}.{overload_name}"
    full_name = f"{name}.{overload_name}" if overload_name else name
    if "." not in name and DISPATCHER.find(full_name) is not None:
        reason += " but we found an implementation; did you forget to def() the operator?"
    return RuntimeError(reason)


_define(
    "_dispatch_find_schema_or_throw",
    _find_schema_or_throw,
    _DispatchOperatorHandle.wrap,
    {"arg0": _cast.load_c_string, "arg1": _cast.load_c_string},
)
find_schema_or_throw: Final[Callable[[str, str], Any]] = EXPORTS["_dispatch_find_schema_or_throw"]
_define(
    "_dispatch_call_boxed",
    lambda operator, args, kwargs: _bound(operator, args, kwargs).run(),
    _itself,
)


def _set_report_error_callback(operator: Operator, callback: Any) -> None:
    operator.entry.report_error = callback


_define("_dispatch_set_report_error_callback", _set_report_error_callback, _itself)
_define(
    "_dispatch_get_all_op_names",
    lambda: list(profile.active().schemas["dispatcher_names"]),
    _itself,
)
