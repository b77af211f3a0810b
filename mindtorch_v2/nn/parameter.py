"""``Parameter``: a tensor that a module learns.

Mirrors ``torch/nn/parameter.py``.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from mindtorch_v2 import _utils
from mindtorch_v2.binding.python.bindings import FUNCTIONS
from mindtorch_v2.tensor.base import _TensorMeta
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_function import disabled

__all__ = ["Buffer", "Parameter"]


class _ParameterMeta(_TensorMeta):
    """Lets a tensor of another class be a parameter: one that has ``_is_param``."""

    def __instancecheck__(self, instance: Any) -> bool:
        is_asked = self is Parameter and isinstance(instance, Tensor)
        is_marked = is_asked and getattr(instance, "_is_param", False)
        return is_marked or super().__instancecheck__(instance)


class _BufferMeta(_TensorMeta):
    """Has every tensor with ``_is_buffer`` be a buffer."""

    def __instancecheck__(self, instance: Any) -> bool:
        is_asked = self is Buffer and isinstance(instance, Tensor)
        is_marked = is_asked and getattr(instance, "_is_buffer", False)
        return is_marked or super().__instancecheck__(instance)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that becomes one of a module's parameters when the module gets it as attribute.

    It requires a gradient unless ``requires_grad`` says otherwise, in ``no_grad`` mode as well.
    A tensor of another class stays one of that class; RuntimeError if its ``detach`` answers none.
    """

    __torch_function__ = disabled

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        given = FUNCTIONS["torch"]["empty"](0) if data is None else data
        made: Any
        if type(given) in (Tensor, Parameter):
            made = Tensor._make_subclass(cls, given, requires_grad)  # type: ignore[attr-defined]
        else:
            made = _of_other_class(given, requires_grad)
        parameter: Parameter = made
        return parameter

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"

    def __reduce_ex__(self, proto: Any) -> Any:
        state = _utils._get_obj_state(self)
        parts: tuple[Any, ...] = (self.data, self.requires_grad, OrderedDict())
        if not state:
            return _utils._rebuild_parameter, parts
        return _utils._rebuild_parameter_with_state, (*parts, state)

    def __deepcopy__(self, memo: dict[Any, Any]) -> Any:
        """Without the gradient."""
        if id(self) not in memo:
            data: Any = self.data
            copied = data.clone(memory_format=MEMORY_FORMATS["preserve_format"])
            memo[id(self)] = type(self)(copied, self.requires_grad)
        return memo[id(self)]


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that becomes one of a module's buffers when the module gets it as attribute.

    ``persistent`` says whether it belongs to the module's state.  It stays one of its own class.
    """

    __torch_function__ = disabled

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Buffer:
        given: Any = FUNCTIONS["torch"]["empty"](0) if data is None else data
        made = given.detach().requires_grad_(given.requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        buffer: Buffer = made
        return buffer


def _of_other_class(given: Any, requires_grad: bool) -> Any:
    """Marked as a parameter, and not an instance of that class."""
    made = given.detach().requires_grad_(requires_grad)
    if type(made) is not type(given):
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {type(given).__name__} requires that "
            f"detach() returns an instance of the same type, but return type {type(made).__name__} "
            "was found instead. To use the type as a Parameter, please correct the detach() "
            "semantics defined by its __torch_dispatch__() implementation."
        )
    made._is_param = True
    return made
