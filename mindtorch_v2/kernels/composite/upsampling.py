"""Images that grow to a size or by factors.

Mirrors ``compute_output_size`` of ``aten/src/ATen/native/UpSample.cpp`` and the ``vec`` overloads
beside the kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.binding.casts import INT64_MAX
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.messages import expected
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"
_EXACTLY_ONE: Final = "Must specify exactly one of output_size and scale_factors"
_INT64_MIN: Final = -INT64_MAX - 1


def compute_output_size(
    input_size: Sequence[int],
    output_size: Sequence[int] | None,
    scale_factors: Sequence[float] | None,
) -> list[int]:
    if (output_size is None) == (scale_factors is None):
        raise RuntimeError(_EXACTLY_ONE)
    dims = len(input_size) - 2
    for name, given in (("output_size", output_size), ("scale_factors", scale_factors)):
        if given is not None and len(given) != dims:
            raise RuntimeError(
                expected(f"static_cast<int64_t>({name}->size()) == spatial_dimensions")
            )
    if output_size is not None:
        return list(output_size)
    factors = scale_factors or ()
    grown = zip(input_size[2:], factors, strict=True)
    return [_converted(float(size) * factor) for size, factor in grown]


def _converted(value: float) -> int:
    """``checked_convert<int64_t>``."""
    if not _INT64_MIN <= value <= float(INT64_MAX):
        raise RuntimeError("value cannot be converted to type int64_t without overflow")
    return int(value)


def _scales(factors: Sequence[float] | None, rank: int) -> list[float | None]:
    """``get_scale_value`` of each dimension that is interpolated."""
    if factors is None:
        return [None] * rank
    if len(factors) < rank:
        at = len(factors)
        raise RuntimeError(f"ArrayRef: invalid index Index = {at}; Length = {at}")
    return list(factors[:rank])


def _add(name: str, rank: int) -> None:
    target = OperatorHandle(f"aten::{name}")

    @kernel(f"aten::{name}.vec", key=_IMPLICIT)
    def upsample(input: Tensor, output_size: Sequence[int] | None, *rest: Any) -> Any:
        *align_corners, factors = rest
        sizes = compute_output_size(input._sizes, output_size, factors)
        return target(input, sizes, *align_corners, *_scales(factors, rank))


for _rank in (1, 2, 3):
    _add(f"upsample_nearest{_rank}d", _rank)
    _add(f"_upsample_nearest_exact{_rank}d", _rank)
_add("upsample_linear1d", 1)
_add("upsample_trilinear3d", 3)
for _name in ("bilinear2d", "bicubic2d"):
    _add(f"upsample_{_name}", 2)
    _add(f"_upsample_{_name}_aa", 2)
_add("_upsample_lanczos2d_aa", 2)
