"""The block, its queue, and what a flush does.

Note [One lock]
    Pipelines of several threads may know the same tensors, and a flush of one may need what waits
    in another.  One lock for all of them cannot be taken in two orders.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from mindtorch_v2.binding.fallbacks import tensors_of
from mindtorch_v2.binding.operators import Call
from mindtorch_v2.call_site import CallSite, Place, shown
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import PIPELINE_BIT
from mindtorch_v2.pipeline.meta import Recipe
from mindtorch_v2.pipeline.queue import Kept, Queued, planning
from mindtorch_v2.pipeline.trace import Event, Kind, chrome_trace, now
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.version import VersionCounter

_lock: Final = threading.RLock()


class Pipeline:
    """A block in which operators wait; what they answer is seen by nobody before they have run.

    ``max_ops`` and ``max_pending_bytes`` flush when so many calls wait, or so many bytes of
    outputs.  ``inference`` leaves out what autograd would record.  The trace has the last
    ``max_events`` events, and forgets those before.  Blocks nest: an inner one flushes the outer
    one first.  The same object may be entered again when it has been left.
    """

    def __init__(
        self,
        *,
        max_ops: int | None = None,
        max_pending_bytes: int | None = None,
        inference: bool = False,
        max_events: int | None = 100_000,
    ) -> None:
        """ValueError for a limit that lets nothing wait, or nothing be told; TypeError for what is
        no number of things."""
        limits = {
            "max_ops": max_ops,
            "max_pending_bytes": max_pending_bytes,
            "max_events": max_events,
        }
        for name, limit in limits.items():
            if limit is None:
                continue
            if not isinstance(limit, int):
                kind = type(limit).__name__
                raise TypeError(f"{name} must be an int, or None for no limit, not a {kind}")
            if limit < 1:
                raise ValueError(f"{name} must be at least 1, or None for no limit, not {limit}")
        self._max_ops, self._max_pending_bytes = max_ops, max_pending_bytes
        self._inference = inference
        self._queue: list[Queued] = []
        self._pending_bytes = 0
        self._kept = Kept(self)
        #: As tuples of what has no references, which Python's garbage collector leaves out soon.
        self._events: deque[tuple[Kind, str, str | Place, float, float]] = deque(maxlen=max_events)
        self._last_state: tuple[tuple[object, ...], tls.RawLocalDispatchKeySet] | None = None
        self._entered: tuple[tls.RawLocalDispatchKeySet, Any, int] | None = None

    # --- the block ----------------------------------------------------------------------------

    def __enter__(self) -> Pipeline:
        if self._entered is not None:
            raise RuntimeError("this pipeline's block is open already: make another pipeline")
        raw = tls.local_dispatch_key_set()
        if raw.pipeline is not None:
            raw.pipeline.flush("a pipeline in the block")
        self._entered = raw, raw.pipeline, raw.included & PIPELINE_BIT
        raw.watch()
        raw.pipeline = self
        raw.included |= PIPELINE_BIT
        return self

    def __exit__(self, *raised: object) -> None:
        assert self._entered is not None
        raw, outer, bit = self._entered
        self._entered = None
        raw.watch()
        raw.pipeline = outer
        raw.included = raw.included & ~PIPELINE_BIT | bit
        self.flush("the end of the block")

    def __len__(self) -> int:
        """How many calls wait."""
        return len(self._queue)

    # --- the queue ----------------------------------------------------------------------------

    def enqueue(self, call: Call, tensors: Sequence[Tensor], recipe: Recipe, backend: int) -> Any:
        """Have a call wait, and answer what it will answer; ``backend`` has the keys below."""
        with _lock:
            start = now()
            forecast = recipe.forecast(tensors)
            kept, outputs = self._kept, forecast.outputs
            for tensor in tensors:
                if tensor._pending is not self:
                    kept.take(tensor)
            if recipe.is_random:
                for generator in recipe.generators(call):
                    kept.take_generator(generator)
            for output, base in zip(outputs, forecast.bases, strict=True):
                output._pending = self
                if base is None:
                    kept.memory[id(output)] = id(output)
                else:
                    kept.memory[id(output)] = kept.memory[id(base)]
                    if not (recipe.is_single and self.records()):
                        kept.restricted_views.add(id(output))
            if recipe.written:
                for written in tensors_of(call.stack[position] for position in recipe.written):
                    kept.written.add(kept.memory[id(written)])
            if kept.requiring_grad and not kept.requiring_grad.isdisjoint(map(id, tensors)):
                kept.requiring_grad.update(map(id, outputs))
            site = CallSite()
            queued = Queued(call, recipe, backend, self._state(), forecast, site)
            self._queue.append(queued)
            self._note("queued", queued.name, site.place, start)
            if self._max_ops is not None and len(self._queue) >= self._max_ops:
                self.flush("max_ops")
            elif self._max_pending_bytes is not None:
                self._pending_bytes += queued.nbytes
                if self._pending_bytes >= self._max_pending_bytes:
                    self.flush("max_pending_bytes")
        return forecast.answer

    def records(self) -> bool:
        """Whether autograd will record what is called now."""
        return not self._inference and tls.is_grad_enabled()

    def may_require_grad(self, tensor: Tensor) -> bool:
        """Whether a tensor requires grad, as far as can be told of one that waits."""
        return self._kept.may_require_grad(tensor)

    def may_be_forbidden(self, tensor: Tensor) -> bool:
        """Whether it is a view that autograd may refuse, as far as can be told."""
        return self._kept.may_be_forbidden(tensor)

    def counts_changes(self, tensor: Tensor) -> bool:
        """Whether a tensor that does not wait has a version."""
        return self._kept.version_of(tensor) is not None

    def memory_of(self, tensor: Tensor) -> int:
        """What stands for the memory that a tensor shares with others."""
        return self._kept.memory[id(tensor)] if tensor._pending is self else id(tensor._storage)

    def _state(self) -> tls.RawLocalDispatchKeySet:
        """The thread's state without the pipeline: one object for as long as it is the same."""
        raw = tls.thread_local.raw
        key = raw.sets, raw.grad_mode, raw.inference_mode, raw.python_dispatcher
        if self._last_state is None or self._last_state[0] != key:
            state = raw.copy()
            state.pipeline = None
            state.included &= ~PIPELINE_BIT
            state.grad_mode = state.grad_mode and not self._inference
            self._last_state = key, state
        return self._last_state[1]

    @contextmanager
    def at_its_place(self, call: Call, reason: str) -> Iterator[None]:
        """A block in which a call runs that cannot wait."""
        name = call.operator.canonical
        with tls.outside_pipeline(f"{name} runs at its place"):
            raw, start = tls.local_dispatch_key_set(), now()
            recorded = raw.grad_mode
            raw.grad_mode = recorded and not self._inference
            try:
                yield
            finally:
                raw.grad_mode = recorded
                self._note("at its place", name, reason, start)

    # --- flush --------------------------------------------------------------------------------

    def flush(self, reason: str = "flush()") -> None:
        """Plan all that waits, then run it in the order of the calls.

        What a kernel raises ends the flush.  Outputs that were computed stay; one that was not
        raises RuntimeError when it is used, naming its call and the first failure.
        """
        with _lock:
            queue, self._queue, self._pending_bytes = self._without_unseen(), [], 0
            self._kept.give_back()
            if not queue:
                return
            start = begun = now()
            at = queue[0]
            done = 0
            try:
                with planning(queue):
                    for at in queue:
                        made = at.make_plan()
                        if made is not None:
                            begun = self._note(made, at.name, at.site.place, begun)
                begun = now()
                for at in queue:
                    at.run()
                    done += 1
                    begun = self._note("run", at.name, at.site.place, begun)
            except BaseException as error:
                self._note("failed", at.name, f"{type(error).__name__}: {error}", begun)
                for queued in queue[done:]:
                    _invalidate(queued, at, error)
                raise
            finally:
                self._note("flush", f"{done} of {len(queue)} calls", reason, start)

    def _without_unseen(self) -> list[Queued]:
        """What waits, without what need not run: the later calls may be all that holds a view."""
        left: list[Queued] = []
        while self._queue:
            queued = self._queue.pop()
            if queued.recipe.is_view and queued.is_unseen():
                self._note("dropped", queued.name, queued.site.place, now())
            else:
                left.append(queued)
        return left[::-1]

    def settle(self) -> None:
        """Somebody has asked for state that the queue keeps."""
        self.flush(f"needed at {CallSite()}")

    def count(self, counter: VersionCounter) -> None:
        """A wrapper has counted what the last queued call computes; taken back if that fails."""
        with _lock:
            self._queue[-1].counted = (*self._queue[-1].counted, counter)

    # --- trace --------------------------------------------------------------------------------

    def trace(self) -> list[Event]:
        """What has happened so far, in order; of a long run the last part (``max_events``)."""
        return [
            Event(kind, name, why if isinstance(why, str) else shown(why), *times)
            for kind, name, why, *times in self._events
        ]

    def chrome_trace(self) -> dict[str, Any]:
        """The same in the JSON form that Perfetto opens: ``json.dump`` it to a file."""
        return chrome_trace(self.trace())

    def to_html(self, title: str = "Pipeline") -> str:
        """The same as a page that needs nothing else: write it to a file, and look at it."""
        from mindtorch_v2.pipeline.html import page  # late: few runs are looked at

        return page(self.trace(), title)

    def _note(self, kind: Kind, name: str, reason: str | Place, start: float) -> float:
        """Keep an event that ends now, which is answered."""
        end = now()
        self._events.append((kind, name, reason, start, end))
        return end


class _Invalid:
    """The state of an output that was never computed."""

    def __init__(self, message: str) -> None:
        self._message = message

    def settle(self) -> None:
        raise RuntimeError(self._message)

    def count(self, counter: VersionCounter) -> None:
        """There is nothing to be taken back."""


def _invalidate(queued: Queued, failed: Queued, error: BaseException) -> None:
    invalid = _Invalid(
        f"{queued.name} (called at {queued.site}) was not computed: the pipeline stopped at "
        f"{failed.name} (called at {failed.site}) with {type(error).__name__}: {error}"
    )
    for output in queued.outputs:
        output._pending = invalid
    for counter in queued.counted:
        counter.take_back()
