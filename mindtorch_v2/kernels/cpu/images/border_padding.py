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
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.outputs import set_output
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap
from mindtorch_v2.kernels.pointers import check_pointers
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
    def _is_mirrored(self) -> bool:
        return self.places is _mirrored

    @property
    def is_structured(self) -> bool:
        """``native_functions.yaml``: one is a function that asks, and says, things of its own."""
        return self.name != "reflection_pad2d"

    def pad(self, outputs: Outputs, input: Tensor, padding: Sequence[int]) -> tuple[Tensor, ...]:
        if not self._is_mirrored and not _ARE_ALIKE:
            check_count(padding, self.rank)
        sizes = tuple(input._sizes)
        padded = self._checked(sizes, padding)
        end = " )" if self.name == "replication_pad2d" else ")"
        wants_all = HABITS[f"{self.kind} wants every dimension"]
        check_padded(sizes, padded, self.rank, ", ", end, wants_all=wants_all)
        made = made_sizes(sizes, padded, self.rank, adds_batch=self.name != "reflection_pad3d")
        if not (input.is_meta or self.is_structured):
            check_numel(made)
        output = _made(outputs[0], input, made)
        if not output.is_meta:
            self._dispatch("", input)
        if not output.is_meta and numel(output._sizes):
            assert_no_internal_overlap(output)
            store(output, self._padded(as_array(input, input._dtype), padding, output._sizes))
        return (output,)

    def _padded(self, array: Array, padding: Sequence[int], sizes: Sequence[int]) -> Array:
        """``sizes`` are those of the result."""
        if self._is_usual(array.shape):
            for axis, places in self._read(array.shape, padding):
                array = np.take(array, places, axis=axis)
            return array
        array = _beginning(array, array.shape[: self.rank + 1])
        for axis in range(1, self.rank + 1):
            places = np.arange(sizes[axis]) - padding[2 * (self.rank - axis)]
            places = self.places(places, array.shape[axis])
            array = np.take(array, places, axis=axis, mode="clip")
        return _beginning(array, sizes)

    def _gradient(self, grad: Array, padding: Sequence[int], sizes: Sequence[int]) -> Array:
        """``sizes`` are those of the input."""
        if not self._is_usual(sizes):
            first = sizes[: self.rank + 1]
            grad = _beginning(grad, (first[0], *grad.shape[1 : self.rank + 1]))
            return _beginning(self._gradient(grad, padding, first), sizes)
        for axis, places in self._read(sizes, padding):
            grad = _added(grad, places, axis, sizes[axis])
        return grad

    def _is_usual(self, sizes: Sequence[int]) -> bool:
        """Or else torch takes the dimensions behind the first for what is padded, of the result
        too, and what is in memory from its beginning for that of such a tensor."""
        return _ARE_ALIKE or _has_usual_dims(sizes, self.rank)

    def pad_backward(
        self, outputs: Outputs, grad_output: Tensor, input: Tensor, padding: Sequence[int]
    ) -> tuple[Tensor, ...]:
        if not (
            _TELLS_LENGTH if self.name == "reflection_pad3d" else self._is_mirrored or _ARE_ALIKE
        ):
            check_count(padding, self.rank)
        if self._is_mirrored and self.rank < 3:  # of which nobody asks how long it is
            padding = padding[: 2 * self.rank]
        looks_first = not _ARE_ALIKE or self.name == "reflection_pad3d"
        if looks_first and (len(padding) == 2 * self.rank or not self.is_structured):
            self._check_rank(len(input._sizes))
        padded = self._checked(input._sizes, padding, is_backward=True)
        self._check_grad(grad_output, input, padded)
        if _ARE_ALIKE and (self._is_mirrored or numel(input._sizes)):
            # they were counted from the last, and are read from the first
            wrap_dim(self.rank, len(input._sizes), scalar=False)
        result = _made(outputs[0], input, input._sizes)
        looked_at = grad_output if self.name in _GRADIENTS_OF_ANY else result
        is_empty = not numel(looked_at._sizes)
        if not result.is_meta and not (is_empty and self.is_structured):
            self._dispatch("_backward", grad_output)
            check_pointers(grad_output._dtype, result)
        if not result.is_meta and numel(result._sizes) and not is_empty:
            if self._is_mirrored:  # torch writes outside of its memory
                for place in range(self.rank):
                    _check_mirror(
                        input._sizes, padding, place, str(list(input._sizes)), from_end=_ARE_ALIKE
                    )
            assert_no_internal_overlap(result)
            grad = _fitted(as_array(grad_output, input._dtype), padded)
            found = self._gradient(grad, padding, input._sizes)
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
        self, sizes: Sequence[int], padding: Sequence[int], *, is_backward: bool = False
    ) -> tuple[int, ...]:
        """Sizes of an input with what is padded (``check_valid_input`` and what follows it)."""
        is_looked_at = not is_backward or self.name in _GRADIENTS_OF_SOME
        takes_any = not (_TAKES_USUAL_DIMENSIONS and is_looked_at)
        return padded_sizes(
            sizes,
            padding,
            self.rank,
            str(list(sizes)),
            is_mirrored=self._is_mirrored and not (is_backward and self.rank > 1),
            may_be_empty=not is_looked_at,
            takes_any=takes_any,
            from_end=_ARE_ALIKE,
            reads_first=is_backward and self._is_mirrored and self.rank == 2 and _ARE_ALIKE,
        )

    def _check_rank(self, rank: int) -> None:
        """Of an input that is not checked itself: its sizes are read all the same."""
        if self._is_mirrored and self.rank == 3 and rank <= 3:
            raise RuntimeError(expected("input.dim() > 3"))
        reads_first = _VOLUMES_LOOK_AT_CHANNELS if self.rank == 3 else _LOOK_AT_CHANNELS
        first = 0 if reads_first and not self._is_mirrored else 1
        for dim in range(first, self.rank + 1):
            wrap_dim(dim, rank, scalar=False)

    def _check_grad(self, grad: Tensor, input: Tensor, sizes: Sequence[int]) -> None:
        """``sizes`` are those of the input, padded."""
        is_usual = _ARE_ALIKE or (self._is_mirrored and self.rank != 2)
        name = "grad_output" if is_usual else "gradOutput"
        comma = " " if self.name == "replication_pad1d" and not _ARE_ALIKE else ", "
        if self.name == "reflection_pad3d" and len(grad._sizes) != len(sizes):
            raise RuntimeError(expected("grad_output.dim() == input.dim()"))
        looks = _VOLUMES_LOOK_AT_CHANNELS if self.rank == 3 else _LOOK_AT_CHANNELS
        if _ARE_ALIKE or (looks and not self._is_mirrored and len(sizes) > self.rank):
            channel = axis_of(len(sizes), self.rank, self.rank, from_end=_ARE_ALIKE)
            what = "width" if self.rank == 3 and _CALLS_IT_WIDTH else "channel"
            check_channels(grad, input._sizes, channel, f"{name} {what}")
        check_grad_sizes(grad, sizes, self.rank, name, comma, from_end=_ARE_ALIKE)


_TAKES_USUAL_DIMENSIONS: Final = HABITS["padding takes the usual dimensions alone"]
_ARE_ALIKE: Final = HABITS["gradients of padding are worded alike"]
"""They are made of one template then, which counts the dimensions from the last."""
_VOLUMES_LOOK_AT_CHANNELS: Final = HABITS["gradients of replicated volumes look at channels"]
_CALLS_IT_WIDTH: Final = HABITS["channels of replicated volumes are called a width"]
_TELLS_LENGTH: Final = HABITS["a gradient of a mirrored volume tells its padding's length"]
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


def check_count(padding: Sequence[int], rank: int, *, tells: bool = False) -> None:
    """RuntimeError, which ``tells`` how many there are or not, unless a padding has both sides of
    each dimension."""
    if len(padding) != 2 * rank:
        got = f", but got: {len(padding)}" if tells else ""
        raise RuntimeError(f"padding size is expected to be {2 * rank}{got}")


def _has_usual_dims(sizes: Sequence[int], rank: int) -> bool:
    """Those of channels, or of a batch of these."""
    return len(sizes) in (rank + 1, rank + 2)


def _size(sizes: Sequence[int], dim: int) -> int:
    """IndexError for a dimension that there is not."""
    return sizes[wrap_dim(dim, len(sizes), scalar=False)]


def padded_sizes(
    sizes: Sequence[int],
    padding: Sequence[int],
    rank: int,
    shown: str,
    *,
    is_mirrored: bool,
    may_be_empty: bool = False,
    takes_any: bool = True,
    from_end: bool = False,
    reads_first: bool = False,
) -> tuple[int, ...]:
    """RuntimeError for sizes that cannot be padded, or not by so much.  ``may_be_empty``, as of a
    gradient, of which nobody asks whether there is one; ``takes_any`` number of dimensions, of
    which the first ones are read; ``reads_first`` the sizes, then the padding."""
    if not reads_first:
        check_count(padding, rank, tells=True)
    looked_at = sizes[1:] if len(sizes) == rank + 2 else sizes
    if not ((takes_any or _has_usual_dims(sizes, rank)) and (may_be_empty or 0 not in looked_at)):
        raise RuntimeError(
            f"Expected {rank + 1}D or {rank + 2}D (batch mode) tensor with possibly 0 batch size "
            f"and other non-zero dimensions for input, but got: {shown}"
        )
    for dim in range(0 if from_end or may_be_empty else rank + 1):
        wrap_dim(dim, len(sizes), scalar=False)
    if from_end and may_be_empty and not is_mirrored:  # whose channels are looked at first
        _size(sizes, axis_of(len(sizes), rank, rank, from_end=True))
    check_count(padding, rank, tells=True)
    padded = list(sizes)
    for place in range(rank):
        axis = axis_of(len(sizes), rank, place, from_end=from_end)
        size = _size(sizes, axis) if from_end else sizes[axis]
        if is_mirrored:
            _check_mirror(sizes, padding, place, shown, from_end=from_end)
        padded[axis] = size + sum(padding[2 * place : 2 * place + 2])
    return tuple(padded)


def made_sizes(
    sizes: Sequence[int], padded: Sequence[int], rank: int, *, adds_batch: bool
) -> tuple[int, ...]:
    """Those of the result: of what has other dimensions than a batch the first ones, which are no
    batch, or one of one."""
    if _has_usual_dims(sizes, rank):
        return tuple(padded)
    return (*([1] * adds_batch), *padded[: rank + 1])


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
    first = axis_of(len(sizes), rank, rank - 1)
    sizes, padded = (each[first : first + rank] for each in (sizes, padded))
    if min(padded) >= 1:
        return
    given, found = (
        [f"{name}: {size}" for name, size in zip("DHW"[-rank:], each, strict=True)]
        for each in (sizes, padded)
    )
    if wants_all and rank > 1:
        raise RuntimeError(
            f"Calculated output {' '.join(found)} must be >= 1 in every dimension (input "
            f"{', '.join(given)})"
        )
    if max(padded) < 1:
        *others, width = given
        shown = comma.join([*([" ".join(others)] * bool(others)), width])
        raise RuntimeError(f"input ({shown}{end} is too small. Calculated output {' '.join(found)}")


def check_channels(grad: Tensor, sizes: Sequence[int], channel: int, what: str) -> None:
    """RuntimeError for a gradient that has not as many channels as the input has."""
    wanted, got = _size(sizes, channel), _size(grad._sizes, channel)
    if got != wanted:
        raise RuntimeError(f"{what} unexpected. Expected: {wanted}, Got: {got}")


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


def _beginning(array: Array, sizes: Sequence[int]) -> Array:
    """What a tensor of these sizes has in the memory of an array, and zeros behind it."""
    found = np.zeros(numel(sizes), array.dtype)
    count = min(found.size, array.size)
    found[:count] = array.ravel()[:count]
    return found.reshape(sizes)


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
