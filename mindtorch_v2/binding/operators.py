"""Operators that can be called: packets and their overloads, each parsed when it is first used.

Mirrors ``getOpWithStack`` and ``opAllowsNumbersAsTensors`` of torch/csrc/jit/python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Final, NamedTuple

from mindtorch_v2 import profile
from mindtorch_v2.binding import messages
from mindtorch_v2.binding.errors import ReferenceCastError, SchemaMatchError
from mindtorch_v2.binding.op_schema import OpSchema, Stack
from mindtorch_v2.binding.python_kernel import call_python
from mindtorch_v2.binding.stop import Stopped, is_stopping
from mindtorch_v2.binding.values import python_arguments
from mindtorch_v2.dispatch import registry
from mindtorch_v2.dispatch.calls import Target, at_highest, keyset_of, resolve
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.dispatch.key import DispatchKey, key_name
from mindtorch_v2.dispatch.keyset import AUTOGRAD_KEYS, full_after, intersection, mask_of
from mindtorch_v2.dispatch.operator_entry import OperatorEntry
from mindtorch_v2.dispatch.operator_names import OperatorText, check_qualified, in_call_order
from mindtorch_v2.dispatch.tls import apply_masks
from mindtorch_v2.schema.function_schema import FunctionSchema
from mindtorch_v2.schema.parser import parse_schema
from mindtorch_v2.tensor.tensor import Tensor

_TAGS_AS_TUPLES: Final = frozenset(profile.active().conversions["tags_as_tuples"])
_REGISTERED_TAGS: Final[Mapping[str, list[str]]] = profile.active().conversions["registered_tags"]
_NUMBERS_AS_TENSORS: Final = frozenset(profile.active().conversions["numbers_as_tensors"])


def parse_printed(text: str) -> FunctionSchema:
    """The schema that torch prints as ``text``, which is what a profile has of it.

    A set of aliases, ``(a|b)``, is printed in the reverse of the order in which it was parsed.
    """
    schema = parse_schema(text)
    return schema if str(schema) == text else parse_schema(str(schema))


class Operator:
    """One overload; ``canonical`` is its name without aliases, by which kernels are found."""

    def __init__(self, text: OperatorText, name: str) -> None:
        self.name = name
        self.overload_name = text.overload_name
        self.in_dispatcher = text.in_dispatcher
        self._text = text

    @property
    def text(self) -> str:
        """The schema as text, with the name that the user typed."""
        return self.name + self._text.schema.removeprefix(self._text.name)

    @cached_property
    def binder(self) -> OpSchema:
        return OpSchema(
            parse_printed(self.text), numbers_as_tensors=_takes_numbers(self._text.name)
        )

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call:
        """The call with these arguments; RuntimeError in torch's words if they do not suit."""
        return Call(self, self.binder.stack(args, kwargs))

    @property
    def schema(self) -> FunctionSchema:
        return self.binder.schema

    @property
    def full_name(self) -> str:
        """``aten::add.Tensor``, as the user typed it."""
        return _joined(self.name, self.overload_name)

    @property
    def canonical(self) -> str:
        return _joined(self._text.name, self.overload_name)

    @property
    def tags(self) -> Sequence[str]:
        """Names of tags; a tuple where torch's Python has set them, else a list."""
        tags = profile.active().schemas["tags"].get(self.canonical, [])
        return tuple(tags) if self.canonical in _TAGS_AS_TUPLES else list(tags)

    @property
    def registered_tags(self) -> list[str]:
        """Those that C++ has, whatever Python has set."""
        return list(_REGISTERED_TAGS.get(self.canonical, self.tags))


class Call(NamedTuple):
    """An operator and a value for each of its arguments."""

    operator: Operator
    stack: Stack

    def run(self) -> Any:
        """What the kernel answers that the arguments and the thread's masks lead to.

        NotImplementedError in torch's words where there is none, and in ours for a kernel that
        torch has and this package has not.
        """
        if is_stopping():
            raise Stopped(self)
        return self.run_with(apply_masks(keyset_of(self.stack, _keys_of)))

    def run_with(self, keyset: int) -> Any:
        """The same, with a keyset whose masks are applied."""
        return self._run_at(resolve(self._entry(), keyset))

    def redispatch(self, keyset: int) -> Any:
        """The kernel at the highest key of a keyset, and no other: nothing is passed over."""
        if is_stopping():
            raise Stopped(self)
        return self._run_at(at_highest(self._entry(), keyset))

    def _entry(self) -> OperatorEntry:
        entry = DISPATCHER.find(self.operator.canonical)
        if entry is None:
            raise NotImplementedError(f"mindtorch_v2 does not run {self.operator.full_name} yet")
        return entry

    def _run_at(self, target: Target) -> Any:
        entry = self._entry()
        kernel = target.kernel
        if kernel.is_native:
            assert kernel.function is not None
            if kernel.with_keyset:
                return kernel.function(self.operator, target.keyset, *self.stack)
            return kernel.function(*self.stack)
        if kernel.function is not None:
            return call_python(kernel, target.keyset, self)
        if entry.is_fallback(target.key) and mask_of(target.key) & AUTOGRAD_KEYS:
            return self.run_with(intersection(target.keyset, _AFTER_AUTOGRAD))
        if target.key in _MATH_BITS and entry.is_fallback(target.key) and not self._changes():
            stack = self.stack if self._aliases() else tuple(map(_resolved, self.stack))
            return Call(self.operator, stack).run_with(
                intersection(target.keyset, full_after(target.key))
            )
        raise NotImplementedError(
            f"mindtorch_v2 has no kernel for {self.operator.full_name} at "
            f"{key_name(target.key)} yet"
        )

    def _changes(self) -> bool:
        return any(argument.is_write for argument in self.operator.schema.arguments)

    def _aliases(self) -> bool:
        """Whether the operator is a view, whose results keep the lazy bits."""
        return any(argument.alias_info is not None for argument in self.operator.schema.arguments)

    def python_arguments(self) -> tuple[Stack, dict[str, Any]]:
        """What a kernel written in Python is called with."""
        return python_arguments(self.operator.schema, self.stack)


def _keys_of(value: Any) -> int | None:
    return value._keys if isinstance(value, Tensor) else None


def _resolved(value: Any) -> Any:
    """What the fallback of a lazy bit computes with (``MathBitsFallback.h``)."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(_resolved, value))
    return value._resolved() if isinstance(value, Tensor) else value


_MATH_BITS: Final = (DispatchKey.Conjugate, DispatchKey.Negative)

_AFTER_AUTOGRAD: Final = full_after(DispatchKey.AutogradOther)
"""``c10::after_autograd_keyset``."""


class Packet:
    """All overloads of a name, in the order in which a call tries them."""

    def __init__(self, name: str, operators: Sequence[OperatorText]) -> None:
        self.name = name
        self.overloads = {text.overload_name: Operator(text, name) for text in operators}

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call:
        """The call of the first overload that takes these arguments.

        RuntimeError with every overload's reason if none does; of a single overload, its own.
        """
        try:
            return self.match(args, kwargs)
        except ReferenceCastError:
            raise messages.not_called(self.name.partition("::")[2], args, kwargs) from None

    def match(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call:
        """The same for other functions than the packet: ReferenceCastError comes through."""
        reasons = []
        for operator in self.overloads.values():
            try:
                return Call(operator, operator.binder.match(args, kwargs))
            except SchemaMatchError as error:
                reasons.append(error)
        if len(reasons) == 1:
            raise RuntimeError(str(reasons[0]))
        raise messages.no_overload(reasons)


def _joined(name: str, overload_name: str) -> str:
    return f"{name}.{overload_name}" if overload_name else name


def _takes_numbers(name: str) -> bool:
    return name.startswith("prims::") or name in _NUMBERS_AS_TENSORS


def find_packet(name: str) -> Packet | None:
    """The operators of a qualified name or alias; RuntimeError for a name without namespace."""
    check_qualified(name)
    canonical = registry.resolve(name)
    return _packet(name, canonical) or _defined_packet(name)


@cache
def _packet(name: str, canonical: str) -> Packet | None:
    operators = in_call_order(canonical)
    return Packet(name, operators) if operators else None


def _defined_packet(name: str) -> Packet | None:
    """The operators of a name that have been defined since the start."""
    operators = [
        OperatorText(name, full_name.removeprefix(name).lstrip("."), schema.text, True)
        for full_name, schema in DISPATCHER.defined(name)
    ]
    return Packet(name, operators) if operators else None


def find_operator(name: str, overload_name: str) -> Operator | None:
    packet = find_packet(name)
    return None if packet is None else packet.overloads.get(overload_name)
