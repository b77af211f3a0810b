"""Kernels as objects, as torch binds them; ``_C`` shows what :data:`EXPORTS` has.

Mirrors ``SafeKernelFunction`` of ``aten/src/ATen/core/boxing/KernelFunction.h`` and its binding in
``torch/csrc/utils/python_dispatch.cpp``.  A release without it has nothing here.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from mindtorch_v2 import profile
from mindtorch_v2._operator_bindings import EXPORTS as _OPERATORS
from mindtorch_v2._operator_bindings import no_schema
from mindtorch_v2._schema_bindings import Bound
from mindtorch_v2.binding.errors import SchemaMatchError
from mindtorch_v2.binding.operators import Call, Operator, find_operator
from mindtorch_v2.dispatch.calls import Target
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.dispatch.kernel import Kernel
from mindtorch_v2.dispatch.key import is_alias_dispatch_key, key_name
from mindtorch_v2.dispatch.keyset import table_key
from mindtorch_v2.pybind import cast as _cast
from mindtorch_v2.pybind.classes import bind_methods
from mindtorch_v2.pybind.function import cpp_function
from mindtorch_v2.schema.parser import parse_name

_functions: Final = profile.active().bindings["functions"]
_classes: Final = profile.active().bindings["classes"]

EXPORTS: Final[dict[str, Any]] = {}
"""Names of torch._C to what stands there."""


class _Computed(NamedTuple):
    """A kernel of an operator's table; it may have been taken back since."""

    operator: Operator
    key: int
    kernel: Kernel

    def call(self, keyset: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            call = Call(self.operator, self.operator.binder.match(args, kwargs))
        except SchemaMatchError as error:
            raise RuntimeError(str(error)) from None
        return call.run_at(Target(keyset, self.key, self.kernel))


class _SafeKernelFunction(Bound, cpp_name="torch._C._SafeKernelFunction"):
    """``c10::SafeKernelFunction``."""

    __slots__ = ()
    __module__ = "mindtorch_v2._C"
    __doc__ = None

    @property
    def op_handle(self) -> Any:
        """The operator that it is a kernel of."""
        return _OPERATORS["_DispatchOperatorHandle"].wrap(self._cpp.operator)


def _computed_kernel(name: str, key: int) -> Any:
    """The kernel that a call of an operator at ``key`` runs; RuntimeError if there is none."""
    parsed, overload_name = parse_name(name)
    operator = find_operator(parsed, overload_name) if "::" in parsed else None
    entry = DISPATCHER.find(f"{parsed}.{overload_name}" if overload_name else parsed)
    if entry is None:
        raise RuntimeError(f"operator {name} does not exist")
    if is_alias_dispatch_key(key):
        raise RuntimeError("Alias keys do not have runtime kernel registrations.")
    at = table_key(key)
    if at not in entry.table:
        raise RuntimeError(f"no kernel for {key_name(key)} for {name}")
    if operator is None:
        raise no_schema(parsed, overload_name)
    return _SafeKernelFunction.wrap(_Computed(operator, at, entry.table[at]))


if "_SafeKernelFunction" in _classes:
    bind_methods(
        _SafeKernelFunction,
        _classes["_SafeKernelFunction"]["methods"],
        {
            "call_boxed": lambda computed, keyset, args, kwargs: computed.call(
                keyset, args, kwargs
            ),
            "__repr__": lambda computed: f"SafeKernelFunction(debug='{computed.kernel.debug}')",
        },
        slot="_cpp",
    )
    _cast.register_class(
        "torch._C._SafeKernelFunction",
        _SafeKernelFunction,
        lambda self: self._cpp,
    )
    EXPORTS["_SafeKernelFunction"] = _SafeKernelFunction
    _name: Final = "_dispatch_get_computed_kernel_for_dispatch_key"
    EXPORTS[_name] = cpp_function.documented(
        _name, _functions[_name], _computed_kernel, cast=lambda value: value
    )
