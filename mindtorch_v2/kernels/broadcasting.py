"""Shapes that fit each other.

Mirrors ``aten/src/ATen/ExpandUtils.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence


def infer_size(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    """The shape to which two shapes broadcast; RuntimeError in torch's words if they do not."""
    rank = max(len(a), len(b))
    found = [0] * rank
    for dim in range(rank - 1, -1, -1):
        size_a = a[dim - rank + len(a)] if dim >= rank - len(a) else 1
        size_b = b[dim - rank + len(b)] if dim >= rank - len(b) else 1
        if size_a != size_b and size_a != 1 and size_b != 1:
            raise RuntimeError(
                f"The size of tensor a ({size_a}) must match the size of tensor b ({size_b}) at "
                f"non-singleton dimension {dim}"
            )
        found[dim] = size_b if size_a == 1 else size_a
    return tuple(found)
