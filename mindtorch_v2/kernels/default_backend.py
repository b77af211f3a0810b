"""Operators on a backend that has kernels of their ``out=`` forms alone.

torchgen makes the kernel at CompositeExplicitAutogradNonFunctional of every structured operator:
it makes the outputs and calls the ``out=`` form.  So a backend without that form is said to lack
``aten::bmm.out``, not ``aten::bmm``.

Mirrors ``RegisterCompositeExplicitAutogradNonFunctional.cpp``, for operators that have no kernel of
:mod:`~mindtorch_v2.kernels.structured`; the outputs are not made yet.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NoReturn

from mindtorch_v2.binding.operators import Operator
from mindtorch_v2.dispatch.calls import at_highest
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.dispatch.forms import OUT, form_of
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import full_after, intersection
from mindtorch_v2.dispatch.native import NONE, Native
from mindtorch_v2.dispatch.operator_names import in_registration_order
from mindtorch_v2.kernels import rows

_BELOW: Final = full_after(DispatchKey.ADInplaceOrView)


@cache
def _out_form(name: str) -> str | None:
    """The full name of the ``out=`` form of a functional operator."""
    base = name.partition(".")[0]
    for text in in_registration_order(base):
        full_name = f"{base}.{text.overload_name}" if text.overload_name else base
        form = form_of(full_name)
        if form is not None and form.kind == OUT and form.functional == name:
            return full_name
    return None


def _call_out(operator: Operator, keyset: int, /, *stack: Any) -> NoReturn:
    """NotImplementedError in torch's words if the backend has no ``out=`` form, else in ours."""
    name = _out_form(operator.canonical)
    entry = None if name is None else DISPATCHER.find(name)
    if entry is not None:
        keys = intersection(keyset, _BELOW)
        at_highest(entry, entry.table.non_fallthrough(keys, keys))
    raise NotImplementedError(
        f"mindtorch_v2 has no kernel for {operator.full_name} at "
        "CompositeExplicitAutogradNonFunctional yet"
    )


def _find(name: str, key: int) -> Native:
    if key == DispatchKey.CompositeExplicitAutogradNonFunctional and _out_form(name) is not None:
        return Native(_call_out, with_keyset=True)
    return NONE


rows.DERIVED.append(_find)
