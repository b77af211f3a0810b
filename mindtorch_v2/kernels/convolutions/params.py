"""The settings of a convolution: what is checked of them, and which backend they choose.

Mirrors ``ConvParams`` and ``check_shape_forward`` of ``aten/src/ATen/native/Convolution.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

MKLDNN: Final = "mkldnn"
DILATED: Final = "slow_conv_dilated<>"
COLUMNS_3D: Final = "compute_columns3d"
_FLOAT: Final = DTYPES["float32"]


@dataclass(frozen=True)
class ConvParams:
    """``ConvParams``: a number for each dimension of space."""

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    transposed: bool
    output_padding: tuple[int, ...]
    groups: int

    @classmethod
    def of(cls, weight: Tensor, *settings: Any) -> ConvParams:
        """From an operator's arguments after the bias; RuntimeError if there is no space."""
        stride, padding, dilation, transposed, output_padding, groups = settings
        dim = len(weight._sizes) - 2
        if dim <= 0:
            raise RuntimeError("weight should have at least three dimensions")
        if groups <= 0:
            raise RuntimeError("non-positive groups is not supported")
        return cls(
            expanded(stride, "stride", dim),
            expanded(padding, "padding", dim),
            expanded(dilation, "dilation", dim),
            transposed,
            expanded(output_padding, "output_padding", dim),
            groups,
        )

    # --- checks -------------------------------------------------------------------------------

    def check(self, input: Tensor, weight: Sequence[int], bias: Tensor | None) -> None:
        """``check_shape_forward``."""
        for values, lowest, message in (
            (self.padding, 0, "negative padding is not supported"),
            (self.output_padding, 0, "negative output_padding is not supported"),
            (self.stride, 1, "non-positive stride is not supported"),
            (self.dilation, 0, "dilation should be greater than zero"),
        ):
            if min(values, default=lowest) < lowest:
                raise RuntimeError(message)
        sizes, rank, groups = list(input._sizes), len(weight), self.groups
        shown = list(weight)
        if rank != len(sizes):
            raise RuntimeError(
                f"Expected {rank}-dimensional input for {rank}-dimensional weight {shown}, but "
                f"got {len(sizes)}-dimensional input of size {sizes} instead"
            )
        if weight[0] < groups:
            raise RuntimeError(
                f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, "
                f"but got weight of size {shown} instead"
            )
        if weight[0] % groups:
            raise RuntimeError(
                f"Given groups={groups}, expected weight to be divisible by {groups} at dimension "
                f"0, but got weight of size [{shown}] instead"
            )
        self._check_channels(sizes, weight, bias)
        if not self.transposed:
            self._check_window(sizes, weight)

    def _check_channels(
        self, sizes: Sequence[int], weight: Sequence[int], bias: Tensor | None
    ) -> None:
        """Of the input and of the bias."""
        shown = list(weight)
        given = f"Given transposed={int(self.transposed)}" if self.transposed else "Given"
        channels = weight[0] if self.transposed else weight[1] * self.groups
        if sizes[1] != channels:
            given = given if self.transposed else f"Given groups={self.groups}"
            raise RuntimeError(
                f"{given}, weight of size {shown}, expected input{sizes} to have {channels} "
                f"channels, but got {sizes[1]} channels instead"
            )
        wanted = self.output_channels(weight)
        if bias is not None and tuple(bias._sizes) != (wanted,):
            comma = "," if self.transposed else ""
            raise RuntimeError(
                f"{given}{comma} weight of size {shown}, expected bias to be 1-dimensional with "
                f"{wanted} elements, but got bias of size {list(bias._sizes)} instead"
            )

    def _check_window(self, sizes: Sequence[int], weight: Sequence[int]) -> None:
        padded = [size + 2 * edge for size, edge in zip(sizes[2:], self.padding, strict=True)]
        kernel_size = [
            step * (size - 1) + 1 for size, step in zip(weight[2:], self.dilation, strict=True)
        ]
        if any(room < size for room, size in zip(padded, kernel_size, strict=True)):
            raise RuntimeError(
                f"Calculated padded input size per channel: ({by(padded)}). Kernel size: "
                f"({by(kernel_size)}). Kernel size can't be greater than actual input size"
            )

    # --- shapes -------------------------------------------------------------------------------

    def output_channels(self, weight: Sequence[int]) -> int:
        return weight[1] * self.groups if self.transposed else weight[0]

    def output_sizes(self, input: Sequence[int], weight: Sequence[int]) -> tuple[int, ...]:
        """``conv_output_size``, or ``conv_input_size`` of a transposed one."""
        settings = zip(
            *(input[2:], weight[2:], self.stride, self.padding, self.dilation),
            self.output_padding,
            strict=True,
        )
        space = (
            (size - 1) * stride - 2 * edge + step * (window - 1) + more + 1
            if self.transposed
            else (size + 2 * edge - (step * (window - 1) + 1)) // stride + 1
            for size, window, stride, edge, step, more in settings
        )
        channels = self.output_channels(weight) if input[1] else 0
        return (input[0], channels, *space)

    # --- backends -----------------------------------------------------------------------------

    def backend(self, input: Tensor, weight: Tensor) -> str:
        """``_select_conv_backend``: oneDNN, or the switch over dtypes of the one that is slow."""
        if self._uses_mkldnn(input, weight):
            return MKLDNN
        in_three = len(input._sizes) == 5
        if self.transposed:
            return f"slow_conv_transpose{3 if in_three else 2}d_out_cpu"
        if any(step != 1 for step in self.dilation):
            return DILATED
        return COLUMNS_3D if in_three else "slow_conv2d_cpu"

    def columns_are_a_view(self, weight: Sequence[int]) -> bool:
        """Whether ``compute_columns3d`` has nothing to compute: each window is one element."""
        ones = (*weight[2:], *self.stride, self.groups)
        return all(each == 1 for each in ones) and not any(self.padding)

    def _uses_mkldnn(self, input: Tensor, weight: Tensor) -> bool:
        """``use_mkldnn``, on more than one thread: floats in large images, batches or kernels."""
        paddings = zip(self.output_padding, self.stride, strict=True)
        if input._dtype is not _FLOAT or (
            self.transposed and any(edge >= stride for edge, stride in paddings)
        ):
            return False
        return (
            self.groups > 1
            or (len(weight._sizes) > 3 and min(weight._sizes[-2:]) > 3)
            or input._sizes[0] > 1
            or numel(input._sizes[:4]) > 20480
        )


def by(sizes: Sequence[int]) -> str:
    return " x ".join(map(str, sizes))


def expanded(values: Sequence[int], name: str, dim: int) -> tuple[int, ...]:
    """``expand_param_if_needed``."""
    if len(values) == 1:
        return (values[0],) * dim
    if len(values) != dim:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {dim} values to match the "
            f"convolution dimensions, but got {name}={list(values)}"
        )
    return tuple(values)
