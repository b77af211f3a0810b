"""What becomes of the losses of a batch: the words for it, old and new.

Mirrors ``torch/nn/_reduction.py``.
"""

from __future__ import annotations

import warnings
from typing import Final

from mindtorch_v2.messages import WARNING_TEXTS

NUMBERS: Final = {"none": 0, "mean": 1, "sum": 2}
"""What C++ calls them (``ATen/core/Reduction.h``)."""


def get_enum(reduction: str) -> int:
    """The number that C++ has for a reduction; ValueError if there is none."""
    if reduction == "elementwise_mean":
        warnings.warn(WARNING_TEXTS["get_enum"], stacklevel=2)
        reduction = "mean"
    for name, number in NUMBERS.items():  # what cannot be hashed is compared as well
        if reduction == name:
            return number
    raise ValueError(f"{reduction} is not a valid value for reduction")


def legacy_get_string(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> str:
    """The reduction that two switches stood for."""
    averages, reduces = (each is None or bool(each) for each in (size_average, reduce))
    found = "none" if not reduces else "mean" if averages else "sum"
    if emit_warning:
        warnings.warn(
            "size_average and reduce args will be deprecated, please use "
            f"reduction='{found}' instead.",
            stacklevel=2,
        )
    return found


def legacy_get_enum(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> int:
    """The number of the reduction that two switches stood for."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))


def chosen(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """``reduction``, unless one of the two switches of old says something."""
    if size_average is None and reduce is None:
        return reduction
    return legacy_get_string(size_average, reduce)


def chosen_enum(size_average: bool | None, reduce: bool | None, reduction: str) -> int:
    """The number of the reduction that is ``chosen``."""
    return get_enum(chosen(size_average, reduce, reduction))
