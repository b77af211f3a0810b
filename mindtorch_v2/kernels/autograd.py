"""Autograd and view keys, as far as no gradient is recorded: they pass a call on below them.

Mirrors what torch generates as ``VariableType`` and ``ADInplaceOrViewType``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.binding.inplace_or_view import VIEW_IS_BASE
from mindtorch_v2.binding.operators import Call, Operator
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import AUTOGRAD_KEYS, full_after, intersection, mask_of
from mindtorch_v2.dispatch.native import NONE, Native
from mindtorch_v2.kernels import rows
from mindtorch_v2.torch_dispatch import shallow_copy_and_detach

_AFTER_AUTOGRAD: Final = full_after(DispatchKey.AutogradOther)
"""``c10::after_autograd_keyset``."""
_AFTER_ADINPLACE_OR_VIEW: Final = full_after(DispatchKey.ADInplaceOrView)
"""``c10::after_ADInplaceOrView_keyset``."""
_AUTOGRAD_AND_VIEWS: Final = AUTOGRAD_KEYS | mask_of(DispatchKey.ADInplaceOrView)
"""``c10::autograd_dispatch_keyset_with_ADInplaceOrView``."""


def _variable_type(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    call = Call(operator, stack)
    return _with_written(call, _below(call, intersection(keyset, _AFTER_AUTOGRAD)))


def _adinplace_or_view(operator: Operator, keyset: int, /, *stack: Any) -> Any:
    """Counts the change of what is written to; RuntimeError for a view that is none."""
    call = Call(operator, stack)
    answer = _below(call, intersection(keyset, _AFTER_ADINPLACE_OR_VIEW))
    for argument, value in zip(operator.schema.arguments, stack, strict=True):
        if argument.alias_info is None:
            continue
        if argument.alias_info.is_write:
            _count_change(value)
        elif answer is value:
            raise RuntimeError(VIEW_IS_BASE)
    return _with_written(call, answer)


def _below(call: Call, keyset: int) -> Any:
    """With ``AutoDispatchBelowADInplaceOrView``: what a kernel calls is below these keys too."""
    with tls.guarded(tls.ExcludeDispatchKeyGuard, _AUTOGRAD_AND_VIEWS):
        return call.redispatch(keyset)


def _with_written(call: Call, answer: Any) -> Any:
    """Of what is written to, C++ answers the argument, whatever came back from below."""
    schema = call.operator.schema
    written = {
        name: value
        for argument, value in zip(schema.arguments, call.stack, strict=True)
        if argument.alias_info is not None and argument.alias_info.is_write
        for name in argument.alias_info.before
    }
    if not written:
        return answer
    names = [each.alias_info.before[0] if each.alias_info else "" for each in schema.returns]
    if len(names) == 1:
        return written.get(names[0], answer)
    return tuple(map(written.get, names, answer))


def _count_change(value: Any) -> None:
    for tensor in value if isinstance(value, (list, tuple)) else (value,):
        if tensor is not None:
            tensor._versions.bump()


_NOT_DIFFERENTIABLE: Final = ("aten::detach", "aten::_indices", "aten::_values")
"""Views of whose results a release makes copies: ``make_variable_non_differentiable_view``."""

if profile.active().modes["copies_detached"]:

    @rows.kernel(*_NOT_DIFFERENTIABLE, key="ADInplaceOrView", with_keyset=True)
    def _non_differentiable_view(operator: Operator, keyset: int, /, *stack: Any) -> Any:
        """C++ copies what came from below, and Python is asked for the copy."""
        answer = _adinplace_or_view(operator, keyset, *stack)
        seen = shallow_copy_and_detach(answer)
        return answer if seen is None else seen


_KERNELS: Final = {
    int(DispatchKey.Autograd): Native(_variable_type, with_keyset=True),
    int(DispatchKey.ADInplaceOrView): Native(_adinplace_or_view, with_keyset=True),
}

rows.DERIVED.append(lambda name, key: _KERNELS.get(key, NONE))
