"""Nodes that torch writes by hand.

Mirrors ``torch/csrc/autograd/functions``: ``accumulate_grad``, ``basic_ops`` and ``tensor``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from weakref import ReferenceType, ref

from mindtorch_v2 import profile
from mindtorch_v2.autograd import at
from mindtorch_v2.autograd.hooks import call_post_accumulate_hooks
from mindtorch_v2.autograd.node import (
    MAX_SEQUENCE_NR,
    CppFunction,
    Edge,
    Gradient,
    Hook,
    Node,
    TensorPreHook,
    begin,
    received_for,
)
from mindtorch_v2.autograd.operators import add
from mindtorch_v2.autograd.ownership import others_that_hold
from mindtorch_v2.autograd.saved_variable import ERR_BACKWARD_TWICE
from mindtorch_v2.autograd.variable import (
    ACCUMULATING,
    GRADIENTS_HAVE_DTYPES,
    TensorGeometry,
    grad_fn,
    gradient_edge,
)
from mindtorch_v2.dispatch import tls
from mindtorch_v2.tensor.autograd_meta import ViewFunction
from mindtorch_v2.tensor.dtype import strided
from mindtorch_v2.tensor.geometry import is_contiguous, is_non_overlapping_and_dense
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn, warn_once

_ENDS_IN_HOOKS: Final = profile.active().autograd["python"]["accumulation_ends_in_hooks"]
"""Whether the hooks after accumulation see a leaf that got no gradient, too."""


class ManualNode(CppFunction):
    """A node that torch writes by hand; C++ shows its name with the namespace."""

    __slots__ = ()
    __module__ = "builtins"

    def name(self) -> str:
        return f"torch::autograd::{type(self).__name__}"


_new: Final[Callable[..., Any]] = object.__new__


class AccumulateGrad(ManualNode):
    """Adds what arrives to a leaf's ``grad``; runs as soon as it can."""

    __slots__ = ("_variable",)
    __module__ = "builtins"

    _variable: Tensor | ReferenceType[Tensor]

    @classmethod
    def of(cls, variable: Tensor, keeps: bool) -> AccumulateGrad:
        """One that ``keeps`` the leaf, or that the leaf keeps: Note [Kept accumulating nodes]."""
        self: AccumulateGrad = _new(cls)
        begin(self, MAX_SEQUENCE_NR)
        self._variable = variable if keeps else ref(variable)
        self._received = (received_for(variable),)
        return self

    @property
    def variable(self) -> Tensor:
        found = self._variable
        if isinstance(found, Tensor):
            return found
        leaf = found()
        assert leaf is not None  # what holds a node that keeps no leaf holds the leaf
        return leaf

    def _shared(self) -> AccumulateGrad:
        if not isinstance(self._variable, Tensor):
            variable = self._variable = self.variable
            meta = variable._autograd
            if meta is not None and meta.grad_accumulator == (self, 0):
                meta.grad_accumulator = ref(self)
        return self

    def _all_tensor_pre_hooks(self) -> Sequence[TensorPreHook]:
        meta = self.variable._autograd
        return () if meta is None else meta.hooks

    def _add_tensor_pre_hook(self, hook: TensorPreHook) -> None:
        meta = self.variable._materialize_autograd_meta()
        meta.hooks = [*meta.hooks, hook]

    def _post_accumulate_hooks(self) -> Mapping[int, Hook] | None:
        meta = self.variable._autograd
        return None if meta is None else meta.post_accumulate_grad_hooks

    def _apply(self, grads: list[Gradient]) -> list[Gradient]:
        if self._accumulate(grads) or _ENDS_IN_HOOKS:
            hooks = self._post_accumulate_hooks()
            if hooks:
                call_post_accumulate_hooks(hooks.values(), self.variable)
        return []

    def _accumulate(self, grads: list[Gradient]) -> bool:
        """Whether there is a gradient, which the leaf wants."""
        if grads[0] is None:
            return False
        if grad_fn(self.variable) is not None:
            raise RuntimeError("leaf variable has been moved into the graph interior")
        if not self.variable._requires_grad():
            return False
        is_unseen = others_that_hold(grads, 0) <= self._has_post_hooks()  # which see it later
        (grad,) = grads
        assert grad is not None
        meta = self.variable._materialize_autograd_meta()
        if meta.grad is not None:
            creates_graph = tls.is_grad_enabled()
            if creates_graph:
                meta.grad = add(meta.grad, grad)
            else:
                at.call("add_", meta.grad, grad)
            _check_contract(meta.grad, self.variable, creates_graph=creates_graph)
        elif is_unseen and not tls.is_grad_enabled() and obeys_contract(grad, self.variable):
            meta.grad = at.call("detach", grad)
        else:
            meta.grad = clone_obey_contract(grad, self.variable)
        return True


ACCUMULATING[:] = [AccumulateGrad.of]


def obeys_contract(grad: Tensor, variable: Tensor) -> bool:
    """Whether a gradient lies in memory as :func:`clone_obey_contract` would lay it.

    A dimension of one element may have any stride but 0, which stands for what was expanded.
    See ``obeys_layout_contract`` in grad_layout_contract.h.
    """
    if not is_non_overlapping_and_dense(variable._sizes, variable._strides):
        return is_contiguous(grad._sizes, grad._strides)
    dims = zip(grad._sizes, grad._strides, variable._strides, strict=False)
    return all(stride != 0 if size == 1 else stride == own for size, stride, own in dims)


def _check_contract(grad: Tensor, variable: Tensor, *, creates_graph: bool) -> None:
    """``CHECK_RESULT``: what has been added to may lie in another way."""
    if grad._layout is not strided or variable._layout is not strided:
        return
    if not obeys_contract(grad, variable):
        warn_once(
            "AccumulateGrad(create_graph)" if creates_graph else "AccumulateGrad",
            "grad and param do not obey the gradient layout contract. This is not an error, but "
            "may impair performance.\n"
            f"grad.sizes() = {list(grad._sizes)}, strides() = {list(grad._strides)}\n"
            f"param.sizes() = {list(variable._sizes)}, strides() = {list(variable._strides)}",
        )


def clone_obey_contract(grad: Tensor, variable: Tensor) -> Tensor:
    """A copy laid out as the variable is, if that is dense; else row-major.

    See "Gradient Layout Contract" in accumulate_grad.h.
    """
    found: Tensor
    if is_non_overlapping_and_dense(variable._sizes, variable._strides):
        found = at.call(
            "new_empty_strided",
            *(grad, list(variable._sizes), list(variable._strides)),
            dtype=grad._dtype if GRADIENTS_HAVE_DTYPES else variable._dtype,
            layout=variable._layout,
            device=variable._device,
        )
        at.call("copy_", found, grad)
        return found
    found = at.call("clone", grad, at.CONTIGUOUS)
    return found


class CopyBackwards(ManualNode):
    """Of ``copy_``: nothing of what is overwritten counts, all of the source does."""

    __slots__ = ("options",)
    __module__ = "builtins"

    options: at.TensorOptions

    def _apply(self, grads: list[Gradient]) -> list[Gradient]:
        (grad,) = grads
        found: list[Gradient] = [None, None]
        if grad is None:
            return found
        if self._task_should_compute_output(0):
            found[0] = at.call("zeros_like", grad, at.CONTIGUOUS)
        if self._task_should_compute_output(1):
            if grad._dtype.is_complex and not self.options.dtype.is_complex:
                grad = at.call("real", grad)
            found[1] = at.call("to", grad, self.options)
        return found


class CopySlices(ManualNode):
    """Of a base one of whose views was changed: the part that is the view goes through the node
    of the change."""

    __slots__ = ("base_geometry", "fn", "view", "view_fn")
    __module__ = "builtins"

    def __init__(
        self, base: Tensor, view: TensorGeometry, view_fn: ViewFunction | None, fn: Node
    ) -> None:
        super().__init__()
        self.base_geometry = TensorGeometry.of(base)
        self.view, self.view_fn = view, view_fn
        self.fn: Node | None = fn
        self._add_input_metadata(base)
        self._set_next_edges([gradient_edge(base), *fn.next_functions[1:]])

    def _release_variables(self) -> None:
        self.fn = None

    def _apply(self, grads: list[Gradient]) -> list[Gradient]:
        (grad,) = grads
        found: list[Gradient] = [None] * len(self._edges)
        if grad is None:
            return found
        if self.fn is None:
            raise RuntimeError(ERR_BACKWARD_TWICE)
        base = self.base_geometry
        result = at.call("new_empty_strided", grad, list(base.sizes), list(base.strides))
        at.call("copy_", result, grad)
        part = self._part(result)
        self._want_as_base(self.fn)
        changed = self.fn._apply([at.call("clone", part, at.CONTIGUOUS)])
        for place, each in enumerate(changed):
            if each is None or not self._task_should_compute_output(place):
                continue
            if place:
                found[place] = each
            else:
                at.call("copy_", part, each)
                found[0] = result
        return found

    def _part(self, result: Tensor) -> Tensor:
        if self.view_fn is not None:
            return self.view_fn(result)
        offset = self.view.storage_offset - self.base_geometry.storage_offset
        found: Tensor = at.call(
            "as_strided", result, list(self.view.sizes), list(self.view.strides), offset
        )
        return found

    def _want_as_base(self, fn: Node) -> None:
        """The node of the change asks for the view's history, which stands for the base's."""
        from mindtorch_v2.autograd.node import current_graph_task

        task: Any = current_graph_task()
        node, _ = fn._edges[0]
        if task is not None and node is not None and self._task_should_compute_output(0):
            task.add_node_to_exec_info(node)


class GraphRoot(ManualNode):
    """Where backward from several tensors starts."""

    __slots__ = ("outputs",)
    __module__ = "builtins"

    def __init__(self, edges: Sequence[Edge], outputs: list[Gradient]) -> None:
        super().__init__()
        self._set_next_edges(edges)
        self.outputs = outputs

    def _apply(self, grads: list[Gradient]) -> list[Gradient]:
        return self.outputs


class Identity(ManualNode):
    """Hands on what it gets."""

    __slots__ = ()
    __module__ = "builtins"

    def _apply(self, grads: list[Gradient]) -> list[Gradient]:
        return list(grads)


class Error(ManualNode):
    """Raises what it was made with."""

    __slots__ = ("message",)
    __module__ = "builtins"

    def __init__(self, message: str) -> None:
        super().__init__()
        self.message = message

    def _apply(self, grads: list[Gradient]) -> list[Gradient]:
        raise RuntimeError(self.message)


class Underivable(Error):  # noqa: N818 (no exception)
    """Of an operator that has no derivative: torch's ``NotImplemented``."""

    __slots__ = ()

    def __init__(self, function: str) -> None:
        super().__init__(f"derivative for {function} is not implemented")


Underivable.__name__ = Underivable.__qualname__ = "NotImplemented"
Underivable.__module__ = "builtins"  # C++ gives it no module


class WarnNotImplemented(ManualNode):
    """Of an operator without a kernel at Autograd: backward warns, and goes no further."""

    __slots__ = ("count", "operator")
    __module__ = "builtins"

    def __init__(self, operator: str, tensors: Sequence[Tensor]) -> None:
        super().__init__()
        self.operator, self.count = operator, len(tensors)
        self._set_next_edges([gradient_edge(each) for each in tensors])

    def name(self) -> str:
        return "torch::autograd::WarnNotImplemented"

    def warn(self, grad: Gradient = None) -> None:
        """Also a hook, of results whose history is known."""
        warn(
            "warnAutogradNotImplemented",
            f"{self.operator}: an autograd kernel was not registered to the Autograd key(s) but we "
            "are trying to backprop through it. This may lead to silently incorrect behavior. "
            "This behavior is deprecated and will be removed in a future version of PyTorch. If "
            "your operator is differentiable, please ensure you have registered an autograd kernel "
            "to the correct Autograd key (e.g. DispatchKey::Autograd, "
            "DispatchKey::CompositeImplicitAutograd). If your operator is not differentiable, or "
            "to squash this warning and use the previous behavior, please register "
            "torch::CppFunction::makeFallthrough() to DispatchKey::Autograd.",
        )

    def _apply(self, grads: list[Gradient]) -> list[Gradient]:
        self.warn()
        return [None] * self.count


# Python has no class of its own for it.
WarnNotImplemented.__name__ = WarnNotImplemented.__qualname__ = "CppFunction"
