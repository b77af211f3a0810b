"""The helper ``deepcopy`` of cases: Python's, of tensors.

A case has no imports; and of other objects it would call what they define.
"""

from __future__ import annotations

import copy
from typing import Any

from conformance.describe import is_tensor

__all__ = ["deepcopy"]


def deepcopy(value: Any) -> Any:
    """Copy a tensor, or a list of tensors, whose copies share memory where they do.

    TypeError for anything else.
    """
    tensors = value if type(value) is list else [value]
    if not all(map(is_tensor, tensors)):
        raise TypeError("deepcopy() here is of a tensor, or of a list of them")
    return copy.deepcopy(value)
