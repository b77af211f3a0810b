"""The reference functions of weights of a given length in a direction.

Mirrors ``torch/_decomp/decompositions.py`` and ``torch/_meta_registrations.py``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.autograd.at import call
from mindtorch_v2.autograd.operators import div, mul
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.tensor import Tensor

_KEPT_IN_FLOATS: Final = HABITS["a weight norm on meta keeps norms of bfloat16 in floats"]


@body("torch._decomp.decompositions._weight_norm_interface")
def _weight_norm_interface(v: Tensor, g: Tensor, dim: int = 0) -> tuple[Any, Any]:
    rest = [place for place in range(len(v._sizes)) if place != dim]
    is_kept = _KEPT_IN_FLOATS and g._dtype is DTYPES["bfloat16"]
    dtype = DTYPES["float32"] if is_kept else None
    norm = call("linalg_vector_norm", v, 2, rest, True, dtype=dtype)
    divisor = call("to", norm, g._dtype) if _KEPT_IN_FLOATS else norm
    return mul(v, div(g, divisor)), norm


@body("torch._meta_registrations.meta_weight_norm_backward")
def meta_weight_norm_backward(
    grad_w: Tensor, saved_v: Tensor, saved_g: Tensor, saved_norms: Tensor, dim: int
) -> tuple[Any, Any]:
    return call("empty_like", saved_v), call("empty_like", saved_g)
