"""Kernels at Functionalize of operators that view their argument, or have it view something else.

Mirrors what ``emit_view_functionalization_body`` of ``torchgen/gen_functionalization_type.py``
writes for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from mindtorch_v2.binding.operators import Call, Operator, find_operator
from mindtorch_v2.dispatch.forms import form_of
from mindtorch_v2.functionalize.facts import OUTPUTS_ARE_REPLAYED_ALONE
from mindtorch_v2.functionalize.inverses import INVERSES
from mindtorch_v2.functionalize.reapply_views import get_reapply_views
from mindtorch_v2.functionalize.storage import ViewMeta, skip_functionalize
from mindtorch_v2.functionalize.wrapper import (
    from_functional_tensor,
    is_functional,
    view_with_meta,
    wrapper_of,
)

_UNSUPPORTED = "mindtorch_v2 does not functionalize {} yet"


def _operator(name: str) -> Operator:
    base, _, overload_name = name.partition(".")
    found = find_operator(base, overload_name)
    if found is None:
        raise NotImplementedError(_UNSUPPORTED.format(name))
    return found


@cache
def copy_of(view: Operator) -> Operator:
    """The operator that copies what a view operator would show (``{view}_copy``)."""
    if view.name == "aten::slice_inverse":
        return _operator("aten::slice_scatter")
    overload = f".{view.overload_name}" if view.overload_name else ""
    return _operator(f"{view.name}_copy{overload}")


@cache
def view_of(inplace_view: Operator) -> Operator:
    """The operator that views what an in-place one makes of its argument."""
    form = form_of(inplace_view.canonical)
    assert form is not None
    return _operator(form.functional)


def _one_of_unbind(index: int, dim: int) -> tuple[str, tuple[Any, ...]]:
    return "aten::select.int", (dim, index)


def _one_of_split(index: int, split_size: Any, dim: int) -> tuple[str, tuple[Any, ...]]:
    """The last part may be shorter; its end is not."""
    start = index * split_size
    return "aten::slice.Tensor", (dim, start, start + split_size, 1)


def _one_of_sizes(index: int, sizes: Sequence[Any], dim: int) -> tuple[str, tuple[Any, ...]]:
    start = sum(sizes[:index])
    return "aten::slice.Tensor", (dim, start, start + sizes[index], 1)


_ONE_OF_SEVERAL: Final[Mapping[str, Callable[..., tuple[str, tuple[Any, ...]]]]] = {
    "aten::unbind.int": _one_of_unbind,
    "aten::split.Tensor": _one_of_split,
    "aten::split_with_sizes": _one_of_sizes,
}
"""A view operator with several outputs to the one that makes one of them, and its arguments."""


def view_meta(view: Operator, arguments: tuple[Any, ...]) -> ViewMeta:
    """How a view with these arguments, less the base, is made now, with views or with copies."""
    views = get_reapply_views()
    made_by = view if views else copy_of(view)
    inverse = INVERSES.get(view.canonical)
    is_multi_output = str(view.schema.returns[0].type) == "List[Tensor]"
    one_of_several = _ONE_OF_SEVERAL.get(view.canonical) if OUTPUTS_ARE_REPLAYED_ALONE else None

    def forward(base: Any, index: int) -> Any:
        if one_of_several is not None:
            name, chosen = one_of_several(index, *arguments)
            one = _operator(name)
            return Call(one if views else copy_of(one), (base, *chosen)).run()
        found = Call(made_by, (base, *arguments)).run()
        return found[index] if is_multi_output else found

    def reverse(base: Any, changed: Any, index: int) -> Any:
        if inverse is None:
            raise NotImplementedError(_UNSUPPORTED.format(f"changes of {view.full_name}"))
        return inverse(base, changed, views, index, *arguments)

    return ViewMeta(forward, reverse, is_multi_output)


def _below(stack: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values below, as they are: a view may be of what is out of date."""
    return tuple(from_functional_tensor(each) if is_functional(each) else each for each in stack)


def view(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    """The kernel of every view operator."""
    below = _below(stack)
    if not is_functional(stack[0]):
        with skip_functionalize():
            return Call(operator, below).run()
    made_by = operator if get_reapply_views() else copy_of(operator)
    with skip_functionalize():
        answer = Call(made_by, below).run()
    is_as_strided = operator.canonical == "aten::as_strided"
    meta = view_meta(operator, stack[1:])._replace(is_as_strided=is_as_strided)
    return view_with_meta(answer, stack[0], meta)


def inplace_view(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    """The kernel of every operator that gives its argument another geometry."""
    self = stack[0]
    if not is_functional(self):
        with skip_functionalize():
            return Call(operator, _below(stack)).run()
    wrapper_of(self).mutate_view_meta(view_meta(view_of(operator), stack[1:]))
    return self
