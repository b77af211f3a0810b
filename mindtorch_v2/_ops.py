"""``torch.ops``: operators as Python objects, looked up when they are first named.

Mirrors ``torch/_ops.py``, whose module this is named after, as far as no kernel runs.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, Final

from mindtorch_v2 import _C
from mindtorch_v2._library.release import only_if_released
from mindtorch_v2._operator_base import (
    OperatorBase,
    _assertion,
    add_cached_op,
    resolve_key,
)
from mindtorch_v2._operator_base import get_cached_ops as get_cached_ops
from mindtorch_v2._operator_base import reset_cached_ops as reset_cached_ops
from mindtorch_v2._operator_bindings import (
    BoundPacket,
    Entered,
    Tag,
    bound_overload,
    called,
    wrap_schema,
)
from mindtorch_v2.binding import pyobj_dispatch
from mindtorch_v2.binding.api_functions import find_api_functions
from mindtorch_v2.binding.operators import Call, Operator, Packet, find_operator, find_packet
from mindtorch_v2.binding.pyobj_dispatch import (
    ObjectDispatch,
    dispatches_objects,
    may_dispatch_objects,
)
from mindtorch_v2.binding.unboxed import UNUSUAL
from mindtorch_v2.dispatch import registry
from mindtorch_v2.pybind.function import as_python_sees, cpp_function, is_seen_as_it_is


class OpOverload(Entered, OperatorBase):
    """One operator, ``ops.aten.add.Tensor``.  Calling it binds the arguments to its schema."""

    def __init__(self, overloadpacket: OpOverloadPacket, operator: Operator) -> None:
        Entered.__init__(self)
        OperatorBase.__init__(self)
        self._overloadpacket = overloadpacket
        self._operator = operator
        self._schema = wrap_schema(operator.schema)
        self._tags = type(operator.tags)(getattr(Tag, name) for name in operator.tags)  # type: ignore[call-arg]
        self._overloadname = operator.overload_name or "default"
        self._name = operator.full_name
        self.__name__ = f"{self._opname}.{self._overloadname}"
        self.__module__ = overloadpacket.__module__
        self.__qualname__ = self._name
        self.__annotations__: dict[str, Any] = {}
        self.__doc__ = None
        #: Whether ``torch.library`` defined it.
        self._defined_in_python = self._name in _defined_in_python()
        writes = [
            argument.alias_info.is_write
            for argument in operator.schema.arguments
            if argument.alias_info is not None
        ]
        #: What is looked at before the arguments are bound, where Python objects are dispatched.
        self._objects: ObjectDispatch | None = None
        if dispatches_objects(self._name):
            self._enable_pyobj_dispatch()
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
        bound = bound_overload(self._operator, takes_key=False)
        bound.__module__ = self.__module__
        return bound

    @cached_property
    def _op_dk(self) -> cpp_function:
        return bound_overload(self._operator, takes_key=True)

    @property
    def op(self) -> Any:
        return self._op

    @cached_property
    def _handle(self) -> Any:
        """The operator as the dispatcher has it; RuntimeError if it has none."""
        return _C._dispatch_find_schema_or_throw(self._schema.name, self._schema.overload_name)

    def name(self) -> str:
        return self._name

    def __repr__(self) -> str:
        op = f"{self._namespace}.{self._opname}"
        return f"<OpOverload(op='{op}', overload='{self._overloadname}')>"

    def __str__(self) -> str:
        return f"{self._namespace}.{self._opname}.{self._overloadname}"

    def __hash__(self) -> int:
        return hash(self._operator)

    def __deepcopy__(self, memo: object) -> OpOverload:
        return self

    def _enable_pyobj_dispatch(self, enabled: bool = True) -> None:
        """Dispatch by Python objects or not, as far as the operator can and the release does."""
        schema = self._operator.schema
        able = enabled and may_dispatch_objects(schema)
        self._objects = ObjectDispatch(schema) if able else None
        Entered.__init__(self)  # what has been compiled dispatches otherwise

    def __bind__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        if self._objects is not None:
            args = self._objects.taken(args, kwargs)
        return self._operator.bind(args, kwargs)

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        operator = self._operator

        def run() -> Any:
            call = self.__bind__(args, kwargs)
            if self._objects is not None:
                return pyobj_dispatch.run(call)
            self._enter(operator)
            return call.run()

        return called(operator.name, operator.overload_name, run, args, kwargs)

    def redispatch(self, /, keyset: Any, *args: Any, **kwargs: Any) -> Any:
        """The call at the highest key of ``keyset``, whatever the arguments' keys are."""
        by_objects = self._objects is not None
        if by_objects:
            keyset.raw_repr()  # AttributeError for what has none
        if type(keyset) is _C.DispatchKeySet and (by_objects or self._unboxed is not None):
            try:
                if by_objects:
                    answer = pyobj_dispatch.redispatch(self._operator, keyset.mask, args, kwargs)
                else:
                    assert self._unboxed is not None
                    answer = self._unboxed.entry_below(keyset.mask, args, kwargs)
            except RuntimeError as error:
                if is_seen_as_it_is(error):
                    raise
                raise as_python_sees(error) from None
            if answer is not UNUSUAL:
                return answer
        answer = self._handle.redispatch_boxed(keyset, *args, **kwargs)
        if not by_objects:
            self._enter(self._operator)
        return answer

    # --- kernels in Python --------------------------------------------------------------------

    def has_kernel_for_dispatch_key(self, k: Any) -> bool:
        """Whether Python or C++ has a kernel for exactly this key."""
        return super().has_kernel_for_dispatch_key(k) or _C._dispatch_has_kernel_for_dispatch_key(
            self.name(), k
        )

    def has_kernel_for_any_dispatch_key(self, ks: Any) -> bool:
        return _C._dispatch_has_kernel_for_any_dispatch_key(
            self.name(), ks
        ) or super().has_kernel_for_any_dispatch_key(ks)

    def _can_decompose(self) -> bool:
        return self.has_kernel_for_dispatch_key(_C.DispatchKey.CompositeImplicitAutograd)

    def decompose(self, *args: Any, **kwargs: Any) -> Any:
        """What it is composed of, called; NotImplemented if it is not composed."""
        key = _C.DispatchKey.CompositeImplicitAutograd
        if key in self.py_kernels:
            return self.py_kernels[key](*args, **kwargs)
        if _C._dispatch_has_kernel_for_dispatch_key(self.name(), key):
            return self._op_dk(key, *args, **kwargs)
        return NotImplemented

    def _get_dispatch(self, key: Any) -> Any:
        """What the Python dispatcher runs at a key, or the key at which C++ has it; then cached.

        AssertionError if that is cached already.
        """
        if key in self._dispatch_cache:
            raise _assertion("dispatch cached", op=self, key=key)
        if key == _C.DispatchKey.Python:

            def handler(*args: Any, **kwargs: Any) -> Any:
                # the rule for the class of the innermost mode, which is not active meanwhile
                modes: Any = import_module("mindtorch_v2.utils._python_dispatch")
                rule = self.python_key_table.get(type(modes._get_current_dispatch_mode()))
                if rule is None:
                    return self._op_dk(key, *args, **kwargs)
                with modes._pop_mode_temporarily() as mode:
                    return rule(mode, *args, **kwargs)

            found = handler if self.python_key_table else key
        else:
            _C._to_functionality_key(key)  # refuses what is no key
            final_key = resolve_key(self, key)
            found = self.py_kernels.get(final_key, final_key)
        if key != _C.DispatchKey.PreDispatch:
            self._dispatch_cache[key] = found
            add_cached_op(self)
        return found


def _defined_in_python() -> set[str]:
    """Full names of the operators that ``torch.library`` has defined."""
    from mindtorch_v2.library import _defs  # made of this module

    return _defs


class TorchBindOpOverload(OpOverload):
    """An operator that takes an object of a custom class."""


class OpOverloadPacket(Entered):
    """All operators of one name, ``ops.aten.add``.  A call takes the first that suits it."""

    def __init__(self, qualified_op_name: str, op_name: str, packet: Packet) -> None:
        super().__init__()
        self._qualified_op_name = qualified_op_name
        self.__name__ = op_name
        self.__doc__ = None
        self._dir: list[str] = []
        self._refresh(packet)

    def _refresh(self, packet: Packet) -> None:
        """Have the overloads of ``packet``; those that were looked up stay what they are."""
        self._op = BoundPacket(packet)
        self._op.__module__ = f"{__name__}.{packet.name.partition('::')[0]}"
        self._packet = packet
        self._overload_names = list(packet.overloads)

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

    def __deepcopy__(self, memo: object) -> OpOverloadPacket:
        return self

    def __iter__(self) -> Iterator[str]:
        return iter(self._dir)

    def overloads(self) -> list[str]:
        return [name or "default" for name in self._overload_names]

    def op_overloads(self) -> list[OpOverload]:
        """The overloads themselves."""
        return [getattr(self, name) for name in self.overloads()]

    def __getattr__(self, key: str) -> Any:
        if key.startswith("__"):
            try:
                return getattr(self._op, key)
            except AttributeError:
                raise AttributeError(
                    f"'{self}' can't have an overload name beginning with '__' and the "
                    f"underlying op {self._op} has no attribute {key} either."
                ) from None
        # looked up afresh: it may have been defined since the packet was made
        operator = find_operator(self._qualified_op_name, "" if key == "default" else key)
        if operator is None:
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{key}'")
        takes_object = any(a.type.kind == "ClassType" for a in operator.schema.arguments)
        overload = (TorchBindOpOverload if takes_object else OpOverload)(self, operator)
        setattr(self, key, overload)
        self._dir.append(key)
        return overload

    def __bind__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        return self._packet.bind(args, kwargs)

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._op.called(self, args, kwargs)


def _refresh_packet(packet: OpOverloadPacket) -> None:
    """Look its overloads up anew: one more has been defined."""
    found = find_packet(packet._qualified_op_name)
    if found is None:
        raise AssertionError(f"failed to get packet for {packet._qualified_op_name}")
    packet._refresh(found)


only_if_released(OpOverload, "_can_decompose")
only_if_released(OpOverloadPacket, "op_overloads")


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


def _api_function(name: str, overload_name: str | None) -> OpOverload | OpOverloadPacket:
    namespace, _, op_name = name.partition("::")
    packet: OpOverloadPacket = getattr(getattr(ops, namespace), op_name)
    if overload_name is None:
        return packet
    overload: OpOverload = getattr(packet, overload_name or "default")
    return overload


find_api_functions(_api_function)
