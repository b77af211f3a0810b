"""Padding with what is at the border: mirrored there, or over and over again.

Mirrors ``ReflectionPad.cpp``, ``ReplicationPadding.cpp``, ``Padding.h`` and
``cpu/PaddingKernel.cpp`` of ``aten/src/ATen/native``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from mindtorch_v2.autograd.at import suggest_memory_format
from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.outputs import set_output
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.pointwise import as_array, rounded
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import HABITS, dispatch
from mindtorch_v2.messages import expected
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import (
    CHANNELS_LAST,
    channels_last_strides,
    check_numel,
    numel,
    wrap_dim,
)
from mindtorch_v2.tensor.tensor import Tensor

Places = Callable[[Array, int], Array]
"""Where elements are found for places before, within and behind a size."""


def _mirrored(places: Array, size: int) -> Array:
    """Without the border itself."""
    last = size - 1
    return np.asarray(last - np.abs(last - np.abs(places)))


def _repeated(places: Array, size: int) -> Array:
    return np.clip(places, 0, size - 1)


@dataclass(frozen=True)
class _Border:
    """One way to pad the last ``rank`` dimensions."""

    kind: str
    places: Places
    rank: int

    @property
    def name(self) -> str:
        return f"{self.kind}_pad{self.rank}d"

    @property
    def is_structured(self) -> bool:
        """``native_functions.yaml``: one is a function that asks, and says, things of its own."""
        return self.name != "reflection_pad2d"

    def pad(self, outputs: Outputs, input: Tensor, padding: Sequence[int]) -> tuple[Tensor, ...]:
        output = _made(outputs[0], input, self._checked(input, padding))
        if not output.is_meta:
            self._dispatch("", input)
        if not output.is_meta and numel(output._sizes):
            assert_no_internal_overlap(output)
            found = as_array(input, input._dtype)
            for axis, places in self._read(input._sizes, padding):
                found = np.take(found, places, axis=axis)
            store(output, found)
        return (output,)

    def pad_backward(
        self, outputs: Outputs, grad_output: Tensor, input: Tensor, padding: Sequence[int]
    ) -> tuple[Tensor, ...]:
        if not _ARE_ALIKE or self.name == "reflection_pad3d":
            if self.name == "replication_pad3d" and len(padding) != 6:
                raise RuntimeError("padding size is expected to be 6")
            if len(padding) == 2 * self.rank:
                self._check_rank(len(input._sizes))
        padded = self._checked(input, padding, is_backward=True)
        self._check_grad(grad_output, input, padded)
        result = _made(outputs[0], input, input._sizes)
        looked_at = grad_output if self.name in _GRADIENTS_OF_ANY else result
        is_empty = not numel(looked_at._sizes)
        if not result.is_meta and not (is_empty and self.is_structured):
            self._dispatch("_backward", grad_output)
            check_pointers(grad_output._dtype, result)
        if not result.is_meta and numel(result._sizes) and not is_empty:
            if self.places is _mirrored:  # torch writes outside of its memory
                for place in range(self.rank):
                    _check_mirror(
                        input._sizes, padding, place, str(list(input._sizes)), from_end=_ARE_ALIKE
                    )
            assert_no_internal_overlap(result)
            found = _fitted(as_array(grad_output, input._dtype), padded)
            for axis, places in self._read(input._sizes, padding):
                found = _added(found, places, axis, input._sizes[axis])
            store(result, rounded(found, input._dtype))
        return (result,)

    def _dispatch(self, form: str, tensor: Tensor) -> None:
        """To the kernel for the elements of what is padded, or whose gradient is taken, in its
        memory format; what has no batch is contiguous."""
        is_channels_last = len(tensor._sizes) == self.rank + 2 and (
            suggest_memory_format(tensor) in CHANNELS_LAST
        )
        name = self.name + form + "_channels_last" * is_channels_last
        dispatch(name, tensor._dtype)

    def _read(self, sizes: Sequence[int], padding: Sequence[int]) -> list[tuple[int, Array]]:
        """For each dimension that is padded, where the elements of the result are."""
        found = []
        for place in range(self.rank):
            axis = axis_of(len(sizes), self.rank, place, from_end=_ARE_ALIKE)
            before, behind = padding[2 * place : 2 * place + 2]
            places = np.arange(-before, sizes[axis] + behind)
            found.append((axis, self.places(places, sizes[axis])))
        return found

    def _checked(
        self, input: Tensor, padding: Sequence[int], *, is_backward: bool = False
    ) -> tuple[int, ...]:
        """Sizes of the result (``check_valid_input`` and what follows it)."""
        is_mirrored = self.places is _mirrored
        if not is_mirrored and self.rank < 3 and len(padding) != 2 * self.rank:
            raise RuntimeError(f"padding size is expected to be {2 * self.rank}")
        sizes = list(input._sizes)
        padded = padded_sizes(
            sizes,
            padding,
            self.rank,
            str(sizes),
            is_mirrored=is_mirrored and not (is_backward and self.rank > 1),
            may_be_empty=is_backward and self.name not in _GRADIENTS_OF_SOME,
            from_end=_ARE_ALIKE,
        )
        if _ARE_ALIKE and self.name in _GRADIENTS_OF_SOME and len(sizes) > self.rank + 2:
            raise _unpaddable(self.rank, str(sizes))
        end = " )" if not is_mirrored and self.rank == 2 else ")"
        wants_all = HABITS[f"{self.kind} wants every dimension"]
        if not is_backward:
            check_padded(sizes, padded, self.rank, ", ", end, wants_all=wants_all)
            if not (input.is_meta or self.is_structured):
                check_numel(padded)
        return padded

    def _check_rank(self, rank: int) -> None:
        """Of an input that is not checked itself: its sizes are read all the same."""
        if self.places is _mirrored and self.rank == 3 and rank <= 3:
            raise RuntimeError(expected("input.dim() > 3"))
        for dim in range(int(self.rank < 3), self.rank + 1):
            wrap_dim(dim, rank, scalar=False)

    def _check_grad(self, grad: Tensor, input: Tensor, sizes: Sequence[int]) -> None:
        """``sizes`` are those of the input, padded."""
        is_mirrored = self.places is _mirrored
        is_usual = _ARE_ALIKE or (is_mirrored and self.rank != 2)
        name = "grad_output" if is_usual else "gradOutput"
        comma = " " if self.name == "replication_pad1d" and not _ARE_ALIKE else ", "
        if self.name == "reflection_pad3d" and len(grad._sizes) != len(sizes):
            raise RuntimeError(expected("grad_output.dim() == input.dim()"))
        looks = _LOOK_AT_CHANNELS and not is_mirrored and self.rank < 3 and len(sizes) > self.rank
        if looks or _ARE_ALIKE:
            channel = axis_of(len(sizes), self.rank, self.rank, from_end=_ARE_ALIKE)
            wanted, got = _size(input._sizes, channel), _size(grad._sizes, channel)
            if got != wanted:
                raise RuntimeError(f"{name} channel unexpected. Expected: {wanted}, Got: {got}")
        check_grad_sizes(grad, sizes, self.rank, name, comma, from_end=_ARE_ALIKE)


_ARE_ALIKE: Final = HABITS["gradients of padding are worded alike"]
"""They are made of one template then, which counts the dimensions from the last."""
_LOOK_AT_CHANNELS: Final = HABITS["gradients of replicated padding look at channels"]
_GRADIENTS_OF_ANY: Final = ("reflection_pad1d", "reflection_pad3d")
"""Whose gradient is of nothing where what it is computed from is empty."""
_GRADIENTS_OF_SOME: Final = ("replication_pad3d", *(("replication_pad2d",) if _ARE_ALIKE else ()))
"""Whose gradient asks whether there is an element."""


def axis_of(dims: int, rank: int, place: int, *, from_end: bool = False) -> int:
    """Which dimension the ``place``-th padded one is, from behind: of what is no batch, which a
    gradient takes with any number of dimensions, they begin behind the first.  Counted from the end
    the number may be below zero."""
    return dims - 1 - place if from_end else rank - place + (dims == rank + 2)


def _size(sizes: Sequence[int], dim: int) -> int:
    """IndexError for a dimension that there is not."""
    return sizes[wrap_dim(dim, len(sizes), scalar=False)]


def _unpaddable(rank: int, shown: str) -> RuntimeError:
    """What is said of sizes that are too few, or too many, or of nothing."""
    return RuntimeError(
        f"Expected {rank + 1}D or {rank + 2}D (batch mode) tensor with possibly 0 batch size "
        f"and other non-zero dimensions for input, but got: {shown}"
    )


def padded_sizes(
    sizes: Sequence[int],
    padding: Sequence[int],
    rank: int,
    shown: str,
    *,
    is_mirrored: bool,
    may_be_empty: bool = False,
    from_end: bool = False,
) -> tuple[int, ...]:
    """RuntimeError for sizes that cannot be padded, or not by so much.  ``may_be_empty``, as of a
    gradient, of which nobody asks whether there is one."""
    if len(padding) != 2 * rank:
        raise RuntimeError(f"padding size is expected to be {2 * rank}, but got: {len(padding)}")
    looked_at = sizes[1:] if len(sizes) == rank + 2 else sizes
    if not may_be_empty and (0 in looked_at or len(sizes) <= rank):
        raise _unpaddable(rank, shown)
    padded = list(sizes)
    for place in range(rank):
        axis = axis_of(len(sizes), rank, place, from_end=from_end)
        size = _size(sizes, axis) if from_end else sizes[axis]
        if is_mirrored:
            _check_mirror(sizes, padding, place, shown, from_end=from_end)
        padded[axis] = size + sum(padding[2 * place : 2 * place + 2])
    return tuple(padded)


def _check_mirror(
    sizes: Sequence[int], padding: Sequence[int], place: int, shown: str, *, from_end: bool
) -> None:
    """RuntimeError where more is to be mirrored than there is."""
    axis = axis_of(len(sizes), len(padding) // 2, place, from_end=from_end)
    before, behind = padding[2 * place : 2 * place + 2]
    if max(before, behind) >= sizes[axis]:
        raise RuntimeError(
            f"Argument #{4 + 2 * place}: Padding size should be less than the corresponding "
            f"input dimension, but got: padding ({before}, {behind}) at dimension {axis} of "
            f"input {shown}"
        )


def check_padded(
    sizes: Sequence[int],
    padded: Sequence[int],
    rank: int,
    comma: str,
    end: str,
    *,
    wants_all: bool,
) -> None:
    """RuntimeError where no dimension has an element; ``wants_all``: where one has none."""
    if min(padded[-rank:]) >= 1:
        return
    names = "DHW"[-rank:]
    given, found = (
        [f"{name}: {size}" for name, size in zip(names, each[-rank:], strict=True)]
        for each in (sizes, padded)
    )
    if wants_all and rank > 1:
        raise RuntimeError(
            f"Calculated output {' '.join(found)} must be >= 1 in every dimension (input "
            f"{', '.join(given)})"
        )
    if max(padded[-rank:]) < 1:
        raise RuntimeError(
            f"input ({comma.join(given)}{end} is too small. Calculated output {' '.join(found)}"
        )


def check_grad_sizes(
    grad: Tensor,
    sizes: Sequence[int],
    rank: int,
    name: str,
    comma: str = ", ",
    *,
    from_end: bool = False,
) -> None:
    for place, dimension in zip(range(rank), ("width", "height", "depth"), strict=False):
        dim = axis_of(len(sizes), rank, place, from_end=from_end)
        got, wanted = _size(grad._sizes, dim), sizes[dim]
        if got != wanted:
            raise RuntimeError(
                f"{name} {dimension} unexpected. Expected: {wanted}{comma}Got: {got}"
            )


def _made(given: Tensor | None, input: Tensor, sizes: Sequence[int]) -> Tensor:
    """In the memory format of the input."""
    order = CHANNELS_LAST.get(suggest_memory_format(input))
    strides = None if order is None else channels_last_strides(sizes, order)
    return set_output(given, sizes, input._dtype, input._device, strides)


def _fitted(array: Array, sizes: Sequence[int]) -> Array:
    """Of a gradient with other batches or channels than the input, which torch reads past, or not
    to its end: as much as there is, and zeros."""
    if array.shape == tuple(sizes):
        return array
    found = np.zeros(sizes, array.dtype)
    if array.ndim == found.ndim:
        shared = tuple(map(slice, map(min, array.shape, found.shape)))
        found[shared] = array[shared]
    return found


def _added(grads: Array, places: Array, axis: int, size: int) -> Array:
    """What was read from one place, added up there."""
    rows = np.moveaxis(grads, axis, 0)
    found = np.zeros((size, *rows.shape[1:]), grads.dtype)
    np.add.at(found, places, rows)
    return np.moveaxis(found, 0, axis)


for _name, _places in (("reflection", _mirrored), ("replication", _repeated)):
    for _rank in (1, 2, 3):
        _border = _Border(_name, _places, _rank)
        structured.add(f"aten::{_border.name}", _border.pad)
        structured.add(f"aten::{_border.name}_backward", _border.pad_backward)
