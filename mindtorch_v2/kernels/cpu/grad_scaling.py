"""What a gradient scaler asks for: gradients scaled back, and another scale.

Mirrors ``aten/src/ATen/native/cpu/AmpGradScalerKernels.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from mindtorch_v2.kernels.elementwise.pointwise import rounded
from mindtorch_v2.kernels.elementwise.promotion import to_opmath
from mindtorch_v2.kernels.elementwise.tensor_iterator import UNARY_OP, TensorIterator
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import FLOATING_TYPES, HALVES, dispatch_over
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import elements_of
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_FLOAT32: Final = DTYPES["float32"]
_NAMES: Final = {_FLOAT32: "a float", DTYPES["int32"]: "an int"}


def _check(dtypes: Sequence[DType], **tensors: Tensor) -> None:
    """On the CPU, of one element, of a dtype: each is looked at for one after the other."""
    for name, tensor in tensors.items():
        if tensor._device.type != "cpu":
            raise RuntimeError(f"{name} must be a CPU tensor.")
    for name, tensor in tensors.items():
        if numel(tensor._sizes) != 1:
            raise RuntimeError(f"{name} must be a 1-element tensor.")
    for dtype, (name, tensor) in zip(dtypes, tensors.items(), strict=True):
        if tensor._dtype is not dtype:
            raise RuntimeError(f"{name} must be {_NAMES[dtype]} tensor.")


@kernel("aten::_amp_foreach_non_finite_check_and_unscale_")
def non_finite_check_and_unscale_(
    self: Sequence[Tensor], found_inf: Tensor, inv_scale: Tensor
) -> None:
    if not self:
        return
    _check((_FLOAT32, _FLOAT32), inv_scale=inv_scale, found_inf=found_inf)
    for each in self:
        if each._device.type != "cpu":
            raise RuntimeError("one of scaled_grads was not a CPU tensor.")
        _unscale(each, found_inf, inv_scale)


def _unscale(grad: Tensor, found_inf: Tensor, inv_scale: Tensor) -> None:
    TensorIterator(UNARY_OP, [grad], [grad])
    dtype = grad._dtype
    name = "_amp_foreach_non_finite_check_and_unscale_cpu"
    dispatch_over(FLOATING_TYPES | HALVES, name, dtype)
    kind = elements_of(to_opmath(dtype)).computed
    values = value_array(grad).astype(kind)
    if not np.isfinite(values).all():
        store(found_inf, np.ones((), np.float32))
    scale = value_array(inv_scale).reshape(())
    with np.errstate(all="ignore"):
        store(grad, rounded(values * scale.astype(kind), dtype))


@kernel("aten::_amp_update_scale_")
def amp_update_scale_(
    self: Tensor,
    growth_tracker: Tensor,
    found_inf: Tensor,
    scale_growth_factor: float,
    scale_backoff_factor: float,
    growth_interval: int,
) -> Tensor:
    dtypes = (DTYPES["int32"], _FLOAT32, _FLOAT32)
    _check(dtypes, growth_tracker=growth_tracker, current_scale=self, found_inf=found_inf)
    scale = value_array(self).reshape(()).astype(np.float64)
    successes = int(value_array(growth_tracker).reshape(())) + 1
    with np.errstate(all="ignore"):
        if value_array(found_inf).reshape(()) != 0:
            store(self, (scale * scale_backoff_factor).astype(np.float32))
            successes = 0
        elif successes == growth_interval:
            grown = (scale * scale_growth_factor).astype(np.float32)
            if np.isfinite(grown):  # float32 has no number so large
                store(self, grown)
            successes = 0
    store(growth_tracker, np.asarray(successes).astype(np.int32))
    return self
