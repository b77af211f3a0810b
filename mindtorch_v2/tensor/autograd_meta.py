"""What autograd keeps with a tensor: its gradient, what computed it, and of what it is a view.

Mirrors ``AutogradMeta`` and ``DifferentiableViewMeta`` of ``torch/csrc/autograd/variable.h``.
A tensor without any of it has none; :mod:`mindtorch_v2.autograd.variable` says what it all means.
"""

from __future__ import annotations

from collections.abc import Callable
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
    """A tensor's; ``grad_fn`` as it was set, which for a view may be out of date."""

    __slots__ = (
        "attr_version",
        "backward_hooks",
        "creation_meta",
        "grad",
        "grad_accumulator",
        "grad_dtype",
        "grad_fn",
        "hooks",
        "output_nr",
        "post_accumulate_grad_hooks",
        "requires_grad",
        "retains_grad",
        "view",
    )

    def __init__(self) -> None:
        self.requires_grad = False
        self.grad: Tensor | None = None
        self.grad_fn: Any = None
        self.output_nr = 0
        self.grad_accumulator: ReferenceType[Any] | None = None
        #: Hooks by id, as Python sees them, and what a node calls for them.
        self.backward_hooks: Any = None
        self.hooks: list[Any] = []
        self.post_accumulate_grad_hooks: Any = None
        self.retains_grad = False
        #: Ellipsis for that of the tensor.
        self.grad_dtype: Any = ...
        self.view: ViewInfo | None = None
        self.creation_meta = CreationMeta.DEFAULT
        #: Of a view, the version for which ``grad_fn`` holds.
        self.attr_version = 0


class Unrecorded:
    """Provisional: the history of a result whose function is not an operator's kernel yet."""

    next_functions: tuple[Any, ...] = ()

    def name(self) -> str:
        return "Unrecorded"


UNRECORDED = Unrecorded()
