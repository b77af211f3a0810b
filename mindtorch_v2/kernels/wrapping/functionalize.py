"""Every operator's kernel at Functionalize.

Which operators have one there are facts of the profile.  What it does follows from the operator:
see :mod:`mindtorch_v2.functionalize`.
"""

from __future__ import annotations

from typing import Final

from mindtorch_v2 import profile
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.dispatch.forms import form_of
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.native import NONE, Native
from mindtorch_v2.functionalize import by_hand, layers
from mindtorch_v2.functionalize.mutations import mutate
from mindtorch_v2.functionalize.views import inplace_view, view
from mindtorch_v2.kernels import rows

_BACK: Final = DispatchKey.FuncTorchDynamicLayerBackMode


def _find(name: str, key: int) -> Native:
    if key == DispatchKey.Functionalize:
        return _functionalize(name)
    if key == _BACK:
        return Native(layers.back_kernel, with_keyset=True)
    return NONE


def _functionalize(name: str) -> Native:
    """In this order: what is written by hand, what is made of other operators, what has its
    argument view something else, what changes its arguments, and views."""
    written = by_hand.KERNELS.get(name)
    if written is not None:
        return Native(written)
    if _is_composite(name):
        return rows.find(name, int(DispatchKey.CompositeImplicitAutograd))
    form = form_of(name)
    if form is None:
        return Native(view, with_keyset=True)
    is_view = _is_view(form.functional)
    return Native(inplace_view if is_view else mutate, with_keyset=True)


def _is_composite(name: str) -> bool:
    """Whether the release makes it of other operators: there, a row is one for some release."""
    found = profile.active().registrations["operators"].get(name)
    kernels = found["kernels"] if found is not None else ()
    return any(kernel[0] == "CompositeImplicitAutograd" for kernel in kernels)


def _is_view(name: str) -> bool:
    entry = DISPATCHER.find(name)
    assert entry is not None
    assert entry.schema is not None
    return any(each.alias_info is not None for each in entry.schema.schema.returns)


rows.DERIVED.append(_find)
