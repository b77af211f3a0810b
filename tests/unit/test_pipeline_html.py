"""The page of a pipeline: whole, escaped, and telling what became of each call."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.dispatch import registry
from mindtorch_v2.dispatch.key import DispatchKey
from mindtorch_v2.pipeline.html import flushes, page
from mindtorch_v2.pipeline.trace import Event

VOID = ("meta", "input")


class Reader(HTMLParser):
    """The elements of a page, with the text in them; fails where they do not nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data)


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert not reader.open
    return reader


def event(kind: Any, name: str, reason: str = "file.py:1", start: float = 0.0) -> Event:
    return Event(kind, name, reason, start, start + 1e-6)


def test_a_page_shows_every_reason_and_every_call() -> None:
    x = torch.ones(2, 3)
    with torch.pipeline(max_ops=3) as p:
        y = (x + 1).t().neg()
        x.nonzero()
        float(y.sum())
    shown = "\n".join(read(p.to_html()).texts)
    for text in ("max_ops", "needed at", "aten::neg", "aten::sum", "its shape depends on values"):
        assert text in shown
    assert __file__ in shown


def test_the_page_needs_no_network() -> None:
    text = page([event("queued", "a::b"), event("flush", "0 of 1 calls")])
    assert not re.search(r"https?:|//|@import|url\(", text)
    assert not [attrs for _, attrs in read(text).tags if "src" in attrs or "href" in attrs]


@pytest.mark.parametrize("kind", ["queued", "at its place", "flush", "failed"])
def test_texts_of_programs_are_escaped(kind: str) -> None:
    hostile = "</script><img src=x onerror='alert(1)'>\"&{{style}}"
    events = [event("queued", hostile, hostile), event(kind, hostile, hostile)]
    reader = read(page(events, title=hostile))
    assert "img" not in {tag for tag, _ in reader.tags}
    assert sum(tag == "script" for tag, _ in reader.tags) == 1
    assert any(hostile in text for text in reader.texts)


def test_an_empty_trace_is_a_page_too() -> None:
    assert "Nothing has been called." in "".join(read(page([])).texts)


def test_what_became_of_a_call() -> None:
    first = [event("queued", "a::view"), event("queued", "a::op"), event("queued", "a::op")]
    then = [event("dropped", "a::view"), event("planned", "a::op"), event("plan reused", "a::op")]
    last = [event("run", "a::op"), event("failed", "a::op", "ValueError: no")]
    (flush,) = flushes([*first, *then, *last, event("flush", "1 of 2 calls", "flush()")])
    assert [call.fate for call in flush.calls] == ["dropped", "run", "failed"]
    assert [call.plan and call.plan.kind for call in flush.calls] == [
        None,
        "planned",
        "plan reused",
    ]


def test_a_failure_opens_its_flush() -> None:
    library = torch.library.Library("failing", "DEF")
    library.define("op(Tensor x) -> Tensor")

    def impl(x: Any) -> Any:
        raise ValueError("<no>")

    undo = registry.register_kernels(
        "failing::op", DispatchKey.CPU, meta=torch.empty_like, impl=impl
    )
    with torch.pipeline() as p:
        torch.ops.failing.op(torch.ones(2))
        with pytest.raises(ValueError, match="<no>"):
            p.flush()
    undo()
    library._destroy()
    reader = read(p.to_html())
    assert [attrs for tag, attrs in reader.tags if tag == "details" and "open" in attrs]
    assert "failed: ValueError: <no>" in reader.texts
