"""Plain calls that autograd records: the short way below, and then the history of what it answers.

The answer of a plain call is there before its node, the other way round than in torch.  Nobody can
tell: nothing on the short way makes nodes or raises, and nobody is told what is saved.  What a node
saves is looked up in the call's stack by place, where its expression is no more than an argument or
a question to one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

from mindtorch_v2.autograd.at import OF_ANYTHING
from mindtorch_v2.autograd.formula import compiled
from mindtorch_v2.autograd.generated import (
    GeneratedNode,
    Saved,
    begin_generated,
    keep_value,
    node_class,
    saved_attributes,
)
from mindtorch_v2.autograd.node import Edge, InputMetadata, any_requires_grad
from mindtorch_v2.autograd.saved_variable import defaults as hooks_of_saved
from mindtorch_v2.autograd.variable import gradient_edge, set_gradient_edge
from mindtorch_v2.binding.unboxed import UNUSUAL, Run
from mindtorch_v2.dispatch import tls
from mindtorch_v2.tensor.autograd_meta import AutogradMeta
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.tensor import Tensor

_FLOATING: Final = frozenset(dtype for dtype in DTYPES.values() if dtype.is_floating_point)
_ARGUMENT: Final = re.compile(r"(\w+)(?:\.(\w+)\(\))?")
_WANTED: Final = re.compile(r"should_compute_output\((\d+)\)")
_new: Final = object.__new__
_new_tuple: Final = tuple.__new__


class Recorded(NamedTuple):
    """What autograd knows of an operator that answers one new tensor, or a view."""

    node: str
    #: The names of its arguments, and the places of those that have gradients.
    names: Sequence[str]
    inputs: Sequence[int]
    save_outputs: Callable[[GeneratedNode, tuple[Any, ...]], None] | None


class _Saver(NamedTuple):
    """What saves an attribute of a call's stack; ``wanted`` says whether, of the node's edges."""

    name: str
    save: Callable[[tuple[Any, ...]], Any]
    wanted: Callable[[Sequence[Edge]], bool] | None


def recorder(recorded: Recorded) -> Run:
    """Gives the answer of a call its history; UNUSUAL where it may not have one, or who saves may
    be refused."""
    node_type, thread, inputs = node_class(recorded.node), tls.thread_local, recorded.inputs
    savers = [_saver(saved, recorded) for saved in saved_attributes(recorded.node, "inputs")]
    save_outputs = recorded.save_outputs

    def record(answer: Tensor, *stack: Any) -> Any:
        if not thread.raw.grad_mode:
            return answer
        edges = [gradient_edge(stack[place]) for place in inputs]
        number = -1
        for function, _ in edges:
            if function is not None and function._topological_nr > number:
                number = function._topological_nr
        if number < 0 and not any_requires_grad(stack[place] for place in inputs):
            return answer  # a view made without grad mode may require grad, and lead nowhere
        if hooks_of_saved.hooks or answer._dtype not in _FLOATING:
            return UNUSUAL
        node = _new(node_type)
        begin_generated(node)
        node._edges, node._topological_nr, kept = edges, number + 1, node._kept
        for name, save, wanted in savers:
            if wanted is None or wanted(edges):
                kept[name] = save(stack)
        kind = answer._dtype, answer._layout, answer._device, answer._sizes, False, False
        node._received.append(_new_tuple(InputMetadata, kind))  # of what is plain
        if answer._raw_autograd is None:
            meta = answer._raw_autograd = AutogradMeta()
            meta.grad_fn = node
        else:  # a view
            set_gradient_edge(answer, _new_tuple(Edge, (node, 0)))
        if save_outputs is not None:
            save_outputs(node, (answer,))
        return answer

    return record


def _saver(saved: Saved, recorded: Recorded) -> _Saver:
    return _Saver(saved.name, _of_stack(saved, recorded), _wanted(saved.condition))


def _wanted(text: str) -> Callable[[Sequence[Edge]], bool] | None:
    """A condition: whether some of the edges lead anywhere."""
    if not text:
        return None
    single = _WANTED.fullmatch(text)
    if single is not None:
        place = int(single[1])
        return lambda edges: edges[place][0] is not None
    condition = compiled(text)
    return lambda edges: bool(
        condition({"should_compute_output": lambda place: edges[place][0] is not None})
    )


def _of_stack(saved: Saved, recorded: Recorded) -> Callable[[tuple[Any, ...]], Any]:
    """What makes of a stack what is saved."""
    keep, names = saved.keep, recorded.names
    argument = _ARGUMENT.fullmatch(saved.expression)
    if argument is not None and argument[1] in names:
        place, ask = names.index(argument[1]), OF_ANYTHING.get(argument[2])
        if ask is not None and keep is keep_value:
            return lambda stack: ask(stack[place])
        if argument[2] is None:
            return (
                itemgetter(place) if keep is keep_value else lambda stack: keep(stack[place], False)
            )
    evaluate = compiled(saved.expression)
    return lambda stack: keep(evaluate(dict(zip(names, stack, strict=True))), False)
