"""What autograd keeps with a tensor: its gradient, what computed it, and of what it is a view.

Mirrors ``AutogradMeta`` and ``DifferentiableViewMeta`` of ``torch/csrc/autograd/variable.h``.
A tensor without any of it has none; :mod:`mindtorch_v2.autograd.variable` says what it all means.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from weakref import ReferenceType

if TYPE_CHECKING:
    from mindtorch_v2.tensor.tensor import Tensor

ViewFunction: TypeAlias = "Callable[[Tensor], Tensor]"
"""Makes the view anew from another base."""


class CreationMeta(Enum):
    """How a view came to be, which decides whether it may be changed in place."""

    DEFAULT = "default"
    IN_CUSTOM_FUNCTION = "in custom function"
    MULTI_OUTPUT_NODE = "multi output node"
    NO_GRAD_MODE = "no grad mode"
    INFERENCE_MODE = "inference mode"


class ViewInfo(NamedTuple):
    """The tensor that, at last, a view is of, and how to make it anew if strides do not say."""

    base: Tensor
    view_fn: ViewFunction | None = None


class AutogradMeta:
    """A tensor's; ``grad_fn`` as it was set, which for a view may be out of date.

    What every operation looks at are slots.  Of most tensors the rest is never set, so that the
    class has it.
    """

    __slots__ = ("__dict__", "grad_accumulator", "grad_fn", "output_nr", "requires_grad", "view")

    requires_grad: bool
    grad_fn: Any
    output_nr: int
    grad_accumulator: ReferenceType[Any] | tuple[Any, int] | None
    """A leaf's node, or the edge to one that it keeps."""
    view: ViewInfo | None
    grad: Tensor | None = None
    backward_hooks: Any = None
    """Hooks by id, as Python sees them."""
    hooks: Sequence[Any] = ()
    """What a node calls for them."""
    cpp_hooks: list[Any] | None = None
    """Hooks that were not registered by Python."""
    post_accumulate_grad_hooks: Any = None
    retains_grad: bool = False
    grad_dtype: Any = ...
    """Ellipsis for that of the tensor."""
    creation_meta: CreationMeta = CreationMeta.DEFAULT
    attr_version: int = 0
    """Of a view, the version for which ``grad_fn`` holds."""

    def __init__(self) -> None:
        self.requires_grad, self.output_nr = False, 0
        self.grad_fn = self.grad_accumulator = self.view = None


class Unrecorded:
    """Provisional: the history of a result whose function is not an operator's kernel yet."""

    next_functions: tuple[Any, ...] = ()

    def name(self) -> str:
        return "Unrecorded"


UNRECORDED = Unrecorded()
