"""Kernels at Autograd and ADInplaceOrView that torch writes by hand.

Mirrors ``torch/csrc/autograd/VariableTypeManual.cpp``.  Forward mode is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from mindtorch_v2.autograd.at import TensorOptions
from mindtorch_v2.autograd.basic_ops import CopyBackwards
from mindtorch_v2.autograd.node import any_requires_grad
from mindtorch_v2.autograd.variable import (
    bump_version,
    check_inplace,
    collect_next_edges,
    rebase_history,
)
from mindtorch_v2.binding.operators import Call, Operator
from mindtorch_v2.binding.unboxed import Run, makes
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import AUTOGRAD_KEYS, intersection
from mindtorch_v2.kernels.elementwise.short_way import short_way_of
from mindtorch_v2.kernels.views import dual as dual_views
from mindtorch_v2.kernels.wrapping.inplace_or_view import (
    AFTER,
    as_detached_view,
    below,
    with_written,
)
from mindtorch_v2.kernels.wrapping.variable_type import AFTER_AUTOGRAD, unpack

Manual = Callable[..., Any]


def _below_autograd(operator: Operator, keyset: int, stack: tuple[Any, ...]) -> Any:
    call = Call(operator, stack)
    with tls.guarded(tls.ExcludeDispatchKeyGuard, AUTOGRAD_KEYS):
        answer = call.redispatch(intersection(keyset, AFTER_AUTOGRAD))
    return with_written(operator, stack, answer)


# --- at Autograd ----------------------------------------------------------------------------------


def _copy_(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    unpack(operator, stack)
    self, source = stack[0], stack[1]
    recorded = tls.is_grad_enabled() and any_requires_grad((self, source))
    recorded = recorded and self._is_differentiable()
    check_inplace(self, recorded)
    node = None
    if recorded:
        node = CopyBackwards()
        node._set_next_edges(collect_next_edges((self, source)))
        node.options = TensorOptions.of(source)
    _below_autograd(operator, keyset, stack)
    if node is not None:
        rebase_history((self,), node)
    return self


def _resize_(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    unpack(operator, stack)
    if stack[0].requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    _below_autograd(operator, keyset, stack)
    return stack[0]


def _detach(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    unpack(operator, stack)
    return _below_autograd(operator, keyset, stack)


@makes(_detach)
def _detaching(operator: Operator, keyset: int) -> Run:
    """The same, of plain tensors in one step."""
    after = intersection(keyset, AFTER_AUTOGRAD)
    run = partial(_detach, operator, keyset)
    short = short_way_of(operator.unboxed.found_below(after), after)
    return run if short is None or short.above is None else short.above(run, 1, None)


def _detach_(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    (self,) = stack
    if self is None:
        raise RuntimeError("cannot call get_autograd_meta() on undefined tensor")
    if self._is_view():
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using "
            "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as "
            "True, gradients are views of DDP buckets, and hence detach_() cannot be called on "
            "these gradients. To fix this error, please refer to the Optimizer.zero_grad() "
            "function in torch/optim/optimizer.py as the solution."
        )
    meta = self._materialize_autograd_meta()
    meta.requires_grad, meta.grad_fn, meta.output_nr = False, None, 0
    return self


# --- at ADInplaceOrView ---------------------------------------------------------------------------


def _count_copy(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    below(operator, keyset, stack)
    bump_version(stack[0])
    return stack[0]


def _count_resize(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    """A change if the sizes are others afterwards."""
    self, wanted = stack[0], stack[1]
    sizes = tuple(self._sizes)
    below(operator, keyset, stack)
    if sizes != tuple(getattr(wanted, "_sizes", wanted)):
        bump_version(self)
    return self


def _alias_without_history(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    return as_detached_view(stack[0], below(operator, keyset, stack))


@makes(_alias_without_history)
def _making_alias(operator: Operator, keyset: int) -> Run:
    """The same, with the short way of the kernel below for who stands above."""
    after = intersection(keyset, AFTER)
    run = partial(_alias_without_history, operator, keyset)
    short = short_way_of(operator.unboxed.found_below(after), after)
    if short is not None:
        run.short_way = short  # type: ignore[attr-defined]
    return run


_AUTOGRAD: Final[Mapping[str, Manual]] = {
    "aten::copy_": _copy_,
    "aten::resize_": _resize_,
    "aten::resize_as_": _resize_,
    "aten::detach": _detach,
    "aten::detach_": _detach_,
    "aten::_fw_primal": dual_views.fw_primal,
    "aten::_make_dual": dual_views.make_dual,
}
_INPLACE_OR_VIEW: Final[Mapping[str, Manual]] = {
    "aten::copy_": _count_copy,
    "aten::resize_": _count_resize,
    "aten::resize_as_": _count_resize,
    "aten::detach": _alias_without_history,
    "aten::_fw_primal": dual_views.alias_as_view,
    "aten::_make_dual": dual_views.alias_as_view,
}

MANUAL: Final[Mapping[int, Mapping[str, Manual]]] = {
    int(DispatchKey.Autograd): _AUTOGRAD,
    int(DispatchKey.ADInplaceOrView): _INPLACE_OR_VIEW,
}
"""By key and full name."""
