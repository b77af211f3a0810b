"""Modules of pooling.

Mirrors ``torch/nn/modules/pooling.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.nn import functional
from mindtorch_v2.nn._pooling import ntuple
from mindtorch_v2.nn.modules.module import Module
from mindtorch_v2.tensor.support import has_words, worded

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


class _MaxPoolNd(Module):
    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )

    def _pool(self, function: Any, input: Any) -> Any:
        return function(
            *(input, self.kernel_size, self.stride, self.padding, self.dilation),
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


class MaxPool1d(_MaxPoolNd):
    """The largest value of every window of rows."""

    def forward(self, input: Any) -> Any:
        return self._pool(functional.max_pool1d, input)


class MaxPool2d(_MaxPoolNd):
    """The largest value of every window of images."""

    def forward(self, input: Any) -> Any:
        return self._pool(functional.max_pool2d, input)


class MaxPool3d(_MaxPoolNd):
    """The largest value of every window of volumes."""

    def forward(self, input: Any) -> Any:
        return self._pool(functional.max_pool3d, input)


class _MaxUnpoolNd(Module):
    dims: int
    """How many dimensions a window has."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        step = stride if stride is not None else kernel_size
        self.kernel_size = ntuple(kernel_size, self.dims)
        self.stride = ntuple(step, self.dims)
        self.padding = ntuple(padding, self.dims)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"

    def _unpool(self, function: Any, input: Any, indices: Any, output_size: Any) -> Any:
        window = (self.kernel_size, self.stride, self.padding)
        return function(input, indices, *window, output_size)


class MaxUnpool1d(_MaxUnpoolNd):
    """Values of rows at the places that they were taken from."""

    dims = 1

    def forward(self, input: Any, indices: Any, output_size: Sequence[int] | None = None) -> Any:
        return self._unpool(functional.max_unpool1d, input, indices, output_size)


class MaxUnpool2d(_MaxUnpoolNd):
    """Values of images at the places that they were taken from."""

    dims = 2

    def forward(self, input: Any, indices: Any, output_size: Sequence[int] | None = None) -> Any:
        return self._unpool(functional.max_unpool2d, input, indices, output_size)


class MaxUnpool3d(_MaxUnpoolNd):
    """Values of volumes at the places that they were taken from."""

    dims = 3

    def forward(self, input: Any, indices: Any, output_size: Sequence[int] | None = None) -> Any:
        return self._unpool(functional.max_unpool3d, input, indices, output_size)


class _AvgPoolNd(Module):
    kernel_size: Any
    stride: Any
    padding: Any

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean of every window of rows."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = ntuple(kernel_size, 1)
        self.stride = ntuple(stride if stride is not None else kernel_size, 1)
        self.padding = ntuple(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Any) -> Any:
        window = (self.kernel_size, self.stride, self.padding)
        return functional.avg_pool1d(input, *window, self.ceil_mode, self.count_include_pad)


class _AvgPoolOverNd(_AvgPoolNd):
    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def _pool(self, function: Any, input: Any) -> Any:
        window = (self.kernel_size, self.stride, self.padding)
        how = (self.ceil_mode, self.count_include_pad, self.divisor_override)
        return function(input, *window, *how)


class AvgPool2d(_AvgPoolOverNd):
    """The mean of every window of images."""

    def forward(self, input: Any) -> Any:
        return self._pool(functional.avg_pool2d, input)


class AvgPool3d(_AvgPoolOverNd):
    """The mean of every window of volumes."""

    def forward(self, input: Any) -> Any:
        return self._pool(functional.avg_pool3d, input)


class _FractionalMaxPoolNd(Module):
    dims: int
    """How many dimensions a window has."""

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        self.kernel_size = ntuple(kernel_size, self.dims)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else ntuple(output_size, self.dims)
        self.output_ratio = None if output_ratio is None else ntuple(output_ratio, self.dims)
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"FractionalMaxPool{self.dims}d requires specifying either an output size, or a "
                "pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None:
            for dim in range(self.dims):
                if not 0 < self.output_ratio[dim] < 1:
                    raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def _pool(self, function: Any, input: Any) -> Any:
        sizes = (self.kernel_size, self.output_size, self.output_ratio)
        samples = self._random_samples
        return function(input, *sizes, self.return_indices, _random_samples=samples)


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The largest value of windows of images that begin at random."""

    dims = 2

    def forward(self, input: Any) -> Any:
        return self._pool(functional.fractional_max_pool2d, input)


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The largest value of windows of volumes that begin at random."""

    dims = 3

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        if has_words(_OF_NO_WINDOW):
            _check_kernel(kernel_size)
        super().__init__(kernel_size, output_size, output_ratio, return_indices, _random_samples)

    def forward(self, input: Any) -> Any:
        return self._pool(functional.fractional_max_pool3d, input)


_OF_NO_WINDOW: Final = "a fractional max pool of no window"


def _check_kernel(kernel_size: Any) -> None:
    numbers = kernel_size if isinstance(kernel_size, (tuple, list)) else (kernel_size,)
    if isinstance(kernel_size, (int, tuple, list)) and not all(each > 0 for each in numbers):
        raise worded(_OF_NO_WINDOW, **{"got 0": f"got {kernel_size}"})


class _AdaptiveMaxPoolNd(Module):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest value of so many parts of rows."""

    def forward(self, input: Any) -> Any:
        return functional.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest value of so many parts of images."""

    def forward(self, input: Any) -> Any:
        return functional.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest value of so many parts of volumes."""

    def forward(self, input: Any) -> Any:
        return functional.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class _AdaptiveAvgPoolNd(Module):
    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The mean of so many parts of rows."""

    def forward(self, input: Any) -> Any:
        return functional.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The mean of so many parts of images."""

    def forward(self, input: Any) -> Any:
        return functional.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The mean of so many parts of volumes."""

    def forward(self, input: Any) -> Any:
        return functional.adaptive_avg_pool3d(input, self.output_size)
