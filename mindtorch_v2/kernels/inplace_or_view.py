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
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import AUTOGRAD_KEYS, full_after, intersection, mask_of
from mindtorch_v2.tensor.autograd_meta import CreationMeta, ViewFunction
from mindtorch_v2.tensor.tensor import Tensor

AFTER: Final = full_after(DispatchKey.ADInplaceOrView)
_BELOW: Final = AUTOGRAD_KEYS | mask_of(DispatchKey.ADInplaceOrView)


def below(operator: Operator, keyset: int, stack: tuple[Any, ...]) -> Any:
    """What the operator answers with neither history nor views."""
    with tls.guarded(tls.ExcludeDispatchKeyGuard, _BELOW):
        return Call(operator, stack).redispatch(intersection(keyset, AFTER))


def creation_meta(original: CreationMeta = CreationMeta.DEFAULT) -> CreationMeta:
    """How a view that is made now comes to be."""
    if tls.is_inference_mode_enabled():
        return CreationMeta.INFERENCE_MODE
    return original if tls.is_grad_enabled() else CreationMeta.NO_GRAD_MODE


def inplace_or_view(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    """The kernel of every operator that torch's code generator has one for.

    What changes its argument's own geometry, as ``unsqueeze_``, makes no view.
    """
    answer = below(operator, keyset, stack)
    facts = _facts(operator)
    if facts.base is None:
        for each in flattened(answer if isinstance(answer, tuple) else (answer,)):
            if each is not None:
                bump_version(each)
        return answer
    return _as_views(operator, facts, stack, answer)


class _Facts:
    def __init__(self, operator: Operator) -> None:
        derivatives = profile.active().derivatives
        base = derivatives["views"].get(operator.canonical)
        names = [argument.name for argument in operator.schema.arguments]
        changes = any(argument.is_write for argument in operator.schema.arguments)
        self.base = None if base is None or changes else names.index(base)
        outputs = derivatives["operators"].get(operator.canonical, {}).get("outputs")
        self.is_differentiable = outputs is None or bool(outputs)
        name = operator.name.removeprefix("aten::")
        self.is_replayed = name in derivatives["views_with_metadata_change"]


@cache
def _facts(operator: Operator) -> _Facts:
    return _Facts(operator)


def _as_views(operator: Operator, facts: _Facts, stack: tuple[Any, ...], answer: Any) -> Any:
    assert facts.base is not None
    base = stack[facts.base]
    if not facts.is_differentiable:
        return as_view(base, answer, is_differentiable=False)
    if isinstance(answer, Tensor):
        function = _replay(operator, facts, stack) if facts.is_replayed else None
        return as_view(base, answer, view_fn=function, creation_meta=creation_meta())
    several = creation_meta(CreationMeta.MULTI_OUTPUT_NODE)
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
