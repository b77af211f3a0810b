"""Nodes of the graph that backward goes through.

Mirrors ``torch/csrc/autograd/function.h``, ``input_metadata.cpp`` and, for what Python sees of a
node, ``python_cpp_function.cpp``.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

from mindtorch_v2 import profile
from mindtorch_v2.autograd import anomaly
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.dispatch.keyset import PYTHON_KEYS, functionality_bit
from mindtorch_v2.pybind.classes import pybind11_type
from mindtorch_v2.tensor.device import Device
from mindtorch_v2.tensor.dtype import Layout, float32, strided
from mindtorch_v2.tensor.pending import AWAY
from mindtorch_v2.tensor.plain import KEYS
from mindtorch_v2.tensor.size import Size
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.thread_state import ThreadLocal

Gradient: TypeAlias = "Tensor | None"
"""None is C++'s undefined tensor: a gradient of zeros that nobody has made."""

_NAMES_OPERATIONS: Final = profile.active().autograd["python"]["errors_name_operations"]
_METHODS: Final = frozenset(profile.active().autograd["node_methods"])
_ALWAYS: Final = ("_sequence_nr", "_set_sequence_nr", "requires_grad")
"""What nodes of all releases have without an abstract method that asks for it."""
_SAVED: Final = re.compile(r"(_raw)?_saved_|variable$")
_BACKWARD: Final = re.compile(r"Backward(?:0?$|(?=[1-9]\d*$))")

_NESTED: Final = functionality_bit(DispatchKey.NestedTensor)

MAX_SEQUENCE_NR: Final = 2**64 - 1


Received: TypeAlias = "tuple[Any, Layout, Device, Size, bool, bool]"
"""What an :class:`InputMetadata` has: nodes keep it as a plain tuple, which is made much faster."""


class InputMetadata(NamedTuple):
    """What a node has been told of an output of its operation, whose gradient it takes.

    ``dtype`` is that of the gradient; None, which a leaf may want, lets it have any.
    """

    dtype: Any
    layout: Layout
    device: Device
    shape: Size
    is_nested_tensor: bool = False
    is_tensor_subclass: bool = False


def received_for(tensor: Tensor) -> Received:
    """What a node is told of an output."""
    dtype, meta, keys = tensor._dtype, tensor._raw_autograd, tensor._keys
    if meta is AWAY:
        meta = tensor._autograd
    if meta is not None and meta.grad_dtype is not ...:
        dtype = meta.grad_dtype
    if keys == KEYS and tensor._custom is None:
        return dtype, tensor._layout, tensor._device, tensor._sizes, False, False
    # as C++, which asks no class for these
    nested, seen = bool(keys & _NESTED), keys & PYTHON_KEYS == PYTHON_KEYS
    sizes, device = tensor._sizes, tensor._device  # in the order in which its class is asked
    return dtype, tensor._layout, device, sizes, nested, seen


_UNDEFINED: Final = InputMetadata(float32, strided, Device("cpu"), Size(()))
"""Of an output that is undefined, or no tensor."""


class PythonInputMetadata(metaclass=pybind11_type, cpp_name="torch._C._autograd._InputMetadata"):
    """``torch._C._autograd._InputMetadata``: the same, for Python."""

    __slots__ = ("_cpp",)
    __module__ = "mindtorch_v2._C._autograd"
    __doc__ = None

    _cpp: InputMetadata

    def __init__(self) -> None:
        raise TypeError("torch._C._autograd._InputMetadata: No constructor defined!")

    @classmethod
    def _of(cls, received: Received) -> PythonInputMetadata:
        self = cls.__new__(cls)
        self._cpp = InputMetadata(*received)
        return self

    dtype = property(lambda self: self._cpp.dtype)
    device = property(lambda self: self._cpp.device)
    shape = property(lambda self: list(self._cpp.shape))
    is_nested_tensor = property(lambda self: self._cpp.is_nested_tensor)
    is_cpp_nested_tensor = property(lambda self: self._cpp.is_nested_tensor)


PythonInputMetadata.__qualname__ = "_InputMetadata"


Edge: TypeAlias = "tuple[Node | None, int]"
"""A node and which of its inputs; no node where no gradient is wanted.

A plain tuple: one is made for nearly every argument of every operation that is recorded.
"""


class _SequenceNumbers(ThreadLocal):
    def __init__(self) -> None:
        self.numbers = count()


sequence_numbers: Final = _SequenceNumbers()


def next_sequence_nr() -> int:
    """Counts operations of a thread: backward runs the latest first."""
    return next(sequence_numbers.numbers)


Hook: TypeAlias = Callable[..., Any]
_ANOMALY: Final = anomaly.Mode


class Attached:
    """What tensors and users have hung on a node.  Most nodes have none of it."""

    __slots__ = ("metadata", "post_hooks", "pre_hooks", "retains_grad_hooks", "tensor_pre_hooks")

    def __init__(self) -> None:
        self.tensor_pre_hooks: list[TensorPreHook] = []
        #: By the number of the output that keeps its gradient.
        self.retains_grad_hooks: dict[int, TensorPreHook] = {}
        self.pre_hooks: OrderedDict[int, Hook] = OrderedDict()
        self.post_hooks: OrderedDict[int, Hook] = OrderedDict()
        self.metadata: dict[str, Any] = {}


class Node:
    """An operation of the forward pass; called with gradients of its outputs, answers those of its
    inputs."""

    __slots__ = (
        "__weakref__",
        "_attached",
        "_edges",
        "_received",
        "_sequence",
        "_topological_nr",
    )
    __module__ = "builtins"

    _edges: Sequence[Edge]
    _received: tuple[Received | None, ...]
    _sequence: int
    _topological_nr: int
    _attached: Attached | None

    def __init__(self, sequence_nr: int | None = None) -> None:
        begin(self, next_sequence_nr() if sequence_nr is None else sequence_nr)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")

    # --- the graph ----------------------------------------------------------------------------

    def _set_next_edges(self, edges: Iterable[Edge]) -> None:
        self._edges = edges = list(edges)
        self._update_topological_nr(edges)

    def _update_topological_nr(self, edges: Iterable[Edge]) -> None:
        number = self._topological_nr
        for function, _ in edges:
            if function is not None and function._topological_nr >= number:
                number = function._topological_nr + 1
        self._topological_nr = number

    def _add_input_metadata(self, tensor: Tensor | None) -> int:
        """A further output of the operation; answers its number."""
        self._received += (None if tensor is None else received_for(tensor),)
        return len(self._received) - 1

    def _should_compute_output(self, index: int) -> bool:
        """Whether an input of the operation wants a gradient."""
        return self._edges[index][0] is not None

    def _task_should_compute_output(self, index: int) -> bool:
        """Whether the backward that is running wants it."""
        function = self._edges[index][0]
        if function is None:
            return False
        task = current_graph_task()
        return task is None or task.should_execute(function)

    def _shared(self) -> Node:
        """Itself, for who does not hold what leads to it: Note [Kept accumulating nodes]."""
        return self

    # --- what subclasses say ------------------------------------------------------------------

    def _apply(self, grads: list[Gradient]) -> list[Gradient]:
        """The gradients of the operation's inputs from those of its outputs."""
        raise NotImplementedError

    def _release_variables(self) -> None:
        """Forget what was saved: a second backward fails."""

    def _will_release_variables(self) -> None:
        """The backward that runs now will be the last."""

    # --- hooks --------------------------------------------------------------------------------

    def _attach(self) -> Attached:
        """Where more is hung on the node."""
        if self._attached is None:
            self._attached = Attached()
        return self._attached

    def _all_tensor_pre_hooks(self) -> Sequence[TensorPreHook]:
        return () if self._attached is None else self._attached.tensor_pre_hooks

    def _add_tensor_pre_hook(self, hook: TensorPreHook) -> None:
        self._attach().tensor_pre_hooks.append(hook)

    def _retain_grad(self, output_nr: int, hook: TensorPreHook) -> None:
        """Have a hook see the gradient of an output, after all others."""
        self._attach().retains_grad_hooks[output_nr] = hook

    def _retain_no_grad(self, output_nr: int) -> TensorPreHook | None:
        """Take that hook out, if there is one."""
        return self._attach().retains_grad_hooks.pop(output_nr, None)

    def _has_post_hooks(self) -> bool:
        return self._attached is not None and bool(self._attached.post_hooks)

    def _post_accumulate_hooks(self) -> Mapping[int, Hook] | None:
        return None

    # --- what Python sees ---------------------------------------------------------------------

    def name(self) -> str:
        return type(self).__name__

    def _shown_name(self) -> str:
        """In errors: newer releases name the operation, not its backward."""
        return _BACKWARD.sub("", self.name()) if _NAMES_OPERATIONS else self.name()

    @property
    def next_functions(self) -> tuple[Edge, ...]:
        return tuple((node and node._shared(), number) for node, number in self._edges)

    @property
    def metadata(self) -> dict[str, Any]:
        return self._attach().metadata

    @property
    def requires_grad(self) -> bool:
        return True

    if "_input_metadata" in _METHODS:

        @property
        def _input_metadata(self) -> tuple[PythonInputMetadata, ...]:
            return tuple(PythonInputMetadata._of(each or _UNDEFINED) for each in self._received)

    def _sequence_nr(self) -> int:
        return self._sequence

    def _set_sequence_nr(self, number: int) -> None:
        self._sequence = number

    def register_hook(self, fn: Hook) -> Any:
        """Call ``fn(grad_inputs, grad_outputs)`` after the node; what it answers replaces."""
        from mindtorch_v2.autograd.hooks import RemovableHandle

        return RemovableHandle.added(self._attach().post_hooks, fn)

    def register_prehook(self, fn: Hook) -> Any:
        """Call ``fn(grad_outputs)`` before the node; what it answers replaces."""
        from mindtorch_v2.autograd.hooks import RemovableHandle

        return RemovableHandle.added(self._attach().pre_hooks, fn)

    def _register_hook_dict(self, tensor: Any) -> None:
        if not isinstance(tensor, Tensor):
            raise TypeError("_register_hook_dict expected a variable")
        meta = tensor._materialize_autograd_meta()
        self._add_tensor_pre_hook(TensorPreHook(meta.backward_hooks, meta.output_nr))


def begin(node: Node, sequence_nr: int) -> None:
    """Have a new node what every node has; for who has no time for a constructor."""
    node._edges, node._received, node._topological_nr = (), (), 0
    node._sequence, node._attached = sequence_nr, None
    if _ANOMALY.enabled:
        anomaly.store_stack(node.metadata, current_node())


class CppFunction(Node):
    """A node that C++ has, and not a user's function: Python may call it."""

    __slots__ = ()
    __module__ = "builtins"

    def __dir__(self) -> list[str]:
        """What Python sees of a node, and not how it is made."""
        saved = (name for name in object.__dir__(self) if _SAVED.match(name))
        return sorted({*dir(object), "__call__", *_ALWAYS, *_METHODS, *saved})

    def __reduce__(self) -> Any:
        return self.__reduce_ex__(0)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise TypeError("keyword arguments are not supported")
        if len(args) != len(self._received):
            raise TypeError(f"expected {len(self._received)} arguments, got {len(args)} instead")
        for place, arg in enumerate(args):
            if arg is not None and not isinstance(arg, Tensor):
                raise TypeError(f"argument {place} is not a Variable")
        outputs = tuple(self._apply(list(args)))
        return outputs[0] if len(outputs) == 1 else outputs


class TensorPreHook:
    """The hooks of a tensor, called on its gradient among those of the node's outputs."""

    __slots__ = ("hooks", "place")

    def __init__(self, hooks: Mapping[int, Hook], place: int) -> None:
        self.hooks, self.place = hooks, place

    def __call__(self, grads: list[Gradient]) -> list[Gradient]:
        from mindtorch_v2.autograd.hooks import call_tensor_hook

        found = list(grads)
        for hook in list(self.hooks.values()):
            found[self.place] = call_tensor_hook(hook, found[self.place])
        return found


class FunctionalPreHook(TensorPreHook):
    """One that was not registered by Python: a function of the gradient without an answer."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[[Gradient], None], place: int) -> None:
        super().__init__({}, place)
        self.function = function

    def __call__(self, grads: list[Gradient]) -> list[Gradient]:
        self.function(grads[self.place])
        return grads


# --- the backward that is running ---------------------------------------------------------------


class RunningTask:
    """What nodes ask of it (``GraphTask``)."""

    keep_graph: bool

    def should_execute(self, node: Node) -> bool:
        raise NotImplementedError


class _Current(ThreadLocal):
    task: ClassVar[RunningTask | None] = None
    node: ClassVar[Node | None] = None


_current: Final[Any] = _Current()


def current_graph_task() -> RunningTask | None:
    task: RunningTask | None = _current.task
    return task


def current_node() -> Node | None:
    node: Node | None = _current.node
    return node and node._shared()


class running:  # noqa: N801 (used as a function)
    """A context in which a task or a node is the current one."""

    __slots__ = ("_attribute", "_old", "_value")

    def __init__(self, *, task: RunningTask | None = None, node: Node | None = None) -> None:
        self._attribute = "node" if task is None else "task"
        self._value: Node | RunningTask | None = node if task is None else task

    def __enter__(self) -> None:
        self._old = getattr(_current, self._attribute)
        setattr(_current, self._attribute, self._value)

    def __exit__(self, *exception: object) -> None:
        setattr(_current, self._attribute, self._old)


def flattened(values: Iterable[Any]) -> list[Tensor | None]:
    """Tensors of arguments, those in lists too; None for what is none."""
    found: list[Tensor | None] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += flattened(value)
        else:
            found.append(None)
    return found


def any_requires_grad(values: Iterable[Any]) -> bool:
    """``compute_requires_grad`` without the mode."""
    for value in values:
        if isinstance(value, Tensor):
            if value._autograd is not None and value._requires_grad():
                return True
        elif isinstance(value, (list, tuple)) and any_requires_grad(value):
            return True
    return False
