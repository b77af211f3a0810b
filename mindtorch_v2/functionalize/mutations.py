"""Kernels at Functionalize of operators that change their arguments.

Mirrors what ``emit_inplace_functionalization_body`` of ``torchgen/gen_functionalization_type.py``
writes for each of them: the functional form is called below, and its results become the values of
the arguments that are changed.  All that differs between operators follows from their schemas.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.binding.operators import Call, Operator, find_operator
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.forms import INPLACE, OPTIONS, form_of
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import functionality_bit
from mindtorch_v2.functionalize.facts import OUT_DTYPE_IS_DEFAULT, mixed_mutation
from mindtorch_v2.functionalize.storage import skip_functionalize
from mindtorch_v2.functionalize.wrapper import (
    FUNCTORCH_TRANSFORMS,
    change,
    is_functional,
    show_values,
    synced_value,
    to_functional_tensor,
)
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import mkldnn, strided
from mindtorch_v2.tensor.geometry import check_size_nonnegative
from mindtorch_v2.tensor.tensor import Tensor

_NOT_FOR_META: Final = FUNCTORCH_TRANSFORMS | sum(
    functionality_bit(DispatchKey[name])
    for name in (
        *("FuncTorchDynamicLayerBackMode", "FuncTorchDynamicLayerFrontMode"),
        *("Python", "PreDispatch"),
    )
)
"""``exclude_keys_for_meta_dispatch``."""


class _Mutation:
    """What an operator changes, and which results of its functional form are the changed values."""

    def __init__(self, operator: Operator) -> None:
        form = form_of(operator.canonical)
        assert form is not None
        name, _, overload_name = form.functional.partition(".")
        functional = find_operator(name, overload_name)
        assert functional is not None
        arguments = operator.schema.arguments
        self.operator, self.functional = operator, functional
        self.changed = [place for place, each in enumerate(arguments) if each.is_write]
        self.others = [
            place
            for place, each in enumerate(arguments)
            if not each.is_write and "Tensor" in str(each.type)
        ]
        self.out = next((place for place, each in enumerate(arguments) if each.is_out), None)
        takes_storage = any(str(each.type) == "Storage" for each in arguments)
        self.is_checked_on_meta = form.kind == INPLACE and not takes_storage
        self.returned = [
            self._argument_of(each.alias_info.before[0]) if each.alias_info else None
            for each in operator.schema.returns
        ]
        """Of each return, the argument that it is; None for a new tensor."""

    def _argument_of(self, alias: str) -> int:
        """Where the argument of an alias set stands."""
        for place, argument in enumerate(self.operator.schema.arguments):
            if argument.alias_info is not None and alias in argument.alias_info.before:
                return place
        raise AssertionError(f"{self.operator.full_name} returns what it was not given")

    # --- the kernel ---------------------------------------------------------------------------

    def run(self, stack: Sequence[Any]) -> Any:
        if self.is_checked_on_meta:
            self._check_on_meta(stack)
        below = tuple(map(synced_value, stack))
        if not all(is_functional(stack[place]) for place in self.changed):
            if any(is_functional(stack[place]) for place in self.others):
                raise RuntimeError(mixed_mutation(self.operator.canonical))
            with skip_functionalize():
                answer = Call(self.operator, below).run()
            for place in self.changed:
                show_values(stack[place])
            return self._answer(stack, self._new(answer))
        with skip_functionalize():
            answer = Call(self.functional, self._functional_stack(below)).run()
        results = list(answer) if len(self.functional.schema.returns) > 1 else [answer]
        count = len(self.returned) - sum(place is not None for place in self.returned)
        new = [to_functional_tensor(each) for each in results[:count]]
        for place, changed in zip(self.changed, results[count:], strict=True):
            change(stack[place], changed)
        return self._answer(stack, new)

    def _check_on_meta(self, stack: Sequence[Any]) -> None:
        """What the functional form takes and this one does not, as an argument that would
        grow, is found by tensors without elements."""
        with (
            skip_functionalize(),
            tls.guarded(tls.ExcludeDispatchKeyGuard, _NOT_FOR_META),
        ):
            Call(self.operator, tuple(map(to_meta, stack))).run()

    def _functional_stack(self, below: Sequence[Any]) -> tuple[Any, ...]:
        values = functional_arguments(self.operator, below)
        if self.operator.canonical in OUT_DTYPE_IS_DEFAULT and values["dtype"] is None:
            assert self.out is not None
            values["dtype"] = enum_value(below[self.out]._dtype)
        return tuple(values[argument.name] for argument in self.functional.schema.arguments)

    def _new(self, answer: Any) -> list[Any]:
        """What an answer has besides the changed arguments."""
        results = answer if len(self.returned) > 1 else (answer,)
        pairs = zip(self.returned, results, strict=False)
        return [each for place, each in pairs if place is None]

    def _answer(self, stack: Sequence[Any], new: Sequence[Any]) -> Any:
        """The changed arguments that are returned, then the rest."""
        results = [stack[place] for place in self.returned if place is not None]
        results += new
        if not results:
            return None
        return results[0] if len(results) == 1 else tuple(results)


def functional_arguments(operator: Operator, stack: Sequence[Any]) -> dict[str, Any]:
    """What a mutating operator hands to its functional form, by name; options are those of
    ``out``."""
    arguments = operator.schema.arguments
    values = {each.name: value for each, value in zip(arguments, stack, strict=True)}
    out = next((values[each.name] for each in arguments if each.is_out), None)
    return values if out is None else _options(out) | values


def _options(out: Any) -> dict[str, Any]:
    """What a factory is told of the tensor that it shall fill."""
    first = out[0] if isinstance(out, (list, tuple)) else out
    values = (enum_value(first._dtype), enum_value(first._layout), first._device, None)
    return dict(zip(OPTIONS, values, strict=True))


def to_meta(value: Any) -> Any:
    """A tensor of the same geometry without elements; of a list, each.  RuntimeError for a negative
    size, which a view may have and no new tensor."""
    if isinstance(value, (list, tuple)):
        return [to_meta(each) for each in value]
    if not isinstance(value, Tensor):
        return value
    check_size_nonnegative(value._sizes)
    layout = strided if value._layout is mkldnn else value._layout
    made = Tensor._make(
        value._sizes, value._dtype, layout, Device._made("meta"), strides=value._strides
    )
    made._layout = value._layout  # which no tensor on meta could have
    return made


@cache
def _of(operator: Operator) -> _Mutation:
    return _Mutation(operator)


def mutate(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    """The kernel of every operator that changes its arguments."""
    return _of(operator).run(stack)
