"""How often each number occurs: ``bincount``.

Mirrors ``aten/src/ATen/native/SummaryOps.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import dispatch
from mindtorch_v2.tensor.copying import store, value_array, warn_of_cast
from mindtorch_v2.tensor.dtype import DTYPES, int64
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_FLOAT: Final = DTYPES["float32"]
_DOUBLE: Final = DTYPES["float64"]
_LARGEST: Final = (1 << 63) - 1


@kernel("aten::bincount")
def bincount(self: Tensor, weights: Tensor | None, minlength: int) -> Tensor:
    """Weights of other dtypes than float count in double precision, unless there is nothing."""
    dispatch("bincount_cpu", self._dtype)
    if weights is not None and numel(weights._sizes):
        warn_of_cast(weights._dtype, _FLOAT if weights._dtype is _FLOAT else _DOUBLE)
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if len(self._sizes) == 1 and not numel(self._sizes):
        return _stored(self, np.zeros(minlength, np.int64), int64)
    numbers = _numbers(self)
    if numbers.max() >= _LARGEST:
        raise RuntimeError(
            f"maximum value of input overflowed, it should be < {_LARGEST} but got {numbers.max()}"
        )
    if weights is None:
        return _stored(self, np.bincount(numbers, minlength=minlength), int64)
    if len(weights._sizes) != 1 or weights._sizes[0] != self._sizes[0]:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    dtype = _FLOAT if weights._dtype is _FLOAT else _DOUBLE
    computed = np.float32 if dtype is _FLOAT else np.float64
    counts = np.zeros(max(int(numbers.max()) + 1, minlength), computed)
    np.add.at(counts, numbers, value_array(weights).real.astype(computed))
    return _stored(self, counts, dtype)


def _numbers(self: Tensor) -> Any:
    numbers = value_array(self)
    if not numel(self._sizes) and len(self._sizes) != 1:
        numbers = np.zeros(1, np.int64)  # which is refused for its dimensions
    if len(self._sizes) != 1 or numbers.min() < 0:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    return numbers.astype(np.int64)


def _stored(self: Tensor, counts: Any, dtype: Any) -> Tensor:
    output = new_tensor(counts.shape, dtype, self._device)
    store(output, counts)
    return output
