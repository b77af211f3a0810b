"""The helpers ``deepcopy``, ``copied`` and ``pickled`` of cases: Python's, of tensors.

A case has no imports; and of other objects they would call what those define.  What is unpickled is
what the same call has pickled, so a case brings no bytes of its own.
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

from conformance.describe import is_tensor

__all__ = ["copied", "deepcopy", "pickled"]


def deepcopy(value: Any) -> Any:
    """Copy a tensor, or a list of tensors, whose copies share memory where they do.

    TypeError for anything else.
    """
    return copy.deepcopy(_of_tensors(value, "deepcopy"))


def copied(value: Any) -> Any:
    """A shallow copy of a tensor; TypeError for anything else."""
    if not is_tensor(value):
        raise TypeError("copied() here is of a tensor")
    return copy.copy(value)


def pickled(value: Any, protocol: int = pickle.DEFAULT_PROTOCOL) -> Any:
    """A tensor, or a list of tensors, as it comes back from a pickle; TypeError for others."""
    return pickle.loads(pickle.dumps(_of_tensors(value, "pickled"), protocol))


def _of_tensors(value: Any, name: str) -> Any:
    tensors = value if type(value) is list else [value]
    if not all(map(is_tensor, tensors)):
        raise TypeError(f"{name}() here is of a tensor, or of a list of them")
    return value
