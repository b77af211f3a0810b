"""Convolutions under other names: of old, of backends that have their own, and of oneDNN.

Mirrors ``aten/src/ATen/native/Convolution.cpp`` and ``mkldnn/Conv.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.convolutions.params import ConvParams, expanded
from mindtorch_v2.kernels.cpu.convolutions import convolution as arrays
from mindtorch_v2.kernels.cpu.convolutions.slow_convolution import added, strides_of
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import NO_DESCRIPTORS, NO_VIEW
from mindtorch_v2.tensor.copying import store
from mindtorch_v2.tensor.dtype import DTYPES, MEMORY_FORMATS
from mindtorch_v2.tensor.geometry import CHANNELS_LAST, numel, suggest_memory_format
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_EXPLICIT: Final = "CompositeExplicitAutograd"
_BACKEND: Final = OperatorHandle("aten::_convolution", none_is_undefined=True)
_CONTIGUOUS: Final = MEMORY_FORMATS["contiguous_format"]
_DOUBLE: Final = DTYPES["float64"]
_VIEWED: Final = tuple(DTYPES[name] for name in ("float32", "bfloat16", "float16", "uint8", "int8"))
_OTHER_BACKEND: Final = (
    "You are likely triggering this with tensor backend other than CPU/CUDA/MKLDNN, if this is "
    "intended, please use TORCH_LIBRARY_IMPL to override this function "
)


@kernel("aten::_convolution.deprecated", key="CompositeImplicitAutograd")
def convolution_of_old(*stack: Any) -> Any:
    """Without a word on TF32, which is allowed."""
    return _BACKEND(*stack, True)


@kernel("aten::convolution_overrideable", key=_EXPLICIT)
def convolution_overrideable(*stack: Any) -> Any:
    raise NotImplementedError(f"convolution_overrideable not implemented. {_OTHER_BACKEND}")


@kernel("aten::convolution_backward_overrideable", key=_EXPLICIT)
def convolution_backward_overrideable(*stack: Any) -> Any:
    raise NotImplementedError(f"convolution_backward_overrideable: {_OTHER_BACKEND}")


def _check_numbers(parameters: ConvParams) -> None:
    """What oneDNN's ``check_shape_forward`` asks in another order than that of the others."""
    for values, least, what in (
        (parameters.padding, 0, "negative padding"),
        (parameters.stride, 1, "non-positive stride"),
        (parameters.dilation, 1, "non-positive dilation"),
        ((parameters.groups,), 1, "non-positive groups"),
    ):
        if any(value < least for value in values):
            raise RuntimeError(f"{what} is not supported")


def _check_view(tensor: Tensor) -> None:
    """``itensor_view_from_dense``."""
    if tensor.is_meta:
        raise RuntimeError("itensor_view_from_dense expects CPU tensor input")
    if tensor._dtype not in _VIEWED:
        raise RuntimeError(NO_VIEW.format(CPP_NAMES[tensor._dtype]))


def _strides(input: Tensor, weight: Tensor, sizes: Sequence[int]) -> tuple[int, ...] | None:
    """Channels are last where they are in either, but of doubles."""
    tensors = (input, weight)
    formats = [suggest_memory_format(each._sizes, each._strides) for each in tensors]
    if set(formats) == {_CONTIGUOUS} or _DOUBLE in [each._dtype for each in tensors]:
        return None
    for format in CHANNELS_LAST:
        if format in formats:
            return strides_of(sizes, format)
    return None


@kernel("aten::mkldnn_convolution", key=_EXPLICIT)
def mkldnn_convolution(
    self: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    padding: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    dim = len(self._sizes) - 2
    settings = {"padding": padding, "stride": stride, "dilation": dilation}
    found = {name: expanded(values, name, dim) for name, values in settings.items()}
    window = (found["stride"], found["padding"], found["dilation"])
    parameters = ConvParams(*window, False, (0,) * dim, groups)
    _check_numbers(parameters)
    parameters.check(self, weight._sizes, bias)
    sizes = parameters.output_sizes(self._sizes, weight._sizes)
    for each in (self, weight, bias):
        if each is not None:
            _check_view(each)
    if not numel(weight._sizes):
        raise RuntimeError(NO_DESCRIPTORS[0])
    dtype = self._dtype
    made = new_tensor(sizes, dtype, self._device, _strides(self, weight, sizes))
    if numel(sizes):
        values, kernels = (as_array(each, dtype) for each in (self, weight))
        with np.errstate(all="ignore"):
            result = arrays.gather(values, kernels, parameters, sizes)
        store(made, rounded(added(result, bias, dtype), dtype))
    return made
