"""The history of tensors: what computed them, and what their views and changes do to it.

Mirrors ``torch/csrc/autograd/variable.cpp`` and ``VariableTypeUtils.h``.

Note [Kept accumulating nodes]
    The node that adds to a leaf's ``grad`` keeps the leaf, and lives as long as a graph has it: for
    most steps it is made anew, which would be a quarter of the time of a short call.  So a leaf may
    keep a node that nobody has seen, in ``grad_accumulator`` with the edge to it.  The node keeps
    no leaf then; the nodes that lead to it do (``GeneratedNode._leaves``).  Whoever else wants the
    node, or shows it, has it `_shared` before, and from then on it lives and dies as torch's.  One
    that no graph had is gone with that, for torch would make another one.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any, Final

from mindtorch_v2 import messages, profile
from mindtorch_v2.autograd.node import Edge, FunctionalPreHook, Node, flattened, received_for
from mindtorch_v2.dispatch import tls
from mindtorch_v2.tensor.autograd_meta import (
    UNRECORDED,
    AutogradMeta,
    CreationMeta,
    ViewFunction,
    ViewInfo,
)
from mindtorch_v2.tensor.pending import AWAY
from mindtorch_v2.tensor.support import CPP_NAMES
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import shallow_copy_and_detach

_new_tuple: Final = tuple.__new__

GRADIENTS_HAVE_DTYPES: Final = (
    "grad_dtype" in profile.active().signatures["names"]["torch._C.TensorBase"]
)
"""Which need not be those of their leaves."""

# --- copies that share a storage ----------------------------------------------------------------


def tensor_data(tensor: Tensor) -> Tensor:
    """The same elements without history, whose changes are counted; Python is asked for it."""
    seen: Tensor | None = shallow_copy_and_detach(tensor)
    data = tensor._alias() if seen is None else seen
    data._versions, data._autograd = tensor._versions, None
    return data


def variable_data(tensor: Tensor) -> Tensor:
    """The same elements without history, whose changes nobody counts."""
    data = tensor_data(tensor)
    data._versions = tensor._copied_counter()
    return data


# --- edges --------------------------------------------------------------------------------------


def grad_fn(tensor: Tensor) -> Any:
    """The node that computed a tensor, up to date for views; None for a leaf.

    RuntimeError for a view that must not have been changed.
    """
    meta = tensor._autograd
    if meta is None:
        return None
    view = meta.view
    if view is None or (meta.grad_fn is None and not view.base._requires_grad()):
        return meta.grad_fn
    if meta.attr_version != tensor._versions.current:
        _regenerate(tensor, meta, view)
    return meta.grad_fn


def _regenerate(tensor: Tensor, meta: AutogradMeta, view: ViewInfo) -> None:
    """See Note [View + Inplace update for view tensor]: its base or another view was changed."""
    from mindtorch_v2.autograd.generated import node_class

    version = tensor._versions.current
    old = meta.grad_fn
    handle_view_onrebase_tensor(meta, indirect=True)
    if view.view_fn is not None:
        with tls.guarded(tls.AutoGradMode, True):
            meta.grad_fn = grad_fn(view.view_fn(view.base))
    else:
        node = node_class("AsStridedBackward0")()
        node._set_saved("self_geometry", TensorGeometry.of(view.base))
        node._set_saved("size", tuple(tensor._sizes))
        node._set_saved("stride", tensor._strides)
        node._set_saved("storage_offset", tensor._storage_offset)
        node._set_next_edges(collect_next_edges((view.base,)))
        dtype, layout, device, _, *kind = received_for(view.base)
        node._received = ((dtype, layout, device, tensor._sizes, *kind),)
        meta.grad_fn = node
    meta.attr_version = version
    update_tensor_hooks_on_new_gradfn(tensor, old, meta.grad_fn)


class TensorGeometry:
    """Sizes, strides and offset of a tensor, without it."""

    __slots__ = ("sizes", "storage_offset", "strides")

    def __init__(
        self, sizes: tuple[int, ...], strides: tuple[int, ...], storage_offset: int
    ) -> None:
        self.sizes, self.strides, self.storage_offset = sizes, strides, storage_offset

    @classmethod
    def of(cls, tensor: Tensor) -> TensorGeometry:
        return cls(tuple(tensor._sizes), tensor._strides, tensor._storage_offset)


ACCUMULATING: Final[list[Callable[[Tensor, bool], Node]]] = []
"""What makes the node that adds to a leaf's ``grad``, which keeps the leaf or not; it stands above,
and puts that here."""


def grad_accumulator(tensor: Tensor) -> Node | None:
    """The node that adds to a leaf's ``grad``; the leaf itself does not keep it alive."""
    meta = tensor._autograd
    if meta is None or not meta.requires_grad:
        return None
    if meta.grad_fn is not None:
        raise RuntimeError("grad_accumulator() should be only called on leaf Variables")
    return _accumulator(tensor, meta)


def _accumulator(tensor: Tensor, meta: AutogradMeta) -> Node:
    found = _living(meta)
    if found is None:
        found = ACCUMULATING[0](tensor, True)
        meta.grad_accumulator = weakref.ref(found)
    return found


def try_get_grad_accumulator(tensor: Tensor) -> Node | None:
    meta = tensor._autograd
    return None if meta is None else _living(meta)


def _living(meta: AutogradMeta) -> Node | None:
    """The node of a leaf that somebody else holds."""
    reference = meta.grad_accumulator
    if isinstance(reference, tuple):  # of which nothing may be left here, to hold the node
        reference = meta.grad_accumulator = weakref.ref(reference[0]._shared())
    found: Node | None = None if reference is None else reference()
    return found


def set_grad_accumulator(tensor: Tensor, accumulator: weakref.ReferenceType[Node] | None) -> None:
    """Give a leaf the node of another: what flows to it arrives there."""
    if accumulator is not None and tensor._autograd is not None:
        tensor._autograd.grad_accumulator = accumulator


def reset_grad_accumulator(tensor: Tensor) -> None:
    if tensor._autograd is not None:
        tensor._autograd.grad_accumulator = None


def output_nr(tensor: Tensor) -> int:
    return 0 if tensor._autograd is None else tensor._autograd.output_nr


def gradient_edge(tensor: Tensor) -> Edge:
    """Where a tensor's gradient goes."""
    meta = tensor._raw_autograd
    if meta is None:
        return NOWHERE
    if meta is AWAY:
        meta = tensor._autograd
        if meta is None:
            return NOWHERE
    gradient = meta.grad_fn if meta.view is None else grad_fn(tensor)
    if gradient is not None:
        if gradient is UNRECORDED:
            raise NotImplementedError(
                "mindtorch_v2 has no kernel yet for the operator that computed this tensor, so its "
                "history is not known"
            )
        return gradient, meta.output_nr
    if not meta.requires_grad:
        return NOWHERE
    return _accumulator(tensor, meta), 0


def edge_of_plain(tensor: Tensor) -> Edge:
    """The same of a plain tensor, for who keeps it as long as the edge: a leaf keeps the edge too.

    Who takes such an edge again sees to it that the tensor is still a leaf, of the sizes that the
    node was told; another dtype has it forget the node.  Not for anomaly mode, in which nodes know
    where they were made.
    """
    meta = tensor._raw_autograd
    if meta is None or meta is AWAY or not meta.requires_grad:
        return gradient_edge(tensor)
    if meta.grad_fn is not None or meta.view is not None or _living(meta) is not None:
        return gradient_edge(tensor)
    edge: Edge = ACCUMULATING[0](tensor, False), 0
    meta.grad_accumulator = edge
    return edge


def set_gradient_edge(tensor: Tensor, edge: Edge) -> None:
    meta = tensor._raw_autograd
    if meta is None or meta is AWAY:
        meta = tensor._materialize_autograd_meta()
    meta.grad_fn, meta.output_nr = edge
    if meta.view is not None:
        meta.attr_version = tensor._versions.current


def collect_next_edges(values: Iterable[Any]) -> list[Edge]:
    """The edges of arguments; an empty one for what is no tensor."""
    return [NOWHERE if each is None else gradient_edge(each) for each in flattened(values)]


NOWHERE: Final[Edge] = None, 0
"""Of what has no gradient."""


# --- history ------------------------------------------------------------------------------------


def set_history(outputs: Iterable[Any], node: Node) -> None:
    """Results that a node has computed; RuntimeError for a dtype without gradients."""
    for each in flattened(outputs):
        if each is not None and not each._is_differentiable():
            raise RuntimeError(messages.not_differentiable(CPP_NAMES[each._dtype]))
        create_gradient_edge(each, node)


def create_gradient_edge(output: Tensor | None, node: Node) -> None:
    """One result of a node, whatever its dtype."""
    number = node._add_input_metadata(output)
    if output is not None:
        set_gradient_edge(output, (node, number))


def rebase_history(outputs: Iterable[Any], node: Node) -> None:
    """Tensors that a node has changed."""
    for each in flattened(outputs):
        number = node._add_input_metadata(each)
        if each is not None:
            rebase_tensor(each, (node, number))


def rebase_tensor(tensor: Tensor, edge: Edge) -> None:
    from mindtorch_v2.autograd.basic_ops import CopySlices

    meta = tensor._autograd
    if meta is None or meta.view is None:
        old = None if meta is None else meta.grad_fn
        set_gradient_edge(tensor, edge)
        update_tensor_hooks_on_new_gradfn(tensor, old, grad_fn(tensor))
        return
    node, number = edge
    assert node is not None
    if len(node._received) != 1:
        raise RuntimeError("Functions which modify views in-place must return a single Variable")
    if meta.creation_meta is not CreationMeta.DEFAULT and messages.is_asserted("rebase_history"):
        condition = "creation_meta == CreationMeta::DEFAULT"
        raise RuntimeError(messages.internal_assert(condition, "rebase_history"))
    base, view_fn = meta.view
    meta.output_nr = number
    slices = CopySlices(base, TensorGeometry.of(tensor), view_fn, node)
    if tensor._requires_grad():
        update_tensor_hooks_on_new_gradfn(base, grad_fn(base), slices)
    set_gradient_edge(base, (slices, 0))
    grad_fn(tensor)


def update_tensor_hooks_on_new_gradfn(tensor: Tensor, old: Any, new: Any) -> None:
    """Hooks stay with the old node, but for the one that keeps the gradient.

    RuntimeError without a new one: a view may have had history that its base has not.
    """
    meta = tensor._autograd
    assert meta is not None
    if new is None:
        function = "update_tensor_hooks_on_new_gradfn"
        raise RuntimeError(messages.internal_assert("new_fn", function))
    meta.hooks, meta.backward_hooks, meta.cpp_hooks = (), None, None
    if meta.retains_grad:
        hook = old._retain_no_grad(meta.output_nr)
        if hook is None:
            where = "update_tensor_hooks_on_new_gradfn of a gradient that is kept"
            raise RuntimeError(messages.internal_assert("out != nullptr", where))
        new._retain_grad(meta.output_nr, hook)


def retain_grad(tensor: Tensor) -> None:
    """Have a tensor keep its gradient; leaves do anyway."""
    if not tensor._requires_grad():
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    from mindtorch_v2.functionalize.layers import check_supports_retain_grad

    check_supports_retain_grad()
    if tensor._is_leaf():
        return
    meta = tensor._materialize_autograd_meta()
    if meta.retains_grad:
        return
    weak = weakref.ref(tensor)

    def keep(grad: Tensor | None) -> None:
        from mindtorch_v2.autograd import at

        target = weak()
        if target is None or grad is None:
            return
        kept = target._materialize_autograd_meta()
        if kept.grad is None:
            kept.grad = at.call("clone", grad, memory_format=0)
        else:
            kept.grad = at.call("add", kept.grad, grad)

    number = meta.output_nr
    node, _ = gradient_edge(tensor)
    assert node is not None
    node._retain_grad(number, FunctionalPreHook(keep, number))
    meta.retains_grad = True


def register_hook(tensor: Tensor, hook: Callable[[Tensor | None], None]) -> None:
    """``VariableHooks::_register_hook``: the hook of C++ for a tensor that requires grad.

    The first takes the place of hooks of Python where the tensor is a leaf, as torch has it.
    """
    meta = tensor._materialize_autograd_meta()
    if meta.cpp_hooks is None:
        node = grad_fn(tensor)
        meta.cpp_hooks = registered = []

        def run(grad: Tensor | None) -> None:
            for each in registered:
                each(grad)

        meta.hooks = [FunctionalPreHook(run, 0)]
        if node is not None:
            node._add_tensor_pre_hook(FunctionalPreHook(run, meta.output_nr))
    meta.cpp_hooks.append(hook)


# --- views and changes --------------------------------------------------------------------------


VIEW_IS_BASE: Final = (
    "View operation returned a tensor that is the same as the input base tensor.  This is no "
    "longer allowed; you must explicitly create a new tensor (e.g., using .detach()). As a user, "
    "you could have made a mistake implementing __torch_dispatch__ or a Python operator "
    "decomposition or meta registration; if that's not the case, please report a bug to PyTorch "
    "or the backend you are using."
)


def as_view(
    base: Tensor,
    view: Tensor,
    *,
    is_differentiable: bool = True,
    view_fn: ViewFunction | None = None,
    creation_meta: CreationMeta = CreationMeta.DEFAULT,
) -> Tensor:
    """Make an alias a view of ``base``, or of what that is a view of.

    See NOTE [ Autograd View Variables ] in variable.h.
    """
    if base._is_inference():
        return view
    if base is view:
        if is_differentiable:
            raise RuntimeError(VIEW_IS_BASE)
        view = base._alias()
    if not view._is_inference():
        view._versions = base._versions
    elif view._functional is not None:  # which copies itself in C++, and its base's counter
        raise RuntimeError("Cannot set version_counter for inference tensor")
    if not is_differentiable:
        view._autograd = None
        return view
    meta = view._autograd = AutogradMeta()
    of_base = base._autograd
    if of_base is not None and of_base.view is not None:
        if of_base.creation_meta is not CreationMeta.DEFAULT:
            creation_meta = _propagated(of_base.creation_meta, creation_meta)
        meta.view = _chained(of_base.view, base, view, view_fn)
        if not view._is_inference():  # ``base`` may have been made to count for itself
            view._versions = meta.view.base._versions
    else:
        meta.view = _new_tuple(ViewInfo, (base, view_fn))
    meta.creation_meta = creation_meta
    meta.attr_version = view._versions.current
    return view


def _propagated(previous: CreationMeta, new: CreationMeta) -> CreationMeta:
    kept = new is CreationMeta.DEFAULT or previous is CreationMeta.INFERENCE_MODE
    return previous if kept else new


def _chained(
    info: ViewInfo, parent: Tensor, view: Tensor, view_fn: ViewFunction | None
) -> ViewInfo:
    """The way from the root to a view of a view; strides alone where they say it all."""
    if view_fn is None and info.view_fn is None:
        return info
    first = info.view_fn or _strided_as(parent)
    second = view_fn or _strided_as(view)
    return ViewInfo(info.base, lambda root: second(first(root)))


def _strided_as(tensor: Tensor) -> ViewFunction:
    from mindtorch_v2.autograd import at

    geometry = TensorGeometry.of(tensor)

    def view(base: Tensor) -> Tensor:
        found: Tensor = at.call(
            "as_strided", base, geometry.sizes, geometry.strides, geometry.storage_offset
        )
        return found

    return view


def check_inplace(tensor: Tensor, requires_grad: bool) -> None:
    """RuntimeError if a change in place cannot be recorded."""
    if not requires_grad or not tls.is_grad_enabled():
        return
    meta = tensor._autograd
    if meta is not None and meta.view is not None:
        if meta.creation_meta is not CreationMeta.DEFAULT:
            handle_view_onrebase_tensor(meta)
            return
        if tensor.requires_grad and meta.view.base._is_leaf():
            raise RuntimeError(
                "a view of a leaf Variable that requires grad is being used in an in-place "
                "operation."
            )
    if tensor._requires_grad() and tensor._is_leaf():
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation."
        )


_AMBIGUOUS: Final = (
    " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify "
    "your code by moving both the view and the inplace either both inside the {} block (if you "
    "don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
)
_WHY: Final = {
    CreationMeta.MULTI_OUTPUT_NODE: (
        " This view is the output of a function that returns multiple views. Such functions do "
        "not allow the output views to be modified inplace. You should replace the inplace "
        "operation by an out-of-place one."
    ),
    CreationMeta.NO_GRAD_MODE: _AMBIGUOUS.format("no_grad"),
    CreationMeta.INFERENCE_MODE: _AMBIGUOUS.format("inference_mode"),
    CreationMeta.IN_CUSTOM_FUNCTION: (
        " This view was created inside a custom Function (or because an input was returned "
        "as-is) and the autograd logic to handle view+inplace would override the custom backward "
        "associated with the custom Function, leading to incorrect gradients. This behavior is "
        "forbidden. You can fix this by cloning the output of the custom Function."
    ),
}


def handle_view_onrebase_tensor(meta: AutogradMeta, *, indirect: bool = False) -> None:
    """RuntimeError for a view whose change cannot be recorded; nothing for the others."""
    creation_meta, node = meta.creation_meta, meta.grad_fn
    if creation_meta is CreationMeta.DEFAULT:
        return
    changed = "its base or another view of its base has been" if indirect else "is being"
    output = "" if node is None else f"Output {meta.output_nr} of {node._shown_name()}"
    in_mode = creation_meta in (CreationMeta.INFERENCE_MODE, CreationMeta.NO_GRAD_MODE)
    if in_mode or node is None:
        made = f"{output} is a view of a view which was" if output else "A view was"
        if creation_meta is CreationMeta.INFERENCE_MODE:
            message = (
                f"{made} created in inference mode and {changed} modified inplace in normal mode."
            )
        else:
            message = (
                f"{made} created in no_grad mode and {changed} modified inplace with grad mode "
                "enabled."
            )
    else:
        message = f"{output} is a view and {changed} modified inplace."
    raise RuntimeError(message + _WHY[creation_meta])


def bump_version(tensor: Tensor) -> None:
    """``increment_version``: RuntimeError for an inference tensor outside inference mode."""
    if tensor._versions.value is None and not tls.is_inference_mode_enabled():
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed."
            "You can make a clone to get a normal tensor before doing inplace update."
            "See https://github.com/pytorch/rfcs/pull/17 for more details."
        )
    tensor._versions.bump()
