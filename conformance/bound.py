"""How cases see binding: a call that is stopped where its kernel would begin.

``bound(xp.ops.aten.add.Tensor, x, "y")`` binds as ``xp.ops.aten.add.Tensor(x, "y")`` does and
raises what that raises; where the call would go on to a kernel, it answers ``("bound", operator,
arguments, keyword arguments)`` instead, arguments by their repr.

Any callable will do: ``bound(xp.add, x, 2)``, ``bound(x.view, 3)``, ``bound(lambda: x + 2)``.  It
runs up to the first operator that it calls; one that calls none answers what it returns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from types import FrameType, ModuleType
from typing import Any, Final

Arguments = tuple[tuple[Any, ...], dict[str, Any]]

OPERATORS: Final = frozenset(("OpOverload", "TorchBindOpOverload", "OpOverloadPacket"))
"""Classes of what ``xp.ops`` holds."""

CONVERSIONS: Final = frozenset(("aten::item", "aten::_local_scalar_dense"))
"""What converting an argument calls: a tensor without dimensions where a number is wanted."""

PRINTERS: Final = frozenset(("__repr__", "__str__"))
"""Methods of torch's classes that print."""


def bound(xp: ModuleType, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """A call of ``function``, stopped before any kernel.

    In torch an operator of the dispatcher is really called, with the PythonDispatcher key
    included, which comes before all others; the handler that it asks for raises, and so tells
    with which arguments the call got there.  Operators of TorchScript alone do not pass the
    dispatcher: torch's own schema check binds them, which does not show the values.  A packet is
    resolved before it is called, since one of its overloads may be such an operator.

    The subject has ``<package>.binding.bound`` for operators and packets of ``xp.ops``, and
    ``<package>.binding.stopped`` for every other callable; both are given args and kwargs.
    """
    package = xp.__name__
    if type(function).__name__ not in OPERATORS:
        stopped = _stopped_in_torch if package == "torch" else _binding(package).stopped
        how, *answer = stopped(function, args, kwargs)
        if how == "returned":
            return answer[0]
        name, shown = answer
    elif package == "torch":
        name, shown = _bound_in_torch(function, args, kwargs)
    else:
        name, shown = _binding(package).bound(function, args, kwargs)
    if shown is None:
        return ("bound", name)
    positional, keywords = shown
    return ("bound", name, [*map(repr, positional)], {k: repr(v) for k, v in keywords.items()})


def _binding(package: str) -> Any:
    return import_module(f"{package}.binding")


def _stopped_in_torch(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    try:
        with _stopping(lambda op: op.name() not in CONVERSIONS):
            return ("returned", function(*args, **kwargs))
    except _StoppedError as stopped:
        return ("stopped", stopped.name, stopped.arguments)


def _bound_in_torch(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[str, Arguments | None]:
    from torch import _C  # only a worker that runs torch's side imports it
    from torch._ops import OpOverloadPacket

    called = op
    try:
        if isinstance(op, OpOverloadPacket):
            op = getattr(op, _C._jit_resolve_packet(op._qualified_op_name, *args, **kwargs))
        elif not _is_dispatched(op):
            _C._check_schema_allow_fake_script_object(op._schema, *args, **kwargs)
    except TypeError:  # pybind11's, of the function called here: the call has its own
        called(*args, **kwargs)
    name = op.name()
    if not _is_dispatched(op):
        return name, None
    try:
        with _stopping(lambda other: other is op):
            op(*args, **kwargs)
    except _StoppedError as stopped:
        return name, stopped.arguments
    raise RuntimeError(f"{name} was not stopped: a bug of conformance.bound")


class _StoppedError(BaseException):
    """Where a kernel would begin.  No Exception, so that nothing on the way catches it."""

    def __init__(self, name: str, arguments: Arguments) -> None:
        self.name = name
        self.arguments = arguments


def _is_dispatched(op: Any) -> bool:
    try:
        return op._handle is not None
    except RuntimeError:
        return False


def _is_printing() -> bool:
    """Whether torch prints a tensor: messages show arguments, and their repr calls operators."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if frame.f_code.co_name in PRINTERS and module.startswith("torch."):
            return True
        frame = frame.f_back
    return False


@contextmanager
def _stopping(is_last: Callable[[Any], bool]) -> Iterator[None]:
    """Have the Python dispatcher stop at the first operator that is the last, and run others."""
    from torch import _C
    from torch._ops import OpOverload

    def get_dispatch(self: Any, key: Any) -> Any:
        return partial(stop if is_last(self) and not _is_printing() else run, self)

    def stop(op: Any, /, *args: Any, **kwargs: Any) -> None:
        raise _StoppedError(op.name(), (args, kwargs))

    def run(op: Any, /, *args: Any, **kwargs: Any) -> Any:
        # As C++ calls it: nothing in Python is asked, subclasses of tensors neither.
        with _C._DisablePythonDispatcher(), _C.DisableTorchFunctionSubclass():
            return op(*args, **kwargs)

    original = OpOverload._get_dispatch
    OpOverload._get_dispatch = get_dispatch
    guard = _C._EnablePythonDispatcher()
    try:
        yield
    finally:
        del guard
        OpOverload._get_dispatch = original
