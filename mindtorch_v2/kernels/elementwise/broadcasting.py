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


def is_expandable_to(sizes: Sequence[int], wanted: Sequence[int]) -> bool:
    """Whether a tensor of ``sizes`` broadcasts to ``wanted``."""
    missing = len(wanted) - len(sizes)
    return missing >= 0 and all(
        size in (1, target) for size, target in zip(sizes, wanted[missing:], strict=True)
    )


def infer_expand_geometry(
    sizes: Sequence[int], strides: Sequence[int], wanted: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes and strides of a view repeated to ``wanted``; -1 there keeps a size.

    RuntimeError if a dimension that is not of size 1 would change, or a new one is -1.
    """
    if not sizes:
        return tuple(wanted), (0,) * len(wanted)
    rank, missing = len(wanted), len(wanted) - len(sizes)
    new_sizes, new_strides = [0] * rank, [0] * rank
    for place in range(rank - 1, -1, -1):
        dim = place - missing
        size = sizes[dim] if dim >= 0 else 1
        stride = strides[dim] if dim >= 0 else _following(new_sizes, new_strides, place)
        target = wanted[place]
        if target == -1:
            if dim < 0:
                raise RuntimeError(
                    f"The expanded size of the tensor ({target}) isn't allowed in a leading, "
                    f"non-existing dimension {place}"
                )
            target = size
        if size != target:
            if size != 1:
                raise RuntimeError(
                    f"The expanded size of the tensor ({target}) must match the existing size "
                    f"({size}) at non-singleton dimension {place}.  Target sizes: "
                    f"{list(wanted)}.  Tensor sizes: {list(sizes)}"
                )
            size, stride = target, 0
        new_sizes[place], new_strides[place] = size, stride
    return tuple(new_sizes), tuple(new_strides)


def _following(sizes: Sequence[int], strides: Sequence[int], place: int) -> int:
    """The stride of a new dimension before the others."""
    return sizes[place + 1] * strides[place + 1] if place + 1 < len(sizes) else 1
