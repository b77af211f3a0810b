"""``torch.ops``: operators as Python objects, looked up when they are first named.

Mirrors ``torch/_ops.py``, whose module this is named after, as far as no kernel runs.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final

from mindtorch_v2._operator_bindings import BoundPacket, Tag, bound_overload, wrap_schema
from mindtorch_v2.binding.errors import PybindTypeError
from mindtorch_v2.binding.operators import (
    Call,
    Operator,
    Packet,
    find_packet,
    takes_numbers,
)
from mindtorch_v2.binding.python.checks import overriding_arguments
from mindtorch_v2.binding.python_kernel import NumbersAsTensors
from mindtorch_v2.dispatch import registry
from mindtorch_v2.pybind.function import cpp_function
from mindtorch_v2.torch_dispatch import set_api_functions
from mindtorch_v2.torch_function import Side, handle_torch_function, is_mode_enabled


class OpOverload:
    """One operator, ``ops.aten.add.Tensor``.  Calling it binds the arguments to its schema."""

    def __init__(self, overloadpacket: OpOverloadPacket, operator: Operator) -> None:
        self._overloadpacket = overloadpacket
        self._operator = operator
        self._schema = wrap_schema(operator.schema)
        self._tags = type(operator.tags)(getattr(Tag, name) for name in operator.tags)  # type: ignore[call-arg]
        self._overloadname = operator.overload_name or "default"
        self._name = operator.full_name
        self.__name__ = f"{self._opname}.{self._overloadname}"
        self.__module__ = overloadpacket.__module__
        self.__qualname__ = self._name
        self.__doc__ = None
        writes = [
            argument.alias_info.is_write
            for argument in operator.schema.arguments
            if argument.alias_info is not None
        ]
        #: Whether results alias arguments that are not written to.
        self.is_view = bool(writes) and not any(writes)

    @property
    def namespace(self) -> str:
        return self._operator.name.partition("::")[0]

    _namespace = namespace

    @property
    def _opname(self) -> str:
        return self._operator.name.partition("::")[2]

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        return self._overloadpacket

    @property
    def tags(self) -> Sequence[Any]:
        return self._tags

    @cached_property
    def _op(self) -> cpp_function:
        return bound_overload(self._operator, takes_key=False)

    @cached_property
    def _op_dk(self) -> cpp_function:
        return bound_overload(self._operator, takes_key=True)

    @property
    def op(self) -> Any:
        return self._op

    def name(self) -> str:
        return self._name

    def __repr__(self) -> str:
        op = f"{self._namespace}.{self._opname}"
        return f"<OpOverload(op='{op}', overload='{self._overloadname}')>"

    def __str__(self) -> str:
        return f"{self._namespace}.{self._opname}.{self._overloadname}"

    def __hash__(self) -> int:
        return hash(self._operator)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __deepcopy__(self, memo: object) -> OpOverload:
        return self

    def __bind__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        return self._operator.bind(args, kwargs)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return called(self, self._operator.name, self._operator.bind, args, kwargs)

    def redispatch(self, /, keyset: Any, *args: Any, **kwargs: Any) -> Any:
        """The call at the highest key of ``keyset``, whatever the arguments' keys are."""
        return self._operator.bind(args, kwargs).redispatch(keyset.mask)


def called(
    function: Any,
    name: str,
    bind: Callable[[tuple[Any, ...], dict[str, Any]], Call],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """``_get_operation_for_overload_or_packet``: overrides are asked before anything is bound.

    ``function`` is what they see, ``name`` the operator's qualified name.
    """
    overloaded = overriding_arguments((*args, *kwargs.values()))
    if overloaded or is_mode_enabled():
        shown_name = f"torch.ops{name.replace('::', '.')}"  # without a dot, as in torch
        return handle_torch_function(
            function, shown_name, overloaded, args, kwargs, in_python=False
        )
    with Side(in_cpp=True), NumbersAsTensors(takes_numbers(name)):
        try:
            return bind(args, kwargs).run()
        except PybindTypeError as error:
            raise TypeError(str(error)) from None


class TorchBindOpOverload(OpOverload):
    """An operator that takes an object of a custom class."""


class OpOverloadPacket:
    """All operators of one name, ``ops.aten.add``.  A call takes the first that suits it."""

    def __init__(self, qualified_op_name: str, op_name: str, packet: Packet) -> None:
        self._qualified_op_name = qualified_op_name
        self.__name__ = op_name
        self.__doc__ = None
        self._op = BoundPacket(packet)
        self._packet = packet
        self._overload_names = list(packet.overloads)
        self._dir: list[str] = []

    @property
    def op(self) -> BoundPacket:
        return self._op

    @property
    def _schemas(self) -> dict[str, Any]:
        return {
            name: wrap_schema(operator.schema) for name, operator in self._packet.overloads.items()
        }

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"

    def __str__(self) -> str:
        return self._qualified_op_name.replace("::", ".")

    def __hash__(self) -> int:
        return hash(self._packet)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __deepcopy__(self, memo: object) -> OpOverloadPacket:
        return self

    def __iter__(self) -> Iterator[str]:
        return iter(self._dir)

    def overloads(self) -> list[str]:
        return [name or "default" for name in self._overload_names]

    def __getattr__(self, key: str) -> OpOverload:
        if key.startswith("__"):
            raise AttributeError(
                f"'{self}' can't have an overload name beginning with '__' and the "
                f"underlying op {self._op} has no attribute {key} either."
            )
        operator = self._packet.overloads.get("" if key == "default" else key)
        if operator is None:
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{key}'")
        takes_object = any(a.type.kind == "ClassType" for a in operator.schema.arguments)
        overload = (TorchBindOpOverload if takes_object else OpOverload)(self, operator)
        setattr(self, key, overload)
        self._dir.append(key)
        return overload

    def __bind__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        return self._packet.bind(args, kwargs)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return called(self, self._packet.name, self._packet.bind, args, kwargs)


class _OpNamespace(types.ModuleType):
    """The operators of a namespace, ``ops.aten``; there is one for any name."""

    __file__ = "torch.ops"

    def __init__(self, name: str) -> None:
        super().__init__(f"{_OPS}.{name}")
        self.name = name
        self._dir: list[str] = []
        self._aliased: dict[tuple[str, str], OpOverloadPacket] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._dir)

    def __getattr__(self, op_name: str) -> OpOverloadPacket:
        if op_name in ("__origin__", "__self__"):
            raise AttributeError(f"Invalid attribute '{op_name}' for '_OpNamespace' '{self.name}'")
        qualified_op_name = f"{self.name}::{op_name}"
        found = find_packet(qualified_op_name)
        if found is None:
            raise AttributeError(
                f"'_OpNamespace' '{self.name}' object has no attribute '{op_name}'"
            )
        target = registry.resolve(qualified_op_name)
        packet = self._aliased.get((op_name, target))
        if packet is None:
            packet = OpOverloadPacket(qualified_op_name, op_name, found)
            packet.__module__ = f"{self.__module__}.{self.name}"
            self._dir.append(op_name)
        if target == qualified_op_name:
            setattr(self, op_name, packet)
        else:  # an alias may be taken back, and stand for another operator then
            self._aliased[op_name, target] = packet
        return packet


class _Ops(types.ModuleType):
    """``torch.ops``."""

    __file__ = "_ops.py"

    def __init__(self) -> None:
        super().__init__(_OPS)
        self._dir: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return iter(self._dir)

    def __getattr__(self, name: str) -> _OpNamespace:
        namespace = _OpNamespace(name)
        setattr(self, name, namespace)
        self._dir.append(name)
        return namespace


_OPS: Final = "mindtorch_v2.ops"

ops: Final = _Ops()


def _api_function(operator: Operator) -> OpOverload:
    namespace, _, rest = operator.canonical.partition("::")
    name, _, overload_name = rest.partition(".")
    packet: OpOverloadPacket = getattr(getattr(ops, namespace), name)
    overload: OpOverload = getattr(packet, overload_name or "default")
    return overload


set_api_functions(_api_function)
