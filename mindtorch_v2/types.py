"""``torch.types``: names of types for annotations.

Mirrors ``torch/types.py``, as far as schemas are inferred from them.
"""

from __future__ import annotations

import typing
from typing import Any, Final

from mindtorch_v2 import profile

_NUMBERS: Final[dict[str, Any]] = {
    "typing.Union[int, float, bool]": typing.Union[int, float, bool],  # noqa: UP007
    "int | float | bool": int | float | bool,
}
Number: Final[Any] = _NUMBERS[profile.active().library["number"]]
"""Any number, spelled as in the release."""
