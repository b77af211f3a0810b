"""The fallbacks of the keys that lead to Python: Python, its snapshot, and PythonDispatcher.

Mirrors ``aten/src/ATen/core/PythonFallbackKernel.cpp`` and
``ConcretePyInterpreterVTable::python_dispatcher`` in ``torch/csrc/PyInterpreter.cpp``.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from mindtorch_v2 import torch_dispatch
from mindtorch_v2.binding.api_functions import api_function
from mindtorch_v2.binding.python_kernel import answers_tensor, returned
from mindtorch_v2.binding.unboxed import PLAIN, Run, makes
from mindtorch_v2.binding.written import Factory, factory_of_lines, names
from mindtorch_v2.dispatch import mode_stack, tls
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import (
    difference,
    full_after,
    highest_priority_type_id,
    intersection,
    mask_of,
)
from mindtorch_v2.dispatch.observers import OBSERVERS
from mindtorch_v2.dispatch.tls import thread_local
from mindtorch_v2.messages import internal_assert, is_asserted
from mindtorch_v2.pybind.cast import caster_for
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import ask_users_mode

if TYPE_CHECKING:
    from mindtorch_v2.binding.operators import Call, Operator

_BELOW_SNAPSHOT: Final = full_after(DispatchKey.PythonTLSSnapshot)


def snapshot(call: Call, keyset: int) -> Any:
    """PythonTLSSnapshot: notes the thread's sets on the way to Python."""
    raw = thread_local.raw
    is_first = raw.on_entry is None
    if is_first:
        raw.on_entry = raw.sets
    try:
        return call.redispatch(intersection(keyset, _BELOW_SNAPSHOT))
    finally:
        if is_first:
            raw.on_entry = None


_SCOPE: Final = {
    "thread_local": thread_local,
    "OBSERVERS": OBSERVERS,
    "Tensor": Tensor,
    "PLAIN": PLAIN,
    "ask_users_mode": ask_users_mode,
}


@makes(snapshot)
def _noting(operator: Operator, keyset: int) -> Run:
    """The same for calls that nobody observes."""
    below = operator.unboxed.found_below(intersection(keyset, _BELOW_SNAPSHOT))

    def any_way(*stack: Any) -> Any:
        return snapshot(operator.call(stack), keyset)

    return _noting_first(len(operator.schema.arguments))(any_way, below)


@cache
def _noting_first(count: int) -> Factory:
    """Makes what notes the sets, if they are not noted yet, and calls on."""
    values = names(count)
    lines = (
        "raw = thread_local.raw",
        f"if OBSERVERS.count or raw.on_entry is not None: return any_way({values})",
        "raw.on_entry = raw.sets",
        f"try: return below({values})",
        "finally: raw.on_entry = None",
    )
    return factory_of_lines("any_way, below", values, lines, __name__, _SCOPE)


class RestoredSnapshotGuard:
    """``RestorePythonTLSSnapshot``: the sets as they were before the call, on close as now.

    RuntimeError outside of ``__torch_dispatch__``.
    """

    __slots__ = ("_now", "_on_entry")

    def __init__(self) -> None:
        raw = thread_local.raw
        if raw.on_entry is None:
            raise RuntimeError(
                "Accessing torch dispatch state outside of '__torch_dispatch__' is not allowed."
            )
        self._on_entry, self._now = raw.on_entry, raw.sets
        raw.watch()
        raw.sets, raw.on_entry = raw.on_entry, None

    def close(self) -> None:
        raw = thread_local.raw
        raw.watch()
        raw.on_entry, raw.sets = self._on_entry, self._now


def python(call: Call, keyset: int) -> Any:
    """Python: asks modes and tensors, with every key above excluded."""
    if thread_local.raw.on_entry is None and is_asserted("pythonFallback"):
        raise RuntimeError(internal_assert("tls_on_entry.has_value()", "pythonFallback"))
    with tls.guarded(tls.ExcludeDispatchKeyGuard, torch_dispatch.ABOVE_PYTHON):
        if not mode_stack.stack_len() and not torch_dispatch.has_python_tensor(call.stack):
            return _without_python(call, keyset)
        args, kwargs = call.python_arguments()
        function = api_function(call.operator)
        answer = torch_dispatch.dispatch(function, call.stack, args, kwargs)
        return returned(call.operator, answer, "__torch_dispatch__")


@makes(python)
def _asking_modes(operator: Operator, keyset: int) -> Run:
    """The same for calls that nobody observes, of values that override nothing: the topmost mode
    of a user is asked."""

    def any_way(*stack: Any) -> Any:
        return python(operator.call(stack), keyset)

    def answered(answer: Any) -> Any:
        return returned(operator, answer, "__torch_dispatch__")

    arguments = operator.unboxed.python_arguments
    make = _asking(len(operator.schema.arguments), arguments.are_the_stack)
    function = api_function(operator)  # which C++ looks up once as well
    usual = Tensor if answers_tensor(operator) else None  # a type that no answer has
    return make(any_way, function, arguments, usual, answered)


@cache
def _asking(count: int, are_the_stack: bool) -> Factory:
    """Makes what asks a mode."""
    values = names(count)
    stack = f"({values},)" if count else "()"
    checks = "".join(
        f" or type({name}) is not Tensor and type({name}) not in PLAIN"
        for name in values.split(", ")
        if count
    )
    is_unseen = "raw.on_entry is None or not raw.modes.users or raw.sets.excludes_python"
    given = f"{stack}, {{}}" if are_the_stack else f"*arguments({stack})"
    lines = (
        "raw = thread_local.raw",
        f"if OBSERVERS.count or {is_unseen}{checks}: return any_way({values})",
        f"answer = ask_users_mode(raw, function, {given})",
        "return answer if type(answer) is usual else answered(answer)",
    )
    needs = "any_way, function, arguments, usual, answered"
    return factory_of_lines(needs, values, lines, __name__, _SCOPE)


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
