"""What waits: calls with the state of their thread, and the state that they keep from others."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Final

from mindtorch_v2 import warn
from mindtorch_v2.binding.fallbacks import tensors_of
from mindtorch_v2.binding.operators import Call
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.keyset import highest_priority_type_id
from mindtorch_v2.tensor.autograd_meta import CreationMeta
from mindtorch_v2.tensor.pending import Pending
from mindtorch_v2.tensor.tensor import Tensor

_TENSOR: Final = ("_storage", "_autograd", "_versions")
_WHOLE: Final = (
    *_TENSOR,
    *("_sizes", "_strides", "_storage_offset", "_dtype", "_layout", "_device", "_keys"),
    *("_content", "_functional"),
)


@dataclass
class Queued:
    """A call that waits."""

    call: Call
    #: The state that it runs with: the caller's, without the pipeline.
    state: tls.RawLocalDispatchKeySet
    #: The keys of the backend that will compute it.
    backend: int
    outputs: list[Tensor]
    #: Where it was called, as ``file:line``.
    site: str
    #: Whether Python learned of what it would have warned of.
    hands_warnings_on: bool
    #: What the plan kernel answered, if there is one.
    plan: Any = None

    @property
    def name(self) -> str:
        return self.call.operator.canonical

    @property
    def nbytes(self) -> int:
        """Of the outputs."""
        return sum(output.nbytes for output in self.outputs)

    def make_plan(self) -> bool:
        """Call the operator's plan kernel on its backend, if it has one."""
        plan = self.call.operator.entry.plans.get(highest_priority_type_id(self.backend))
        if plan is None:
            return False
        args, kwargs = self.call.python_arguments()
        self.plan = plan(*args, **kwargs)
        return True

    def run(self) -> None:
        """Compute the outputs, as eager mode would have where the call stands."""
        with (
            tls.with_state(self.state.copy()),
            warn.as_called(self.hands_warnings_on),
            _handed_over(self.plan),
        ):
            answer = self.call.run()
        known = set(map(id, tensors_of(self.call.stack)))
        new = [tensor for tensor in tensors_of((answer,)) if id(tensor) not in known]
        for output, tensor in zip(self.outputs, new, strict=True):
            _become(output, tensor)


def _become(output: Tensor, computed: Tensor) -> None:
    """Have ``output`` be the tensor that was computed for it."""
    for name in _WHOLE:
        setattr(output, name, getattr(computed, name))
    output._pending = None


# --- plans --------------------------------------------------------------------------------------


class _Plans(threading.local):
    current: Any = None


_plans: Final = _Plans()


def take_plan() -> Any:
    """For an impl kernel: what its plan kernel answered in this flush, once; else None."""
    plan, _plans.current = _plans.current, None
    return plan


class _handed_over:  # noqa: N801 (used as a function)
    """A block in which an impl kernel finds its plan."""

    def __init__(self, plan: Any) -> None:
        self._plan = plan

    def __enter__(self) -> None:
        self._outer, _plans.current = _plans.current, self._plan

    def __exit__(self, *raised: object) -> None:
        _plans.current = self._outer


# --- state that nobody sees -----------------------------------------------------------------------


def is_restricted_view(tensor: Tensor) -> bool:
    """Whether it was made without grad, by a function of several views, or by one of Python's."""
    meta = tensor._autograd
    return (
        meta is not None
        and meta.view is not None
        and meta.creation_meta is not CreationMeta.DEFAULT
    )


class Kept:
    """The state of tensors that queued calls read or change, by who it was taken from."""

    def __init__(self, owner: Pending) -> None:
        self._owner = owner
        self._states: list[tuple[Any, tuple[str, ...], list[Any]]] = []
        #: The tensors, by id, that may require grad, whose own word is taken away.
        self.requiring_grad: set[int] = set()
        #: Those, by id, that are views of a kind that autograd may refuse after a change.
        self.restricted_views: set[int] = set()
        #: By id of a tensor, what stands for the memory that it shares with others.
        self.memory: dict[int, int] = {}

    def take(self, tensor: Tensor) -> None:
        """Take a tensor's state away, unless it has been taken."""
        if tensor._pending is not None:
            return
        if tensor.requires_grad:
            self.requiring_grad.add(id(tensor))
        if is_restricted_view(tensor):
            self.restricted_views.add(id(tensor))
        self.memory[id(tensor)] = id(tensor._storage)
        base = tensor._view_base()
        if base is not None:  # what becomes of a view depends on whether its base requires grad
            self.take(base)
        storage, versions = tensor._storage, tensor._versions
        self._take(tensor, _TENSOR)
        for shared, name in ((storage, "_bytes"), (versions, "value")):
            if shared is not None and shared._pending is None:
                self._take(shared, (name,))

    def _take(self, holder: Any, names: tuple[str, ...]) -> None:
        self._states.append((holder, names, [getattr(holder, name) for name in names]))
        for name in names:
            delattr(holder, name)
        holder._pending = self._owner

    def give_back(self) -> None:
        states, self._states = self._states, []
        self.requiring_grad, self.restricted_views, self.memory = set(), set(), {}
        for holder, names, values in states:
            for name, value in zip(names, values, strict=True):
                setattr(holder, name, value)
            holder._pending = None
