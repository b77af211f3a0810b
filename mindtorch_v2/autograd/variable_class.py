"""``torch.autograd.Variable``: what tensors with gradients were called before they were tensors.

Mirrors ``torch/autograd/variable.py`` and ``torch/csrc/autograd/python_legacy_variable.cpp``.
"""

from __future__ import annotations

import warnings
from typing import Any

from mindtorch_v2.autograd import engine
from mindtorch_v2.autograd.function import FunctionBase
from mindtorch_v2.autograd.node import current_graph_task
from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.tensor.factories import empty
from mindtorch_v2.tensor.tensor import Tensor


class _ImperativeEngine:
    """``torch._C._EngineBase``, as far as it is called from Python."""

    @staticmethod
    def queue_callback(callback: Any) -> None:
        engine.queue_callback(callback)

    @staticmethod
    def is_checkpoint_valid() -> bool:
        """Whether no ``autograd.grad`` runs, which would not reach what a checkpoint records."""
        task = current_graph_task()
        return not (isinstance(task, engine.GraphTask) and task.exec_info)


class VariableMeta(type):
    """Every tensor counts as one of the class."""

    def __instancecheck__(cls, other: object) -> bool:
        return isinstance(other, Tensor)


class Variable(metaclass=VariableMeta):
    """To call it is to detach a tensor."""

    __module__ = "mindtorch_v2.autograd.variable"
    _execution_engine = _ImperativeEngine()

    def __new__(
        cls,
        data: Any = None,
        requires_grad: Any = False,
        volatile: Any = False,
        _grad_fn: Any = None,
        name: str | None = None,
    ) -> Any:
        if volatile:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
                UserWarning,
                stacklevel=2,
            )
        if volatile and requires_grad:
            raise ValueError("Variable can't be volatile and require_grad at the same time!")
        if _grad_fn is not None and not isinstance(_grad_fn, FunctionBase):
            raise TypeError(
                f"_grad_fn has to be a Function object or None, but got {type_name(_grad_fn)}"
            )
        if data is not None and not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type_name(data)}")
        made: Any = empty(0) if data is None else data.detach()
        if _grad_fn is not None:
            raise RuntimeError(
                "_grad_fn argument to legacy Variable constructor is no longer supported.  "
                "Instead, please invoke your _grad_fn to produce a variable with it as the "
                "_grad_fn."
            )
        made.requires_grad_(bool(requires_grad))
        return made
