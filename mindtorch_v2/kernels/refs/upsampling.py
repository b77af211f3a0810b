"""The reference functions of images of another size.

Mirrors ``torch/_meta_registrations.py`` and ``torch/_decomp/decompositions.py``.  A decomposition
calls the operators that it is made of: what one of them refuses depends on the arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import product
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import (
    elementwise_dtypes,
    pw_cast_for_opmath,
    strides_in_format_of,
    suggest_memory_format,
    to_dtype,
)
from mindtorch_v2.kernels.refs.wrappers import preserve_memory_format
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.kernels.upsampling import check_size_counts
from mindtorch_v2.tensor.dtype import DTYPES, DType, int64
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."
_DECOMPOSED: Final = "torch._decomp.decompositions."
_UINT8: Final = DTYPES["uint8"]

_ADD: Final = OperatorHandle("aten::add.Tensor")
_ARANGE: Final = OperatorHandle("aten::arange")
_CLAMP: Final = OperatorHandle("aten::clamp")
_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_INDEX: Final = OperatorHandle("aten::_unsafe_index.Tensor")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_MUL_NUMBER: Final = OperatorHandle("aten::mul.Scalar")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_ROUND: Final = OperatorHandle("aten::round")
_SUB: Final = OperatorHandle("aten::sub.Tensor")
_TO: Final = OperatorHandle("aten::to.dtype")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")

Scales = Sequence[float | None]

# --- torch/_meta_registrations.py -------------------------------------------------------------


def _common_check(
    input_size: Sequence[int], output_size: Sequence[int], rank: int
) -> tuple[int, ...]:
    """``upsample_common_check``, which has words of its own for sizes of nothing."""
    check_size_counts(input_size, output_size, rank)
    if min(*input_size[2:], *output_size) <= 0:
        raise RuntimeError(
            "Input and output sizes should be greater than 0, but got "
            f"input size {input_size} and output size {output_size}"
        )
    return (*input_size[:2], *output_size)


def _formatted(like: Tensor, sizes: Sequence[int]) -> Tensor:
    """A new tensor in the memory format of another."""
    strides = strides_in_format_of(like, sizes)
    return new_tensor(sizes, like._dtype, like._device, strides)


def _nearest(rank: int) -> None:
    @body(f"{_META}upsample_nearest{rank}d")
    def upsample(input: Tensor, output_size: Sequence[int], *scales: float | None) -> Tensor:
        if not numel(input._sizes):  # a number is asked for instead of a condition
            raise TypeError(f"cond must be a bool, but got {int}")
        sizes = _common_check(input._sizes, output_size, rank)
        return _formatted(input, sizes)


for _rank in (1, 2, 3):
    _nearest(_rank)


def _check_gradient(
    grad_output: Tensor, output_size: Sequence[int], input_size: Sequence[int], said: str
) -> None:
    sizes = _common_check(input_size, output_size, 2)
    if len(grad_output._sizes) != 4:
        raise RuntimeError(
            "Expected grad_output to be a tensor of dimension 4 but got: dimension "
            f"{len(grad_output._sizes)}"
        )
    for dim, (size, given) in enumerate(zip(sizes, grad_output._sizes, strict=True)):
        if size != given:
            raise RuntimeError(said.format(dim=dim, size=size, given=given))


@body(_META + "upsample_nearest2d_backward")
def upsample_nearest2d_backward(
    grad_output: Tensor,
    output_size: Sequence[int],
    input_size: Sequence[int],
    *scales: float | None,
) -> Tensor:
    said = (
        "Expected grad_output to have the same shape as output; output.size({dim}) = {size} but "
        "got grad_output.size({dim}) = {given}"
    )
    _check_gradient(grad_output, output_size, input_size, said)
    return _formatted(grad_output, input_size)


@body(_META + "meta_upsample_bimode2d_aa")
def meta_upsample_bimode2d_aa(
    input: Tensor, output_size: Sequence[int], align_corners: bool, *scales: float | None
) -> Tensor:
    sizes = _common_check(input._sizes, output_size, 2)
    if 0 in input._sizes[1:]:
        raise RuntimeError(
            f"Non-empty 4D data tensor expected but got a tensor with sizes {input._sizes}"
        )
    return _formatted(input, sizes)


@body(_META + "meta_upsample_bimode2d_aa_backward")
def meta_upsample_bimode2d_aa_backward(
    grad_output: Tensor,
    output_size: Sequence[int],
    input_size: Sequence[int],
    align_corners: bool,
    *scales: float | None,
) -> Tensor:
    said = (
        "\nExpected grad_output to have the same shape as output; output.size({dim}) = {size}\n"
        "but got grad_output_size({dim}) = {given}"
    )
    _check_gradient(grad_output, output_size, input_size, said)
    return _formatted(grad_output, input_size)


# --- torch/_decomp/decompositions.py ----------------------------------------------------------


def _in_format_of(input: Tensor, result: Tensor) -> Any:
    return _CONTIGUOUS(result, memory_format=suggest_memory_format(input))


def _positions(count: int, input: Tensor, dtype: DType) -> Tensor:
    """Those of the output's pixels."""
    positions: Tensor = _TO(_ARANGE(count, device=input._device), dtype)
    return positions


def _compute_scale(size: int, count: int, align_corners: bool, scale: float | None) -> float:
    if align_corners:
        return (size - 1.0) / (count - 1.0) if count > 1 else 0
    return 1.0 / scale if scale is not None and scale > 0 else size / count


def _float_dtype(input: Tensor) -> DType:
    return elementwise_dtypes(input, kind="INT_TO_FLOAT")[1]


@pw_cast_for_opmath
def _upsample_nearest(input: Tensor, output_size: Sequence[int], scales: Scales) -> Any:
    rank = len(output_size)
    indices: list[Tensor | None] = [None, None]
    for dim, count in enumerate(output_size):
        size, scale = input._sizes[dim - rank], scales[dim]
        if scale is None or (_ASKS_FOR_SCALES and scale <= 0):
            _ = size / count
        else:
            _ = size / (size * scale)
        index = _positions(count, input, int64)
        for _ in range(rank - 1 - dim):
            index = _UNSQUEEZE(index, -1)
        indices.append(index)
    result: Tensor = _INDEX(input, indices)
    formats = (4, 5) if _FORMATS_VOLUMES else (4,)
    return _in_format_of(input, result) if len(result._sizes) in formats else result


_ASKS_FOR_SCALES: Final = HABITS["nearest pixels on meta ignore a scale of nothing"]
_FORMATS_VOLUMES: Final = HABITS["volumes of nearest pixels on meta keep their format"]


def _of_each(rank: int, scales: Scales) -> Scales:
    """Those at the end that are None are not passed on."""
    return [*scales, *[None] * (rank - len(scales))]


def _nearest_out(name: str, rank: int) -> None:
    @body(_DECOMPOSED + name)
    @preserve_memory_format
    def upsample(input: Tensor, output_size: Sequence[int], *scales: float | None) -> Any:
        return _upsample_nearest(input, output_size, _of_each(rank, scales))


for _rank in (1, 2, 3):
    _nearest_out(f"upsample_nearest{_rank}d", _rank)
    _nearest_out(f"{'_' * (_rank > 1)}upsample_nearest_exact{_rank}d", _rank)


@pw_cast_for_opmath
def _upsample_linear(
    input: Tensor, output_size: Sequence[int], align_corners: bool, scales: Scales
) -> Any:
    _ = input._sizes[1]
    image = input._sizes[2:]
    rank = len(image)
    dtype = _float_dtype(input)
    values = [
        _sources(input, size, count, align_corners, scale, rank - 1 - dim)
        for dim, (size, count, scale) in enumerate(zip(image, output_size, scales, strict=False))
    ]
    ways, before, after = list(zip(*values, strict=True))
    corners = []
    for sides in product(range(2), repeat=rank):
        chosen = [after[dim] if side else before[dim] for dim, side in enumerate(sides)]
        corners.append(to_dtype(_INDEX(input, [None, None, *chosen]), dtype))
    for dim in reversed(range(rank)):
        way = _TO(_CLAMP(_SUB(ways[dim], before[dim]), 0.0, 1.0), dtype)
        pairs = zip(corners[::2], corners[1::2], strict=True)
        corners = [_ADD(one, _MUL(_SUB(two, one), way)) for one, two in pairs]
    (result,) = corners
    result = _in_format_of(input, result)
    return result if input._dtype.is_floating_point else _ROUND(result)


def _sources(
    input: Tensor, size: int, count: int, align_corners: bool, scale: float | None, ones: int
) -> tuple[Any, Any, Any]:
    """The places in a dimension, and the pixels before and after them."""
    step = _compute_scale(size, count, align_corners, scale)
    source = _MUL_NUMBER(_positions(count, input, _float_dtype(input)), step)
    source = _RESHAPE(_CLAMP(source, 0.0), [*source._sizes[:1], *[1] * ones])
    before = _TO(source, int64)
    return source, before, _CLAMP(before, None, size - 1)


def _linear(name: str, rank: int) -> None:
    @body(_DECOMPOSED + name)
    def upsample(
        input: Tensor, output_size: Sequence[int], align_corners: bool, *scales: float | None
    ) -> Any:
        return _upsample_linear(input, output_size, align_corners, _of_each(rank, scales))


for _rank, _name in enumerate(("linear1d", "bilinear2d", "trilinear3d"), 1):
    _linear(f"upsample_{_name}", _rank)


@body(_DECOMPOSED + "upsample_bicubic2d_default")
def upsample_bicubic2d_default(
    input: Tensor,
    output_size: Sequence[int],
    align_corners: bool,
    scale_h: float | None = None,
    scale_w: float | None = None,
) -> Any:
    _, _, height, width = input._sizes
    steps = [
        _compute_scale(height, output_size[0], align_corners, scale_h),
        _compute_scale(width, output_size[1], align_corners, scale_w),
    ]
    dtype = _float_dtype(input)
    down, along = (
        _MUL_NUMBER(_positions(count, input, dtype), step)
        for count, step in zip(output_size[:2], steps, strict=True)
    )
    down = _UNSQUEEZE(down, -1)
    is_of_bytes = input._dtype is _UINT8
    rows, columns = (_TO(each, int64) for each in (down, along))
    pixels = _INDEX(input, [None, None, rows, columns])
    if is_of_bytes:  # whose weights are integers, and whose sums are cut to bytes
        return _in_format_of(input, pixels)
    by_column = _sum_tensors(_MUL(pixels, along) for _ in range(4))
    result = _sum_tensors(_MUL(by_column, down) for _ in range(4))
    return _in_format_of(input, result)


def _sum_tensors(tensors: Iterable[Any]) -> Any:
    return reduce(_ADD, tensors)
