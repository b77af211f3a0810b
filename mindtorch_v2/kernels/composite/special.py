"""Functions of ``torch.special`` that are made of others.

Mirrors ``aten/src/ATen/native/UnaryOps.cpp``.
"""

from __future__ import annotations

import math
from typing import Any, Final

from mindtorch_v2.kernels.dtypes import check_supported
from mindtorch_v2.kernels.elementwise.promotion import check_can_cast
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import resize_output
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.dtype import DType
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_EXPLICIT: Final = "CompositeExplicitAutograd"
_IMPLICIT: Final = "CompositeImplicitAutograd"
_ADD: Final = OperatorHandle("aten::add.Tensor")
_ADD_NUMBER: Final = OperatorHandle("aten::add.Scalar")
_ADD_NUMBER_: Final = OperatorHandle("aten::add_.Scalar")
_ARANGE: Final = OperatorHandle("aten::arange.start_step")
_CAN_CAST: Final = OperatorHandle("aten::can_cast")  # which modes see
_COPY_: Final = OperatorHandle("aten::copy_")
_ERF: Final = OperatorHandle("aten::erf")
_LGAMMA_: Final = OperatorHandle("aten::lgamma_")
_MUL: Final = OperatorHandle("aten::mul.Scalar")
_MVLGAMMA: Final = OperatorHandle("aten::mvlgamma")
_MVLGAMMA_OUT: Final = OperatorHandle("aten::mvlgamma.out")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")


# --- the normal distribution function --------------------------------------------------------

_ROOT_OF_HALF: Final = math.sqrt(0.5)


@kernel("aten::special_ndtr", key=_IMPLICIT)
def special_ndtr(self: Tensor) -> Any:
    return _MUL(_ADD_NUMBER(_ERF(_MUL(self, _ROOT_OF_HALF)), 1), 0.5)


@kernel("aten::special_ndtr.out", key=_IMPLICIT)
def special_ndtr_out(self: Tensor, out: Tensor) -> Any:
    found = special_ndtr(self)
    if not _CAN_CAST(found._dtype, out._dtype):
        check_can_cast(found._dtype, out._dtype)
    resize_output(out, found._sizes)
    return _COPY_(out, found)


# --- the multivariate gamma function ---------------------------------------------------------


def _check_mvlgamma(self: Tensor, p: int) -> None:
    check_supported("aten::mvlgamma", self._dtype)
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")


def _log_of_product(self: Tensor, p: int, dtype: DType) -> Any:
    """A sum of logarithms of the gamma function, and a power of pi."""
    start = -p * 0.5 + 0.5
    halves = _ARANGE(start, 0.5, 0.5, dtype, self._layout, self._device, None)
    logarithms = _LGAMMA_(_ADD(halves, _UNSQUEEZE(self, -1)))
    return _ADD_NUMBER_(_SUM(logarithms, [-1]), p * (p - 1) * math.log(math.pi) * 0.25)


@kernel("aten::mvlgamma", key=_EXPLICIT)
def mvlgamma(self: Tensor, p: int) -> Any:
    _check_mvlgamma(self, p)
    dtype = get_default_dtype() if is_integral(self._dtype) else self._dtype
    return _log_of_product(self, p, dtype)


@kernel("aten::mvlgamma_", key=_EXPLICIT)
def mvlgamma_(self: Tensor, p: int) -> Any:
    if HABITS["mvlgamma in place asks for its output's dtype"]:
        return _MVLGAMMA_OUT(self, p, out=self)
    _check_mvlgamma(self, p)
    return _COPY_(self, _log_of_product(self, p, self._dtype))


@kernel("aten::mvlgamma.out")
def mvlgamma_out(self: Tensor, p: int, out: Tensor) -> Any:
    found = _MVLGAMMA(self, p)
    if not _CAN_CAST(found._dtype, out._dtype):
        raise RuntimeError(
            f"mvlgamma: result type {CPP_NAMES[self._dtype]} can't be cast to the desired output "
            f"type {CPP_NAMES[found._dtype]}"
        )
    resize_output(out, found._sizes)
    return _COPY_(out, found)
