"""How cases see binding: a call that is stopped where its kernel would begin.

``bound(xp.ops.aten.add.Tensor, x, "y")`` binds as ``xp.ops.aten.add.Tensor(x, "y")`` does and
raises what that raises; where the call would go on to a kernel, it answers ``("bound", operator,
arguments, keyword arguments)`` instead, arguments by their repr.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def bound(op: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """A call of an operator or packet of ``xp.ops``, stopped before any kernel.

    In torch an operator of the dispatcher is really called, with the PythonDispatcher key
    included, which comes before all others; the handler that it asks for raises, and so tells
    with which arguments the call got there.  Operators of TorchScript alone do not pass the
    dispatcher: torch's own schema check binds them, which does not show the values.  A packet is
    resolved before it is called, since one of its overloads may be such an operator.

    The subject has ``<package>.binding.bound`` for it, a function of operator, args and kwargs.
    """
    package = type(op).__module__.partition(".")[0]
    if package == "torch":
        name, shown = _bound_in_torch(op, args, kwargs)
    else:
        name, shown = import_module(f"{package}.binding").bound(op, args, kwargs)
    if shown is None:
        return ("bound", name)
    positional, keywords = shown
    return ("bound", name, [*map(repr, positional)], {k: repr(v) for k, v in keywords.items()})


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
    with _stopping(op):
        guard = _C._EnablePythonDispatcher()
        try:
            op(*args, **kwargs)
        except _StoppedError as stopped:
            return name, stopped.arguments
        finally:
            del guard
    raise RuntimeError(f"{name} was not stopped: a bug of conformance.bound")


class _StoppedError(BaseException):
    """Where a kernel would begin.  No Exception, so that nothing on the way catches it."""

    def __init__(self, arguments: Arguments) -> None:
        self.arguments = arguments


def _is_dispatched(op: Any) -> bool:
    try:
        return op._handle is not None
    except RuntimeError:
        return False


@contextmanager
def _stopping(op: Any) -> Iterator[None]:
    """Have the Python dispatcher stop ``op``, and let through what conversions call."""
    from torch import _C
    from torch._ops import OpOverload

    def get_dispatch(self: Any, key: Any) -> Any:
        return stop if self is op else partial(run, self)

    def stop(*args: Any, **kwargs: Any) -> None:
        raise _StoppedError((args, kwargs))

    def run(other: Any, *args: Any, **kwargs: Any) -> Any:
        with _C._DisablePythonDispatcher():
            return other(*args, **kwargs)

    original = OpOverload._get_dispatch
    OpOverload._get_dispatch = get_dispatch
    try:
        yield
    finally:
        OpOverload._get_dispatch = original
