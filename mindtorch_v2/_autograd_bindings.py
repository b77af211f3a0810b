"""What ``torch._C`` has of autograd: kinds of nodes, saved tensors, the backward that runs.

Mirrors ``torch/csrc/autograd/functions/init.cpp``, ``basic_ops.cpp`` and what ``init.cpp`` and
``Module.cpp`` bind of the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.autograd import at, basic_ops, engine, grad_mode, saved_tensors_hooks
from mindtorch_v2.autograd.basic_ops import Error, ManualNode
from mindtorch_v2.autograd.function import FunctionBase
from mindtorch_v2.autograd.generated import node_class
from mindtorch_v2.autograd.node import (
    Gradient,
    Node,
    PythonInputMetadata,
    any_requires_grad,
    current_node,
)
from mindtorch_v2.autograd.python_saved_variable import SavedTensor
from mindtorch_v2.autograd.variable import collect_next_edges, create_gradient_edge, tensor_data
from mindtorch_v2.binding.python.function import module_function
from mindtorch_v2.binding.python.manual import value
from mindtorch_v2.binding.python.parser import ArgParser
from mindtorch_v2.call_site import hands_over_keywords
from mindtorch_v2.dispatch import tls
from mindtorch_v2.torch_function import handle_torch_function, is_mode_enabled

_PACKAGE: Final = __name__.partition(".")[0]


def _wrap_outputs(
    inputs: Sequence[Any], outputs: Sequence[Any], make: Callable[[], Node]
) -> list[Gradient]:
    """New tensors with a history, where one of those they came from has any."""
    if any_requires_grad(inputs):
        node = make()
        node._set_next_edges(collect_next_edges(inputs) if tls.is_grad_enabled() else [])
        for each in outputs:
            create_gradient_edge(each, node)
    return list(outputs)


class UndefinedGradBackward(ManualNode):
    """Answers no gradient, whatever it gets."""

    __slots__ = ()
    __module__ = "builtins"

    def _apply(self, grads: list[Gradient]) -> list[Gradient]:
        return [None] * len(grads)


class _Applied(ManualNode):
    """A node that a program makes, and calls with as many tensors as it takes."""

    __slots__ = ()
    __module__ = "builtins"

    def __init__(self, inputs: int) -> None:
        super().__init__()
        for _ in range(inputs):
            self._add_input_metadata(None)


class UndefinedGrad(_Applied):
    """The same tensor, to which no gradient comes."""

    __slots__ = ()
    __module__ = "builtins"

    def __init__(self, *args: Any) -> None:
        if args:
            raise RuntimeError(f"Requires zero arguments, got {len(args)}")
        super().__init__(1)

    def _apply(self, inputs: list[Gradient]) -> list[Gradient]:
        outputs = [None if each is None else tensor_data(at.call("clone", each)) for each in inputs]
        return _wrap_outputs(inputs, outputs, UndefinedGradBackward)


class DelayedError(_Applied):
    """The same tensors, whose backward raises."""

    __slots__ = ("_message",)
    __module__ = "builtins"

    def __init__(self, *args: Any) -> None:
        if len(args) != 2:
            raise RuntimeError(f"Requires two arguments, got {len(args)}")
        self._message, inputs = args
        super().__init__(inputs)

    def _apply(self, inputs: list[Gradient]) -> list[Gradient]:
        outputs = [None if each is None else tensor_data(each) for each in inputs]
        return _wrap_outputs(inputs, outputs, lambda: Error(self._message))


def _class_of_generated(name: str) -> type[Node]:
    """The class of a node that torch's code generator writes."""
    facts = profile.active().derivatives
    if name not in facts["nodes"] or name in facts["without_class"]:
        raise AttributeError(f"module 'torch._C._functions' has no attribute '{name}'")
    return node_class(name)


def _module(name: str, **members: Any) -> ModuleType:
    made = ModuleType(f"mindtorch_v2._C.{name}")
    vars(made).update(members)
    return made


def _switch(name: str, set_: Callable[[bool], None]) -> Any:
    """A function that sets a switch of the thread, which a mode that overrides functions sees."""

    @cache
    def parser() -> ArgParser:  # imports parse no signature
        return ArgParser([f"{name}(bool enabled)"])

    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and type(args[0]) is bool and not kwargs and not is_mode_enabled():
            return set_(args[0])
        enabled = value(parser().parse(None, args, kwargs), "enabled")
        if is_mode_enabled():
            function = _FUNCTIONS[f"_{name}"]
            keywords = kwargs if kwargs or hands_over_keywords(_PACKAGE) else None
            return handle_torch_function(function, f"torch._C._{name}", [], args, keywords)
        return set_(enabled)

    return module_function(f"_{name}", call)


def _set_multithreading(enabled: bool) -> None:
    tls.thread_local.raw.multithreading = enabled


_FUNCTIONS: Final[dict[str, Any]] = {
    **{
        name: module_function(name, call, count)
        for name, call, count in (
            ("_current_autograd_node", current_node, 0),
            (
                "_current_graph_task_execution_order",
                engine.current_graph_task_execution_order,
                0,
            ),
            ("_current_graph_task_id", engine.current_graph_task_id, 0),
            ("_is_multithreading_enabled", grad_mode.is_multithreading_enabled, 0),
            ("_will_engine_execute_node", engine.will_engine_execute_node, 1),
        )
    },
    "_set_grad_enabled": _switch("set_grad_enabled", tls.set_grad_enabled),
    "_set_multithreading_enabled": _switch("set_multithreading_enabled", _set_multithreading),
}

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
        __getattr__=_class_of_generated,
    ),
    "_autograd": _module(
        "_autograd",
        SavedTensor=SavedTensor,
        _InputMetadata=PythonInputMetadata,
        **saved_tensors_hooks.BOUND,
    ),
    "_FunctionBase": FunctionBase,
    **_FUNCTIONS,
}
