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


def is_known(name: str) -> bool:
    """Whether this release has a switch of that name."""
    return name in _REFUSED


def dispatch(name: str, dtype: DType) -> None:
    """Raise what a kernel's switch raises for a dtype that it has no case for.

    What no switch of a release refuses, that has none of the name.
    """
    if dtype in _REFUSED.get(name, ()):
        message = f"\"{name}\" not implemented for '{CPP_NAMES[dtype]}'"
        raise exception_of(_FACTS["error"], message)
