"""Binding of arguments: from a call to a value for every argument of a schema.

Modules in reading order: :mod:`~mindtorch_v2.binding.casts` (pybind11's conversions),
:mod:`~mindtorch_v2.binding.convert` (torch's, per schema type),
:mod:`~mindtorch_v2.binding.op_schema` (one schema), :mod:`~mindtorch_v2.binding.operators`
(operators by name, packets), :mod:`~mindtorch_v2.binding.values` (what kernels are called with).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from mindtorch_v2.binding.errors import SchemaMatchError
from mindtorch_v2.binding.op_schema import OpSchema
from mindtorch_v2.binding.operators import Call

__all__ = ["OpSchema", "SchemaMatchError", "bound"]


class Bindable(Protocol):
    """An operator or a packet of ``torch.ops``."""

    def __bind__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call: ...


def bound(
    op: Bindable, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[str, tuple[tuple[Any, ...], dict[str, Any]] | None]:
    """A call of ``op``, stopped before any kernel: the operator that takes the arguments, and
    what a kernel in Python would be called with (None for an operator of TorchScript alone,
    which the dispatcher does not know).  Raises what the call raises while it binds.
    """
    call = op.__bind__(args, kwargs)
    shown = call.python_arguments() if call.operator.in_dispatcher else None
    return call.operator.full_name, shown
