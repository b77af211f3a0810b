"""``aten::backward`` and ``aten::grad`` of the interpreter: gradients as C++ alone computes them.

Mirrors ``torch/csrc/autograd/autograd.cpp``, whose checks are not those of ``torch.autograd``.
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
    try_get_grad_accumulator,
)
from mindtorch_v2.kernels.formatting import printed
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.interpreter.values import Operation
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor

_ONES_LIKE: Final = OperatorHandle("aten::ones_like")

Tensors = Sequence[Tensor]
Gradients = Sequence[Tensor | None]


def _backward(
    self: Tensor, gradient: Tensor | None, retain_graph: bool | None, create_graph: bool
) -> None:
    _backward_all([self], [gradient], retain_graph, create_graph)


def _backward_all(
    tensors: Tensors,
    grad_tensors: Gradients | None,
    retain_graph: bool | None,
    create_graph: bool,
) -> None:
    grads = _make_grads(tensors, grad_tensors or ())
    roots = _roots(tensors)
    if not roots:
        return
    keep_graph = create_graph if retain_graph is None else retain_graph
    engine.execute(
        roots, grads, keep_graph=keep_graph, create_graph=create_graph, accumulate_grad=True
    )


def _grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Gradients | None,
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool,
) -> list[Tensor | None]:
    grads = _make_grads(outputs, grad_outputs or ())
    roots = _roots(outputs)
    edges = [_edge(place, each) for place, each in enumerate(inputs)]
    keep_graph = create_graph if retain_graph is None else retain_graph
    found = engine.execute(
        roots,
        grads,
        keep_graph=keep_graph,
        create_graph=create_graph,
        accumulate_grad=False,
        outputs=edges,
    )
    for place, each in enumerate(found):
        if each is None and not allow_unused:
            raise RuntimeError(
                f"element {place}of the differentiated Tensors appears to not have been used in "
                "the graph. Set allow_unused=True if this is the desired behavior."
            )
    return found


def _make_grads(outputs: Tensors, grads: Gradients) -> list[Tensor | None]:
    if not grads:
        return [_implicit(each) for each in outputs if each.requires_grad]
    if len(grads) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(grads)} gradients")
    found = []
    for output, grad in zip(outputs, grads, strict=True):
        if grad is None:
            if output.requires_grad:
                found.append(_implicit(output))
            continue
        if grad._dtype.is_complex != output._dtype.is_complex:
            raise RuntimeError(
                "For complex Tensors, both grad_output and output are required to have the same "
                f"dtype. Mismatch in dtype: grad_output[{printed(grad)}] has a dtype of "
                f"{CPP_NAMES[grad._dtype]} and output[{printed(output)}] has a dtype of "
                f"{CPP_NAMES[output._dtype]}."
            )
        found.append(grad)
    return found


def _implicit(output: Tensor) -> Any:
    """The gradient of a scalar is 1."""
    if output._numel() != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if not output._dtype.is_floating_point:
        raise RuntimeError(
            f"grad can be computed only for real scalar outputs but got {CPP_NAMES[output._dtype]}"
        )
    return _ONES_LIKE(output)


def _roots(outputs: Tensors) -> list[Edge]:
    found = []
    for place, output in enumerate(outputs):
        edge = gradient_edge(output)
        if edge[0] is None:
            raise RuntimeError(
                f"element {place} of tensors does not require grad and does not have a grad_fn"
            )
        found.append(edge)
    return found


def _edge(place: int, tensor: Tensor) -> Edge:
    """Where the gradient of an input arrives."""
    node = grad_fn(tensor) or try_get_grad_accumulator(tensor)
    if not tensor.requires_grad:
        raise RuntimeError(f"element {place} of the input tensors does not require grad")
    return (Identity(), 0) if node is None else (node, output_nr(tensor))


OPERATIONS: Final[dict[str, Operation]] = {
    "aten::backward": _backward,
    "aten::backward.TensorList": _backward_all,
    "aten::grad": _grad,
}
