"""The reference functions of softmax and its logarithm, and of what turns elements round.

Mirrors ``torch/_decomp/decompositions.py``, ``torch/_meta_registrations.py`` and
``torch/_refs/__init__.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.promotion import BOOL
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import HABITS, elementwise_dtypes, worded
from mindtorch_v2.kernels.refs.reductions import check_rank, reduction_dims
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.geometry import dense_strides_like, numel, wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

_DECOMPOSED: Final = "torch._decomp.decompositions."
_HALF: Final = DTYPES["float16"]
_BFLOAT16: Final = DTYPES["bfloat16"]


def _contiguous(x: Tensor, half_to_float: bool, halves: Sequence[DType], shown: str) -> Tensor:
    """A row-major result; AssertionError if another dtype is to become float."""
    if half_to_float and x._dtype not in halves:
        message = f"half_to_float is True but x.dtype is {x._dtype}, expected {shown}"
        raise AssertionError(*[message] * HABITS["assertions say what they ask"])
    computed, result = elementwise_dtypes(x, kind="DEFAULT")
    return new_tensor(x._sizes, computed if half_to_float else result, x._device)


@body("torch._meta_registrations.softmax")
def softmax(x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    """Which does not look at the dimension."""
    halves = (_HALF, _BFLOAT16) if HABITS["softmax makes floats of bfloat16"] else (_HALF,)
    return _contiguous(x, half_to_float, halves, "half or bfloat16")


@body(_DECOMPOSED + "_softmax", _DECOMPOSED + "_log_softmax")
def decomposed_softmax(x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    result = _contiguous(x, half_to_float, (_HALF,), "torch.half")
    if x._dtype is BOOL and HABITS["two truth values are not subtracted"]:
        raise worded("a truth value less another")
    if numel(x._sizes):  # of nothing no largest element is looked for
        check_rank(len(x._sizes))
    wrap_dim(dim, len(x._sizes))
    return result


@body("torch._refs.flip")
def flip(a: Tensor, dims: Sequence[int]) -> Tensor:
    reduction_dims(len(a._sizes), dims)  # which are looked at in the same way
    strides = dense_strides_like(a._sizes, a._strides)
    return new_tensor(a._sizes, a._dtype, a._device, strides)
