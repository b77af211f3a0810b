"""Rows scaled down to a norm: ``renorm``.

Mirrors ``aten/src/ATen/native/Normalization.cpp`` and ``cpu/RenormKernel.cpp``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.kernels.elementwise.pointwise import as_array, rounded
from mindtorch_v2.kernels.elementwise.promotion import Number, to_opmath
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import set_output
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap, assert_no_partial_overlap
from mindtorch_v2.kernels.structured import Outputs, changed_in_place, structured
from mindtorch_v2.tensor.copying import store, value_array
from mindtorch_v2.tensor.geometry import wrap_dim
from mindtorch_v2.tensor.support import streamed
from mindtorch_v2.tensor.tensor import Tensor

_VECTOR_NORM: Final = OperatorHandle("aten::linalg_vector_norm")


@structured("aten::renorm")
def renorm(
    outputs: Outputs, self: Tensor, p: Number, dim: int, maxnorm: Number
) -> tuple[Tensor, ...]:
    check_renorm(self, p, maxnorm)
    output = set_output(
        outputs[0], self._sizes, self._dtype, self._device, self=changed_in_place(outputs)
    )
    if output.is_meta:
        return (output,)
    rank = len(self._sizes)
    others = [each for each in range(rank) if each != wrap_dim(dim, rank)]
    computed = to_opmath(self._dtype)
    dtype = None if computed is self._dtype else enum_value(computed)
    norm = value_array(_VECTOR_NORM(self, float(p.real), others, True, dtype=dtype))
    assert_no_internal_overlap(output)  # of the product that comes now
    assert_no_partial_overlap(output, self)
    with np.errstate(all="ignore"):
        factor = _factor(norm, norm.dtype.type(maxnorm.real))
        found = as_array(self, self._dtype) * rounded(factor, self._dtype)
    store(output, rounded(np.asarray(found), self._dtype))
    return (output,)


def _factor(norm: Any, most: Any) -> Any:
    kind = norm.dtype.type
    return np.where(norm > most, most / (norm + kind(1e-7)), kind(1))


def check_renorm(self: Tensor, p: Number, maxnorm: Number) -> None:
    """RuntimeError for what no part can be scaled to, on the CPU and on meta."""
    if isinstance(p, complex):
        raise RuntimeError("renorm: p must be real-valued")
    if not p > 0:
        gap = " " if self.is_meta else "-"
        raise RuntimeError(f"renorm: non-positive{gap}norm not supported")
    if isinstance(maxnorm, complex):
        raise RuntimeError("renorm: maxnorm must be real-valued")
    if not maxnorm >= 0:
        shown = maxnorm if self.is_meta else f"{streamed(float(maxnorm))}"
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {shown}")
    rank = len(self._sizes)
    if rank <= 1:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {rank} dimensions")
