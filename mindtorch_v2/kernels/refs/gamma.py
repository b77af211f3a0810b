"""Reference functions of the gamma function's derivatives.

Mirrors ``torch/_meta_registrations.py``.
"""

from __future__ import annotations

from typing import Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import elementwise_dtypes
from mindtorch_v2.tensor.tensor import Tensor

_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")


@body("torch._meta_registrations.meta_polygamma")
def meta_polygamma(n: int, self: Tensor) -> Tensor:
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    _, dtype = elementwise_dtypes(self, kind="INT_TO_FLOAT")
    result: Tensor = _EMPTY_LIKE(self, dtype=dtype)
    return result
