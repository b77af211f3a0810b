"""Reductions for the area core-ops: sums, means and extremes over dimensions.

Not here: a mean whose ``out=`` is of halves, which 2.4.1 does not write to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from conformance.area import Text
from conformance.cases.core_ops_pools import LAYOUTS, SHAPES, pools_of

NAMES: Final = ("sum", "mean", "amax", "amin")

DIMS: Final = (
    "",
    "0",
    "-1",
    "1",
    "2",
    "[0]",
    "[0, 1]",
    "[1, -1]",
    "[0, 0]",
    "[]",
    "None",
    "()",
    "[-3]",
    "0, True",
    "-1, keepdim=True",
    "[0, -1], True",
    "[], True",
    "None, True",
)
_DTYPES: Final = ("float32", "float64", "int64", "int8", "bool", "complex64", "float16")


def texts(dtypes: Sequence[str]) -> Iterator[Text]:
    for name, dtype, device in product(NAMES, dtypes, ("cpu", "meta")):
        for which in range(len(pools_of(dtype))):
            if which == 2 and name.startswith("a") and "float" in dtype:
                continue  # which of two zeros is found depends on the order
            values = ", ".join(pools_of(dtype)[which])
            made = f"xp.tensor([[{values}]], dtype=xp.{dtype}, device='{device}')"
            yield name, f"xp.{name}({made}, 0)"
            if which or name != "mean":
                yield name, f"{made}.{name}()"
    shaped = (*(f"xp.ones({shape}, device='{{0}}')" for shape in SHAPES), *LAYOUTS)
    for name, made, dims, device in product(NAMES, shaped, DIMS, ("cpu", "meta")):
        if not (name.startswith("a") and "None" in dims):
            yield name, f"{made.format(device)}.{name}({dims})"
    for name, dtype, wanted, device in product(NAMES[:2], _DTYPES, _DTYPES, ("cpu", "meta")):
        values = ", ".join(pools_of(dtype)[0])
        made = f"xp.tensor([{values}], dtype=xp.{dtype}, device='{device}')"
        if not (dtype == "complex64" and wanted != "complex64"):
            yield name, f"{made}.{name}(0, dtype=xp.{wanted})"
    for name, dtype, shape, device in product(NAMES, _DTYPES, ("3", "2, 3", "0", "()"), DEVICES):
        made = f"xp.ones((2, 3), device='{device}')"
        out = f"xp.zeros({shape}, dtype=xp.{dtype}, device='{device}')"
        if name != "mean" or dtype not in ("complex64", "float16"):
            yield name, f"o = {out}\ny = xp.{name}({made}, 0, out=o)\n(o, y is o)"


DEVICES: Final = ("cpu", "meta")
