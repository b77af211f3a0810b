"""Every operator's kernels at the alias Autograd and at ADInplaceOrView.

Which operators have one there are facts of the profile; see :mod:`variable_type`,
:mod:`inplace_or_view` and, for those that torch writes by hand, :mod:`variable_type_manual`.
"""

from __future__ import annotations

from typing import Final

from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.native import NONE, Native
from mindtorch_v2.kernels import rows
from mindtorch_v2.kernels.wrapping.inplace_or_view import inplace_or_view
from mindtorch_v2.kernels.wrapping.variable_type import variable_type
from mindtorch_v2.kernels.wrapping.variable_type_manual import MANUAL

_GENERATED: Final = {
    int(DispatchKey.Autograd): variable_type,
    int(DispatchKey.ADInplaceOrView): inplace_or_view,
}


def _find(name: str, key: int) -> Native:
    if key not in _GENERATED:
        return NONE
    return Native(MANUAL[key].get(name, _GENERATED[key]), with_keyset=True)


rows.DERIVED.append(_find)
