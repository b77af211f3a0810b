"""Quantization that is simulated, as what calls the operators that keep a mask of it.

Mirrors ``aten/src/ATen/native/quantized/FakeQuantPerTensorAffine.cpp`` and
``FakeQuantPerChannelAffine.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.messages import expected
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_ONES: Final = OperatorHandle("aten::ones")
_PER_CHANNEL: Final = OperatorHandle("aten::fake_quantize_per_channel_affine_cachemask")
_PER_TENSOR: Final = OperatorHandle("aten::fake_quantize_per_tensor_affine_cachemask")
_PER_TENSOR_BY_TENSORS: Final = OperatorHandle(
    "aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams"
)


def ones_like_options(self: Tensor) -> Any:
    """A one that says that quantization is on."""
    options = {"layout": self._layout, "device": self._device}
    return _ONES([1], dtype=DTYPES["int64"], **options)


@kernel("aten::fake_quantize_per_tensor_affine", key=_IMPLICIT)
def fake_quantize_per_tensor_affine(
    self: Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int
) -> Any:
    return _PER_TENSOR(self, scale, zero_point, quant_min, quant_max)[0]


@kernel("aten::fake_quantize_per_tensor_affine.tensor_qparams", key=_IMPLICIT)
def fake_quantize_per_tensor_affine_by_tensors(
    self: Tensor, scale: Tensor, zero_point: Tensor, quant_min: int, quant_max: int
) -> Any:
    enabled = ones_like_options(self)
    return _PER_TENSOR_BY_TENSORS(self, scale, zero_point, enabled, quant_min, quant_max)[0]


@kernel("aten::fake_quantize_per_channel_affine", key=_IMPLICIT)
def fake_quantize_per_channel_affine(
    self: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> Any:
    return _PER_CHANNEL(self, scale, zero_point, axis, quant_min, quant_max)[0]


@kernel(
    "aten::fake_quantize_per_tensor_affine_cachemask_backward",
    "aten::fake_quantize_per_channel_affine_cachemask_backward",
    key=_IMPLICIT,
)
def fake_quantize_cachemask_backward(grad: Tensor, mask: Tensor) -> Any:
    if mask._dtype is not DTYPES["bool"]:
        raise RuntimeError(expected("mask.scalar_type() == ScalarType::Bool"))
    of_mask, of_grad = mask._sym_numel(), grad._sym_numel()
    if of_mask != of_grad:
        raise RuntimeError(
            f"`mask` and `dY` are not the same size: `mask` is size {of_mask} and `dY` is size "
            f"{of_grad}"
        )
    return grad if of_grad <= 0 else _MUL(grad, mask)
