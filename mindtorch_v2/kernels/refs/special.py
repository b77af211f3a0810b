"""What special functions are on meta.

Mirrors ``torch/_refs/special/__init__.py`` and ``torch/_meta_registrations.py``; a function is
named as it is there.
"""

from __future__ import annotations

import math
from typing import Any, Final

from mindtorch_v2.kernels.elementwise.promotion import Operand
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.refs.bodies import body, elementwise_meta
from mindtorch_v2.tensor.tensor import Tensor

_ADD: Final = OperatorHandle("aten::add.Tensor")
_ARANGE: Final = OperatorHandle("aten::arange.start_step")
_LGAMMA: Final = OperatorHandle("aten::lgamma")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_MULTIGAMMALN: Final = OperatorHandle("aten::special_multigammaln")
_MULTIGAMMALN_OUT: Final = OperatorHandle("aten::special_multigammaln.out")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")


@body("torch._meta_registrations._create_binary_float_meta_func")
def binary_float(x: Operand, y: Operand) -> Tensor:
    return elementwise_meta(x, y, kind="INT_TO_FLOAT")


@body("torch._refs.special.multigammaln")
def multigammaln(a: Tensor, p: int) -> Any:
    power = 0.25 * p * (p - 1) * math.log(math.pi)
    halves = _MUL(_ARANGE(1 - p, 1, 1, dtype=a._dtype, device=a._device), 0.5)
    logarithms = _LGAMMA(_ADD(_UNSQUEEZE(a, -1), halves))
    return _ADD(_SUM(logarithms, [-1]), power)


@body("torch._refs._make_alias")
def mvlgamma(a: Tensor, p: int, *, out: Tensor | None = None) -> Any:
    """Another name of ``torch.special.multigammaln``."""
    return _MULTIGAMMALN(a, p) if out is None else _MULTIGAMMALN_OUT(a, p, out=out)
