"""The history of plain calls: what gives the answer of one its node.

The answer of a plain call is there before its node, the other way round than in torch.  Nobody can
tell: nothing on the short way makes nodes or raises, and nobody is told what is saved.

The functions are written for an operator, of what the profile says that its node saves.  That of
``mul.Tensor(self, other)`` reads:

    def record(answer, _0, _1):
        if not thread.raw.grad_mode:
            return answer
        if anomaly.enabled:
            return UNUSUAL
        number = -1
        l0 = l1 = None
        meta = _0._raw_autograd
        if meta is None:
            e0 = nowhere
        elif …:  # unless it is a leaf that keeps an edge, which is good
            e0 = edge_of_plain(_0)
        f0 = e0[0]
        if f0 is not None:
            if f0._topological_nr > number: number = f0._topological_nr
            if type(f0) is AccumulateGrad: l0 = _0
        …
        if number < 0 and not any_requires_grad((_0, _1)):
            return answer
        if hooks_of_saved.hooks or answer._dtype not in FLOATING:
            return UNUSUAL
        node = new(node_type)
        node._sequence, node._topological_nr = next(sequence_numbers.numbers), number + 1
        node._edges, node._received, node._attached = (e0, e1), …, None
        node._variables, node._leaves = RETAINED, (l0, l1)
        node._kept = [
            keep0(_1, False) if f0 is not None else None,  # other
            keep1(_0, False) if f1 is not None else None,  # self
        ]
        …  # the node's edge is the answer's
        return answer
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from mindtorch_v2.autograd import anomaly
from mindtorch_v2.autograd.at import OF_ANYTHING
from mindtorch_v2.autograd.basic_ops import AccumulateGrad
from mindtorch_v2.autograd.formula import compiled
from mindtorch_v2.autograd.generated import (
    GeneratedNode,
    Saved,
    Variables,
    keep_value,
    node_class,
    saved_attributes,
)
from mindtorch_v2.autograd.node import any_requires_grad, sequence_numbers
from mindtorch_v2.autograd.saved_variable import defaults as hooks_of_saved
from mindtorch_v2.autograd.variable import NOWHERE, edge_of_plain, set_gradient_edge
from mindtorch_v2.binding.unboxed import UNUSUAL, Run
from mindtorch_v2.dispatch import tls
from mindtorch_v2.tensor.autograd_meta import AutogradMeta
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.pending import AWAY
from mindtorch_v2.tensor.tensor import Tensor

_FLOATING: Final = frozenset(dtype for dtype in DTYPES.values() if dtype.is_floating_point)
_ARGUMENT: Final = re.compile(r"(\w+)(?:\.(\w+)\(\))?")
_WANTED: Final = re.compile(r"should_compute_output\((\d+)\)")


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
    scope: dict[str, Any] = {
        "__name__": __name__,
        "AWAY": AWAY,
        "AccumulateGrad": AccumulateGrad,
        "AutogradMeta": AutogradMeta,
        "FLOATING": _FLOATING,
        "RETAINED": Variables.RETAINED,
        "Tensor": Tensor,
        "UNUSUAL": UNUSUAL,
        "anomaly": anomaly.Mode,
        "any_requires_grad": any_requires_grad,
        "edge_of_plain": edge_of_plain,
        "hooks_of_saved": hooks_of_saved,
        "new": object.__new__,
        "nowhere": NOWHERE,
        "node_type": node_class(recorded.node),
        "save_outputs": recorded.save_outputs,
        "sequence_numbers": sequence_numbers,
        "set_gradient_edge": set_gradient_edge,
        "thread": tls.thread_local,
    }
    exec("\n".join(_source(recorded, scope)), scope)
    record: Run = scope["record"]
    return record


def _source(recorded: Recorded, scope: dict[str, Any]) -> Iterator[str]:
    """The function's lines; ``scope`` gets what they name."""
    values = ", ".join(f"_{place}" for place in range(len(recorded.names)))
    inputs = "".join(f"_{place}, " for place in recorded.inputs)
    edges = "".join(f"e{number}, " for number in range(len(recorded.inputs)))
    leaves = "".join(f"l{number}, " for number in range(len(recorded.inputs)))
    yield f"def record(answer, {values}):"
    yield " if not thread.raw.grad_mode: return answer"
    yield " if anomaly.enabled: return UNUSUAL"
    yield " number = -1"
    yield f" {leaves.replace(',', ' =')}None"
    for number, place in enumerate(recorded.inputs):
        other = f" if isinstance(_{place}, Tensor) else None" if place else ""  # such as a number
        yield f" meta = _{place}._raw_autograd{other}"
        yield f" if meta is None: e{number} = nowhere"
        yield f" elif (meta is AWAY or type(e{number} := meta.grad_accumulator) is not tuple"
        yield "  or meta.grad_fn is not None or not meta.requires_grad"
        yield f"  or e{number}[0]._received[0][3] is not _{place}._sizes):"
        yield f"  e{number} = None"  # which would be the last to hold the node
        yield f"  e{number} = edge_of_plain(_{place})"
        yield f" f{number} = e{number}[0]"
        yield f" if f{number} is not None:"
        yield f"  if f{number}._topological_nr > number: number = f{number}._topological_nr"
        yield f"  if type(f{number}) is AccumulateGrad: l{number} = _{place}"
    # a view made without grad mode may require grad, and lead nowhere
    yield f" if number < 0 and not any_requires_grad(({inputs})): return answer"
    hooks = "hooks_of_saved.hooks or " if _saves_tensors(recorded.node) else ""
    yield f" if {hooks}answer._dtype not in FLOATING: return UNUSUAL"
    yield " node = new(node_type)"
    yield " node._sequence, node._topological_nr = next(sequence_numbers.numbers), number + 1"
    yield f" node._edges, node._received = ({edges}), ({_PLAIN},)"
    yield f" node._attached, node._variables, node._leaves = None, RETAINED, ({leaves})"
    yield " node._kept = ["
    for saved in saved_attributes(recorded.node, "inputs"):
        condition = _condition(saved, scope)
        yield f"  {_value(saved, recorded, scope)}{condition},"
    yield f"  {'None, ' * len(saved_attributes(recorded.node, 'outputs'))}]"
    yield " if answer._raw_autograd is None:"
    yield "  meta = answer._raw_autograd = new(AutogradMeta)"
    yield "  meta.grad_fn, meta.output_nr, meta.requires_grad = node, 0, False"
    yield "  meta.grad_accumulator = meta.view = None"
    yield " else: set_gradient_edge(answer, (node, 0))"  # a view
    if recorded.save_outputs is not None:
        yield " save_outputs(node, (answer,))"
    yield " return answer"


_FIELDS: Final = {"scalar_type": "_dtype"}
"""Where a plain tensor has the answers to some of the questions of :data:`OF_ANYTHING`."""


def _saves_tensors(node: str) -> bool:
    """Whether users' hooks on what is saved could ever be called."""
    saved = (*saved_attributes(node, "inputs"), *saved_attributes(node, "outputs"))
    return any(each.is_tensor or each.is_tensor_list for each in saved)


_PLAIN: Final = "(answer._dtype, answer._layout, answer._device, answer._sizes, False, False)"
"""What its node is told of an answer, which is plain."""


def _condition(saved: Saved, scope: dict[str, Any]) -> str:
    """Whether something is saved, which depends on the edges that lead somewhere."""
    text, number = saved.condition, saved.place
    if not text:
        return ""
    single = _WANTED.fullmatch(text)
    if single is not None:
        return f" if f{single[1]} is not None else None"
    scope[f"condition{number}"] = compiled(text)
    wanted = "lambda place: node._edges[place][0] is not None"
    return f" if condition{number}({{'should_compute_output': {wanted}}}) else None"


def _value(saved: Saved, recorded: Recorded, scope: dict[str, Any]) -> str:
    """What is saved: mostly an argument, or what one answers to a question."""
    names, number = recorded.names, saved.place
    argument = _ARGUMENT.fullmatch(saved.expression)
    if argument is not None and argument[1] in names and argument[2] in (None, *OF_ANYTHING):
        place = names.index(argument[1])
        value = f"_{place}"
        if argument[2] is not None:
            scope[f"ask{number}"] = OF_ANYTHING[argument[2]]
            asked = f"ask{number}({value})"
            field = _FIELDS.get(argument[2])
            if field and place in recorded.inputs:  # where the first is no number
                one_of = f" if isinstance({value}, Tensor) else {asked}" if place else ""
                value = f"({value}.{field}{one_of})"
            else:
                value = asked
    else:
        scope[f"evaluate{number}"] = compiled(saved.expression)
        value = ", ".join(f"{name!r}: _{place}" for place, name in enumerate(names))
        value = f"evaluate{number}({{{value}}})"
    scope[f"keep{number}"] = saved.keep
    return value if saved.keep is keep_value else f"keep{number}({value}, False)"
