"""The block, its queue, and what a flush does.

Note [One lock]
    Pipelines of several threads may know the same tensors, and a flush of one may need what waits
    in another.  One lock for all of them cannot be taken in two orders.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from mindtorch_v2.binding.fallbacks import tensors_of
from mindtorch_v2.binding.operators import Call
from mindtorch_v2.call_site import hands_warnings_on
from mindtorch_v2.dispatch import tls
from mindtorch_v2.dispatch.key import PIPELINE_BIT
from mindtorch_v2.pipeline.meta import Forecast
from mindtorch_v2.pipeline.queue import Kept, Queued, is_restricted_view
from mindtorch_v2.pipeline.trace import Event, Kind, chrome_trace, now
from mindtorch_v2.tensor.tensor import Tensor

_PACKAGE: Final = __name__.partition(".")[0]
_lock: Final = threading.RLock()


class Pipeline:
    """A block in which operators wait; what they answer is seen by nobody before they have run.

    ``max_ops`` and ``max_pending_bytes`` flush when so many calls wait, or so many bytes of
    outputs.  ``inference`` leaves out what autograd would record.  Blocks nest: an inner one
    flushes the outer one first.  The same object may be entered again when it has been left.
    """

    def __init__(
        self,
        *,
        max_ops: int | None = None,
        max_pending_bytes: int | None = None,
        inference: bool = False,
    ) -> None:
        """ValueError for a limit that lets nothing wait."""
        for name, limit in (("max_ops", max_ops), ("max_pending_bytes", max_pending_bytes)):
            if limit is not None and limit < 1:
                raise ValueError(f"{name} must be at least 1, or None for no limit, not {limit}")
        self._max_ops, self._max_pending_bytes = max_ops, max_pending_bytes
        self._inference = inference
        self._queue: list[Queued] = []
        self._pending_bytes = 0
        self._kept = Kept(self)
        self._events: list[Event] = []
        self._entered: tuple[tls.RawLocalDispatchKeySet, Any, int] | None = None

    # --- the block ----------------------------------------------------------------------------

    def __enter__(self) -> Pipeline:
        if self._entered is not None:
            raise RuntimeError("this pipeline's block is open already: make another pipeline")
        raw = tls.local_dispatch_key_set()
        if raw.pipeline is not None:
            raw.pipeline.flush("a pipeline in the block")
        self._entered = raw, raw.pipeline, raw.included & PIPELINE_BIT
        raw.pipeline = self
        raw.included |= PIPELINE_BIT
        return self

    def __exit__(self, *raised: object) -> None:
        assert self._entered is not None
        raw, outer, bit = self._entered
        self._entered = None
        raw.pipeline = outer
        raw.included = raw.included & ~PIPELINE_BIT | bit
        self.flush("the end of the block")

    def __len__(self) -> int:
        """How many calls wait."""
        return len(self._queue)

    # --- the queue ----------------------------------------------------------------------------

    def enqueue(self, call: Call, backend: int, forecast: Forecast) -> Any:
        """Have a call wait, and answer what it will answer."""
        with _lock:
            start = now()
            tensors = list(tensors_of(call.stack))
            for tensor in tensors:
                self._kept.take(tensor)
            for output, base in zip(forecast.outputs, forecast.bases, strict=True):
                self._kept.memory[id(output)] = id(output) if base is None else self.memory_of(base)
                if base is not None and not (len(forecast.outputs) == 1 and self.records()):
                    self._kept.restricted_views.add(id(output))
                output._pending = self
            if any(map(self.may_require_grad, tensors)):
                self._kept.requiring_grad.update(map(id, forecast.outputs))
            queued = Queued(
                call,
                self._state(),
                backend,
                forecast.outputs,
                _call_site(),
                hands_warnings_on(),
            )
            self._queue.append(queued)
            self._pending_bytes += queued.nbytes
            self._note("queued", queued.name, queued.site, start)
            if self._max_ops is not None and len(self._queue) >= self._max_ops:
                self.flush("max_ops")
            elif (
                self._max_pending_bytes is not None
                and self._pending_bytes >= self._max_pending_bytes
            ):
                self.flush("max_pending_bytes")
        return forecast.answer

    def records(self) -> bool:
        """Whether autograd will record what is called now."""
        return not self._inference and tls.is_grad_enabled()

    def may_require_grad(self, tensor: Tensor) -> bool:
        """Whether a tensor requires grad, as far as can be told of one that waits."""
        if tensor._pending is self:
            return id(tensor) in self._kept.requiring_grad
        return tensor.requires_grad

    def may_be_forbidden(self, tensor: Tensor) -> bool:
        """Whether it is a view that autograd may refuse, as far as can be told."""
        if tensor._pending is self:
            return id(tensor) in self._kept.restricted_views
        return is_restricted_view(tensor)

    def memory_of(self, tensor: Tensor) -> int:
        """What stands for the memory that a tensor shares with others."""
        return self._kept.memory[id(tensor)] if tensor._pending is self else id(tensor._storage)

    def _state(self) -> tls.RawLocalDispatchKeySet:
        state = tls.local_dispatch_key_set().copy()
        state.pipeline = None
        state.included &= ~PIPELINE_BIT
        state.grad_mode = state.grad_mode and not self._inference
        return state

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
            queue, self._queue, self._pending_bytes = self._queue, [], 0
            self._kept.give_back()
            if not queue:
                return
            start = now()
            at = queue[0]
            done = 0
            try:
                for at in queue:
                    begun = now()
                    if at.make_plan():
                        self._note("planned", at.name, at.site, begun)
                for at in queue:
                    begun = now()
                    at.run()
                    done += 1
                    self._note("run", at.name, at.site, begun)
            except BaseException as error:
                for queued in queue[done:]:
                    _invalidate(queued, at, error)
                raise
            finally:
                self._note("flush", f"{done} of {len(queue)} calls", reason, start)

    def settle(self) -> None:
        """Somebody has asked for state that the queue keeps."""
        self.flush(f"needed at {_call_site()}")

    # --- trace --------------------------------------------------------------------------------

    def trace(self) -> list[Event]:
        """What has happened so far, in order."""
        return list(self._events)

    def chrome_trace(self) -> dict[str, Any]:
        """The same in the JSON form that Perfetto opens: ``json.dump`` it to a file."""
        return chrome_trace(self._events)

    def _note(self, kind: Kind, name: str, reason: str, start: float) -> None:
        self._events.append(Event(kind, name, reason, start, now()))


class _Invalid:
    """The state of an output that was never computed."""

    def __init__(self, message: str) -> None:
        self._message = message

    def settle(self) -> None:
        raise RuntimeError(self._message)


def _invalidate(queued: Queued, failed: Queued, error: BaseException) -> None:
    invalid = _Invalid(
        f"{queued.name} (called at {queued.site}) was not computed: the pipeline stopped at "
        f"{failed.name} (called at {failed.site}) with {type(error).__name__}: {error}"
    )
    for output in queued.outputs:
        output._pending = invalid


def _call_site() -> str:
    """Where the package was called from, as ``file:line``."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _is_ours(namespace: dict[str, Any]) -> bool:
    name: str = namespace.get("__name__", "")
    return name == _PACKAGE or name.startswith(f"{_PACKAGE}.")
