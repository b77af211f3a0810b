"""What is looked at on meta of optimizers' steps and of gradients that are scaled back.

Mirrors ``torch/_meta_registrations.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."
_EMPTY_LIKE: Final = OperatorHandle("aten::empty_like")

Tensors = Sequence[Tensor]


@body(_META + "meta__fused_adam_")
def fused_adam_(self: Tensors, *lists: Tensors, **options: Any) -> None:
    """Lists that are lists, which they all are."""


@body(_META + "meta__fused_adam")
def fused_adam(
    self: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    max_exp_avg_sqs: Tensors,
    state_steps: Tensors,
    **options: Any,
) -> tuple[list[Any], ...]:
    written = (self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs)
    return tuple([_EMPTY_LIKE(each) for each in tensors] for tensors in written)


@body(_META + "_amp_foreach_non_finite_check_and_unscale_")
def non_finite_check_and_unscale_(self: Tensors, found_inf: Tensor, inv_scale: Tensor) -> None:
    named = {"found_inf": found_inf, "inv_scale": inv_scale}
    for name, tensor in named.items():
        if numel(tensor._sizes) != 1:
            raise RuntimeError(f"{name} must be a 1-element tensor.")
    for name, tensor in named.items():
        if not tensor._dtype.is_floating_point:
            raise RuntimeError(f"{name} must be a float tensor.")
