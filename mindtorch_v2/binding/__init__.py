"""Binding of arguments: from a call to a value for every argument of a schema.

Modules in reading order: :mod:`~mindtorch_v2.binding.casts` (pybind11's conversions),
:mod:`~mindtorch_v2.binding.convert` (torch's, per schema type),
:mod:`~mindtorch_v2.binding.op_schema` (one schema), :mod:`~mindtorch_v2.binding.operators`
(operators by name, packets), :mod:`~mindtorch_v2.binding.values` (what kernels are called with).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from mindtorch_v2.binding.errors import SchemaMatchError
from mindtorch_v2.binding.op_schema import OpSchema
from mindtorch_v2.binding.operators import Call
from mindtorch_v2.binding.stop import Stopped, stopping

__all__ = ["OpSchema", "SchemaMatchError", "bound", "stopped"]


class Bindable(Protocol):
    """An operator or a packet of ``torch.ops``."""

    def __bind__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call: ...


Shown = tuple[str, "tuple[tuple[Any, ...], dict[str, Any]] | None"]
"""An operator's name, and the arguments of a kernel in Python."""


def stopped(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[str, Any] | tuple[str, str, Any]:
    """A call of anything, stopped before the kernel of the first operator that it calls.

    ``("stopped", operator, arguments)`` as :func:`bound` answers, or ``("returned", value)`` if
    the call got by without an operator.  Raises what the call raises.
    """
    with stopping():
        try:
            return "returned", function(*args, **kwargs)
        except Stopped as stop:
            return "stopped", *_shown(stop.call)


def _shown(call: Call) -> Shown:
    shown = call.python_arguments() if call.operator.in_dispatcher else None
    return call.operator.full_name, shown


def bound(op: Bindable, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Shown:
    """A call of ``op``, stopped before any kernel: the operator that takes the arguments, and
    what a kernel in Python would be called with (None for an operator of TorchScript alone,
    which the dispatcher does not know).  Raises what the call raises while it binds.
    """
    return _shown(op.__bind__(args, kwargs))
