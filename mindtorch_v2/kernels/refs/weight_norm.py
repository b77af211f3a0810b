"""The reference functions of weights of a given length in a direction.

Mirrors ``torch/_decomp/decompositions.py`` and ``torch/_meta_registrations.py``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.autograd.at import call
from mindtorch_v2.autograd.operators import div, mul
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.switches import HABITS, HALVES
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.tensor import Tensor

_KEPT_IN_FLOATS: Final = HABITS["a weight norm on meta keeps norms of bfloat16 in floats"]
_KEPT_AS_BY_KERNEL: Final = HABITS["a weight norm on meta keeps norms in its kernel's dtype"]
_OF_EACH_NUMBER: Final = HABITS["a weight norm on meta of a vector is of each number"]


def _kept(g: Tensor) -> DType | None:
    """The dtype of norms; None for that of what they are norms of."""
    if _KEPT_AS_BY_KERNEL:
        return DTYPES["float32"] if g._dtype in HALVES else g._dtype
    return DTYPES["float32"] if _KEPT_IN_FLOATS and g._dtype is DTYPES["bfloat16"] else None


def _norm(v: Tensor, rest: list[int], dtype: DType | None) -> Any:
    """Over all dimensions but one; of a vector there is no other, and no dimensions are all."""
    if not rest and _OF_EACH_NUMBER:
        return call("to", call("abs", v), dtype)
    return call("linalg_vector_norm", v, 2, rest, True, dtype=dtype)


@body("torch._decomp.decompositions._weight_norm_interface")
def _weight_norm_interface(v: Tensor, g: Tensor, dim: int = 0) -> tuple[Any, Any]:
    rest = [place for place in range(len(v._sizes)) if place != dim]
    norm = _norm(v, rest, _kept(g))
    divisor = call("to", norm, g._dtype) if _KEPT_IN_FLOATS else norm
    return mul(v, div(g, divisor)), norm


@body("torch._meta_registrations.meta_weight_norm_backward")
def meta_weight_norm_backward(
    grad_w: Tensor, saved_v: Tensor, saved_g: Tensor, saved_norms: Tensor, dim: int
) -> tuple[Any, Any]:
    return call("empty_like", saved_v), call("empty_like", saved_g)
