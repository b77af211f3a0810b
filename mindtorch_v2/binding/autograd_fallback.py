"""What runs at Autograd for an operator that has nothing there: it warns when gradients are asked.

Mirrors ``basicAutogradNotImplementedFallbackImpl`` of
``torch/csrc/autograd/autograd_not_implemented_fallback.cpp``.  There is no engine yet, so nobody
warns; but the results of inputs that require grad do, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mindtorch_v2.binding.op_schema import Stack
from mindtorch_v2.schema.function_schema import Argument, FunctionSchema
from mindtorch_v2.tensor.tensor import Tensor


def autograd_fallback(schema: FunctionSchema, stack: Stack, below: Callable[[], Any]) -> Any:
    """What ``below()`` answers; its tensors require grad if one of the arguments does."""
    records = any(tensor.requires_grad for tensor in _tensors(stack))
    result = below()
    if records:
        results = result if len(schema.returns) > 1 else (result,)
        for returned, value in zip(schema.returns, results, strict=False):
            if not _is_written(returned):
                _set_history(_tensors((value,)))
    return result


def _tensors(values: Iterable[Any]) -> Iterator[Tensor]:
    """The tensors among values, and those in lists."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _is_written(returned: Argument) -> bool:
    return returned.alias_info is not None and returned.alias_info.is_write


def _set_history(tensors: Iterable[Tensor]) -> None:
    for tensor in tensors:
        if tensor._is_differentiable() and not tensor.requires_grad:
            tensor._requires_grad, tensor._is_leaf = True, False
