"""What C++ leaves to its library and its compiler, for the area core-ops: which of 0.0 and -0.0 is
the larger, and whether a product is rounded before it is subtracted from.  And tensors as C++
prints them.

Not here: tensors that fill a vector, of which the processor's instruction answers another zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from conformance.area import Text

_DTYPES: Final = ("float32", "float64", "float16", "bfloat16")
_ZEROS: Final = ("[0.0, -0.0, 1.0]", "[-0.0, 0.0, 0.0]", "-0.0")
_OF_TWO: Final = ("maximum", "minimum", "fmax", "fmin", "clamp_min", "clamp_max")
_TABLES: Final = (
    *("[[0.0, -0.0], [-0.0, 0.0]]", "[[[-1.0, -0.0], [0.0, -0.0]], [[0.0, -0.0], [-0.0, 1.0]]]"),
    *("[-0.0, 0.0, 1.0]", "-0.0"),
)
_PARALLEL: Final = (
    ("[0.1, 0.3, 0.7]", "[0.3, 0.9, 2.1]"),
    ("[1e30, 3.0, 0.1]", "[1e30, 7.0, 0.2]"),
)

_PRINTED: Final = (
    *("xp.ones(2, 3)", "xp.ones(2, 2, 30)", "xp.ones(3, 2, 2, 1).int()", "xp.ones(2, 0, 3)"),
    *("xp.tensor([[1e10, 1.0], [0.5, -2.0]])", "xp.tensor([[-400.0, 1.5]])", "xp.zeros(1, 1)"),
    *("xp.tensor([[1.5, 2.0], [3.0, -400.0]])", "xp.tensor([[float('nan'), -float('inf')]])"),
    "xp.tensor([[[123456.5, 223456.5]], [[0.5, 0.25]], [[1.0, 2.0]]])",
    "xp.tensor([[[1e10, 1.0]], [[0.5, 0.25]], [[12345.0, 1.0]]])",
    *("xp.tensor([[0.001, 0.002]]).repeat(2, 9)", "xp.tensor([[1e-300, 0.3]], dtype=xp.float64)"),
    *("xp.ones(1, 2, dtype=xp.float64)._neg_view()", "xp.tensor([[1234567890, 3]]).t()"),
    *("xp.ones(1, 2, dtype=xp.bfloat16)", "xp.ones(1, 2, device='meta')"),
)


def texts() -> Iterator[Text]:
    for dtype, name, one, two in product(_DTYPES, _OF_TWO, _ZEROS, _ZEROS):
        operands = (f"xp.tensor({values}, dtype=xp.{dtype})" for values in (one, two))
        yield name, f"xp.{name}({', '.join(operands)})"
    for dtype, name, values in product(_DTYPES, ("amax", "amin"), _TABLES):
        made = f"xp.tensor({values}, dtype=xp.{dtype})"
        yield name, f"({made}.{name}(), {made}.{name}(0), {made}.mT.{name}(-1))"
    for dtype, vectors in product((*_DTYPES, "complex64", "int32"), _PARALLEL):
        operands = (f"xp.tensor({each}).to(xp.{dtype})" for each in vectors)
        yield "linalg_cross", f"xp.linalg.cross({', '.join(operands)})"
    for call, tensor in product(("{}", "xp.func.functionalize({})"), _PRINTED):
        grid = call.format("lambda x: xp.ops.aten.meshgrid([x])")
        yield "meshgrid", f"({grid})({tensor})"
