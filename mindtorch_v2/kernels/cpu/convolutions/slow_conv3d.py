"""Convolutions of volumes by columns.

Mirrors ``aten/src/ATen/native/ConvolutionMM3d.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.convolutions.params import COLUMNS_3D, ConvParams, by
from mindtorch_v2.kernels.cpu.convolutions.slow_convolution import check_room, convolved, weights_of
from mindtorch_v2.kernels.cpu.losses import check_dim_size
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs
from mindtorch_v2.kernels.switches import dispatch
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.copying import store, warn_of_cast
from mindtorch_v2.tensor.geometry import is_contiguous, numel
from mindtorch_v2.tensor.tensor import Tensor

_SLOW: Final = "slow_conv3d_cpu"
_FORWARD: Final = OperatorHandle("aten::slow_conv3d_forward")
_FORWARD_OUT: Final = OperatorHandle("aten::slow_conv3d_forward.output")
_RESIZE_: Final = OperatorHandle("aten::resize_")


def _check(
    input: Tensor, weight: Tensor, bias: Tensor | None, parameters: ConvParams, kernel: list[int]
) -> tuple[int, ...]:
    """``slow_conv3d_shape_check``: depth, height and width of what comes out."""
    for name, values in (("kernel size", kernel), ("stride", parameters.stride)):
        if min(values) < 1:
            raise RuntimeError(f"{name} should be greater than zero, but got: {by(values)} (TxHxW)")
    rows = list(weight._sizes)
    if not numel(rows) or len(rows) not in (2, 5):
        raise RuntimeError(f"non-empty 2D or 5D weight tensor expected, but got: {rows}")
    if bias is not None:
        check_dim_size(bias, 1, 0, rows[0])
    sizes = list(input._sizes)
    if len(sizes) != 5 or not all(sizes[1:]):
        raise RuntimeError(f"non-empty 5D input tensor expected but got: {sizes}")
    check_room(sizes[2:], parameters.padding, kernel)
    places = zip(sizes[2:], parameters.padding, kernel, parameters.stride, strict=True)
    output = tuple((size + 2 * edge - side) // step + 1 for size, edge, side, step in places)
    if min(output) < 1:
        raise RuntimeError(
            f"Given input size per channel: ({by(sizes[2:])}). Calculated output size per channel: "
            f"({by(output)}). Output size is too small"
        )
    planes = rows[1] // (kernel[1] * kernel[2]) if len(rows) == 2 else rows[1]
    if parameters.groups < 1:
        raise RuntimeError("none zero group size expected")
    check_dim_size(input, 5, 1, planes * parameters.groups)
    return output


@structured.structured("aten::slow_conv3d_forward", keys=("CPU",))
def slow_conv3d_forward(
    outputs: Outputs,
    self: Tensor,
    weight: Tensor,
    kernel_size: Sequence[int],
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
) -> tuple[Tensor, ...]:
    """How many groups there are follows from the channels."""
    planes = size_at(weight, 1)
    groups = size_at(self, 1) // planes if planes > 0 else 0
    kernel = list(kernel_size)
    if len(kernel) != 3:
        raise RuntimeError(f"It is expected kernel_size equals to 3, but got size {len(kernel)}")
    window = (tuple(stride), tuple(padding))
    parameters = ConvParams(*window, (1, 1, 1), False, (0, 0, 0), groups)
    space = _check(self, weight, bias, parameters, kernel)
    dtype, batch, rows = self._dtype, self._sizes[0], weight._sizes[0]
    is_view = parameters.columns_are_a_view((rows, planes, *kernel))
    dispatch(COLUMNS_3D, dtype, _SLOW if is_view else "")
    output = new_tensor((0,), dtype, self._device) if outputs[0] is None else outputs[0]
    _RESIZE_(output, [batch, rows, *space])
    if bias is not None:
        warn_of_cast(bias._dtype, output._dtype)
    if not is_contiguous(output._sizes, output._strides):
        raise RuntimeError("slow_conv3d output must be contiguous")
    check_pointers(dtype, output, weight)
    if output.is_meta:
        return (output,)
    kernels = weights_of(weight, dtype, (rows, self._sizes[1] // groups, *kernel))
    found = convolved(self, kernels, bias, parameters, (batch, rows, *space), COLUMNS_3D)
    store(output, found)
    return (output,)


@kernel("aten::slow_conv3d", key="CompositeImplicitAutograd")
def slow_conv3d(*stack: Any) -> Any:
    return _FORWARD(*stack)


@kernel("aten::slow_conv3d.out", key="CompositeImplicitAutograd")
def slow_conv3d_out(*stack: Any) -> Any:
    return _FORWARD_OUT(*stack)
