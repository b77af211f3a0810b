"""Windows of signals for the area core-ops: lengths, dtypes and devices, and what they refuse."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_NAMES: Final = ("bartlett_window", "blackman_window", "hamming_window", "hann_window")
_DEVICES: Final = ("cpu", "meta")
_ARGUMENTS: Final = (
    *("0", "1", "2", "5", "8", "-1", "0, False", "1, False", "2, False", "8, False", "2.5"),
    *(f"6, dtype=xp.{name}" for name in ("float64", "bfloat16", "int64", "bool", "complex64")),
    *("6, requires_grad=True", "6, layout=xp.sparse_coo"),
)


def texts() -> Iterator[Text]:
    for name, arguments, device in product(_NAMES, _ARGUMENTS, _DEVICES):
        yield name, f"xp.{name}({arguments}, device='{device}')"
    for name, device in product(_NAMES, _DEVICES):
        yield name, f"xp.ops.aten.{name}.out(6, out=xp.empty(0, device='{device}'))"
    for arguments in ("6, True, 0.3", "6, False, 0.3, 0.2", "6, periodic=False, alpha=1, beta=2"):
        yield "hamming_window", f"xp.hamming_window({arguments})"
