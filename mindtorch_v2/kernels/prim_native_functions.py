"""Operators that torch has for its own tests.

Mirrors ``aten/src/ATen/native/prim_native_functions.cpp``.
"""

from __future__ import annotations

from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.tensor import Tensor


@kernel("aten::_foobar", key="CPU")
def foobar(self: Tensor, arg1: bool, arg2: bool, arg3: bool) -> Tensor:
    return self
