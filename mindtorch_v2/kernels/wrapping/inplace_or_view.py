"""Kernels at ADInplaceOrView: changes are counted, aliases become views.

Mirrors what ``torchgen/packaged/autograd/gen_inplace_or_view_type.py`` writes for each operator;
which are views, and of which argument, are facts of the profile.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.autograd.node import flattened
from mindtorch_v2.autograd.variable import as_view, bump_version
from mindtorch_v2.binding.operators import Call, Operator
from mindtorch_v2.binding.unboxed import Run, makes
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import (
    BELOW_INPLACE_OR_VIEW,
    full_after,
    intersection,
)
from mindtorch_v2.dispatch.observers import OBSERVERS
from mindtorch_v2.kernels.elementwise.short_way import ShortWay, short_way_of
from mindtorch_v2.tensor.autograd_meta import CreationMeta, ViewFunction
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import shallow_copy_and_detach

AFTER: Final = full_after(DispatchKey.ADInplaceOrView)
_COPIES_DETACHED: Final[bool] = profile.active().modes["copies_detached"]


def below(operator: Operator, keyset: int, stack: tuple[Any, ...]) -> Any:
    """What the operator answers with neither history nor views."""
    redispatch = Call(operator, stack).redispatch
    answer = tls.call_excluding(BELOW_INPLACE_OR_VIEW, redispatch, intersection(keyset, AFTER))
    return with_written(operator, stack, answer)


_ASSIGNING: Final = frozenset(
    ("aten::mean.out", "aten::mean.dtype_out")
    if profile.active().kernels["habits"]["a mean of halves leaves its output"]
    else ()
)
"""Operators whose kernels may assign another tensor to the reference that C++ answers."""


def with_written(operator: Operator, stack: tuple[Any, ...], answer: Any) -> Any:
    """Of what is written to, C++ answers the argument, whatever came back from below."""
    places = written_places(operator)
    if places is None:
        return answer
    if len(places) == 1:
        return answer if places[0] is None else stack[places[0]]
    return tuple(
        each if place is None else stack[place] for place, each in zip(places, answer, strict=False)
    )


@cache
def written_places(operator: Operator) -> tuple[int | None, ...] | None:
    """For each return, the place of the argument that it is, written to; None for nothing new.

    None for an operator that answers what came back from below as it is.
    """
    if operator.canonical in _ASSIGNING:
        return None
    schema = operator.schema
    written = {
        name: place
        for place, argument in enumerate(schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
        for name in argument.alias_info.before
    }
    if not written or not schema.returns:
        return None
    names = [each.alias_info.before[0] if each.alias_info else "" for each in schema.returns]
    return tuple(map(written.get, names))


def as_detached_view(
    base: Tensor, view: Tensor | None, *, is_copied: bool = _COPIES_DETACHED
) -> Tensor | None:
    """``make_variable_non_differentiable_view``: it copies what came from below, and Python is
    asked for the copy; of what ``detach`` answers, not in every release."""
    if view is None or base._is_inference():
        return view
    made = as_view(base, view, is_differentiable=False)
    seen: Tensor | None = shallow_copy_and_detach(made) if is_copied else None
    if seen is None:
        return made
    if not seen._is_inference():
        seen._versions = made._versions  # what is written to the copy is written to the base
    return seen


def creation_meta(
    original: CreationMeta = CreationMeta.DEFAULT, state: tls.RawLocalDispatchKeySet | None = None
) -> CreationMeta:
    """How a view comes to be that is made in a thread's state, by default now."""
    raw = state or tls.thread_local.raw
    if raw.inference_mode:
        return CreationMeta.INFERENCE_MODE
    return original if raw.grad_mode else CreationMeta.NO_GRAD_MODE


def inplace_or_view(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    """The kernel of every operator that torch's code generator has one for.

    What changes its argument's own geometry, as ``unsqueeze_``, makes no view.
    """
    answer = below(operator, keyset, stack)
    facts = _facts(operator)
    if facts.base is None:
        return _bumped(answer)
    return _as_views(operator, facts, stack, answer)


def _bumped(answer: Any) -> Any:
    """What has been changed, after that has been counted."""
    for each in flattened(answer if isinstance(answer, tuple) else (answer,)):
        if each is not None:
            bump_version(each)
            if each._functional is not None and (waits := each._functional.value._pending):
                waits.count(each._versions)
    return answer


@makes(inplace_or_view)
def _made(operator: Operator, keyset: int) -> Run:
    """The same for calls that nobody observes."""
    facts, after = _facts(operator), intersection(keyset, AFTER)
    unboxed, written = operator.unboxed, written_places(operator)
    makes_view = facts.base is not None

    def run(*stack: Any) -> Any:
        if OBSERVERS.count:
            return inplace_or_view(operator, keyset, *stack)
        answer = tls.call_excluding(BELOW_INPLACE_OR_VIEW, unboxed.below(after), *stack)
        if written is not None:
            answer = with_written(operator, stack, answer)
        if makes_view:
            return _as_views(operator, facts, stack, answer)
        return _bumped(answer)

    short = short_way_of(unboxed.found_below(after), after)
    is_view_of_first = facts.base == 0 and facts.is_differentiable and not facts.is_replayed
    if short is not None and short.above is not None and (written == (0,) or is_view_of_first):
        run.short_way = ShortWay(short.above)  # type: ignore[attr-defined]
    return run


def makes_views(operator: Operator) -> bool:
    """Whether all that the operator's kernel here does is to make views of what it answers."""
    facts = _facts(operator)
    return facts.base is not None and facts.is_differentiable


def make_views(call: Call, answer: Any, state: tls.RawLocalDispatchKeySet) -> None:
    """Make aliases, which such an operator has answered below in a thread's state, views of its
    argument."""
    _as_views(call.operator, _facts(call.operator), call.stack, answer, state)


class _Facts:
    def __init__(self, operator: Operator) -> None:
        derivatives = profile.active().derivatives
        base = derivatives["views"].get(operator.canonical)
        names = [argument.name for argument in operator.schema.arguments]
        changes = any(argument.is_write for argument in operator.schema.arguments)
        self.base = None if base is None or changes else names.index(base)
        differentiation = derivatives["operators"].get(operator.canonical)
        self.is_differentiable = differentiation is None or bool(differentiation.get("outputs"))
        name = operator.name.removeprefix("aten::")
        self.is_replayed = name in derivatives["views_with_metadata_change"]


@cache
def _facts(operator: Operator) -> _Facts:
    return _Facts(operator)


def _as_views(
    operator: Operator,
    facts: _Facts,
    stack: tuple[Any, ...],
    answer: Any,
    state: tls.RawLocalDispatchKeySet | None = None,
) -> Any:
    assert facts.base is not None
    base = stack[facts.base]
    if not facts.is_differentiable:
        return as_detached_view(base, answer, is_copied=True)
    if answer is None:  # an undefined tensor, which an override may answer
        return None
    if isinstance(answer, Tensor):
        is_replayed = facts.is_replayed or base._functional is not None  # which has no strides
        function = _replay(operator, facts, stack) if is_replayed else None
        return as_view(base, answer, view_fn=function, creation_meta=creation_meta(state=state))
    several = creation_meta(CreationMeta.MULTI_OUTPUT_NODE, state)
    return type(answer)(_each_as_view(base, answer, several))


def _each_as_view(base: Tensor, views: Any, meta: CreationMeta) -> Iterator[Tensor]:
    for view in views:
        yield as_view(base, view, creation_meta=meta)


def _replay(operator: Operator, facts: _Facts, stack: tuple[Any, ...]) -> ViewFunction:
    """The same view of another base, for what strides do not say."""
    place = facts.base
    assert place is not None

    def view(base: Tensor) -> Tensor:
        found: Tensor = Call(operator, (*stack[:place], base, *stack[place + 1 :])).run()
        return found

    return view
