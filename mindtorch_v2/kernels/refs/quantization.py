"""What operators that quantize, or multiply what is quantized, say on meta.

Mirrors ``torch/_meta_registrations.py``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import HABITS as REFS_HABITS
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."
_FLOATS: Final = tuple(DTYPES[name] for name in ("float32", "float16", "bfloat16"))
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")


@body(_META + "meta__fused_moving_avg_obs_fq_helper")
def meta__fused_moving_avg_obs_fq_helper(self: Tensor, *rest: Any) -> tuple[Any, Any]:
    if rest[9] >= len(self._sizes):
        raise RuntimeError(
            "Error in fused_moving_avg_obs_fake_quant_cpu: ch_axis must be < self.dim()"
        )
    mask = _EMPTY_LIKE(self, dtype=DTYPES["bool"])
    return _EMPTY_LIKE(self), mask


def _check_rank(name: str, tensor: Tensor, rank: int = 2) -> None:
    if len(tensor._sizes) != rank:
        raise RuntimeError(f"{name} must be a {rank}D tensor")


def _check_dtype(name: str, tensor: Tensor, dtype: str) -> None:
    if tensor._dtype is not DTYPES[dtype]:
        raise RuntimeError(f"expected {name} to be {dtype}, got {tensor._dtype}")


def _check_floats(x: Tensor) -> None:
    if x._dtype not in _FLOATS:
        raise RuntimeError(f"expected x to be f32/f16/bf16, got {x._dtype}")


@body(_META + "meta__weight_int8pack_mm")
def meta__weight_int8pack_mm(x: Tensor, w: Tensor, q_scales: Tensor) -> Tensor:
    _check_rank("x", x)
    _check_floats(x)
    _check_rank("w", w)
    _check_dtype("w", w, "int8")
    if HABITS["a product with bytes on meta looks at sizes"]:
        rows = w._sizes[0]
        if w._sizes[1] != x._sizes[1]:
            raise RuntimeError(f"expected w.size(1) ({w._sizes[1]}) == x.size(1) ({x._sizes[1]})")
        if tuple(q_scales._sizes) != (rows,):
            raise RuntimeError(
                f"expected q_scales to be 1D with size {rows}, got shape "
                f"{Size._of(q_scales._sizes)}"
            )
    return new_tensor((x._sizes[0], w._sizes[0]), x._dtype, x._device)


@body(_META + "meta__convert_weight_to_int4pack_for_cpu")
def meta__convert_weight_to_int4pack_for_cpu(w: Tensor, inner_k_tiles: int) -> Tensor:
    _check_rank("w", w)
    _check_dtype("w", w, "int32")
    return new_tensor((w._sizes[0], w._sizes[1] // 2), DTYPES["uint8"], w._device)


@body(_META + "meta__weight_int4pack_mm_for_cpu")
def meta__weight_int4pack_mm_for_cpu(
    x: Tensor, w: Tensor, q_group_size: int, q_scale_and_zeros: Tensor
) -> Tensor:
    _check_rank("x", x)
    _check_rank("w", w)
    _check_floats(x)
    _check_dtype("w", w, "uint8")
    return new_tensor((x._sizes[0], w._sizes[0]), x._dtype, x._device)


@body(_META + "meta__dyn_quant_pack_4bit_weight")
def meta__dyn_quant_pack_4bit_weight(
    weights: Tensor,
    scales_zeros: Tensor,
    bias: Tensor | None,
    block_size: int,
    in_features: int,
    out_features: int,
) -> Tensor:
    _check_dtype("w", weights, "uint8")
    parts = (weights, scales_zeros) if bias is None else (weights, scales_zeros, bias)
    count = sum(numel(each._sizes) for each in parts)
    return new_tensor((count,), DTYPES["float32"], weights._device)


@body(_META + "meta__dyn_quant_matmul_4bit")
def meta__dyn_quant_matmul_4bit(
    inp: Tensor, packed_weights: Tensor, block_size: int, in_features: int, out_features: int
) -> Tensor:
    _check_rank("input", inp)
    if not REFS_HABITS["dynamic products of four bits on meta take bfloat16"]:
        if inp._dtype is not DTYPES["float32"]:
            raise RuntimeError(f"expected input to be f32, got {inp._dtype}")
        return new_tensor((size_at(inp, 0), out_features), inp._dtype, inp._device)
    is_bfloat16 = inp._dtype is DTYPES["bfloat16"] and block_size == in_features
    if inp._dtype is not DTYPES["float32"] and not is_bfloat16:
        raise RuntimeError(
            "expected input to be f32 or bf16 (bf16 requires block_size == in_features), got "
            f"{inp._dtype} with block_size={block_size} and in_features={in_features}"
        )
    return new_tensor((size_at(inp, 0), out_features), inp._dtype, inp._device)
