"""What a pipeline did, as events and as a picture.

``Pipeline.trace()`` answers the events; `chrome_trace` makes of them the JSON that Perfetto
(https://ui.perfetto.dev) and Chrome's ``about:tracing`` open: a row each for calls, plans and runs.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Final, Literal, NamedTuple

Kind = Literal[
    "queued", "at its place", "dropped", "planned", "plan reused", "run", "failed", "flush"
]

_ROWS: Final[dict[Kind, int]] = {
    "queued": 1,
    "at its place": 1,
    "flush": 2,
    "dropped": 2,
    "planned": 3,
    "plan reused": 3,
    "run": 4,
    "failed": 4,
}


class Event(NamedTuple):
    """Something that happened: to an operator, or for a flush, to all that waited."""

    kind: Kind
    #: The operator; for a flush, how many calls waited.
    name: str
    #: Why: of a flush, of a failure and of what ran at its place; else where the call stands.
    reason: str
    #: Seconds on ``time.perf_counter``'s clock.
    start: float
    end: float

    def __str__(self) -> str:
        return f"{self.kind} {self.name} ({self.reason})"


now = time.perf_counter


def chrome_trace(events: Iterable[Event]) -> dict[str, Any]:
    """The events in the Trace Event Format, times in microseconds from the first event on."""
    events = list(events)
    zero = min((event.start for event in events), default=0.0)
    names = [
        {"ph": "M", "pid": 1, "tid": row, "name": "thread_name", "args": {"name": name}}
        for row, name in ((1, "calls"), (2, "flushes"), (3, "plan"), (4, "impl"))
    ]
    return {
        "traceEvents": [
            *names,
            *(
                {
                    "ph": "X",
                    "pid": 1,
                    "tid": _ROWS[event.kind],
                    "name": f"{event.kind}: {event.name}",
                    "cat": event.kind,
                    "ts": (event.start - zero) * 1e6,
                    "dur": (event.end - event.start) * 1e6,
                    "args": {"reason": event.reason},
                }
                for event in events
            ),
        ]
    }
