"""What becomes of the tensors that a user's forward returns.

Mirrors ``_process_backward_mode_ad`` in ``torch/csrc/autograd/custom_function.cpp``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from mindtorch_v2 import profile
from mindtorch_v2.autograd import at
from mindtorch_v2.autograd.basic_ops import AccumulateGrad
from mindtorch_v2.autograd.node import Node
from mindtorch_v2.autograd.variable import (
    check_inplace,
    rebase_tensor,
    set_gradient_edge,
    try_get_grad_accumulator,
)
from mindtorch_v2.dispatch import tls
from mindtorch_v2.messages import WARNING_TEXTS, is_asserted
from mindtorch_v2.tensor.autograd_meta import CreationMeta
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn_once

_ASKS_CHANGED_VIEWS: Final = not is_asserted("rebase_history")
"""Whether a view that is marked as changed is asked what every change in place is asked."""
_RETURNED_AS_IS: Final = profile.active().autograd["words"]["returned_as_is"]


class Returned(NamedTuple):
    """A call's tensors: given, returned, marked; ``node`` is None if nothing is recorded.

    ``saved`` are those that ``setup_context`` saves.
    """

    inputs: Sequence[Tensor]
    raw: Sequence[Any]
    node: Node | None
    non_differentiable: Sequence[Tensor]
    dirty: Sequence[Tensor]
    saved: Sequence[Tensor | None]


def _holds(tensors: Sequence[Any], tensor: Tensor) -> bool:
    return any(each is tensor for each in tensors)


def process_outputs(call: Returned) -> tuple[Any, ...]:
    """The outputs with their history; those that are no tensors as they are."""
    outputs = []
    differentiable = 0
    for place, raw in enumerate(call.raw):
        if not isinstance(raw, Tensor):
            if call.node is not None:
                call.node._add_input_metadata(None)
            outputs.append(raw)
            continue
        is_differentiable = (
            call.node is not None
            and not _holds(call.non_differentiable, raw)
            and raw._is_differentiable()
        )
        if call.node is not None:
            call.node._add_input_metadata(raw if is_differentiable else None)
        output = _with_history(call, raw, place, is_differentiable)
        is_changed_input = _holds(call.inputs, raw) and _holds(call.dirty, raw)
        meta = output._autograd
        if not is_changed_input and meta is not None and meta.view is not None:
            meta.creation_meta = CreationMeta.IN_CUSTOM_FUNCTION
        differentiable += is_differentiable
        outputs.append(output)
    if differentiable > 1:
        _mark_several(outputs)
    for changed in call.dirty:
        if not _holds(call.raw, changed):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as "
                "output. The inputs that are modified inplace must all be outputs of the Function."
            )
    return tuple(outputs)


def _mark_several(outputs: Sequence[Any]) -> None:
    """Of several outputs no view may be changed in place."""
    for output in outputs:
        meta = output._autograd if isinstance(output, Tensor) else None
        if meta is not None and meta.view is not None:
            meta.creation_meta = CreationMeta.MULTI_OUTPUT_NODE


def _with_history(call: Returned, tensor: Tensor, place: int, is_differentiable: bool) -> Tensor:
    is_input, is_changed = _holds(call.inputs, tensor), _holds(call.dirty, tensor)
    is_saved = _holds(call.saved, tensor)
    if not is_differentiable:
        return _without_gradient(tensor, is_input, is_changed, is_saved)
    assert call.node is not None
    if is_changed:
        return _changed(call, tensor, place, is_input)
    if is_input:
        if is_saved:
            raise RuntimeError(_RETURNED_AS_IS)
        tensor = _view_as_self(tensor)
    set_gradient_edge(tensor, (call.node, place))
    return tensor


def _without_gradient(tensor: Tensor, is_input: bool, is_changed: bool, is_saved: bool) -> Tensor:
    if not tensor._requires_grad():
        if is_input and not is_changed:
            if is_saved:
                raise RuntimeError(_RETURNED_AS_IS)
            return _view_as_self(tensor)
        return tensor
    if is_input:
        detached: Tensor = at.call("detach", tensor)
        return detached
    if not tensor._is_view():
        at.call("detach_", tensor)
    return tensor


def _changed(call: Returned, tensor: Tensor, place: int, is_input: bool) -> Tensor:
    if tensor._is_leaf() and tensor._requires_grad():  # no look at a base that has been changed
        raise RuntimeError(
            "a leaf Variable that requires grad has been used in an in-place operation."
        )
    if not is_input:
        if _ASKS_CHANGED_VIEWS and tensor._is_view():
            raise RuntimeError(WARNING_TEXTS["mark_dirty"])
        warn_once("mark_dirty", WARNING_TEXTS["mark_dirty"])
    if tensor._is_view() and len(call.raw) > 1:
        raise RuntimeError(
            "If your Function modifies inplace an input that is a view of another Tensor, your "
            "Function cannot return more than one Tensor. This is not supported by the current "
            "autograd engine. You should either make sure the input is not a view (using .clone() "
            "for example) or make your Function only return one Tensor (potentially splitting it "
            "into two Functions: one doing the inplace that returns a single Tensor and a second "
            "one that does the other operations). You can ask on the forum "
            "https://discuss.pytorch.org/ if you need help to do this change."
        )
    if _ASKS_CHANGED_VIEWS:
        check_inplace(tensor, True)
    meta = tensor._materialize_autograd_meta()
    meta.grad, meta.hooks = None, ()
    accumulator = try_get_grad_accumulator(tensor)
    if isinstance(accumulator, AccumulateGrad):
        meta.grad_accumulator = None
    assert call.node is not None
    rebase_tensor(tensor, (call.node, place))
    return tensor


def _view_as_self(tensor: Tensor) -> Tensor:
    """As Python calls it, for the class of a tensor may override that."""
    with tls.guarded(tls.AutoGradMode, False):
        view: Tensor = tensor.view_as(tensor)  # type: ignore[attr-defined]
    return view
