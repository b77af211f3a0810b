"""The one rule by which values that differ may agree: float results of areas that compute.

Two correct implementations of ``exp`` differ in the last digit.  So in an area that says so
(``Area.close``), the elements of a float32, float64, complex64 or complex128 tensor agree if
they are the same up to a relative tolerance: 1e-5 and 1e-12.  Nothing else is loosened: not the
elements of other dtypes, not Python's numbers, not metadata, messages or warnings; infinities,
NaNs and the sign of zero must be the same.  (The sign of a zero part of a complex number need
not: it depends on the order in which an algorithm combines the parts.)
"""

from __future__ import annotations

import math
from typing import Any, Final

from conformance.describe import Description
from conformance.outcome import Outcome

RELATIVE: Final = {
    "torch.float32": 1e-5,
    "torch.float64": 1e-12,
    "torch.complex64": 1e-5,
    "torch.complex128": 1e-12,
}
"""By dtype; of complex elements, relative to the larger part."""


def close(oracle: Outcome, subject: Outcome) -> bool:
    """Whether two outcomes are the same but for close elements of tensors."""
    return (
        oracle.kind == subject.kind == "returned"
        and oracle.warnings == subject.warnings
        and _close(oracle.value, subject.value)
    )


def _close(one: Any, two: Any) -> bool:
    if one == two:
        return True
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(_close, one, two))
    if not isinstance(one, dict) or not isinstance(two, dict) or one.keys() != two.keys():
        return False
    if "values" in one and "dtype" in one:
        return _close_tensors(one, two)
    return all(_close(one[key], two[key]) for key in one)


def _close_tensors(one: dict[str, Description], two: dict[str, Description]) -> bool:
    tolerance = RELATIVE.get(str(one["dtype"]))
    if tolerance is None or any(one[key] != two[key] for key in one if key != "values"):
        return False
    return _close_values(one["values"], two["values"], tolerance)


def _close_values(one: Any, two: Any, tolerance: float) -> bool:
    """Nested lists of reprs."""
    if isinstance(one, list) and isinstance(two, list):
        pairs = zip(one, two, strict=False)
        return len(one) == len(two) and all(_close_values(a, b, tolerance) for a, b in pairs)
    if not isinstance(one, str) or not isinstance(two, str):
        return False
    return one == two or _close_numbers(one, two, tolerance)


def _close_numbers(one: str, two: str, tolerance: float) -> bool:
    try:
        a, b = complex(one), complex(two)
    except ValueError:
        return False
    scale = max((abs(part) for part in (a.real, a.imag) if math.isfinite(part)), default=0.0)
    if "j" not in one and a == b == 0:
        return False  # of which one is negative
    parts = ((a.real, b.real), (a.imag, b.imag))
    return all(_close_parts(*part, tolerance * scale) for part in parts)


def _close_parts(one: float, two: float, largest: float) -> bool:
    if not (math.isfinite(one) and math.isfinite(two)):
        return one == two or (math.isnan(one) and math.isnan(two))
    return abs(one - two) <= largest
