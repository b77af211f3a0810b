"""The history of plain calls: what gives the answer of one its node.

The answer of a plain call is there before its node, the other way round than in torch.  Nobody can
tell: nothing on the short way makes nodes or raises, and nobody is told what is saved.

The functions are written for an operator, of what the profile says that its node saves.  That of
``mul.Tensor(self, other)`` reads:

    def record(answer, _0, _1):
        if not thread.raw.grad_mode:
            return answer
        e0, number = gradient_edge(_0), -1
        e1 = gradient_edge(_1) if isinstance(_1, Tensor) else nowhere  # of a number
        if e0.function is not None and e0.function._topological_nr > number:
            number = e0.function._topological_nr
        …
        if number < 0 and not any_requires_grad((_0, _1)):
            return answer
        if hooks_of_saved.hooks or answer._dtype not in FLOATING:
            return UNUSUAL
        node = new(node_type)
        begin_generated(node)
        node._edges, node._topological_nr, kept = [e0, e1], number + 1, node._kept
        if e0.function is not None: kept["other"] = keep0(_1, False)
        if e1.function is not None: kept["self"] = keep1(_0, False)
        return finish(node, answer)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
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
from mindtorch_v2.autograd.variable import NOWHERE, gradient_edge, set_gradient_edge
from mindtorch_v2.binding.unboxed import UNUSUAL, Run
from mindtorch_v2.dispatch import tls
from mindtorch_v2.tensor.autograd_meta import AutogradMeta
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.tensor import Tensor

_FLOATING: Final = frozenset(dtype for dtype in DTYPES.values() if dtype.is_floating_point)
_ARGUMENT: Final = re.compile(r"(\w+)(?:\.(\w+)\(\))?")
_WANTED: Final = re.compile(r"should_compute_output\((\d+)\)")
_new_tuple: Final = tuple.__new__


class Recorded(NamedTuple):
    """What autograd knows of an operator that answers one new tensor, or a view."""

    node: str
    #: The names of its arguments, and the places of those that have gradients.
    names: Sequence[str]
    inputs: Sequence[int]
    save_outputs: Callable[[GeneratedNode, tuple[Any, ...]], None] | None


def recorder(recorded: Recorded) -> Run:
    """Gives the answer of a call its history; UNUSUAL where it may not have one, or who saves may
    be refused."""
    save_outputs = recorded.save_outputs

    def finish(node: GeneratedNode, answer: Tensor) -> Tensor:
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

    scope: dict[str, Any] = {
        "__name__": __name__,
        "FLOATING": _FLOATING,
        "Tensor": Tensor,
        "UNUSUAL": UNUSUAL,
        "any_requires_grad": any_requires_grad,
        "begin_generated": begin_generated,
        "finish": finish,
        "gradient_edge": gradient_edge,
        "hooks_of_saved": hooks_of_saved,
        "new": object.__new__,
        "nowhere": NOWHERE,
        "node_type": node_class(recorded.node),
        "thread": tls.thread_local,
    }
    exec("\n".join(_source(recorded, scope)), scope)
    record: Run = scope["record"]
    return record


def _source(recorded: Recorded, scope: dict[str, Any]) -> Iterator[str]:
    """The function's lines; ``scope`` gets what they name."""
    values = ", ".join(f"_{place}" for place in range(len(recorded.names)))
    inputs = "".join(f"_{place}, " for place in recorded.inputs)
    edges = [f"e{number}" for number in range(len(recorded.inputs))]
    yield f"def record(answer, {values}):"
    yield " if not thread.raw.grad_mode: return answer"
    yield " number = -1"
    for edge, place in zip(edges, recorded.inputs, strict=True):
        otherwise = f" if isinstance(_{place}, Tensor) else nowhere" if place else ""
        yield f" {edge} = gradient_edge(_{place}){otherwise}"
        yield f" found = {edge}.function"
        yield " if found is not None and found._topological_nr > number:"
        yield "  number = found._topological_nr"
    # a view made without grad mode may require grad, and lead nowhere
    yield f" if number < 0 and not any_requires_grad(({inputs})): return answer"
    yield " if hooks_of_saved.hooks or answer._dtype not in FLOATING: return UNUSUAL"
    yield " node = new(node_type)"
    yield " begin_generated(node)"
    yield f" node._edges, node._topological_nr, kept = [{', '.join(edges)}], number + 1, node._kept"
    for number, saved in enumerate(saved_attributes(recorded.node, "inputs")):
        condition = _condition(saved.condition, number, scope)
        value = _value(saved, recorded, number, scope)
        yield f" {condition}kept[{saved.name!r}] = {value}"
    yield " return finish(node, answer)"


def _condition(text: str, number: int, scope: dict[str, Any]) -> str:
    """Whether something is saved, which depends on the edges that lead somewhere."""
    if not text:
        return ""
    single = _WANTED.fullmatch(text)
    if single is not None:
        return f"if e{single[1]}.function is not None: "
    scope[f"condition{number}"] = compiled(text)
    wanted = "lambda place: node._edges[place].function is not None"
    return f"if condition{number}({{'should_compute_output': {wanted}}}): "


def _value(saved: Saved, recorded: Recorded, number: int, scope: dict[str, Any]) -> str:
    """What is saved: mostly an argument, or what one answers to a question."""
    names = recorded.names
    argument = _ARGUMENT.fullmatch(saved.expression)
    if argument is not None and argument[1] in names and argument[2] in (None, *OF_ANYTHING):
        value = f"_{names.index(argument[1])}"
        if argument[2] is not None:
            scope[f"ask{number}"] = OF_ANYTHING[argument[2]]
            value = f"ask{number}({value})"
    else:
        scope[f"evaluate{number}"] = compiled(saved.expression)
        value = ", ".join(f"{name!r}: _{place}" for place, name in enumerate(names))
        value = f"evaluate{number}({{{value}}})"
    scope[f"keep{number}"] = saved.keep
    return value if saved.keep is keep_value else f"keep{number}({value}, False)"
