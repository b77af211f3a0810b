"""Kernels of torch's C++ that only pass a call on: each is run by what it does here.

Mirrors ``aten/src/ATen/core/PythonFallbackKernel.cpp``, the fallback of
``aten/src/ATen/core/VariableFallbackKernel.cpp``, and of what torch generates for autograd that
which remains where no argument requires a gradient.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from mindtorch_v2 import torch_dispatch
from mindtorch_v2.binding.python_kernel import returned
from mindtorch_v2.dispatch import mode_stack, tls
from mindtorch_v2.dispatch.calls import Target
from mindtorch_v2.dispatch.kernel import AMBIGUOUS_AUTOGRAD_OTHER, MISSING
from mindtorch_v2.dispatch.key import DispatchKey, key_name
from mindtorch_v2.dispatch.keyset import (
    AUTOGRAD_KEYS,
    difference,
    full_after,
    highest_priority_type_id,
    intersection,
    mask_of,
    table_key,
)
from mindtorch_v2.dispatch.operator_entry import OperatorEntry
from mindtorch_v2.messages import internal_assert, is_asserted
from mindtorch_v2.torch_function import Side

if TYPE_CHECKING:
    from mindtorch_v2.binding.operators import Call

Inner = Callable[["Call", int], Any]
"""Runs a call that has come to a kernel with a keyset."""


def kernel_of_torch(entry: OperatorEntry, target: Target) -> Inner | None:
    """What the C++ kernel of a target does; None if it is a kernel that computes something."""
    if entry.is_fallback(target.key):
        if mask_of(target.key) & AUTOGRAD_KEYS:
            return _below(_AFTER_AUTOGRAD)
        return _FALLBACKS.get(target.key)
    debug = target.kernel.debug
    if "/VariableType" in debug or "/ADInplaceOrViewType" in debug:  # by hand both are in one file
        is_view = target.key == DispatchKey.ADInplaceOrView
        return _adinplace_or_view if is_view else _variable_type
    return None


def _below(mask: int) -> Inner:
    """A kernel that passes the call on to the keys of a mask."""
    return lambda call, keyset: call.run_with(intersection(keyset, mask))


_AFTER_AUTOGRAD: Final = full_after(DispatchKey.AutogradOther)
"""``c10::after_autograd_keyset``."""
_AFTER_ADINPLACE_OR_VIEW: Final = full_after(DispatchKey.ADInplaceOrView)
"""``c10::after_ADInplaceOrView_keyset``."""


def _variable_type(call: Call, keyset: int) -> Any:
    """With ``AutoDispatchBelowADInplaceOrView``, to what is below autograd."""
    if any(getattr(value, "_requires_grad", False) for value in call.stack):
        raise NotImplementedError(
            f"mindtorch_v2 records no gradient of {call.operator.full_name} yet"
        )
    with tls.guarded(tls.ExcludeDispatchKeyGuard, _NO_AUTOGRAD):
        answer = call.run_with(intersection(keyset, _AFTER_AUTOGRAD))
    return _with_written(call, answer)


def _adinplace_or_view(call: Call, keyset: int) -> Any:
    """Counts the change of what is written to; RuntimeError for a view that is none."""
    with tls.guarded(tls.ExcludeDispatchKeyGuard, _NO_AUTOGRAD):
        answer = call.run_with(intersection(keyset, _AFTER_ADINPLACE_OR_VIEW))
    for argument, value in zip(call.operator.schema.arguments, call.stack, strict=True):
        if argument.alias_info is None:
            continue
        if argument.alias_info.is_write:
            _count_change(value)
        elif answer is value:
            raise RuntimeError(_VIEW_IS_BASE)
    return _with_written(call, answer)


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


_VIEW_IS_BASE: Final = (
    "View operation returned a tensor that is the same as the input base tensor.  This is no "
    "longer allowed; you must explicitly create a new tensor (e.g., using .detach()). As a user, "
    "you could have made a mistake implementing __torch_dispatch__ or a Python operator "
    "decomposition or meta registration; if that's not the case, please report a bug to PyTorch "
    "or the backend you are using."
)
_NO_AUTOGRAD: Final = AUTOGRAD_KEYS | mask_of(DispatchKey.ADInplaceOrView)
"""``c10::autograd_dispatch_keyset_with_ADInplaceOrView``."""


# --- Python -----------------------------------------------------------------------------------


class _OnEntry(threading.local):
    """``tls_on_entry``: both sets as they were where a call came in from Python."""

    sets: tuple[int, int] | None = None


_on_entry: Final = _OnEntry()


def _snapshot(call: Call, keyset: int) -> Any:
    """PythonTLSSnapshot: notes the thread's sets on the way to Python."""
    is_first = _on_entry.sets is None
    if is_first:
        raw = tls.local_dispatch_key_set()
        _on_entry.sets = raw.included, raw.excluded
    try:
        return call.run_with(intersection(keyset, full_after(DispatchKey.PythonTLSSnapshot)))
    finally:
        if is_first:
            _on_entry.sets = None


class RestoredSnapshotGuard:
    """``RestorePythonTLSSnapshot``: the sets as they were before the call, on close as now.

    RuntimeError outside of ``__torch_dispatch__``.
    """

    __slots__ = ("_force", "_sets")

    def __init__(self) -> None:
        if _on_entry.sets is None:
            raise RuntimeError(
                "Accessing torch dispatch state outside of '__torch_dispatch__' is not allowed."
            )
        self._sets = _on_entry.sets
        self._force = tls.ForceDispatchKeyGuard(*self._sets)
        _on_entry.sets = None

    def close(self) -> None:
        _on_entry.sets = self._sets
        self._force.close()


def _python(call: Call, keyset: int) -> Any:
    """Python: asks modes and tensors, with every key above excluded."""
    if _on_entry.sets is None and is_asserted("pythonFallback"):
        raise RuntimeError(internal_assert("tls_on_entry.has_value()", "pythonFallback"))
    with tls.guarded(tls.ExcludeDispatchKeyGuard, torch_dispatch.ABOVE_PYTHON):
        if not mode_stack.stack_len() and not torch_dispatch.has_python_tensor(call.stack):
            return _without_python(call, keyset)
        args, kwargs = call.python_arguments()
        function = torch_dispatch.api_function(call.operator)
        answer = torch_dispatch.dispatch(function, call.stack, args, kwargs)
        return returned(call.operator.schema, answer, "__torch_dispatch__")


def _without_python(call: Call, keyset: int) -> Any:
    """The key was included by hand, or by a mode that answers: to what is below it.

    Releases before the rule end in a SystemError of Python's.
    """
    raw = tls.local_dispatch_key_set()
    python = mask_of(DispatchKey.Python)
    with tls.guarded(tls.ForceDispatchKeyGuard, difference(raw.included, python), raw.excluded):
        return call.run_with(difference(keyset, python))


def _python_dispatcher(call: Call, keyset: int) -> Any:
    """PythonDispatcher: what the operator's Python object says of the next key.

    That is a kernel in Python, or else the one of the table; the keyset stays the whole one, so
    that what the kernel calls is seen too.  NotImplementedError if there is none.
    """
    if not tls.local_dispatch_key_set().python_dispatcher:
        condition = internal_assert("state", "pythonDispatcherFallback")
        raise RuntimeError(
            f"{condition}Hit PythonDispatcher dispatch key but PythonDispatcherTLS was not set"
        )
    left = difference(keyset, mask_of(DispatchKey.PythonDispatcher))
    key = table_key(highest_priority_type_id(left))
    function = torch_dispatch.api_function(call.operator)
    handler = _handler_in_python(function, key)
    if handler is not None:
        args, kwargs = call.python_arguments()
        with Side(in_cpp=False):
            answer = handler(*args, **kwargs)
        return returned(call.operator.schema, answer, "Python dispatcher")
    kernel = call.entry().table.get(key, MISSING)
    if kernel is MISSING:
        raise NotImplementedError(
            f"could not find kernel for {function} at dispatch key DispatchKey.{key_name(key)}"
        )
    if kernel is AMBIGUOUS_AUTOGRAD_OTHER:
        raise RuntimeError("ambiguous autogradother kernel")
    return call.run_at(Target(keyset, key, kernel))


def _handler_in_python(function: Any, key: int) -> Callable[..., Any] | None:
    """The kernel that ``py_impl`` gave an operator for a key, if any."""
    kernels = getattr(function, "py_kernels", {})
    return next((kernel for at, kernel in kernels.items() if int(at) == key), None)


_FALLBACKS: Final[Mapping[int, Inner]] = {
    DispatchKey.Python: _python,
    DispatchKey.PythonDispatcher: _python_dispatcher,
    DispatchKey.PythonTLSSnapshot: _snapshot,
    DispatchKey.PreDispatch: _below(full_after(DispatchKey.PreDispatch)),
}
"""Backend fallbacks by key; that of autograd is for many keys."""
