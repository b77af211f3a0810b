"""Gradients that C++ asks for: ``_backward``, as methods of tensors there call it.

Mirrors ``VariableHooks::_backward`` in ``torch/csrc/autograd/variable.cpp`` and ``backward`` in
``torch/csrc/autograd/autograd.cpp``, whose words are not those of Python's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mindtorch_v2.autograd import engine
from mindtorch_v2.autograd.basic_ops import Identity
from mindtorch_v2.autograd.node import Edge
from mindtorch_v2.autograd.variable import (
    grad_fn,
    gradient_edge,
    output_nr,
    retain_grad,
    try_get_grad_accumulator,
)
from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_ONES_LIKE: Final = OperatorHandle("aten::ones_like")
_CONTIGUOUS: Final = enum_value(MEMORY_FORMATS["contiguous_format"])


@kernel("aten::_backward", key="CompositeImplicitAutograd")
def backward(
    self: Tensor,
    inputs: Sequence[Tensor],
    gradient: Tensor | None,
    retain_graph: bool | None,
    create_graph: bool,
) -> None:
    grads = _make_grads(self, gradient)
    root = gradient_edge(self)
    if root[0] is None:
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    engine.execute(
        [root],
        grads,
        keep_graph=create_graph if retain_graph is None else retain_graph,
        create_graph=create_graph,
        accumulate_grad=True,
        outputs=[_input_edge(place, each) for place, each in enumerate(inputs)],
    )


def _make_grads(output: Tensor, given: Tensor | None) -> list[Any]:
    """The gradient of what comes out: one for a number, where none is given."""
    dtype = output._dtype
    if given is not None:
        if given._dtype.is_complex != dtype.is_complex:
            raise RuntimeError(
                "For complex Tensors, both grad_output and output are required to have the same "
                f"dtype. Mismatch in dtype: grad_output[{given}] has a dtype of "
                f"{CPP_NAMES[given._dtype]} and output[{output}] has a dtype of {CPP_NAMES[dtype]}."
            )
        return [given]
    if not output._requires_grad():
        return []
    if numel(output._sizes) != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if not dtype.is_floating_point:
        raise RuntimeError(
            f"grad can be computed only for real scalar outputs but got {CPP_NAMES[dtype]}"
        )
    return [_ONES_LIKE(output, memory_format=_CONTIGUOUS)]


def _input_edge(place: int, tensor: Tensor) -> Edge:
    number = output_nr(tensor)
    node = grad_fn(tensor) or try_get_grad_accumulator(tensor)
    retain_grad(tensor)
    if not tensor._requires_grad():
        raise RuntimeError(f"element {place} of the input tensors does not require grad")
    return (Identity(), 0) if node is None else (node, number)
