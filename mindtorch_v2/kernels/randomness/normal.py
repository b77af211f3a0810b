"""Normal samples that have means and deviations, numbers or tensors of them.

Mirrors ``normal_out_impl`` and ``normal_impl`` of
``aten/src/ATen/native/DistributionTemplates.h``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.elementwise.broadcasting import infer_size
from mindtorch_v2.kernels.factories.factories import given_options, made_empty
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import resize_output, set_sizes
from mindtorch_v2.kernels.randomness.random import (
    check_continuous,
    check_std,
    contiguous_like,
    randn_on_meta,
)
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import dispatch
from mindtorch_v2.tensor.copying import value_array
from mindtorch_v2.tensor.generator import Generator
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_BACKENDS: Final = ("CPU", "Meta")
_ADD_: Final = OperatorHandle("aten::add_.Tensor")
_FULL: Final = OperatorHandle("aten::full")
_MUL_: Final = OperatorHandle("aten::mul_.Tensor")
_NORMAL_: Final = OperatorHandle("aten::normal_")


@kernel("aten::normal.float_float", key="Meta")
def normal_of_numbers_on_meta(
    mean: float,
    std: float,
    size: Sequence[int],
    generator: Generator | None,
    dtype: int | None,
    *options: Any,
) -> Any:
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    check_continuous(dtype)
    return randn_on_meta(size, dtype, *options)


@kernel("aten::normal.float_float", key="CompositeExplicitAutograd")
def normal_of_numbers(
    mean: float, std: float, size: Sequence[int], generator: Generator | None, *options: Any
) -> Any:
    made = made_empty(size, **given_options(options))
    return _NORMAL_(made, mean, std, generator=generator)


@kernel("aten::normal.Tensor_float", keys=_BACKENDS)
def normal_of_means(mean: Tensor, std: float, generator: Generator | None) -> Any:
    check_std(std)
    made = contiguous_like(mean, mean._sizes)
    return _ADD_(_NORMAL_(made, 0.0, std, generator=generator), mean)


@kernel("aten::normal.float_Tensor", keys=_BACKENDS)
def normal_of_deviations(mean: float, std: Tensor, generator: Generator | None) -> Any:
    _check_deviations(std)
    made = contiguous_like(std, std._sizes)
    return _ADD_(_MUL_(_NORMAL_(made, 0.0, 1.0, generator=generator), std), mean)


@kernel("aten::normal.Tensor_Tensor", keys=_BACKENDS)
def normal_of_both(mean: Tensor, std: Tensor, generator: Generator | None) -> Any:
    _check_deviations(std)
    made = contiguous_like(mean, infer_size(tuple(mean._sizes), tuple(std._sizes)))
    return _ADD_(_MUL_(_NORMAL_(made, 0.0, 1.0, generator=generator), std), mean)


def _check_deviations(std: Tensor) -> None:
    if std._dtype.is_complex:
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if not std.is_meta:
        dispatch("min_all", std._dtype)
    if numel(std._sizes) and not std.is_meta and not (value_array(std) >= 0).all():
        raise RuntimeError("normal expects all elements of std >= 0.0")


# --- into outputs -----------------------------------------------------------------------------


@kernel("aten::normal.float_float_out", key="CompositeExplicitAutograd")
def normal_of_numbers_out(
    mean: float, std: float, size: Sequence[int], generator: Generator | None, out: Tensor
) -> Any:
    set_sizes(out, tuple(size))
    return _NORMAL_(out, mean, std, generator=generator)


@kernel("aten::normal.Tensor_float_out")
def normal_of_means_out(mean: Tensor, std: float, generator: Generator | None, out: Tensor) -> Any:
    """Means are broadcast with what the output was."""
    check_std(std)
    resize_output(out, infer_size(tuple(mean._sizes), tuple(out._sizes)))
    return _ADD_(_NORMAL_(out, 0.0, std, generator=generator), mean)


@kernel("aten::normal.float_Tensor_out")
def normal_of_deviations_out(
    mean: float, std: Tensor, generator: Generator | None, out: Tensor
) -> Any:
    _check_deviations(std)
    middle = _FULL([], mean, dtype=out._dtype, layout=out._layout, device=out._device)
    resize_output(out, tuple(std._sizes))
    return _ADD_(_MUL_(_NORMAL_(out, 0.0, 1.0, generator=generator), std), middle)


@kernel("aten::normal.Tensor_Tensor_out")
def normal_of_both_out(mean: Tensor, std: Tensor, generator: Generator | None, out: Tensor) -> Any:
    _check_deviations(std)
    resize_output(out, infer_size(tuple(mean._sizes), tuple(std._sizes)))
    return _ADD_(_MUL_(_NORMAL_(out, 0.0, 1.0, generator=generator), std), mean)
