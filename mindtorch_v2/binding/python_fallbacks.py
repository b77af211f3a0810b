"""The fallbacks of the keys that lead to Python: Python, its snapshot, and PythonDispatcher.

Mirrors ``aten/src/ATen/core/PythonFallbackKernel.cpp`` and
``ConcretePyInterpreterVTable::python_dispatcher`` in ``torch/csrc/PyInterpreter.cpp``.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

from mindtorch_v2 import torch_dispatch
from mindtorch_v2.binding.api_functions import api_function
from mindtorch_v2.binding.python_kernel import returned
from mindtorch_v2.dispatch import mode_stack, tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import (
    difference,
    full_after,
    highest_priority_type_id,
    intersection,
    mask_of,
)
from mindtorch_v2.messages import internal_assert, is_asserted
from mindtorch_v2.pybind.cast import caster_for

if TYPE_CHECKING:
    from mindtorch_v2.binding.operators import Call


class _OnEntry(threading.local):
    """``tls_on_entry``: both sets as they were where a call came in from Python."""

    sets: tuple[int, int] | None = None


_on_entry: Final = _OnEntry()


def snapshot(call: Call, keyset: int) -> Any:
    """PythonTLSSnapshot: notes the thread's sets on the way to Python."""
    is_first = _on_entry.sets is None
    if is_first:
        raw = tls.local_dispatch_key_set()
        _on_entry.sets = raw.included, raw.excluded
    try:
        return call.redispatch(intersection(keyset, full_after(DispatchKey.PythonTLSSnapshot)))
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


def python(call: Call, keyset: int) -> Any:
    """Python: asks modes and tensors, with every key above excluded."""
    if _on_entry.sets is None and is_asserted("pythonFallback"):
        raise RuntimeError(internal_assert("tls_on_entry.has_value()", "pythonFallback"))
    with tls.guarded(tls.ExcludeDispatchKeyGuard, torch_dispatch.ABOVE_PYTHON):
        if not mode_stack.stack_len() and not torch_dispatch.has_python_tensor(call.stack):
            return _without_python(call, keyset)
        args, kwargs = call.python_arguments()
        function = api_function(call.operator)
        answer = torch_dispatch.dispatch(function, call.stack, args, kwargs)
        return returned(call.operator, answer, "__torch_dispatch__")


def _without_python(call: Call, keyset: int) -> Any:
    """The key was included by hand, or by a mode that answers: to what is below it.

    Releases before the rule end in a SystemError of Python's.
    """
    raw = tls.local_dispatch_key_set()
    key = mask_of(DispatchKey.Python)
    with tls.guarded(tls.ForceDispatchKeyGuard, difference(raw.included, key), raw.excluded):
        return call.redispatch(difference(keyset, key))


def python_dispatcher(call: Call, keyset: int) -> Any:
    """PythonDispatcher: what the operator's Python object says of the next key.

    That is a kernel in Python, or else the key at which C++ has one.
    """
    if not tls.local_dispatch_key_set().python_dispatcher:
        condition = internal_assert("state", "pythonDispatcherFallback")
        raise RuntimeError(
            f"{condition}Hit PythonDispatcher dispatch key but PythonDispatcherTLS was not set"
        )
    left = difference(keyset, mask_of(DispatchKey.PythonDispatcher))
    cast = caster_for("torch._C.DispatchKey")
    assert cast is not None
    key = cast(highest_priority_type_id(left))
    function = api_function(call.operator)
    handler = function._dispatch_cache.get(key)
    if handler is None:
        handler = function._get_dispatch(key)
    if isinstance(handler, type(key)):
        return call.run_at_key(handler._value)
    args, kwargs = call.python_arguments()
    return returned(call.operator, handler(*args, **kwargs), "Python dispatcher")
