"""Registers functions of ``torch.special`` that are computed element by element."""

from __future__ import annotations

from typing import Any

from mindtorch_v2.kernels.elementwise.pointwise import Compute, pointwise
from mindtorch_v2.kernels.elementwise.tensor_iterator import (
    BINARY_FLOAT_OP,
    UNARY_FLOAT_OP,
    TensorIterator,
)
from mindtorch_v2.kernels.switches import FLOATING_TYPES, dispatch, dispatch_over
from mindtorch_v2.tensor.dtype import DType


def special(
    name: str,
    compute: Compute,
    inputs: int = 1,
    *,
    cases: frozenset[DType] | None = FLOATING_TYPES,
    **steps: Any,
) -> None:
    """Make ``compute`` the kernel of ``special_<name>``.

    ``cases`` are those of its switch, None if releases have others; ``steps`` are fields of
    :class:`~mindtorch_v2.kernels.elementwise.pointwise.Pointwise`.
    """
    switch = f"{name}_cpu"

    def check(iterator: TensorIterator) -> None:
        if iterator.outputs[0].is_meta:
            return
        if cases is None:
            dispatch(switch, iterator.common_dtype)
        else:
            dispatch_over(cases, switch, iterator.common_dtype)

    config = UNARY_FLOAT_OP if inputs == 1 else BINARY_FLOAT_OP
    pointwise(f"aten::special_{name}", compute, config, inputs, check=check, **steps)
