"""What ``torch._C`` has of autograd: kinds of nodes, saved tensors, the backward that runs.

Mirrors ``torch/csrc/autograd/functions/init.cpp``, ``basic_ops.cpp`` and what ``init.cpp`` and
``Module.cpp`` bind of the engine.  Of the nodes that torch generates, none is here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Final

from mindtorch_v2.autograd import at, basic_ops, engine, grad_mode, saved_tensors_hooks
from mindtorch_v2.autograd.basic_ops import Error, ManualNode
from mindtorch_v2.autograd.function import FunctionBase
from mindtorch_v2.autograd.node import (
    Gradient,
    Node,
    PythonInputMetadata,
    any_requires_grad,
    current_node,
)
from mindtorch_v2.autograd.python_saved_variable import SavedTensor
from mindtorch_v2.autograd.variable import collect_next_edges, create_gradient_edge, tensor_data
from mindtorch_v2.dispatch import tls
from mindtorch_v2.tensor.made_in_c import MadeInC


def _wrap_outputs(
    inputs: Sequence[Any], outputs: Sequence[Any], make: Callable[[], Node]
) -> tuple[Any, ...]:
    """New tensors with a history, where one of those they came from has any."""
    if any_requires_grad(inputs):
        node = make()
        node._set_next_edges(collect_next_edges(inputs) if tls.is_grad_enabled() else [])
        for each in outputs:
            create_gradient_edge(each, node)
    return tuple(outputs)


class _Callable(metaclass=MadeInC):
    """An operation that is made, and then called with tensors."""

    def _apply(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        raise NotImplementedError

    def __call__(self, *inputs: Any) -> Any:
        outputs = self._apply(inputs)
        return outputs[0] if len(outputs) == 1 else outputs


class UndefinedGradBackward(ManualNode):
    """Answers no gradient, whatever it gets."""

    __slots__ = ()
    __module__ = "builtins"

    def _apply(self, grads: list[Gradient]) -> list[Gradient]:
        return [None] * len(grads)


class UndefinedGrad(_Callable):
    """The same tensors, to which no gradient comes."""

    __module__ = "builtins"

    def _apply(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        outputs = [None if each is None else tensor_data(at.call("clone", each)) for each in inputs]
        return _wrap_outputs(inputs, outputs, UndefinedGradBackward)


class DelayedError(_Callable):
    """The same tensors, whose backward raises."""

    __module__ = "builtins"

    def __init__(self, message: str, num_inputs: int) -> None:
        self._message, self._num_inputs = message, num_inputs

    def _apply(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(inputs) != self._num_inputs:
            raise TypeError(f"expected {self._num_inputs} arguments, got {len(inputs)} instead")
        outputs = [None if each is None else tensor_data(each) for each in inputs]
        return _wrap_outputs(inputs, outputs, lambda: Error(self._message))


def _module(name: str, **members: Any) -> ModuleType:
    made = ModuleType(f"mindtorch_v2._C.{name}")
    vars(made).update(members)
    return made


EXPORTS: Final[dict[str, Any]] = {
    "_functions": _module(
        "_functions",
        AccumulateGrad=basic_ops.AccumulateGrad,
        CopySlices=basic_ops.CopySlices,
        DelayedError=DelayedError,
        Error=Error,
        NotImplemented=basic_ops.Underivable,
        UndefinedGrad=UndefinedGrad,
        UndefinedGradBackward=UndefinedGradBackward,
    ),
    "_autograd": _module(
        "_autograd",
        SavedTensor=SavedTensor,
        _InputMetadata=PythonInputMetadata,
        **saved_tensors_hooks.BOUND,
    ),
    "_FunctionBase": FunctionBase,
    "_current_autograd_node": current_node,
    "_current_graph_task_id": engine.current_graph_task_id,
    "_is_multithreading_enabled": grad_mode.is_multithreading_enabled,
    "_set_grad_enabled": grad_mode._set_grad_enabled,
    "_will_engine_execute_node": engine.will_engine_execute_node,
}
