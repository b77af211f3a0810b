"""Kernels at Autograd and ADInplaceOrView for tensors that carry a tangent.

Mirrors ``_fw_primal`` and ``_make_dual`` in ``torch/csrc/autograd/VariableTypeManual.cpp``, and
``AutogradMeta::set_fw_grad`` in ``autograd_meta.cpp`` as far as it refuses: no tensor has a
tangent yet.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.autograd import forward_ad
from mindtorch_v2.autograd.basic_ops import Identity
from mindtorch_v2.autograd.node import any_requires_grad
from mindtorch_v2.autograd.variable import as_view, collect_next_edges, set_history
from mindtorch_v2.binding.operators import Call, Operator
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.keyset import AUTOGRAD_KEYS, BELOW_INPLACE_OR_VIEW, intersection
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.wrapping.inplace_or_view import creation_meta
from mindtorch_v2.kernels.wrapping.variable_type import AFTER_AUTOGRAD, unpack
from mindtorch_v2.messages import internal_assert
from mindtorch_v2.tensor.tensor import Tensor

_ALIAS: Final = OperatorHandle("aten::alias")


def _below(operator: Operator, keyset: int, stack: tuple[Any, ...]) -> Any:
    with tls.guarded(tls.ExcludeDispatchKeyGuard, AUTOGRAD_KEYS):
        return Call(operator, stack).redispatch(intersection(keyset, AFTER_AUTOGRAD))


def fw_primal(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    """At Autograd."""
    unpack(operator, stack)
    self = stack[0]
    node = None
    if tls.is_grad_enabled() and any_requires_grad((self,)):
        node = Identity()
        node._set_next_edges(collect_next_edges((self,)))
    result = _below(operator, keyset, stack)
    if node is not None:
        set_history((result,), node)
    return result


def make_dual(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    """At Autograd; what it answers has no tangent, so it answers nothing."""
    unpack(operator, stack)
    result, tangent, level = _below(operator, keyset, stack), stack[1], stack[2]
    if level != 0:
        raise RuntimeError("Invalid level given to _make_dual")
    _set_fw_grad(result, tangent)


def _set_fw_grad(self: Tensor, tangent: Tensor) -> None:
    if not (_is_differentiable(tangent) and _is_differentiable(self)):
        condition = (
            "(new_grad_base.is_floating_point() || new_grad_base.is_complex()) && "
            "(self_base.is_floating_point() || self_base.is_complex())"
        )
        raise RuntimeError(
            f"{internal_assert(condition, 'AutogradMeta.set_fw_grad')}Expected both tensor and "
            "its forward grad to be floating point or complex"
        )
    if tuple(self._sizes) != tuple(tangent._sizes):
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(self._sizes)} while the given "
            f"forward gradient is of size {list(tangent._sizes)}."
        )
    if forward_ad.LEVELS:
        raise NotImplementedError("mindtorch_v2 has no tensors with tangents yet")
    raise RuntimeError(
        "Trying to access a forward AD level with an invalid index. This index was either not "
        "created or is already deleted."
    )


def _is_differentiable(tensor: Tensor) -> bool:
    return tensor._dtype.is_floating_point or tensor._dtype.is_complex


def alias_as_view(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    """At ADInplaceOrView: the kernels of both make views of an alias, and call nothing below."""
    self = stack[0]
    alias = tls.call_excluding(BELOW_INPLACE_OR_VIEW, _ALIAS, self)
    return as_view(self, alias, creation_meta=creation_meta())
