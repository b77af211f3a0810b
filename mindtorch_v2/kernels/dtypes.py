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

HABITS: Final[dict[str, bool]] = profile.active().kernels["habits"]
"""Questions that releases answer differently (``conformance/extract/kernels.py`` asks them)."""

_COMPILED: Final = "not implemented for '{}'"
"""What the switch over dtypes says of one that it has no kernel for."""

SCALAR: Final = "[scalar]"
"""Behind an operator whose second tensor has one element: where nothing is known of that, it does
not matter."""

_Refusals = dict[DType, tuple[str, str]]


@cache
def _refusals(operator: str, *, compiled: bool) -> _Refusals:
    facts = profile.active().kernels["refusals"]
    found = facts.get(operator, facts.get(operator.removesuffix(SCALAR), []))
    return {
        DTYPES[name]: (refusal["error"], refusal["message"])
        for refusal in found
        if refusal["message"].endswith(_COMPILED) is compiled
        for name in refusal["dtypes"]
    }


def check_implemented(operator: str, dtype: DType) -> None:
    """Raise what the kernel of an operator raises for a dtype that it is not compiled for.

    It is not compiled for one either that is refused before, on whatever way it gets there.
    """
    compiled = _refusals(operator, compiled=True)
    if compiled and dtype in _refusals(operator, compiled=False):
        compiled = {dtype: next(iter(compiled.values()))}
    _raise(compiled, dtype)


def not_implemented(operator: str, dtype: DType) -> Exception:
    """What the kernel of an operator raises for dtypes that it is not compiled for, of any one."""
    refused = _refusals(operator, compiled=True)
    error, message = next(iter(refused.values()))
    return exception_of(error, message.replace("{}", CPP_NAMES[dtype]))


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
