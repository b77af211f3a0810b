"""Coefficients of the series by which special functions are computed.

Those of ``aten/src/ATen/native/Math.h``: most are the Cephes library's, those of erfcx are of the
Faddeeva package, those of the incomplete gamma functions of SciPy.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from mindtorch_v2.tensor.elements import Array


@cache
def _tables() -> Mapping[str, Mapping[str, Any]]:
    tables: Mapping[str, Mapping[str, Any]] = json.loads(
        Path(__file__).with_name("coefficients.json").read_text(encoding="utf-8")
    )
    return tables


def series(function: str, name: str) -> Sequence[float]:
    """One of a function's, the coefficient of the highest power first."""
    found: Sequence[float] = _tables()[function][name]
    return found


@cache
def table(function: str) -> Array:
    """Those of a function with many series of one length, each a row, the constant first."""
    return np.array(_tables()[function]["rows"])
