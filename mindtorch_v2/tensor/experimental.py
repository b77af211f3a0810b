"""What is in beta: complex dtypes of halves, and layouts, whose first tensor warns.

Mirrors ``raise_warning_for_complex_half`` of ``aten/src/ATen/EmptyTensor.cpp``, that beside it, and
the constructors of ``SparseCsrTensorImpl`` and ``NestedTensorImpl``.
"""

from __future__ import annotations

from typing import Final

from mindtorch_v2.messages import WARNING_TEXTS
from mindtorch_v2.tensor.dtype import DTYPES, DType, Layout, sparse_compressed
from mindtorch_v2.warn import warn_once

COMPLEX_HALF: Final = DTYPES["complex32"]
BCOMPLEX32: Final = DTYPES.get("bcomplex32")


def is_experimental(dtype: DType) -> bool:
    return dtype is COMPLEX_HALF or dtype is BCOMPLEX32


def warn_of_copy(source: DType, target: DType) -> None:
    """What making a copy of another dtype warns of, where the copy itself is never made here."""
    if source is not target:
        raise_warning_for_complex_half(target)


def raise_warning_for_complex_half(dtype: DType) -> None:
    """Once for each of the two; nothing for any other dtype."""
    if not is_experimental(dtype):
        return
    place, name = "complex_half", "ComplexHalf"
    if dtype is BCOMPLEX32:
        place, name = "bcomplex32", "BComplex32"
    warn_once(
        f"raise_warning_for_{place}",
        f"{name} support is experimental and many operators don't support it yet.",
    )


def warn_of_layout(layout: Layout) -> None:
    """Once, at the first sparse tensor whose rows or columns are compressed."""
    name = sparse_compressed.get(layout)
    if name is not None:
        kind = "SparseCsrTensorImpl"
        short = repr(layout).rpartition("_")[2].upper()
        warn_once(kind, WARNING_TEXTS[kind].replace("CSR", short))


def warn_of_nested() -> None:
    kind = "NestedTensorImpl"
    warn_once(kind, WARNING_TEXTS[kind])
