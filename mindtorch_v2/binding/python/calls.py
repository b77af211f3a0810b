"""From a parsed call to the operator that it stands for.

Mirrors the bodies that torch's code generator writes (``emit_single_dispatch`` in
``tools/autograd/gen_python_functions.py``, ``dispatch_lambda_exprs`` in
``torchgen/api/python.py``): parameters go to the operator's arguments of the same name, tensor
options to theirs, and ``out`` chooses the variant that writes into it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from functools import cache, lru_cache
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.binding.convert import enum_value, enum_value_named, number_to_tensor
from mindtorch_v2.binding.operators import Call, DefinedOperator, Operator, find_operator
from mindtorch_v2.binding.python.factories import default_device
from mindtorch_v2.binding.python.parser import Parsed
from mindtorch_v2.binding.python.signature import ABSENT, Signature
from mindtorch_v2.binding.python.unpack import unpack
from mindtorch_v2.binding.stop import is_stopping
from mindtorch_v2.dispatch.unboxing import REFUSES_UNSIGNED, check_boxes, is_unsigned
from mindtorch_v2.profile.sections import Overload
from mindtorch_v2.tensor.absent_devices import maybe_initialize_device
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import is_seen_by_python

_FACTS: Final = profile.active().argument_parser
_SCALAR_TYPES: Final = {repr(dtype): name for dtype, name in CPP_NAMES.items()}
_LAYOUTS: Final[dict[str, str]] = _FACTS["layout_names"]


_known: Final[dict[str, Operator]] = {}
"""Operators that torch's dispatcher has: nobody can define these anew, or undefine them."""


def operator_named(full_name: str) -> Operator:
    """The operator ``aten::add.Tensor``; KeyError if there is none."""
    known = _known.get(full_name)
    if known is not None:
        return known
    name, _, overload = full_name.partition(".")
    operator = find_operator(name, overload)
    if operator is None:
        raise KeyError(full_name)
    if operator.in_dispatcher and not isinstance(operator, DefinedOperator):
        _known[full_name] = operator
    return operator


def call_of(overload: Overload, parsed: Parsed, receiver: Tensor | None) -> Call:
    """The operator and its arguments; whatever their conversion raises."""
    values = Values(parsed)
    out = _out_parameter(overload)
    writes = out in values and not values.is_absent(out)
    operator = operator_named(overload["out"] if writes else overload["base"])
    if overload.get("deprecated"):
        arguments = _deprecated_arguments(overload["call"], values, writes)
        return _checked(Call(operator, _in_order(operator, arguments, receiver)))
    return _checked(Call(operator, _by_name(operator, values, receiver, writes)))


def _checked(call: Call) -> Call:
    """RuntimeError for an unsigned number that the release cannot hand on to Python, if the call
    comes there."""
    if (
        REFUSES_UNSIGNED
        and any(map(is_unsigned, call.stack))
        and (is_stopping() or is_seen_by_python(call.stack))
    ):
        check_boxes(call.operator.schema, call.stack)
    return call


def _out_parameter(overload: Overload) -> str:
    """What the parameter is called that says where to write: ``out`` if that is more than one."""
    if "out" not in overload:
        return ""
    names = _outputs(operator_named(overload["out"]))
    return names[0] if len(names) == 1 else "out"


@cache
def _outputs(operator: Operator) -> tuple[str, ...]:
    return tuple(argument.name for argument in operator.schema.arguments if argument.is_out)


class Values:
    """The values of a signature's parameters, each converted when it is first asked for."""

    def __init__(self, parsed: Parsed) -> None:
        self.signature = parsed.signature
        self._given = parsed.values
        self._places = parsed.signature.places

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def is_absent(self, name: str) -> bool:
        return self._given[self._places[name]] is ABSENT

    def is_given(self, place: int) -> bool:
        return self._given[place] is not ABSENT

    def __getitem__(self, name: str) -> Any:
        return self.at(self._places[name])

    def at(self, place: int) -> Any:
        return unpack(self.signature, place, self._given[place])


def _by_name(
    operator: Operator, values: Values, receiver: Tensor | None, writes: bool
) -> tuple[Any, ...]:
    """The stack of a call whose parameters have the names of the operator's arguments."""
    if writes:
        check_out(values)
    exprs = _exprs_of(operator, values.signature, receiver is not None, writes)
    written = values["out"] if exprs.outputs > 1 else ()
    stack = list(exprs.stack)
    if exprs.device >= 0:  # before the others
        stack[exprs.device] = device = _device(values)
        if not writes:
            maybe_initialize_device(device)
    if exprs.receiver >= 0:
        stack[exprs.receiver] = receiver
    for position, place, kind in exprs.given:
        if kind is _Kind.OUTPUT:
            output = values.at(place) if exprs.outputs == 1 else written[place]
            # a tensor that wraps a number is shown to Python as one
            stack[position] = output if is_stopping() else number_to_tensor(output, Tensor)
        elif kind is _Kind.VALUE or values.is_given(place):
            stack[position] = values.at(place)
    return tuple(stack)


class _Kind(Enum):
    """What an argument's value is."""

    VALUE = auto()
    """That of a parameter."""
    OPTION = auto()
    """That of a parameter, if it is given: else the operator's own default."""
    OUTPUT = auto()
    """What is written to: a parameter, or one element of it."""


@dataclass(frozen=True, slots=True)
class _DispatchLambdaExprs:
    """Where an operator's arguments come from in calls that a signature takes
    (``DispatchLambdaArgumentExprs``)."""

    stack: tuple[Any, ...]
    """The operator's defaults, in whose places come:"""
    receiver: int
    """at this position the receiver, and"""
    device: int
    """at this one a new tensor's device; none of them if negative;"""
    outputs: int
    given: tuple[tuple[int, int, _Kind], ...]
    """at these positions what was given at those places, in the order in which compiled C++
    evaluates it: backwards."""


@lru_cache(maxsize=5000)
def _exprs_of(
    operator: Operator, signature: Signature, has_receiver: bool, writes: bool
) -> _DispatchLambdaExprs:
    arguments, places = operator.schema.arguments, signature.places
    outputs = _outputs(operator) if writes else ()
    receiver = device = -1
    given: list[tuple[int, int, _Kind]] = []
    for position in reversed(range(len(arguments))):
        name = arguments[position].name
        if name in outputs:
            place = places[name] if len(outputs) == 1 else outputs.index(name)
            given.append((position, place, _Kind.OUTPUT))
        elif name == "self" and has_receiver:
            receiver = position
        elif name == "self" and name not in places:
            given.append((position, places["input"], _Kind.VALUE))
        elif name == "device" and signature.makes_tensor:
            device = position
        elif name in ("dtype", "layout") and signature.makes_tensor:
            given.append((position, places[name], _Kind.OPTION))
        elif name in places:
            given.append((position, places[name], _Kind.VALUE))
    defaults = tuple(argument.default_value for argument in arguments)
    return _DispatchLambdaExprs(defaults, receiver, device, len(outputs), tuple(given))


def _device(values: Values) -> Device | None:
    if values.is_absent("device"):
        return default_device(values.signature)
    device: Device | None = values["device"]
    return device


def check_out(values: Values, *, reads_default_layout: bool = False) -> None:
    """``check_out_type_matches``: RuntimeError if an option contradicts the tensor written to.

    A layout that was not given contradicts none, but to a function that reads its default.
    """
    if not all(name in values for name in ("dtype", "layout", "device")):
        return
    out, device = values["out"], values["device"]
    for what, names, actual in (
        ("dtype", _SCALAR_TYPES, out.dtype),
        ("layout", _LAYOUTS, out.layout),
    ):
        is_read = not values.is_absent(what) or (reads_default_layout and what == "layout")
        if is_read and values[what] != enum_value(actual):
            wanted = next(
                name for text, name in names.items() if enum_value_named(text) == values[what]
            )
            raise _contradiction(what, wanted, names[repr(actual)])
    if device is not None and device.type != out.device.type:
        raise _contradiction("device type", device.type, out.device.type)


def _contradiction(what: str, wanted: str, actual: str) -> RuntimeError:
    return RuntimeError(f"{what} {wanted} does not match {what} of out parameter ({actual})")


def _deprecated_arguments(call: list[str], values: Values, writes: bool) -> list[Any]:
    """What a deprecated signature passes on, in the order of the C++ function it calls."""
    passed = call if writes else [name for name in call if name != "out"]
    found = []
    for name in reversed(passed):
        if name == "self" and name not in values:
            found.append(values["input"] if "input" in values else _RECEIVER)  # noqa: SIM401
        elif name in values:
            found.append(values[name])
        else:
            found.append(int(name))
    return found[::-1]


_RECEIVER: Final = object()


def _in_order(operator: Operator, arguments: list[Any], receiver: Any) -> tuple[Any, ...]:
    """The stack of a C++ call, where what is written to comes first."""
    schema = operator.schema.arguments
    ordered = [a for a in schema if a.is_out] + [a for a in schema if not a.is_out]
    values: dict[str, Any] = {a.name: a.default_value for a in schema}
    for argument, value in zip(ordered, arguments, strict=False):
        values[argument.name] = receiver if value is _RECEIVER else value
    return tuple(values[argument.name] for argument in schema)
