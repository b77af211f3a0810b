"""Which dtypes a kernel takes: lookups in the profile's ``kernels``.

Mirrors the ``AT_DISPATCH`` switches of ``aten/src/ATen/Dispatch.h`` in the kernels of pointwise
operators, and the checks on dtypes before them.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from mindtorch_v2 import profile
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.support import CPP_NAMES, exception_of

_COMPILED: Final = "not implemented for '{}'"
"""What the switch over dtypes says of one that it has no kernel for."""

_Refusals = dict[DType, tuple[str, str]]


@cache
def _refusals(operator: str, *, compiled: bool) -> _Refusals:
    found = profile.active().kernels["refusals"].get(operator, [])
    return {
        DTYPES[name]: (refusal["error"], refusal["message"])
        for refusal in found
        if refusal["message"].endswith(_COMPILED) is compiled
        for name in refusal["dtypes"]
    }


def check_implemented(operator: str, dtype: DType) -> None:
    """Raise what the kernel of an operator raises for a dtype that it is not compiled for."""
    _raise(_refusals(operator, compiled=True), dtype)


def check_supported(operator: str, *dtypes: DType) -> None:
    """Raise what an operator says of a dtype before anything else; of the first that is wrong."""
    refusals = _refusals(operator, compiled=False)
    if refusals:
        for dtype in dtypes:
            _raise(refusals, dtype)


def _raise(refusals: _Refusals, dtype: DType) -> None:
    refusal = refusals.get(dtype)
    if refusal is not None:
        error, message = refusal
        raise exception_of(error, message.replace("{}", CPP_NAMES[dtype]))
