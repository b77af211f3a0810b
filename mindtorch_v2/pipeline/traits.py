"""What of an operator alone says whether its calls may wait, found out once."""

from __future__ import annotations

from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from mindtorch_v2.binding.op_schema import OpSchema
from mindtorch_v2.binding.operators import Operator

_TENSORS: Final = frozenset(("Tensor", "List[Tensor]", "Optional[Tensor]"))
_AT_THEIR_PLACE: Final = {
    "data_dependent_output": "its answer depends on values",
    "dynamic_output_shape": "its shape depends on values",
    "inplace_view": "it changes the geometry of an argument",
}
"""By tag, why an operator does not wait."""
_RANDOM: Final = "nondeterministic_seeded"


_OF_WHAT_IS_ANSWERED: Final = ("output_mask", "need_weights")
"""Arguments that say which tensors are answered, and for which None is."""


_WITH_WORKSPACE: Final = ("aten::mkldnn_rnn_layer",)
"""Operators that answer memory for their gradients, of a size that only their kernels know."""


class Traits(NamedTuple):
    """Of one overload."""

    #: Why no call of it waits; empty for one whose calls may.
    reason: str
    #: The positions of the arguments that it writes to.
    written: tuple[int, ...]
    is_mutable: bool
    #: Whether its answers share no memory with its arguments, which it does not change.
    is_functional: bool
    #: Whether its answers are nothing but views of its arguments.
    is_view: bool
    #: Whether it takes random numbers.
    is_random: bool


_known: Final[WeakKeyDictionary[OpSchema, Traits]] = WeakKeyDictionary()


def traits_of(operator: Operator) -> Traits:
    """Those of the operator as it is defined now."""
    binder = operator.binder
    found = _known.get(binder)
    if found is None:
        found = _known[binder] = _found_out(operator)
    return found


def _found_out(operator: Operator) -> Traits:
    schema, tags = operator.schema, operator.registered_tags
    written = tuple(at for at, each in enumerate(schema.arguments) if each.is_write)
    named = (*schema.arguments, *schema.returns)
    is_functional = all(each.alias_info is None for each in named)
    is_view = not schema.is_mutable and all(each.alias_info for each in schema.returns)
    return Traits(
        _reason(operator),
        written,
        schema.is_mutable,
        is_functional,
        is_view,
        is_random=_RANDOM in tags,
    )


def _reason(operator: Operator) -> str:
    for tag in operator.registered_tags:
        if tag in _AT_THEIR_PLACE:
            return _AT_THEIR_PLACE[tag]
    if any(each.name in _OF_WHAT_IS_ANSWERED for each in operator.schema.arguments):
        return "it may answer None for a tensor"
    if operator.canonical in _WITH_WORKSPACE:
        return "its kernel knows how much memory backward needs"
    returns = operator.schema.returns
    if not returns or any(str(each.type) not in _TENSORS for each in returns):
        return "it answers more than tensors"
    return ""
