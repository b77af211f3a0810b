"""The one rule by which values that differ may agree: float results of areas that compute.

Two correct implementations of ``exp`` differ in the last digit.  So in an area that says so
(``Area.close``), the elements of a float32, float64, complex64 or complex128 tensor agree if
they are the same up to a relative tolerance: 1e-5 and 1e-12.  Nothing else is loosened: not the
elements of other dtypes, not Python's numbers, not metadata, messages or warnings; infinities,
NaNs and the sign of zero must be the same.  (The sign of a zero part of a complex number need
not: it depends on the order in which an algorithm combines the parts.)

Another device adds up in another order, so where terms cancel the error is one of the terms.  In
cases on an NPU the tolerance is relative to the largest number of a tensor, and to a thousandth if
that is larger: terms are about one, and all of them may cancel.  A zero has no sign there, and
float16 and bfloat16 numbers may be rounded to either neighbour.
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

ON_DEVICE: Final = {**RELATIVE, "torch.float16": 2.0**-10, "torch.bfloat16": 2.0**-7}
"""The same in cases on an NPU."""
_LEAST: Final = 1e-3
"""Of cases on an NPU, what a tolerance is relative to at least."""


def close(oracle: Outcome, subject: Outcome, *, on_device: bool = False) -> bool:
    """Whether two outcomes are the same but for close elements of tensors.

    ``on_device``: as in cases on an NPU.
    """
    return (
        oracle.kind == subject.kind == "returned"
        and oracle.warnings == subject.warnings
        and _close(oracle.value, subject.value, on_device)
    )


def _close(one: Any, two: Any, on_device: bool) -> bool:
    if one == two:
        return True
    if isinstance(one, list) and isinstance(two, list):
        pairs = zip(one, two, strict=False)
        return len(one) == len(two) and all(_close(a, b, on_device) for a, b in pairs)
    if not isinstance(one, dict) or not isinstance(two, dict) or one.keys() != two.keys():
        return False
    if "values" in one and "dtype" in one:
        return _close_tensors(one, two, on_device)
    return all(_close(one[key], two[key], on_device) for key in one)


def _close_tensors(
    one: dict[str, Description], two: dict[str, Description], on_device: bool
) -> bool:
    tolerance = (ON_DEVICE if on_device else RELATIVE).get(str(one["dtype"]))
    if tolerance is None or any(one[key] != two[key] for key in one if key != "values"):
        return False
    least = max(_largest(one["values"]), _LEAST) if on_device else 0.0
    return _close_values(one["values"], two["values"], tolerance, least)


def _largest(values: Any) -> float:
    """The largest finite part of the numbers in nested lists of reprs; 0 without one."""
    if isinstance(values, list):
        return max(map(_largest, values), default=0.0)
    try:
        return _scale(complex(values))
    except (TypeError, ValueError):
        return 0.0


def _scale(number: complex) -> float:
    parts = (number.real, number.imag)
    return max((abs(part) for part in parts if math.isfinite(part)), default=0.0)


def _close_values(one: Any, two: Any, tolerance: float, least: float) -> bool:
    """Nested lists of reprs; the tolerance is relative to ``least`` at least."""
    if isinstance(one, list) and isinstance(two, list):
        pairs = zip(one, two, strict=False)
        return len(one) == len(two) and all(_close_values(a, b, tolerance, least) for a, b in pairs)
    if not isinstance(one, str) or not isinstance(two, str):
        return False
    return one == two or _close_numbers(one, two, tolerance, least)


def _close_numbers(one: str, two: str, tolerance: float, least: float) -> bool:
    try:
        a, b = complex(one), complex(two)
    except ValueError:
        return False
    if "j" not in one and a == b == 0 and not least:
        return False  # of which one is negative
    parts = ((a.real, b.real), (a.imag, b.imag))
    return all(_close_parts(*part, tolerance * max(_scale(a), least)) for part in parts)


def _close_parts(one: float, two: float, largest: float) -> bool:
    if not (math.isfinite(one) and math.isfinite(two)):
        return one == two or (math.isnan(one) and math.isnan(two))
    return abs(one - two) <= largest
