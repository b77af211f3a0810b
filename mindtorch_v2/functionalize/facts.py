"""What the profile says of functionalization; see ``conformance/extract/functionalization.py``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mindtorch_v2 import profile

_FACTS: Final = profile.active().functionalization

REFUSALS: Final[Mapping[str, str]] = _FACTS["refusals"]
"""What a function says of tensors that are not functional, by its name."""

ASSERTS: Final[Mapping[str, str]] = _FACTS["asserts"]
"""Messages of internal assertions, by what is refused."""

OUT_DTYPE_IS_DEFAULT: Final[frozenset[str]] = frozenset(_FACTS["out_dtype_is_default"])
"""``out=`` operators whose functional form computes in the dtype of ``out``, if none is given."""

DIAGONAL_IS_CHECKED_ON_META: Final[bool] = _FACTS["diagonal_is_checked_on_meta"]
"""Whether ``diagonal_scatter`` looks at sizes there."""


OUTPUTS_ARE_REPLAYED_ALONE: Final[bool] = _FACTS["outputs_are_replayed_alone"]
"""Whether one of several views of a changed base is made anew without the others."""


def mixed_mutation(name: str) -> str:
    """What is said of a plain tensor that a functional one is to change."""
    return (
        f"false INTERNAL ASSERT FAILED at {_FACTS['mutations'][name]}, please report a bug to "
        "PyTorch. mutating a non-functional tensor with a functional tensor is not allowed. Please "
        "ensure that all of your inputs are wrapped inside of a functionalize() call."
    )
