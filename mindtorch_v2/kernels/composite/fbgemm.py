"""What FBGEMM quantizes, and its refusals of tensors that it has not packed.

Mirrors ``aten/src/ATen/native/QuantizedLinear.cpp``.  What is packed lies behind a pointer, of
which no tensor of this package has one.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.elementwise.promotion import Number
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.quantization_params import choose_quantization_params
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.messages import expected
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn_once

_IMPLICIT: Final = "CompositeImplicitAutograd"
_FLOAT: Final = DTYPES["float32"]
_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")


def _deprecated(name: str) -> None:
    removed = "is deprecated and will be removed in a future PyTorch release."
    warn_once(name, f"{name} {removed}")


def _expect(condition: str, is_met: bool) -> None:
    if not is_met:
        raise RuntimeError(expected(condition))


def _unpacked(packed: Tensor, kind: str) -> RuntimeError:
    """``cpp_custom_type_hack::cast`` of a tensor that holds elements."""
    wrapper = "Expected temporary cpp type wrapper"
    if packed._dtype is not DTYPES["uint8"]:
        return RuntimeError(wrapper)
    return RuntimeError(f"{wrapper} of type {kind}")


@kernel("aten::fbgemm_linear_quantize_weight", key=_IMPLICIT)
def fbgemm_linear_quantize_weight(input: Tensor) -> tuple[Tensor, Tensor, float, int]:
    _deprecated("fbgemm_linear_quantize_weight")
    values = _CONTIGUOUS(input)
    check_pointers(_FLOAT, values)
    array = value_array(values)
    size_at(values, 0), size_at(values, 1)
    found = choose_quantization_params(
        array.min(), array.max(), -128, 127, preserve_sparsity=False, is_checked=False
    )
    scale = np.float32(found.scale)
    with np.errstate(all="ignore"):
        places = np.rint(found.zero_point + array * (np.float32(1) / scale))
        bytes_ = np.clip(places, -128, 127).astype(np.int8)
    quantized = new_tensor(tuple(values._sizes), DTYPES["int8"], values._device)
    store(quantized, bytes_)
    offsets = new_tensor((values._sizes[0],), DTYPES["int32"], values._device)
    count = values._sizes[1]
    rows = bytes_.reshape(-1)[: values._sizes[0] * count].reshape(values._sizes[0], count)
    store(offsets, rows.astype(np.int32).sum(axis=1) - found.zero_point * count)
    return quantized, offsets, float(scale), found.zero_point


@kernel(
    "aten::fbgemm_linear_int8_weight",
    "aten::fbgemm_linear_int8_weight_fp32_activation",
    key=_IMPLICIT,
)
def fbgemm_linear_int8_weight(
    input: Tensor,
    weight: Tensor,
    packed: Tensor,
    col_offsets: Tensor,
    weight_scale: Number,
    weight_zero_point: Number,
    bias: Tensor,
) -> Any:
    _deprecated("fbgemm_linear_int8_weight_fp32_activation")
    values = _CONTIGUOUS(input)
    check_pointers(_FLOAT, values)
    _expect("input.dim() >= 2", len(input._sizes) >= 2)
    inner = input._sizes[-1]
    is_float = isinstance(weight_scale, float)
    is_integer = isinstance(weight_zero_point, int) and not isinstance(weight_zero_point, bool)
    _expect("weight.dim() == 2", len(weight._sizes) == 2)
    _expect("K == weight.size(1)", inner == weight._sizes[1])
    _expect("bias.dim() == 1", len(bias._sizes) == 1)
    _expect("bias.size(0) == N", bias._sizes[0] == weight._sizes[0])
    _expect("weight_scale.isFloatingPoint()", is_float)
    _expect("weight_zero_point.isIntegral(false)", is_integer)
    _CONTIGUOUS(bias)
    raise _unpacked(packed, "fbgemm::PackBMatrix<signed char>")


@kernel(
    "aten::fbgemm_linear_fp16_weight",
    "aten::fbgemm_linear_fp16_weight_fp32_activation",
    key=_IMPLICIT,
)
def fbgemm_linear_fp16_weight(input: Tensor, packed_weight: Tensor, bias: Any) -> Any:
    _deprecated("fbgemm_linear_fp16_weight_fp32_activation")
    check_pointers(_FLOAT, _CONTIGUOUS(input))
    raise _unpacked(packed_weight, "c10::intrusive_ptr<LinearPackedParamsBase>")
