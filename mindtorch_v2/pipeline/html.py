"""A pipeline's trace as a page: what waited, what was planned and run, and why each flush happened.

The page is one file without network: its style and its few lines of script are in it, and every
text that comes from a program is escaped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Final

from mindtorch_v2.pipeline.trace import Event, Kind

_PARTS: Final = Path(__file__).with_name("page")
_LANES: Final[tuple[tuple[str, tuple[Kind, ...]], ...]] = (
    ("calls", ("queued", "at its place")),
    ("flushes", ("flush",)),
    ("plan", ("planned", "plan reused")),
    ("impl", ("run",)),
)
_MOST_BARS: Final = 4000
"""A picture with more would be drawn slowly, and nobody could see them."""


@dataclass
class Call:
    """A call that waited, and what became of it."""

    queued: Event
    plan: Event | None = None
    run: Event | None = None
    is_dropped: bool = False
    failure: Event | None = None

    @property
    def fate(self) -> str:
        if self.is_dropped:
            return "dropped"
        if self.failure is not None:
            return "failed"
        return "run" if self.run is not None else "not run"


@dataclass
class Flush:
    """The calls that waited for one flush, and what ran at its place since the flush before."""

    calls: list[Call] = field(default_factory=list)
    at_their_place: list[Event] = field(default_factory=list)
    event: Event | None = None
    """None for calls that wait still."""


def flushes(events: Iterable[Event]) -> list[Flush]:
    """The events by flush; what no flush has ended comes last."""
    found = [Flush()]
    for event in events:
        current = found[-1]
        if event.kind == "flush":
            current.event = event
            found.append(Flush())
        elif event.kind == "queued":
            current.calls.append(Call(event))
        elif event.kind == "at its place":
            current.at_their_place.append(event)
        else:
            _befall(current.calls, event)
    if not (found[-1].calls or found[-1].at_their_place):
        found.pop()
    return found


def _befall(calls: Sequence[Call], event: Event) -> None:
    """Note an event with the call that it befell: events of a stage come in the calls' order,
    and what is dropped is told of from the last call on."""
    if event.kind == "dropped":
        for call in reversed(calls):
            if not call.is_dropped and _same(call, event):
                call.is_dropped = True
                return
    for call in calls:
        if call.is_dropped or not _same(call, event):
            continue
        if event.kind in ("planned", "plan reused") and call.plan is None:
            call.plan = event
            return
        if event.kind == "run" and call.run is None:
            call.run = event
            return
        if event.kind == "failed" and call.run is None:
            call.failure = event
            return


def _same(call: Call, event: Event) -> bool:
    if call.queued.name != event.name:
        return False
    return event.kind == "failed" or call.queued.reason == event.reason


# --- the page -------------------------------------------------------------------------------------


def page(events: Sequence[Event], title: str = "Pipeline") -> str:
    """The whole page as HTML."""
    parts = flushes(events)
    template = (_PARTS / "page.html").read_text(encoding="utf-8")
    values = {
        "title": escape(title),
        "style": (_PARTS / "page.css").read_text(encoding="utf-8"),
        "script": (_PARTS / "page.js").read_text(encoding="utf-8"),
        "summary": _summary(events),
        "timeline": _timeline(events),
        "flushes": "\n".join(_flush(number, each) for number, each in enumerate(parts, 1)),
        "places": _places(parts),
    }
    head, *rest = template.split("{{")
    pieces = (piece.partition("}}") for piece in rest)
    return head + "".join(f"{values[name]}{text}" for name, _, text in pieces)


def _summary(events: Sequence[Event]) -> str:
    counts = Counter(event.kind for event in events)
    span = events[-1].end - events[0].start if events else 0.0
    shown: list[tuple[str, str]] = [
        ("calls queued", str(counts["queued"])),
        ("ran at their place", str(counts["at its place"])),
        ("plans made", str(counts["planned"])),
        ("plans reused", str(counts["plan reused"])),
        ("calls run", str(counts["run"])),
        ("dropped", str(counts["dropped"])),
        ("failed", str(counts["failed"])),
        ("flushes", str(counts["flush"])),
        ("from first to last", _time(span)),
    ]
    return "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in shown)


def _timeline(events: Sequence[Event]) -> str:
    """Four lanes, time from left to right."""
    if not events:
        return "<p>Nothing has been called.</p>"
    zero = min(event.start for event in events)
    span = max(event.end for event in events) - zero or 1.0
    lanes = {kind: row for row, (_, kinds) in enumerate(_LANES) for kind in kinds}
    bars = [event for event in events if event.kind in lanes][:_MOST_BARS]
    names = "".join(
        f'<text x="0" y="{30 * row + 20}">{name}</text>' for row, (name, _) in enumerate(_LANES)
    )
    drawn = "".join(_bar(event, lanes[event.kind], zero, span) for event in bars)
    left_out = sum(event.kind in lanes for event in events) - len(bars)
    more = f"<p>{left_out} later events are not drawn.</p>" if left_out else ""
    return (
        f'<svg viewBox="0 0 1000 {30 * len(_LANES) + 24}" role="img" '
        f'aria-label="Calls, flushes, plans and runs over time">{names}{drawn}'
        f'<text x="70" y="{30 * len(_LANES) + 18}">0</text>'
        f'<text x="1000" y="{30 * len(_LANES) + 18}" text-anchor="end">{_time(span)}</text>'
        f"</svg>{more}"
    )


def _bar(event: Event, row: int, zero: float, span: float) -> str:
    left = 70 + 930 * (event.start - zero) / span
    width = max(930 * (event.end - event.start) / span, 0.8)
    title = escape(f"{event.kind}: {event.name}\n{event.reason}\n{_time(event.end - event.start)}")
    return (
        f'<rect class="{event.kind.replace(" ", "-")}" x="{left:.2f}" y="{30 * row + 6}" '
        f'width="{width:.2f}" height="20"><title>{title}</title></rect>'
    )


def _flush(number: int, flush: Flush) -> str:
    event = flush.event
    why = "still waiting" if event is None else event.reason
    took = "" if event is None else f'<span class="time">{_time(event.end - event.start)}</span>'
    failed = any(call.fate in ("failed", "not run") for call in flush.calls) and event is not None
    count = len(flush.calls)
    return (
        f'<details class="flush{" broken" if failed else ""}"{" open" if failed else ""}>'
        f'<summary><span class="number">{number}</span><span class="why">{escape(why)}</span>'
        f'<span class="count">{count} call{"" if count == 1 else "s"}</span>{took}</summary>'
        f"{_table(flush.calls) if count else '<p>Nothing waited.</p>'}</details>"
    )


def _table(calls: Iterable[Call]) -> str:
    rows = "".join(_row(number, call) for number, call in enumerate(calls, 1))
    heads = "".join(
        f'<th scope="col">{name}</th>'
        for name in ("", "operator", "called at", "plan", "run", "what became of it")
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _row(number: int, call: Call) -> str:
    plan = "" if call.plan is None else _time(call.plan.end - call.plan.start)
    if call.plan is not None and call.plan.kind == "plan reused":
        plan = "reused"
    run = "" if call.run is None else _time(call.run.end - call.run.start)
    fate = call.fate if call.failure is None else f"failed: {call.failure.reason}"
    cells = (str(number), call.queued.name, call.queued.reason, plan, run, fate)
    kinds = ("number", "operator", "site", "time", "time", "fate")
    text = "".join(
        f'<td class="{kind}">{escape(cell)}</td>' for kind, cell in zip(kinds, cells, strict=True)
    )
    return f'<tr class="{call.fate.replace(" ", "-")}">{text}</tr>'


def _places(parts: Iterable[Flush]) -> str:
    """What did not wait, the most frequent first."""
    counts = Counter(
        (event.name, event.reason) for flush in parts for event in flush.at_their_place
    )
    if not counts:
        return "<p>Every call waited.</p>"
    return "".join(_place(*key, count) for key, count in counts.most_common())


def _place(name: str, reason: str, count: int) -> str:
    return (
        f'<li><span class="count">{count} ×</span> <span class="operator">{escape(name)}</span> '
        f'<span class="why">{escape(reason)}</span></li>'
    )


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:,.2f} {unit}"
    return f"{seconds * 1e6:,.1f} µs"
