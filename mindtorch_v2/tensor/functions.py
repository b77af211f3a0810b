"""Functions that are a tensor's method, called with the tensor, or that ask about types."""

from __future__ import annotations

from typing import Any

from mindtorch_v2.by_position import by_position
from mindtorch_v2.tensor import support
from mindtorch_v2.tensor.dtype import PYTHON_DTYPES, DType
from mindtorch_v2.tensor.tensor import Tensor


def clone(input: Tensor) -> Tensor:
    return input.clone()


def detach(input: Tensor) -> Tensor:
    return input.detach()


def is_inference(input: Tensor) -> bool:
    return input.is_inference()


@by_position
def is_tensor(obj: Any, /) -> bool:
    return isinstance(obj, Tensor)


def promote_types(type1: Any, type2: Any) -> DType:
    """The smallest dtype that both convert to; RuntimeError for none."""
    return support.promote_types(PYTHON_DTYPES.get(type1, type1), PYTHON_DTYPES.get(type2, type2))


def resolve_conj(input: Tensor) -> Tensor:
    return input.resolve_conj()


def resolve_neg(input: Tensor) -> Tensor:
    return input.resolve_neg()
