"""What chips can and cannot do, by the name that ACL gives them."""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from mindtorch_v2.kernels.npu import runtime

_NEWER: Final = re.compile(r"Ascend(910B\d|910_9\d|950)")
"""A2, A3, and the families after them."""


class Chip(NamedTuple):
    """A chip by its name; ``has_bfloat16``: the newer ones, which multiply float32 as it is too."""

    name: str
    has_bfloat16: bool


@cache
def chip() -> Chip:
    """The one in use."""
    name = runtime.soc_name()
    return Chip(name, _NEWER.match(name) is not None)
