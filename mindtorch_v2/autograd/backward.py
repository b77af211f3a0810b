"""``torch.autograd.backward`` and ``grad``.

Mirrors ``torch/autograd/__init__.py`` and ``THPEngine_run_backward`` in
``torch/csrc/autograd/python_engine.cpp``.  Batched gradients are left out.
"""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final

from mindtorch_v2 import profile
from mindtorch_v2.autograd import engine
from mindtorch_v2.autograd.basic_ops import Identity
from mindtorch_v2.autograd.graph import GradientEdge
from mindtorch_v2.autograd.node import Edge, InputMetadata, Node
from mindtorch_v2.autograd.variable import (
    grad_fn,
    gradient_edge,
    output_nr,
    retain_grad,
    try_get_grad_accumulator,
)
from mindtorch_v2.binding.python.type_names import type_name
from mindtorch_v2.functional import bound_function
from mindtorch_v2.overrides import handle_torch_function, has_torch_function
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warning_handler

_RELEASE: Final = profile.active().autograd["python"]
_TAKES_EDGES: Final = _RELEASE["backward_takes_edges"]
_GRAD_TAKES_EDGES: Final = _RELEASE["grad_takes_edges"]
_WORDS: Final[dict[str, Any]] = profile.active().autograd["words"]
_TAKES_DICTS: Final = _RELEASE["inputs_may_be_dict"]


def _is_tensor_like(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "__torch_function__")


def _make_grads(outputs: Sequence[Any], grads: Sequence[Any]) -> tuple[Any, ...]:
    found: list[Any] = []
    for output, grad in zip(outputs, grads, strict=False):
        metadata = _metadata(output)
        if isinstance(grad, Tensor):
            _check_grad(outputs, grads, output, grad, metadata)
            found.append(grad)
        elif grad is None:
            found.append(_implicit(output, metadata))
        else:
            raise TypeError(
                f"gradients can be either Tensors or None, but got {type(grad).__name__}"
            )
    return tuple(found)


def _metadata(output: Any) -> Any:
    """What is known of the output: shape, dtype and device."""
    if isinstance(output, GradientEdge):
        return InputMetadata(*output.node._received[output.output_nr])
    kind, text = _WORDS["output_is_no_tensor"]
    if kind == "AssertionError" and not isinstance(output, Tensor):
        raise AssertionError(*filter(None, [text]))
    return output


def _check_grad(
    outputs: Sequence[Any], grads: Sequence[Any], output: Any, grad: Tensor, metadata: Any
) -> None:
    if not isinstance(output, (Tensor, GradientEdge)):
        output.is_nested  # noqa: B018 (the first thing that older releases ask for)
    if tuple(metadata.shape) != tuple(grad._sizes):
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{_index(grads, grad)}] has a shape of {grad._sizes} "
            f"and output[{_index(outputs, output)}] has a shape of {metadata.shape}."
        )
    if metadata.dtype.is_complex != grad._dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same "
            f"dtype. Mismatch in dtype: grad_output[{_index(grads, grad)}] has a dtype of "
            f"{grad._dtype} and output[{_index(outputs, output)}] has a dtype of {metadata.dtype}."
        )


def _index(values: Sequence[Any], value: Any) -> int:
    """``values.index(value)``, which for tensors before it compares elements."""
    return values.index(value)


def _implicit(output: Any, metadata: Any) -> Any:
    """The gradient of a scalar is 1."""
    is_edge = isinstance(output, GradientEdge)
    if not is_edge and not output.requires_grad:
        return None
    is_scalar = math.prod(metadata.shape) == 1 if is_edge else output.numel() == 1
    if not is_scalar:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if not metadata.dtype.is_floating_point:
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs but got {metadata.dtype}"
        )
    if is_edge:
        options = {"dtype": metadata.dtype, "device": metadata.device}
        return bound_function("ones")(metadata.shape, **options)
    return bound_function("ones_like")(output, memory_format=MEMORY_FORMATS["preserve_format"])


def _tensor_or_tensors_to_tuple(tensors: Any, length: int) -> tuple[Any, ...]:
    if tensors is None:
        return (None,) * length
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add to the gradients of leaves what tensors, and gradients of them, make of them."""
    if grad_variables is not None:
        warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.",
            FutureWarning,
            stacklevel=2,
        )
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if inputs is not None and not isinstance(inputs, (Tensor, GradientEdge)):
        inputs = _values(inputs, "backward")
        if not inputs:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    elif inputs is not None:
        _check_length(inputs)
        inputs = (inputs,)
    tensors = (tensors,) if _is_one(tensors) else tuple(tensors)
    if _TAKES_EDGES:
        relevant = tuple(each for each in (*tensors, *(inputs or ())) if _is_tensor_like(each))
        if has_torch_function(relevant):
            options = {"grad_tensors": grad_tensors, "retain_graph": retain_graph}
            options |= {"create_graph": create_graph, "inputs": inputs}
            handle_torch_function(backward, relevant, tensors, **options)
            return
    grads = _tensor_or_tensors_to_tuple(grad_tensors, len(tensors))
    grads = _make_grads(tensors, grads)
    run_backward(
        tensors,
        grads,
        create_graph if retain_graph is None else retain_graph,
        create_graph,
        inputs or (),
        allow_unreachable=True,
        accumulate_grad=True,
    )


def _is_one(tensors: Any) -> bool:
    if _TAKES_EDGES:
        return _is_tensor_like(tensors) or isinstance(tensors, GradientEdge)
    return isinstance(tensors, Tensor)


def _check_length(inputs: Any) -> None:
    """Older releases take the length of what they are given, of a tensor too."""
    if not _TAKES_EDGES and isinstance(inputs, Tensor):
        if not inputs._sizes:
            raise TypeError("len() of a 0-d tensor")
        if not inputs._sizes[0]:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")


def _values(inputs: Any, name: str) -> tuple[Any, ...]:
    if _TAKES_DICTS:
        if type(inputs) is dict:
            return tuple(inputs.values())
        if isinstance(inputs, Mapping):
            raise TypeError(
                f"`inputs` argument to `{name}()` must be a dict, not {type(inputs).__name__}. "
                "Other Mapping types are not supported."
            )
    elif name == "backward" and not hasattr(inputs, "__len__"):
        len(inputs)
    return tuple(inputs)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """The gradients of outputs with respect to inputs; leaves keep nothing."""
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    if allow_unused is None:
        allow_unused = materialize_grads
    is_edge = _GRAD_TAKES_EDGES and isinstance(outputs, GradientEdge)
    outputs = (outputs,) if _is_tensor_like(outputs) or is_edge else tuple(outputs)
    given = inputs
    if _is_tensor_like(inputs) or isinstance(inputs, GradientEdge):
        inputs = (inputs,)
    else:
        inputs = _values(inputs, "grad")
    if _RELEASE["grad_refuses_no_inputs"] and not inputs:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    relevant = tuple(each for each in (*outputs, *inputs) if _is_tensor_like(each))
    if has_torch_function(relevant):
        options = {"grad_outputs": grad_outputs, "retain_graph": retain_graph}
        options |= {"create_graph": create_graph, "only_inputs": only_inputs}
        options |= {"allow_unused": allow_unused, "is_grads_batched": is_grads_batched}
        return handle_torch_function(
            grad, relevant, outputs, inputs, **options, materialize_grads=materialize_grads
        )
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate gradient for other parts of the graph, please use "
            "torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    if is_grads_batched:
        raise NotImplementedError("mindtorch_v2 has no batched gradients yet")
    grads = _make_grads(outputs, _tensor_or_tensors_to_tuple(grad_outputs, len(outputs)))
    keep = create_graph if retain_graph is None else retain_graph
    result = run_backward(
        outputs, grads, keep, create_graph, inputs, allow_unused, accumulate_grad=False
    )
    if materialize_grads:
        result = _materialized(result, inputs, create_graph)
    if _TAKES_DICTS and type(given) is dict:
        return dict(zip(given.keys(), result, strict=True))
    return result


def _materialized(result: Any, inputs: Sequence[Any], create_graph: bool) -> tuple[Any, ...]:
    pairs = list(zip(result, inputs, strict=True))
    if any(found is None and not _is_tensor_like(each) for found, each in pairs):
        raise RuntimeError(
            "materialize_grads cannot be used when the given input is a GradientEdge"
        )
    requires_grad = create_graph or _RELEASE["materialized_requires_grad"]
    zeros = bound_function("zeros_like")
    return tuple(
        zeros(each, requires_grad=requires_grad) if found is None else found
        for found, each in pairs
    )


# --- the C function -------------------------------------------------------------------------------


def run_backward(
    tensors: Any,
    grad_tensors: Any,
    keep_graph: Any,
    create_graph: Any,
    inputs: Any = (),
    allow_unreachable: Any = False,
    accumulate_grad: bool = False,
) -> Any:
    """``_execution_engine.run_backward``."""
    keep_graph, create_graph = _byte(keep_graph), _byte(create_graph)
    allow_unreachable = _byte(allow_unreachable)
    if len(tensors) != len(grad_tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(grad_tensors)} gradients")
    roots, grads = [], []
    for place, (tensor, grad) in enumerate(zip(tensors, grad_tensors, strict=True)):
        roots.append(_root(place, tensor))
        _check_root_grad(place, tensor, grad)
        grads.append(grad)
    edges = [_input_edge(each, accumulate_grad) for each in inputs]
    with warning_handler():
        found = engine.execute(
            roots,
            [each for each in grads if each is not None],
            keep_graph=keep_graph != 0,
            create_graph=create_graph != 0,
            accumulate_grad=accumulate_grad,
            outputs=edges,
        )
    if accumulate_grad:
        return None
    for place, each in enumerate(found):
        if each is None and not allow_unreachable:
            raise RuntimeError(_WORDS["unused_input"].format(place))
    return tuple(found)


def _byte(value: Any) -> int:
    """A flag as C takes it: a number that fits into a byte (``PyArg_Parse`` with ``b``)."""
    number = operator.index(value)
    if not -(2**63) <= number < 2**63:
        raise OverflowError("Python int too large to convert to C long")
    if not 0 <= number < 2**8:
        bound = "less than minimum" if number < 0 else "greater than maximum"
        raise OverflowError(f"unsigned byte integer is {bound}")
    return number


def _root(place: int, tensor: Any) -> Edge:
    if isinstance(tensor, Tensor):
        edge = gradient_edge(tensor)
    elif isinstance(tensor, GradientEdge):
        edge = _parsed(tensor)
    else:
        raise RuntimeError(
            f"element {place} of tensors tuple is neither a Tensor nor a GradientEdge"
        )
    if edge[0] is None:
        raise RuntimeError(
            f"element {place} of tensors does not require grad and does not have a grad_fn"
        )
    return edge


def _check_root_grad(place: int, tensor: Any, grad: Any) -> None:
    if isinstance(grad, Tensor):
        return
    if grad is not None:
        raise RuntimeError(f"element {place} of gradients tuple is not a Tensor or None")
    if not isinstance(tensor, Tensor):
        raise RuntimeError(
            f"element {place} of gradients tuple is None, but the corresponding output is a "
            "GradientEdge.This is not supported."
        )
    if tensor._requires_grad():
        raise RuntimeError(
            f"element {place} of gradients tuple is None, but the corresponding Tensor requires "
            "grad"
        )


def _parsed(edge: GradientEdge) -> Edge:
    if not isinstance(edge.node, Node):
        raise RuntimeError(
            f"{_WORDS['edge_without_node']} must be an autograd.graph.Node but got "
            f"{type_name(edge.node)}"
        )
    return edge.node, edge.output_nr


def _input_edge(value: Any, accumulate_grad: bool) -> Edge:
    if isinstance(value, GradientEdge):
        return _parsed(value)
    if not isinstance(value, Tensor):
        raise RuntimeError(
            f"all inputs have to be Tensors or GradientEdges, but got {type_name(value)}"
        )
    number = output_nr(value)
    node = grad_fn(value) or try_get_grad_accumulator(value)
    if accumulate_grad:
        retain_grad(value)
    if not value._requires_grad():
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return (Identity(), 0) if node is None else (node, number)
