"""Provisional: autograd and view keys pass a call on below them and record nothing."""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.binding.operators import Call, Operator
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import full_after, intersection
from mindtorch_v2.dispatch.native import NONE, Native
from mindtorch_v2.kernels import rows

_BELOW: Final = full_after(DispatchKey.ADInplaceOrView)


def _pass_on(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    return Call(operator, stack).run_with(intersection(keyset, _BELOW))


def _find(name: str, key: int) -> Native:
    if key in (DispatchKey.Autograd, DispatchKey.ADInplaceOrView):
        return Native(_pass_on, with_keyset=True)
    return NONE


rows.DERIVED.append(_find)
