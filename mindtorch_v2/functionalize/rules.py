"""Operators that are called without mutation by a rule: those of the project's registry.

torch functionalizes the mutating operators that its code generator groups with a functional form,
and refuses every other one when it is called.  An operator of
:func:`mindtorch_v2.dispatch.registry.register_schema` is refused when it is registered, in the same
words, unless its form can be derived or a rule says how to call it without mutation.

A rule is called with the operator's arguments, and answers what the operator returns besides the
arguments that it changes, then the new values of those, in the order of the schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from mindtorch_v2.autograd.variable import check_inplace
from mindtorch_v2.binding.operators import Call, find_operator
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.dispatch.operator_entry import Rule
from mindtorch_v2.functionalize.storage import skip_functionalize
from mindtorch_v2.functionalize.wrapper import (
    change,
    is_functional,
    synced_value,
    to_functional_tensor,
)
from mindtorch_v2.kernels.elementwise.promotion import can_cast
from mindtorch_v2.kernels.factories.filling import check_broadcast
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.schema.function_schema import Argument, FunctionSchema
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_COPY_: Final = OperatorHandle("aten::copy_")


def derived_rule(schema: FunctionSchema) -> Rule | None:
    """``op_`` is ``op`` written back, where that is defined and takes and makes the same."""
    if not schema.name.endswith("_") or [*_changed(schema)] != [0]:
        return None
    entry = DISPATCHER.find_schema(".".join(filter(None, (schema.name[:-1], schema.overload_name))))
    if entry is None:
        return None
    form = entry.defined_schema.schema
    makes_one = [str(each.type) for each in form.returns] == ["Tensor"]
    if form.is_mutable or not makes_one or _taken(form) != _taken(schema):
        return None

    def rule(*args: Any) -> Any:
        operator = find_operator(form.name, form.overload_name)
        assert operator is not None
        return Call(operator, args).run()

    return rule


def _taken(schema: FunctionSchema) -> list[tuple[str, str]]:
    return [(each.name, str(each.real_type)) for each in schema.arguments]


def _changed(schema: FunctionSchema) -> Iterator[int]:
    """Where the arguments stand that are changed."""
    return (place for place, each in enumerate(schema.arguments) if each.is_write)


def without_functional_form(schema: FunctionSchema) -> RuntimeError:
    """What torch says of an operator that it cannot functionalize."""
    return RuntimeError(
        "Found a custom (non-ATen) operator whose output has alias annotations: "
        f"{schema}. We only support functionalizing operators whose outputs do not have "
        "alias annotations (e.g. 'Tensor(a)' is a Tensor with an alias annotation whereas "
        "'Tensor' is a Tensor without. The '(a)' is the alias annotation). The alias "
        "annotation specifies that the output Tensor shares storage with an input that has "
        "the same annotation. Please check if (1) the output needs to be an output (if not, "
        "don't return it), (2) if the output doesn't share storage with any inputs, then "
        "delete the alias annotation. (3) if the output indeed shares storage with an input, "
        "then add a .clone() before returning it to prevent storage sharing and then delete "
        "the alias annotation. Otherwise, please file an issue on GitHub."
    )


class RuledOperator:
    """How a mutating operator is called by its rule."""

    def __init__(self, schema: FunctionSchema, rule: Rule) -> None:
        self.schema, self.rule = schema, rule
        self.changed = [*_changed(schema)]
        sets = {_alias_set(schema.arguments[place]): place for place in self.changed}
        #: Of each return, the argument that it is; None for a new value.
        self.returned = [sets.get(_alias_set(each)) for each in schema.returns]

    def kernel(self, *args: Any, **named: Any) -> Any:
        """A kernel in Python, which is not handed what has its default."""
        rest = self.schema.arguments[len(args) :]
        more = (named.get(each.name, each.default_value) for each in rest)
        return self.write_back((*args, *more))

    def write_back(self, stack: Sequence[Any]) -> Any:
        """Below functionalization: the new values are copied into the arguments.

        Nothing is changed unless all of them can be.
        """
        new, values = self._results(stack)
        pairs = [
            pair
            for place, value in zip(self.changed, values, strict=True)
            for pair in _pairs(stack[place], value)
        ]
        for target, value in pairs:
            _check(target, value)
        for target, value in pairs:
            _COPY_(target, value)
        return self._answer(stack, new)

    def functionalize(self, stack: Sequence[Any]) -> Any:
        """At Functionalize: the new values become those of the functional arguments."""
        targets = [each for place in self.changed for each in _tensors(stack[place])]
        below = tuple(map(synced_value, stack))
        if not all(map(is_functional, targets)):
            if any(map(is_functional, stack)):
                raise RuntimeError(
                    "mutating a non-functional tensor with a functional tensor is not allowed. "
                    "Please ensure that all of your inputs are wrapped inside of a "
                    "functionalize() call."
                )
            with skip_functionalize():
                return self.write_back(below)
        with skip_functionalize():
            new, values = self._results(below)
            for place, value in zip(self.changed, values, strict=True):
                for target, changed in _pairs(below[place], value):
                    check_broadcast(target, changed)
        for place, value in zip(self.changed, values, strict=True):
            if stack[place] is not None:
                change(stack[place], value)
        return self._answer(stack, [to_functional_tensor(each) for each in new])

    def _results(self, stack: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """What the rule makes: new results, and new values of what is changed."""
        answer = self.rule(*stack)
        results = list(answer) if isinstance(answer, (list, tuple)) else [answer]
        count = self.returned.count(None)
        if len(results) != count + len(self.changed):
            raise RuntimeError(
                f"a functionalization rule answered {len(results)} values, where "
                f"{count + len(self.changed)} were expected"
            )
        return results[:count], results[count:]

    def _answer(self, stack: Sequence[Any], new: Sequence[Any]) -> Any:
        rest = iter(new)
        results = [next(rest) if place is None else stack[place] for place in self.returned]
        if not results:
            return None
        return tuple(results) if len(results) > 1 else results[0]


def _alias_set(argument: Argument) -> str | None:
    """The set of what is written to; of a list, that of its elements."""
    info = argument.alias_info
    while info is not None and not info.before:
        info = next(iter(info.contained), None)
    return info.before[0] if info is not None and argument.is_write else None


def _tensors(target: Any) -> Sequence[Any]:
    """The tensors of an argument that is changed, which may be a list, or None."""
    if isinstance(target, (list, tuple)):
        return target
    return () if target is None else (target,)


def _pairs(target: Any, value: Any) -> Iterator[tuple[Tensor, Tensor]]:
    """An argument that is changed and its new value; of a list, each; of None, none."""
    values = value if isinstance(target, (list, tuple)) else (value,)
    yield from zip(_tensors(target), values, strict=target is not None)


def _check(target: Tensor, value: Tensor) -> None:
    """RuntimeError for what a change in place would refuse."""
    check_broadcast(target, value)
    if not can_cast(value._dtype, target._dtype):
        raise RuntimeError(
            f"result type {CPP_NAMES[value._dtype]} can't be cast to the desired output type "
            f"{CPP_NAMES[target._dtype]}"
        )
    check_inplace(target, target._requires_grad() or value._requires_grad())
