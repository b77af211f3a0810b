"""The kernel that a custom operator may have at ADInplaceOrView: its views know their base.

Mirrors ``autogradNotImplementedInplaceOrViewFallbackImpl`` of
``torch/csrc/autograd/autograd_not_implemented_fallback.cpp``.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any, Final

from mindtorch_v2.binding.operators import Call, Operator
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.kernel import Kernel
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import full_after, intersection, mask_of
from mindtorch_v2.dispatch.tls import ExcludeDispatchKeyGuard
from mindtorch_v2.schema.function_schema import Argument
from mindtorch_v2.tensor.autograd_meta import CreationMeta
from mindtorch_v2.tensor.tensor import Tensor

_BELOW: Final = full_after(DispatchKey.ADInplaceOrView)
_KEY: Final = mask_of(DispatchKey.ADInplaceOrView)


def inplace_or_view_kernel() -> Kernel:
    """The kernel, as it is registered for one operator."""
    return Kernel(
        _inplace_or_view,
        "",
        with_keyset=True,
        origin="autogradNotImplementedInplaceOrViewFallbackImpl",
        is_native=True,
    )


def _inplace_or_view(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    schema = operator.schema
    base = _viewed(operator, stack)
    with closing(ExcludeDispatchKeyGuard(_KEY)):
        result = Call(operator, stack).redispatch(intersection(keyset, _BELOW))
    results = result if len(schema.returns) > 1 else (result,)
    for returned, value in zip(schema.returns, results, strict=False):
        if _is_written(returned):
            value._versions.bump()
    if base is None:
        return result
    view, *others = results
    made = [_as_view(base, each) for each in view] if isinstance(view, list) else view
    if isinstance(view, Tensor):
        made = _as_view(base, view)
    return (made, *others) if others else made


def _viewed(operator: Operator, stack: tuple[Any, ...]) -> Tensor | None:
    """The input that the first output is a view of, if it is; RuntimeError for other views."""
    schema = operator.schema
    outputs = [at for at, each in enumerate(schema.returns) if _is_viewed(each)]
    inputs = [at for at, each in enumerate(schema.arguments) if _is_viewed(each)]
    if len(outputs) > 1:
        raise RuntimeError(
            "Fallback ADInplaceOrView kernel expects only a single output in the operator schema "
            "to have a non-write alias annotation (i.e., 'Tensor(a)'). Non-composite functions "
            "where multiple outputs are aliased with inputs aren't supported.Please rewrite your "
            "function as a composite function."
        )
    if len(inputs) > 1:
        raise RuntimeError(
            "Fallback ADInplaceOrView kernel expects only a single input in the operator schema "
            "to have a non-write alias annotation (i.e., 'Tensor(a)'). Non-composite functions "
            "where multiple inputs are aliased with outputs aren't supported. Please rewrite your "
            "function as a composite function."
        )
    if (inputs, outputs) not in (([], []), ([0], [0])):
        raise RuntimeError(
            "Fallback ADInplaceOrView kernel can only create view relationships between the first "
            "input and the first output (the output can be a vector of tensors). Please change "
            "the order of your operator's parameters so that this is the case."
        )
    return stack[0] if inputs else None


def _is_viewed(argument: Argument) -> bool:
    return argument.alias_info is not None and not argument.alias_info.is_write


def _is_written(argument: Argument) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write


def _as_view(base: Tensor, value: Tensor) -> Tensor:
    """A tensor of the same elements that is a view of ``base``; RuntimeError for itself."""
    from mindtorch_v2.autograd.variable import VIEW_IS_BASE, as_view  # stands above the binding

    if value is base:
        raise RuntimeError(VIEW_IS_BASE)
    if tls.is_inference_mode_enabled():
        made = CreationMeta.INFERENCE_MODE
    else:
        made = CreationMeta.DEFAULT if tls.is_grad_enabled() else CreationMeta.NO_GRAD_MODE
    return as_view(base, value._alias(), creation_meta=made)
