"""Functions that formulas of derivatives.yaml call and that are no operators.

Mirrors ``torch/csrc/autograd/FunctionsManual.cpp``: a helper has the name that it has there, so
a formula finds it.  Undefined tensors are None.  The modules are imported with the first formula
that is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Final

from mindtorch_v2.tensor.dtype import DTYPES

INT64: Final = DTYPES["int64"]
PI: Final = math.pi
LN2: Final = math.log(2)
LN10: Final = math.log(10)

_MODULES: Final = (
    *("clamp", "decompositions", "distances", "elementwise", "layouts", "linalg", "losses", "nn"),
    *("normalization", "recurrent", "reductions", "reflections", "scattering", "shapes"),
    *("solving", "special", "spectral", "strided"),
)


@cache
def find(name: str) -> Callable[..., Any] | None:
    """The helper of a name."""
    for module in (import_module(f"{__name__}.{each}") for each in _MODULES):
        found: Callable[..., Any] | None = vars(module).get(name)
        if found is not None and getattr(found, "__module__", "") == module.__name__:
            return found
    return None
