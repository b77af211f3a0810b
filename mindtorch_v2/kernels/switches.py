"""The switches over dtypes in kernels, by the names that they give themselves.

Mirrors ``AT_DISPATCH_SWITCH`` of ``aten/src/ATen/Dispatch.h``.
"""

from __future__ import annotations

from typing import Final

from mindtorch_v2 import profile
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.support import CPP_NAMES, exception_of

_FACTS: Final = profile.active().neural
_REFUSED: Final = {
    name: frozenset(DTYPES[each] for each in names.split())
    for name, names in _FACTS["switches"].items()
}

HABITS: Final[dict[str, bool]] = _FACTS["habits"]
"""Questions that releases answer differently (``conformance/extract/neural.py`` asks them)."""

NO_DESCRIPTORS: Final[list[str]] = _FACTS["no_descriptors"]
"""What oneDNN says of a convolution that it cannot compute, and of a transposed one."""

NO_VIEW: Final[str] = _FACTS["no_view"]
"""What oneDNN says of a tensor of a dtype that it does not have."""


def is_known(name: str) -> bool:
    """Whether this release has a switch of that name."""
    return name in _REFUSED


def dispatch(name: str, dtype: DType, said: str = "") -> None:
    """Raise what a kernel's switch raises for a dtype that it has no case for.

    What no switch of a release refuses, that has none of the name.  ``said`` is the name of
    another switch with the same cases.
    """
    if dtype in _REFUSED.get(name, ()):
        raise not_implemented(said or name, dtype)


FLOATING_TYPES: Final = frozenset(DTYPES[name] for name in ("float32", "float64"))
ALL_TYPES: Final = FLOATING_TYPES | {
    DTYPES[name] for name in ("uint8", "int8", "int16", "int32", "int64")
}
COMPLEX_TYPES: Final = frozenset(DTYPES[name] for name in ("complex64", "complex128"))
HALVES: Final = frozenset(DTYPES[name] for name in ("float16", "bfloat16"))
"""The cases of ``AT_DISPATCH_FLOATING_TYPES``, ``AT_DISPATCH_ALL_TYPES``, and what both may have
more of, in every release."""


def dispatch_over(cases: frozenset[DType], name: str, dtype: DType) -> None:
    """The same of a switch whose cases are known."""
    if dtype not in cases:
        raise not_implemented(name, dtype)


def not_implemented(name: str, dtype: DType) -> Exception:
    message = f"\"{name}\" not implemented for '{CPP_NAMES[dtype]}'"
    return exception_of(_FACTS["error"], message)
