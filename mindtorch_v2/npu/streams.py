"""Streams and events.

What waits in a pipeline's block was called before: it is flushed before a stream is waited for,
asked, marked or changed for another.
"""

from __future__ import annotations

from types import TracebackType

from mindtorch_v2.kernels.npu import runtime, streams
from mindtorch_v2.npu.devices import AnyDevice, index_of
from mindtorch_v2.pipeline import flush
from mindtorch_v2.tensor.device import EXTENSION_DEVICE, Device


class Stream:
    """A queue of work on a device: one of its pool, which are given out in turn.

    Work in a stream runs in order; between streams only events order it.  A tensor may be made in
    one stream and used in another: its memory is not given to others before both are done with it.
    """

    __slots__ = ("__weakref__", "_queue")

    def __init__(self, device: AnyDevice = None, priority: int = 0) -> None:
        self._queue = streams.pooled_queue(index_of(device))

    @classmethod
    def _of(cls, queue: streams.Queue) -> Stream:
        self = object.__new__(cls)
        self._queue = queue
        return self

    @property
    def device(self) -> Device:
        return Device._made(EXTENSION_DEVICE, self._queue.device)

    @property
    def stream_id(self) -> int:
        return self._queue.number

    @property
    def npu_stream(self) -> int:
        """The handle of ACL; 0 for the default stream."""
        return self._queue.handle or 0

    def query(self) -> bool:
        """Whether all its work is done."""
        flush("a stream is asked")
        return self._queue.is_done()

    def synchronize(self) -> None:
        """Wait for its work; AclError for the first that failed."""
        flush("a stream's synchronize")
        self._queue.synchronize()

    def wait_event(self, event: Event) -> None:
        """Have work from now on wait for an event; one that was never recorded has happened."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Have work from now on wait for all that another stream has to do now."""
        self.wait_event(stream.record_event())

    def record_event(self, event: Event | None = None) -> Event:
        """Mark what is queued now with an event, a new one if none is given."""
        marked = Event() if event is None else event
        marked.record(self)
        return marked

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream):
            return NotImplemented
        return self._queue is other._queue

    def __hash__(self) -> int:
        return hash((self._queue.device, self._queue.number))

    def __repr__(self) -> str:
        return f"<mindtorch_v2.npu.Stream device={self.device} stream={self.stream_id}>"


class Event:
    """A mark in a stream; with ``enable_timing`` it takes the time."""

    __slots__ = ("__weakref__", "_mark", "_timing")

    def __init__(self, enable_timing: bool = False) -> None:
        self._timing = enable_timing
        self._mark: streams.Mark | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Mark what is queued now, in the current stream if none is given."""
        flush("an event")
        queue = (stream or current_stream())._queue
        if self._mark is None or self._mark.device != queue.device:
            self._mark = streams.Mark(queue.device, self._timing)
        self._mark.record(queue)

    def wait(self, stream: Stream | None = None) -> None:
        """Have a stream's work from now on wait for what was marked last."""
        flush("an event")
        if self._mark is not None:
            (stream or current_stream())._queue.wait_for(self._mark)

    def query(self) -> bool:
        """Whether what was marked is done."""
        return self._mark is None or self._mark.is_done()

    def synchronize(self) -> None:
        """Wait until it is."""
        if self._mark is not None:
            self._mark.synchronize()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds between what two events have marked, both of which are done.

        RuntimeError for events that were not recorded, or do not take the time.
        """
        if self._mark is None or end_event._mark is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        if not (self._timing and end_event._timing):
            raise RuntimeError("Both events must be created with argument 'enable_timing=True'.")
        return self._mark.milliseconds_until(end_event._mark)


def current_stream(device: AnyDevice = None) -> Stream:
    """The stream to which this thread's work goes."""
    runtime.start()
    return Stream._of(streams.current_queue(index_of(device)))


def default_stream(device: AnyDevice = None) -> Stream:
    """The stream that every device has."""
    return Stream._of(streams.default_queue(index_of(device)))


def set_stream(stream: Stream) -> None:
    """Have this thread's work go to a stream, and to its device."""
    flush("another stream")
    runtime.choose_device(stream._queue.device)
    streams.set_current_queue(stream._queue)


class stream:  # noqa: N801 (torch's name)
    """A block whose work goes to a stream; None for no other than now."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            index = self.stream._queue.device
            self._outer = runtime.current_device(), streams.current_queue(index)
            set_stream(self.stream)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.stream is not None:
            device, queue = self._outer
            try:
                flush("another stream")
            finally:
                streams.set_current_queue(queue)
                runtime.choose_device(device)
