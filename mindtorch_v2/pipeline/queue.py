"""What waits: calls with the state of their thread, and the state that they keep from others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from sys import getrefcount
from typing import Any, Final, Literal

from mindtorch_v2 import warn
from mindtorch_v2.binding.fallbacks import tensors_of
from mindtorch_v2.binding.operators import Call
from mindtorch_v2.call_site import CallSite
from mindtorch_v2.dispatch import tls, trace
from mindtorch_v2.dispatch.calls import Target
from mindtorch_v2.dispatch.dispatcher import DISPATCHER
from mindtorch_v2.dispatch.keyset import BELOW_INPLACE_OR_VIEW, highest_priority_type_id
from mindtorch_v2.dispatch.operator_entry import Plan
from mindtorch_v2.kernels.wrapping.inplace_or_view import make_views
from mindtorch_v2.pipeline.meta import Forecast, Planned, Recipe, like, nbytes_of, put_into
from mindtorch_v2.tensor.autograd_meta import CreationMeta
from mindtorch_v2.tensor.generator import Generator
from mindtorch_v2.tensor.mt19937 import Mt19937
from mindtorch_v2.tensor.pending import AWAY, Pending, settled
from mindtorch_v2.tensor.storage import UntypedStorage
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.version import VersionCounter
from mindtorch_v2.thread_state import ThreadLocal

_HELD_BY_QUEUE: Final = 3
"""References to an output that the queue has itself: in a list, in a loop, in a call."""


class Queued:
    """A call that waits."""

    __slots__ = (
        "backend",
        "bases",
        "call",
        "counted",
        "name",
        "outputs",
        "plan",
        "recipe",
        "site",
        "state",
    )

    def __init__(
        self,
        call: Call,
        recipe: Recipe,
        backend: int,
        state: tls.RawLocalDispatchKeySet,
        forecast: Forecast,
        site: CallSite,
    ) -> None:
        self.call = call
        self.name = call.operator.canonical
        self.recipe = recipe
        #: The keys of the backend that will compute it.
        self.backend = backend
        #: The state that it runs with: the caller's, without the pipeline.
        self.state = state
        self.outputs, self.bases = forecast.outputs, forecast.bases
        self.site = site
        #: What the plan kernel answered, if there is one.
        self.plan: Planned | None = None
        #: Where functional wrappers have counted changes that are computed up to here.
        self.counted: tuple[VersionCounter, ...] = ()

    @property
    def nbytes(self) -> int:
        """Of the outputs."""
        return sum(output.nbytes for output in self.outputs)

    def make_plan(self) -> Literal["planned", "plan reused"] | None:
        """Call the operator's plan kernel on its backend, if it has one; what it did."""
        recipe = self.recipe
        is_current = recipe.version == DISPATCHER.version
        kept = recipe.again() if is_current and recipe.again is not None else None
        if kept is not None:
            self.plan = kept
            return None if kept.plan is None else "plan reused"
        kernel = recipe.plan if is_current else self._registered_plan()
        if kernel is None:
            return None
        try:
            args, kwargs = self.call.python_arguments()
        except ValueError:  # a number that C++ takes for a dtype and Python has none of
            return None
        with tls.with_state(self.state.copy()):  # the flush may be under modes that saw the call
            made = kernel(*args, **kwargs)
        if made is None:
            return None
        self.plan = made if isinstance(made, Planned) else Planned(made)
        if is_current and not recipe.is_random:
            recipe.again = self.plan.again
        return "planned"

    def _registered_plan(self) -> Plan | None:
        """Something was registered since the call."""
        return self.call.operator.entry.plans.get(highest_priority_type_id(self.backend))

    def is_unseen(self) -> bool:
        """Whether nobody can tell that a call that makes views never runs: nobody holds one.

        Any other call may fail, and that would be seen.
        """
        return all(getrefcount(output) == _HELD_BY_QUEUE for output in self.outputs)

    def run(self) -> None:
        """Compute the outputs, as eager mode would have where the call stands."""
        straight = None
        if not trace.is_tracing() and self.recipe.version == DISPATCHER.version:
            if self.recipe.is_plain_view and not self._is_recorded():
                self._make_views()
                return
            if self.recipe.straight is not None and not self._is_recorded():
                if self.recipe.is_bare_alias:
                    self._make_aliases()
                    return
                straight = self.recipe.straight
        planned, answer = self.plan, None
        if straight is not None and planned is not None and planned.run is not None:
            answer = planned.run(self.call)
        if answer is None:
            answer = self._called(straight)
        if self.recipe.is_functional and isinstance(answer, Tensor):
            _become(self.outputs[0], answer)
        else:
            known = set(map(id, tensors_of(self.call.stack)))
            new = [tensor for tensor in tensors_of((answer,)) if id(tensor) not in known]
            for output, tensor in zip(self.outputs, new, strict=True):
                _become(output, tensor)
        if straight is not None and planned is None and None not in self.bases:
            self.recipe.is_bare_alias = self._is_bare_alias()

    def _called(self, straight: Target | None) -> Any:
        """What the call answers, in the state in which it was made."""
        state = self.state.copy()
        if straight is not None and not state.inference_mode:  # where no autograd stands above
            state.excluded |= BELOW_INPLACE_OR_VIEW
        plan = None if self.plan is None else self.plan.plan
        handed_on = self.site.hands_warnings_on
        with tls.with_state(state), warn.as_called(handed_on), _handed_over(plan):
            return self.call.run() if straight is None else self.call.run_at(straight)

    def _is_bare_alias(self) -> bool:
        """Whether a call that has run did nothing but to answer its arguments' memory."""
        pairs = zip(self.outputs, self.bases, strict=True)
        return all(base is not None and base._storage is output._storage for output, base in pairs)

    def _make_aliases(self) -> None:
        """Of outputs all is known but whose memory they have."""
        for output, base in zip(self.outputs, self.bases, strict=True):
            assert base is not None
            put_into(base._untyped_storage(), output)

    def _make_views(self) -> None:
        """The same, and what they are views of."""
        self._make_aliases()
        answer = self.outputs[0] if self.recipe.is_single else self.outputs
        make_views(self.call, answer, self.state)

    def _is_recorded(self) -> bool:
        """Whether autograd has something to do with it."""
        return self.state.grad_mode and any(
            tensor._requires_grad() for tensor in tensors_of(self.call.stack)
        )


def _become(output: Tensor, computed: Tensor) -> None:
    """Have ``output`` be the tensor that was computed for it."""
    output._storage, output._autograd = computed._storage, computed._autograd
    output._versions, output._keys = computed._versions, computed._keys
    output._sizes, output._strides = computed._sizes, computed._strides
    output._storage_offset, output._dtype = computed._storage_offset, computed._dtype
    output._layout, output._device = computed._layout, computed._device
    output._content, output._functional = computed._content, computed._functional
    output._pending = None


# --- plans --------------------------------------------------------------------------------------


class _Plans(ThreadLocal):
    current: Any = None
    #: What a flush is planning.
    outlook: Outlook | None = None


_plans: Final = _Plans()


def take_plan() -> Any:
    """For an impl kernel: what its plan kernel answered in this flush, once; else None."""
    plan, _plans.current = _plans.current, None
    return plan


class Outlook:
    """What a flush knows, while it plans, of tensors that are still to be computed."""

    def __init__(self, queue: Sequence[Queued]) -> None:
        self._queue = queue
        self._found: dict[int, tuple[Tensor, bool]] = {}

    @cached_property
    def _makers(self) -> dict[int, tuple[Queued, int]]:
        """By the id of a tensor that waits, the call that makes it, and where in its outputs."""
        return {
            id(output): (queued, at)
            for queued in self._queue
            for at, output in enumerate(queued.outputs)
        }

    def of(self, tensor: Tensor) -> tuple[Tensor, bool]:
        found = self._found.get(id(tensor))
        if found is None:
            found = self._found[id(tensor)] = self._find(tensor)
        return found

    def _find(self, tensor: Tensor) -> tuple[Tensor, bool]:
        queued, at = self._makers.get(id(tensor), (None, 0))
        planned = None if queued is None else queued.plan
        if planned is not None and planned.outputs:
            outputs = planned.outputs() if callable(planned.outputs) else planned.outputs
            return outputs[at], True
        base = None if queued is None else queued.bases[at]
        if base is None:
            return like(tensor, UntypedStorage._of(nbytes_of(tensor), tensor._device)), False
        known, is_known = (base, True) if base._pending is None else self.of(base)
        return like(tensor, known._untyped_storage()), is_known


@contextmanager
def planning(queue: Sequence[Queued]) -> Iterator[None]:
    """A block in which plan kernels may ask for what is planned (`planned_output`)."""
    outer, _plans.outlook = _plans.outlook, Outlook(queue)
    try:
        yield
    finally:
        _plans.outlook = outer


def planned_output(tensor: Tensor) -> tuple[Tensor, bool]:
    """For a plan kernel: a tensor like one that waits, with memory; and whether it will be that.

    What no plan speaks of may be computed elsewhere.
    """
    assert _plans.outlook is not None
    return _plans.outlook.of(tensor)


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
        self._tensors: list[tuple[Tensor, Any, Any, Any]] = []
        self._storages: list[tuple[UntypedStorage, Any]] = []
        #: By id.
        self._counters: dict[int, tuple[VersionCounter, int | None]] = {}
        self._generators: list[tuple[Generator, Mt19937, float | None]] = []
        self._forget()

    def _forget(self) -> None:
        #: The tensors, by id, that may require grad, whose own word is taken away.
        self.requiring_grad: set[int] = set()
        #: Those, by id, that are views of a kind that autograd refuses after a change of memory.
        self.restricted_views: set[int] = set()
        #: Of these, by id, those whose memory was changed before they were taken.
        self._stale_views: set[int] = set()
        #: By id of a tensor, what stands for the memory that it shares with others.
        self.memory: dict[int, int] = {}
        #: What stands for memory that a queued call changes.
        self.written: set[int] = set()

    def may_require_grad(self, tensor: Tensor) -> bool:
        """Whether a tensor requires grad, as far as can be told of one that waits."""
        if tensor._pending is self._owner:
            return id(tensor) in self.requiring_grad
        meta = tensor._autograd
        if meta is None:
            return False
        if meta.requires_grad or meta.grad_fn is not None:
            return True
        return meta.view is not None and self.may_require_grad(meta.view.base)

    def may_be_forbidden(self, tensor: Tensor) -> bool:
        """Whether autograd may refuse to read a tensor, as far as can be told: a view of such a
        kind whose memory was changed, or is going to be."""
        if tensor._pending is not self._owner:
            return is_restricted_view(tensor) and (
                self._is_stale(tensor) or id(tensor._storage) in self.written
            )
        if id(tensor) in self._stale_views:
            return True
        return id(tensor) in self.restricted_views and self.memory[id(tensor)] in self.written

    def _is_stale(self, view: Tensor) -> bool:
        """Whether its memory was changed since its history was made."""
        meta = view._autograd
        assert meta is not None
        return self.version_of(view) != meta.attr_version

    def version_of(self, tensor: Tensor) -> int | None:
        """How often the memory of a tensor that does not wait was changed, by what has run; None
        where nobody counts, as for an inference tensor."""
        counter = tensor._versions
        if counter._pending is None:
            return counter.value
        return self._counters.get(id(counter), (counter, None))[1]

    def take(self, tensor: Tensor) -> None:
        """Take a tensor's state away, unless it has been taken."""
        if tensor._pending is not None:
            return
        storage, meta, versions = tensor._storage, tensor._autograd, tensor._versions
        assert storage is not None
        self.memory[id(tensor)] = id(storage)
        if meta is not None:
            if self.may_require_grad(tensor):
                self.requiring_grad.add(id(tensor))
            if is_restricted_view(tensor):
                self.restricted_views.add(id(tensor))
                if self._is_stale(tensor):
                    self._stale_views.add(id(tensor))
            if meta.view is not None:  # what becomes of a view depends on whether its base
                self.take(meta.view.base)  # requires grad
        self._tensors.append((tensor, storage, meta, versions))
        tensor._raw_storage = tensor._raw_autograd = tensor._raw_versions = AWAY
        tensor._array = None
        tensor._pending = self._owner
        if storage._pending is None:
            self._storages.append((storage, storage._bytes))
            storage._raw_bytes, storage._pending = AWAY, self._owner
        if versions._pending is None:
            self._counters[id(versions)] = versions, versions.value
            versions._raw_value, versions._pending = AWAY, self._owner

    def take_generator(self, generator: Generator) -> None:
        """The same for who will give random numbers, in the order of the program."""
        if generator._pending is not self._owner:
            settled(generator)
            state = generator, generator._engine, generator._next_normal
            self._generators.append(state)
            generator._raw_engine = generator._raw_next_normal = AWAY
            generator._pending = self._owner

    def give_back(self) -> None:
        tensors, self._tensors = self._tensors, []
        storages, self._storages = self._storages, []
        counters, self._counters = self._counters, {}
        generators, self._generators = self._generators, []
        self._forget()
        for tensor, storage, meta, versions in tensors:
            tensor._storage, tensor._autograd, tensor._versions = storage, meta, versions
            tensor._pending = None
        for storage, memory in storages:
            storage._bytes, storage._pending = memory, None
        for counter, count in counters.values():
            counter.value, counter._pending = count, None
        for generator, engine, stock in generators:
            generator._engine, generator._next_normal, generator._pending = engine, stock, None
