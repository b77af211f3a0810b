"""Padding with a number, or with what lies at the other end.

Mirrors ``constant_pad_nd`` and ``_pad_circular`` of ``aten/src/ATen/native/PadNd.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.autograd.at import suggest_memory_format
from mindtorch_v2.kernels.elementwise.promotion import Number
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.support import worded
from mindtorch_v2.tensor.tensor import Tensor

_SMALLEST: Final = 0 if HABITS["padding may leave nothing"] else 1
"""What may be left of a dimension that is padded."""
_CLONE: Final = OperatorHandle("aten::clone")
_COPY_: Final = OperatorHandle("aten::copy_")
_EMPTY: Final = OperatorHandle("aten::empty.memory_format")
_FILL_: Final = OperatorHandle("aten::fill_.Scalar")
_NEW_EMPTY: Final = OperatorHandle("aten::new_empty")
_SLICE: Final = OperatorHandle("aten::slice.Tensor")
_NARROW: Final = OperatorHandle("aten::narrow")


@kernel("aten::constant_pad_nd", key="CompositeExplicitAutograd")
def constant_pad_nd(self: Tensor, pad: Sequence[int], value: Number) -> Any:
    """``pad`` begins with both ends of the last dimension; a negative number takes away."""
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    rank = len(self._sizes)
    if 2 * rank < len(pad):
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. "
            f"Pad length is {len(pad)}while the input has {rank}dimensions."
        )
    ends = list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    ends = [(0, 0)] * (rank - len(ends)) + ends
    kept = self
    for dim, (low, high) in enumerate(ends):
        kept = _cut(kept, dim, low, high)
    if all(number <= 0 for number in pad):
        return _CLONE(kept, memory_format=None)
    sizes = []
    for dim, (size, (low, high)) in enumerate(zip(self._sizes, ends, strict=True)):
        is_padded = dim >= rank - len(pad) // 2
        if is_padded and size + low + high < _SMALLEST:
            raise RuntimeError(
                f"The input size {size}, plus negative padding {low} and {high} resulted in a "
                "negative output size, which is invalid. Check dimension "
                f"{dim} of your input."
            )
        sizes.append(size + low + high)
    options = {"dtype": self._dtype, "layout": self._layout, "device": self._device}
    made = _EMPTY(sizes, **options, memory_format=suggest_memory_format(self))
    _FILL_(made, value)
    inner = made
    for dim, (low, high) in enumerate(ends):
        inner = _cut(inner, dim, -low, -high)
    _COPY_(inner, kept)
    return made


def _cut(tensor: Any, dim: int, low: int, high: int) -> Any:
    """A dimension without what negative numbers take from its ends."""
    if low < 0:
        tensor = _NARROW(tensor, dim, -low, tensor._sizes[dim] + low)
    if high < 0:
        tensor = _NARROW(tensor, dim, 0, tensor._sizes[dim] + high)
    return tensor


# --- padding with what lies at the other end ----------------------------------------------------


@kernel("aten::_pad_circular", key="CompositeImplicitAutograd")
def pad_circular(self: Tensor, pad: Sequence[int]) -> Any:
    """What is new at one end of a dimension is copied from the other: corners more than once."""
    rank, padded = len(self._sizes), len(pad) // 2
    first = rank - padded
    if first not in (1, 2):
        raise RuntimeError(
            "Invalid padding size, expected 1 or 2 non-padded dimensions, which would be "
            f"equivalent to padding of length {(rank - 1) * 2} or {(rank - 2) * 2} respectively "
            f"but got {len(pad)}"
        )
    sizes = list(self._sizes)
    ends = {rank - 1 - place: pad[2 * place : 2 * place + 2] for place in range(padded)}
    for dim in range(first, rank):
        low, high = ends[dim]
        if max(low, high) > self._sizes[dim]:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        sizes[dim] += low + high
        if sizes[dim] < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
    options = {"dtype": self._dtype, "layout": self._layout, "device": self._device}
    made = _NEW_EMPTY(self, sizes, **options)
    inner, kept = made, self
    for dim, (low, high) in ends.items():
        inner = _SLICE(inner, dim, max(low, 0), sizes[dim] - max(high, 0))
        kept = _SLICE(kept, dim, max(-low, 0), self._sizes[dim] - max(-high, 0))
    _COPY_(inner, kept)
    for dim, (low, high) in ends.items():
        begin, end = max(low, 0), sizes[dim] - max(high, 0)
        if low > 0:
            _COPY_(_SLICE(made, dim, 0, low), _SLICE(made, dim, end - low, end))
        if high > 0:
            _COPY_(_SLICE(made, dim, end, sizes[dim]), _SLICE(made, dim, begin, begin + high))
    return made


# --- the operator that has modes ----------------------------------------------------------------

_MODES: Final = ("reflect", "replicate", "circular", "constant")
"""``at::padding_mode``."""
_PADS: Final = {
    (mode, rank): OperatorHandle(f"aten::{name}")
    for rank in (1, 2, 3)
    for mode, name in (
        ("reflect", f"reflection_pad{rank}d"),
        ("replicate", f"replication_pad{rank}d"),
        ("circular", "_pad_circular"),
    )
}
_CONSTANT_PAD: Final = OperatorHandle("aten::constant_pad_nd")


@kernel("aten::pad", key="CompositeImplicitAutograd")
def pad(self: Tensor, pad: Sequence[int], mode: str, value: float | None) -> Any:
    if mode not in _MODES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    return pad_enum(self, pad, _MODES.index(mode), value)


@kernel("aten::_pad_enum", key="CompositeImplicitAutograd")
def pad_enum(self: Tensor, pad: Sequence[int], mode: int, value: float | None) -> Any:
    rank = len(self._sizes)
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * rank:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(pad)} and input of dimension {rank}"
        )
    name = _MODES[mode] if 0 <= mode < len(_MODES) else None
    if name == "constant":
        return _CONSTANT_PAD(self, pad, 0.0 if value is None else value)
    if value and name is None:
        raise RuntimeError(f"Invalid padding mode ({mode})")
    if value:
        raise RuntimeError(f'Padding mode "{name}" doesn\'t take in value argument')
    dims = len(pad) // 2
    if name is not None and (name, dims) in _PADS and rank in (dims + 1, dims + 2):
        return _PADS[name, dims](self, pad)
    shown = {
        "Padding size 2": f"Padding size {len(pad)}",
        "1D input tensor": f"{rank}D input tensor",
    }
    raise worded("pad of no such size", **shown)
