"""Distances that are made of other operators.

Mirrors ``aten/src/ATen/native/Distance.cpp``, and ``dist`` of ``ReduceOps.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.autograd.at import call
from mindtorch_v2.autograd.operators import add, sub
from mindtorch_v2.kernels.promotion import Number
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.tensor import Tensor

_IMPLICIT: Final = "CompositeImplicitAutograd"


@kernel("aten::pairwise_distance", key=_IMPLICIT)
def pairwise_distance(x1: Tensor, x2: Tensor, p: float, eps: float, keepdim: bool) -> Any:
    innermost = max(len(x1._sizes), len(x2._sizes)) - 1
    return call("norm", add(sub(x1, x2), eps), p, [innermost], keepdim)


@kernel("aten::dist", key="CompositeExplicitAutograd")
def dist(self: Tensor, other: Tensor, p: Number) -> Any:
    return call("norm", sub(self, other), p)
