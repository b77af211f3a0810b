"""Operators on a backend that has kernels of their ``out=`` forms alone.

torchgen makes the kernel at CompositeExplicitAutogradNonFunctional of every structured operator:
it makes the outputs and calls the ``out=`` form.  So a backend without that form is said to lack
``aten::bmm.out``, not ``aten::bmm``.

What is wrong with the arguments is said first, since outputs are made by the same function that
kernels on meta are.

Mirrors ``RegisterCompositeExplicitAutogradNonFunctional.cpp``; without a kernel of
:mod:`~mindtorch_v2.kernels.structured` the outputs are not made yet.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

from mindtorch_v2.binding.operators import Operator
from mindtorch_v2.dispatch.calls import at_highest
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.dispatch.forms import INPLACE, OUT, form_of
from mindtorch_v2.dispatch.kernel import MISSING
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import full_after, intersection
from mindtorch_v2.dispatch.native import NONE, Native
from mindtorch_v2.dispatch.operator_names import in_registration_order
from mindtorch_v2.functionalize.mutations import to_meta
from mindtorch_v2.kernels import rows, structured

_BELOW: Final = full_after(DispatchKey.ADInplaceOrView)


@cache
def _out_form(name: str) -> str | None:
    """The full name of the ``out=`` form of a functional operator, or of an in-place one."""
    named = form_of(name)
    if named is not None and named.kind == INPLACE:
        name = named.functional
    base = name.partition(".")[0]
    for text in in_registration_order(base):
        full_name = f"{base}.{text.overload_name}" if text.overload_name else base
        form = form_of(full_name)
        if form is not None and form.kind == OUT and form.functional == name:
            return full_name
    return None


def _call_out(
    compute: Callable[..., Any] | None, operator: Operator, keyset: int, /, *stack: Any
) -> Any:
    """NotImplementedError in torch's words if the backend has no ``out=`` form, else in ours."""
    name = _out_form(operator.canonical)
    entry = None if name is None else DISPATCHER.find(name)
    if entry is not None:
        keys = intersection(keyset, _BELOW)
        keys = entry.table.non_fallthrough(keys, keys)
        if compute is not None and entry.table.lookup(keys)[1] is MISSING:
            compute(*map(to_meta, stack))
        at_highest(entry, keys)
    if compute is not None:
        return compute(*stack)
    raise NotImplementedError(
        f"mindtorch_v2 has no kernel for {operator.full_name} at "
        "CompositeExplicitAutogradNonFunctional yet"
    )


def _find_structured(name: str, key: int) -> Native:
    if key != DispatchKey.CompositeExplicitAutogradNonFunctional:
        return NONE
    compute = structured.kernel_of(name, key).function
    if compute is None:
        return NONE
    return Native(partial(_call_out, compute), with_keyset=True)


def _find(name: str, key: int) -> Native:
    if key == DispatchKey.CompositeExplicitAutogradNonFunctional and _out_form(name) is not None:
        return Native(partial(_call_out, None), with_keyset=True)
    return NONE


rows.FIRST.append(_find_structured)
rows.DERIVED.append(_find)
