"""The reference functions of normal distributions.

Mirrors ``torch/_refs/__init__.py``, and ``normal`` of ``torch/_prims/__init__.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.elementwise.promotion import Number
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import broadcast_shapes, to_dtype
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import DType, Layout
from mindtorch_v2.tensor.tensor import Tensor

_ADD: Final = OperatorHandle("aten::add.Tensor")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_RANDN: Final = OperatorHandle("aten::randn")


@body("torch._refs.normal")
def normal(
    mean: Tensor | Number = 0,
    std: Tensor | float = 1,
    size: Sequence[int] | None = None,
    *,
    generator: object = None,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
) -> Any:
    _check_std(std)
    if size is not None:
        _check_dtype(dtype or get_default_dtype())
        return _RANDN(size, dtype=dtype, layout=layout, device=device)  # never pinned
    tensors = [each for each in (mean, std) if isinstance(each, Tensor)]
    made = tensors[0]._dtype
    _check_dtype(made)
    sizes = broadcast_shapes(*(each._sizes for each in tensors))
    middle, spread = (
        to_dtype(each, made) if isinstance(each, Tensor) else each for each in (mean, std)
    )
    return _ADD(_MUL(new_tensor(sizes, made, tensors[0]._device), spread), middle)


@body("torch._refs.normal_")
def normal_(self: Tensor, mean: float = 0, std: float = 1, *, generator: object = None) -> Tensor:
    _check_std(std)
    _check_dtype(self._dtype)
    return self


@body("torch._decomp.decompositions.uniform")
def uniform(x: Tensor, low: float = 0.0, high: float = 1.0, generator: object = None) -> Tensor:
    """Nobody looks at the bounds."""
    strides = x._strides if HABITS["uniform numbers on meta keep the order of memory"] else None
    return new_tensor(x._sizes, x._dtype, x._device, strides)


def _check_std(std: Tensor | float) -> None:
    if not isinstance(std, Tensor) and not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")


def _check_dtype(dtype: DType) -> None:
    if not dtype.is_floating_point and not dtype.is_complex:
        raise RuntimeError(f"expected a floating-point or complex dtype, but got dtype={dtype}")
