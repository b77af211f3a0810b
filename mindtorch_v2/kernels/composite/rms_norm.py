"""Normalization by the root of a mean square.

Mirrors ``rms_norm`` of ``aten/src/ATen/native/layer_norm.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.autograd.at import suggest_memory_format
from mindtorch_v2.kernels.cpu.normalization import check_layer_norm_inputs
from mindtorch_v2.kernels.elementwise.pointwise import element
from mindtorch_v2.kernels.elementwise.promotion import to_opmath
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import (
    COMPLEX_TYPES,
    FLOATING_TYPES,
    HABITS,
    HALVES,
    dispatch_over,
)
from mindtorch_v2.tensor.dtype import REAL_OF_COMPLEX, DType
from mindtorch_v2.tensor.geometry import CHANNELS_LAST
from mindtorch_v2.tensor.support import TYPE_NAMES, worded
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.type_info import finfo
from mindtorch_v2.warn import is_warned_of, warn_once

_IMPLICIT: Final = "CompositeImplicitAutograd"
_TYPES: Final = FLOATING_TYPES | COMPLEX_TYPES | HALVES
_UPCASTS: Final = HABITS["an RMS norm is computed in floats"]
_ROUNDS_LAST: Final = HABITS["an RMS norm is rounded at its end"]
_IS_ROW_MAJOR: Final = HABITS["an RMS norm is row-major"]

_ADD_: Final = OperatorHandle("aten::add_.Scalar")
_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_MEAN: Final = OperatorHandle("aten::mean.dim")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_POW: Final = OperatorHandle("aten::pow.Tensor_Scalar")
_RSQRT: Final = OperatorHandle("aten::rsqrt")
_TO: Final = OperatorHandle("aten::to.dtype")
_TYPE_AS: Final = OperatorHandle("aten::type_as")


def _check_inputs(input: Tensor, shape: Sequence[int], weight: Tensor | None) -> None:
    """As for a layer norm, in words of its own where the input does not end in the shape."""
    sizes = tuple(input._sizes)
    if not shape or (weight is not None and tuple(weight._sizes) != tuple(shape)):
        check_layer_norm_inputs(input, shape, weight, None)
    inner = ", ".join(map(str, shape))
    if len(sizes) < len(shape):
        words = {
            "[7, 8, 9, 6]": f"[{inner}]",
            "7, 8, 9, 6],": f"{inner}],",
            "[2, 3, 5]": f"{list(sizes)}",
            "least 4": f"least {len(shape)}",
            "got 3": f"got {len(sizes)}",
        }
        raise worded("an RMS norm over too many dimensions", **words)
    if sizes[len(sizes) - len(shape) :] != tuple(shape):
        words = {"[7]": f"[{inner}]", "7],": f"{inner}],", "[2, 3, 5]": f"{list(sizes)}"}
        raise worded("an RMS norm over other sizes", **words)


def _epsilon(dtype: DType, eps: float | None) -> Any:
    """In the precision of the computation, or of the elements; without one the least there is."""
    kept = to_opmath(dtype) if _ROUNDS_LAST else dtype
    real = REAL_OF_COMPLEX.get(kept, kept)
    number = finfo(real).eps if eps is None else element(eps, real).item()
    return complex(number) if kept.is_complex and not _ROUNDS_LAST else float(number)


@kernel("aten::_fused_rms_norm", key=_IMPLICIT)
def rms_norm_composite(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, eps: float | None
) -> tuple[Any, Any]:
    """What is normalized, and what it was multiplied by for that; only the number of dimensions
    counts."""
    dtype, rank = input._dtype, len(input._sizes)
    dispatch_over(_TYPES, "rms_norm", dtype)
    dims = [rank - place - 1 for place in range(len(normalized_shape))]
    given = _TO(input, to_opmath(dtype)) if _UPCASTS else input
    mean = _ADD_(_MEAN(_POW(given, 2), dims, True), _epsilon(dtype, eps))
    factor = _RSQRT(mean)
    made = _MUL(given, factor)
    if _UPCASTS and not _ROUNDS_LAST:
        made = _TYPE_AS(made, input)
    if weight is not None:
        made = _MUL(made, weight)
    if _IS_ROW_MAJOR and suggest_memory_format(input) not in CHANNELS_LAST:
        made, factor = _CONTIGUOUS(made), _CONTIGUOUS(factor)
    return (_TYPE_AS(made, input) if _ROUNDS_LAST else made), factor


@kernel("aten::rms_norm", key=_IMPLICIT)
def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, eps: float | None
) -> Any:
    _check_inputs(input, normalized_shape, weight)
    is_composite = input._dtype.is_complex or suggest_memory_format(input) in CHANNELS_LAST
    if not is_composite and weight is not None and weight._dtype is not input._dtype:
        _warn_of_weight(input._dtype, weight._dtype)
    return rms_norm_composite(input, normalized_shape, weight, eps)[0]


def _warn_of_weight(dtype: DType, weight: DType) -> None:
    if is_warned_of("rms_norm"):
        warn_once(
            "rms_norm",
            f"Mismatch dtype between input and weight: input dtype = {TYPE_NAMES[dtype]}, "
            f"weight dtype = {TYPE_NAMES[weight]}, Cannot dispatch to fused implementation.",
        )
