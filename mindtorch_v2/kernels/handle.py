"""Operators that kernels call: the dispatcher's way, without the binding of arguments.

Mirrors ``c10::OperatorHandle`` and the functions ``at::…``.

    add = OperatorHandle("aten::add.Tensor")
    add(x, y, alpha=2)
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.binding.op_schema import Stack
from mindtorch_v2.binding.operators import Call, Operator, find_operator
from mindtorch_v2.dispatch.observers import OBSERVERS
from mindtorch_v2.schema.function_schema import Argument
from mindtorch_v2.tensor.dtype import DType, Layout, memory_format

_CONSTANTS = frozenset((DType, Layout, memory_format))


class OperatorHandle:
    """An operator by its full name, looked up when it is first called.

    With ``none_is_undefined`` every None for a tensor is an undefined one: see
    `Operator.undefined`.
    """

    def __init__(self, name: str, *, none_is_undefined: bool = False) -> None:
        self.name = name
        self.none_is_undefined = none_is_undefined

    def __repr__(self) -> str:
        return f"OperatorHandle({self.name!r})"

    @cached_property
    def operator(self) -> Operator:
        name, _, overload_name = self.name.partition(".")
        operator = find_operator(name, overload_name)
        if operator is None:
            raise LookupError(f"the profile has no operator {self.name}")
        if self.none_is_undefined:
            operator = operator.handing_on(operator.optional_tensors)
        return operator

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        operator = self.operator
        if not OBSERVERS.count and operator.is_worth_compiling():
            return operator.unboxed.call(*self.stack(args, kwargs))
        return Call(operator, self.stack(args, kwargs)).run_observed()

    def redispatch(self, keyset: int, *args: Any, **kwargs: Any) -> Any:
        """The kernel at the highest key of ``keyset``."""
        return Call(self.operator, self.stack(args, kwargs)).redispatch(keyset)

    def stack(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Stack:
        """The values in the schema's order, with its defaults; KeyError for one that is missing."""
        if not kwargs and len(args) in self._defaults and _CONSTANTS.isdisjoint(map(type, args)):
            return (*args, *self._defaults[len(args)])
        values = [enum_value(each) if type(each) in _CONSTANTS else each for each in args]
        for argument in self._arguments[len(args) :]:
            if argument.name in kwargs or not argument.has_default:
                value = kwargs[argument.name]
                values.append(enum_value(value) if type(value) in _CONSTANTS else value)
            else:
                values.append(argument.default_value)
        return tuple(values)

    @cached_property
    def _defaults(self) -> dict[int, Stack]:
        """What stands behind so many arguments, where nothing has to be given behind them."""
        found: dict[int, Stack] = {len(self._arguments): ()}
        for count, argument in reversed(list(enumerate(self._arguments))):
            if not argument.has_default:
                break
            found[count] = (argument.default_value, *found[count + 1])
        return found

    @cached_property
    def _arguments(self) -> tuple[Argument, ...]:
        return tuple(self.operator.schema.arguments)


class PassedOn:
    """The kernel of an operator that calls another with its own arguments, in their order."""

    def __init__(self, target: OperatorHandle) -> None:
        self.target = target

    def __call__(self, *stack: Any) -> Any:
        return self.target(*stack)
