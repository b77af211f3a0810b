"""Windows that go over images and volumes: their sizes, what is wrong with them, what is in them.

Mirrors ``aten/src/ATen/native/Pool.h``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np

from mindtorch_v2.autograd.at import CONTIGUOUS, suggest_memory_format
from mindtorch_v2.kernels.cpu.losses import check_dim_size
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor, set_sizes
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS, DType, memory_format
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import CHANNELS_LAST, channels_last_strides, wrap_dim
from mindtorch_v2.tensor.support import worded
from mindtorch_v2.tensor.tensor import Tensor

Sizes = tuple[int, ...]
"""A number for each dimension that a window goes along: depth, height, width."""

_RESIZE_: Final = OperatorHandle("aten::resize_")
_CHANNELS_LAST: Final = MEMORY_FORMATS["channels_last"]
_NUMBERS: Final = {2: "two", 3: "three"}
_TELL_WHICH: Final = HABITS["a pool tells which dimension is empty"]
_NARROW: Final = HABITS["avg_pool2d looks at its sizes first"]
_INT_MIN: Final = -(1 << 31)
_INT_MAX: Final = (1 << 31) - 1


def _for_each(values: Sequence[int], dims: int, default: Sizes | None, message: str) -> Sizes:
    """A number for each dimension; RuntimeError if there are neither one nor so many."""
    if not values and default is not None:
        return default
    if len(values) not in (1, dims):
        raise RuntimeError(message)
    return tuple(values) * (dims // len(values))


def _safe_downcast(values: Sizes, least: int) -> Sizes:
    """``safe_downcast<int, int64_t>``, or to what else a release holds the numbers in."""
    if min(values) < least or max(values) > _INT_MAX:
        raise worded("a size of a pool beyond an int")
    return values


def _cut_off(values: Sizes) -> Sizes:
    """As ints, to which C++ converts what it passes on."""
    return tuple((value - _INT_MIN) % (1 << 32) + _INT_MIN for value in values)


@dataclass(frozen=True)
class Window:
    """How a window goes over an image or a volume."""

    kernel: Sizes
    stride: Sizes
    padding: Sizes
    dilation: Sizes
    ceil_mode: bool
    cuts_off: bool = False
    """Whether numbers beyond an int are not refused, but lose their upper bits when checked."""

    @classmethod
    def of(
        cls,
        kernel: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        ceil_mode: bool,
        name: str,
        *,
        dims: int = 2,
        cuts_off: bool = False,
        is_wide: bool = False,
    ) -> Window:
        """The window of an operator's arguments; RuntimeError for a wrong count of numbers.

        In Python numbers are ``wide``: there is no int that they could be beyond.
        """
        either = "" if name == "avg_pool3d" else "either "
        ints = f"a single int, or a tuple of {_NUMBERS[dims]} ints"
        is_narrow = _NARROW and name == "avg_pool2d"

        def narrowed(values: Sizes, least: int = _INT_MIN) -> Sizes:
            if cuts_off or is_wide:
                return values
            return _safe_downcast(values, least if is_narrow else _INT_MIN)

        must = f"must {either}be {ints}"
        optional = f"must {either}be omitted, {ints}"
        size = narrowed(_for_each(kernel, dims, None, f"{name}: kernel_size {must}"), 1)
        step = narrowed(_for_each(stride, dims, size, f"{name}: stride {optional}"), 0)
        edge = narrowed(_for_each(padding, dims, None, f"{name}: padding {must}"))
        must_be = f"must be either {ints}"
        spread = narrowed(_for_each(dilation, dims, None, f"{name}: dilation {must_be}"))
        return cls(size, step, edge, spread, ceil_mode, cuts_off)

    @property
    def dims(self) -> int:
        """How many dimensions the window goes along."""
        return len(self.kernel)

    def output_size(self, size: int, place: int) -> int:
        """``pooling_output_shape`` of the dimension at a place."""
        stride, padding = self.stride[place], self.padding[place]
        if stride == 0:
            raise RuntimeError("stride should not be zero")
        if padding < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {padding}")
        reach = (self.kernel[place] - 1) * self.dilation[place] + 1
        if padding > int(reach / 2):
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got pad="
                f"{padding}, kernel_size={self.kernel[place]} and dilation={self.dilation[place]}"
            )
        room = size + 2 * padding - reach + (stride - 1 if self.ceil_mode else 0)
        found = room // stride + 1
        if self.ceil_mode and (found - 1) * stride >= size + padding:
            found -= 1
        return found

    def output_sizes(self, sizes: Sequence[int]) -> Sizes:
        """What is left of the last dimensions."""
        last = sizes[-self.dims :]
        return tuple(self.output_size(size, place) for place, size in enumerate(last))

    def check_image(self, sizes: Sequence[int], output: Sizes, *, channels_last: bool) -> None:
        """``pool2d_shape_check``."""
        if self.cuts_off:
            given = (self.kernel, self.stride, self.padding, self.dilation)
            kernel, stride, padding, dilation = map(_cut_off, given)
            narrow = Window(kernel, stride, padding, dilation, self.ceil_mode)
            narrow.check_image(sizes, output, channels_last=channels_last)
            return
        self._check_positive("HW")
        has_values = sizes[1] != 0 and sizes[2] != 0
        is_batch = len(sizes) == 4 and has_values and sizes[3] != 0
        if channels_last:
            if not is_batch:
                raise RuntimeError(
                    "Expected 4D (batch mode) tensor expected for input with channels_last layout "
                    f"with optional 0 dim batch size for input, but got: {list(sizes)}"
                )
        elif not is_batch and not (len(sizes) == 3 and sizes[0] != 0 and has_values):
            raise RuntimeError(
                "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, "
                f"but got:{list(sizes)}"
            )
        (tall, wide), (top, left) = self.kernel, self.padding
        if wide // 2 < left or tall // 2 < top:
            raise RuntimeError(
                "pad should be smaller than or equal to half of kernel size, but got "
                f"padW = {left}, padH = {top}, kW = {wide}, kH = {tall}"
            )
        _check_output(sizes[-3:], output)

    def check_volume(
        self,
        sizes: Sequence[int],
        output: Sizes,
        name: str,
        *,
        covers_kernel: bool = False,
        comma: str = "",
    ) -> None:
        """``pool3d_shape_check``, in Python with commas between some numbers.

        ``covers_kernel``: no dimension may be less than the window's.  ``sizes`` are shown as
        they are.
        """
        self._check_positive("THW", comma)
        rank = len(sizes)
        if rank not in (4, 5):
            raise RuntimeError(f"{name}: Expected 4D or 5D tensor for input, but got: {sizes}")
        if 0 in sizes[rank - 4 :]:
            raise RuntimeError(f"{name}: {_of_an_empty(sizes, sizes.index(0, rank - 4))}")
        volume = sizes[-3:]
        if covers_kernel and any(
            size < wanted for size, wanted in zip(volume, self.kernel, strict=True)
        ):
            raise RuntimeError(
                f"input image ({_named('', 'THW', volume)}) smaller than kernel size "
                f"({_named('k', 'THW', self.kernel)})"
            )
        if any(size // 2 < edge for size, edge in zip(self.kernel, self.padding, strict=True)):
            (deep, tall, wide), (front, top, left) = self.kernel, self.padding
            raise RuntimeError(
                "pad should be smaller than or equal to half of kernel size, but got "
                f"{_named('k', 'TWH', (deep, wide, tall))} "
                f"{_named('pad', 'TWH', (front, left, top))}"
            )
        _check_output(sizes[-4:], output)

    def _check_positive(self, letters: str, comma: str = "") -> None:
        for words, values, prefix in (
            ("kernel size", self.kernel, "k"),
            ("stride", self.stride, "d"),
            ("dilation", self.dilation, "dilation"),
        ):
            if min(values) <= 0:
                raise RuntimeError(
                    f"{words} should be greater than zero, but got "
                    f"{_named(prefix, letters, values, comma)}"
                )

    def places(self, offset: Sequence[int], output: Sizes) -> list[Array]:
        """In each dimension, where the elements at an offset are of all windows along it."""
        return crossed(
            [self.places_of(each, place, output[place]) for place, each in enumerate(offset)]
        )

    def places_of(self, offset: int, place: int, count: int) -> Array:
        """The same of one dimension, for so many windows."""
        start = offset * self.dilation[place] - self.padding[place]
        return np.asarray(np.arange(count) * self.stride[place] + start)

    def offsets(self) -> Iterator[Sizes]:
        """The places within a window, row by row."""
        return product(*map(range, self.kernel))


def _named(prefix: str, letters: str, values: Sequence[int], comma: str = "") -> str:
    pairs = zip(letters, values, strict=True)
    return f"{comma} ".join(f"{prefix}{letter}: {value}" for letter, value in pairs)


def _check_output(sizes: Sequence[int], output: Sizes) -> None:
    """That something is left; ``sizes`` begin with that of the channels."""
    if min(output) < 1:
        raise RuntimeError(
            f"Given input size: ({_times(sizes)}). Calculated output size: "
            f"({_times((sizes[0], *output))}). Output size is too small"
        )


def _times(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes))


def crossed(values: Sequence[Array]) -> list[Array]:
    """Numbers of each dimension that broadcast to those of all."""
    return list(np.meshgrid(*values, indexing="ij", sparse=True))


def flat_places(places: Sequence[Array], sizes: Sequence[int]) -> Array:
    """The number of an element among those of its plane."""
    flat = np.asarray(0)
    for each, size in zip(places, sizes, strict=True):
        flat = flat * size + each
    return flat


def are_inside(places: Sequence[Array], sizes: Sequence[int]) -> Array:
    """Which of `Window.places` are no padding."""
    inside = np.asarray(True)
    for each, size in zip(places, sizes, strict=True):
        inside = inside & (each >= 0) & (each < size)
    return inside


def nearest(places: Sequence[Array], sizes: Sequence[int]) -> tuple[Array, ...]:
    """The places inside that are the nearest."""
    pairs = zip(places, sizes, strict=True)
    return tuple(np.clip(each, 0, size - 1) for each, size in pairs)


def checked_image(input: Tensor, window: Window) -> tuple[Sizes, bool]:
    """Height and width of the output, and whether channels lie innermost."""
    sizes = input._sizes
    channels_last = suggest_memory_format(input) is _CHANNELS_LAST
    wrap_dim(-3, len(sizes), scalar=False)
    output = window.output_sizes(sizes)
    window.check_image(sizes, output, channels_last=channels_last)
    return output, channels_last


def check_gradient(tensor: Tensor, input: Tensor, output: Sizes) -> None:
    """That it has the sizes of the output, of a batch of any size."""
    rank, dims = len(input._sizes), len(output)
    wanted = (input._sizes[-dims - 1], *output)
    for dim, size in enumerate(wanted, rank - dims - 1):
        check_dim_size(tensor, rank, dim, size)


def strides_of(sizes: Sequence[int], *, channels_last: bool) -> tuple[int, ...] | None:
    """Of a tensor that is made: with its channels innermost, or row-major."""
    if not channels_last:
        return None
    order = next(order for order in CHANNELS_LAST.values() if len(order) == len(sizes))
    return channels_last_strides(sizes, order)


def resized(
    output: Tensor | None, sizes: Sequence[int], like: Tensor, dtype: DType, format: memory_format
) -> Tensor:
    """``resize_`` of an output to a memory format, or one that is made as it would be."""
    if output is None:
        made = new_tensor((0,), dtype, like._device)
        set_sizes(made, sizes, strides_of(sizes, channels_last=format is not CONTIGUOUS))
        return made
    _RESIZE_(output, list(sizes), memory_format=format)
    return output


def _of_an_empty(sizes: Sequence[int], dim: int) -> str:
    """What is said of an input with a dimension of 0, which older releases do not name."""
    if _TELL_WHICH:
        return (
            "Expected input to have non-zero size for non-batch dimensions, but input has sizes "
            f"{sizes} with dimension {dim} being empty"
        )
    return (
        "Expected input's non-batch dimensions to have positive length, but input has a shape of "
        f"{sizes} and non-batch dimension 0 has length zero!"
    )
