"""One area of a recording: its outcomes in the order of its cases, packed into one file.

Outcomes repeat: the 83,736 cases of core-ops have 14,481 of them.  Each is kept where it
comes first; a case that ends like an earlier one keeps how far back the last such case is, which is
a small number that itself repeats, so that xz leaves little of it.
"""

from __future__ import annotations

import gc
import json
import lzma
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from conformance.case import Case
from conformance.outcome import Outcome
from conformance.recorded.blocks import blocks

FORMAT: Final = "mindtorch-conformance-outcomes"
VERSION: Final = 1
COMPRESSION: Final = 9 | lzma.PRESET_EXTREME


class RecordingError(ValueError):
    """A recording cannot be read or made; the message says why."""


class Missing(Enum):
    """Why a recording has no outcome of a case."""

    UNRECORDED = "the recording does not know the case"
    NONDETERMINISTIC = "PyTorch did not answer the same twice"


Answer = Outcome | Missing


@dataclass(frozen=True)
class AreaRecording:
    """What a release did with the cases of one area: the digests of their blocks, in order, the
    number of cases in each, and an answer for every case."""

    area: str
    digests: tuple[str, ...]
    sizes: tuple[int, ...]
    answers: tuple[Answer, ...]

    @classmethod
    def of(cls, area: str, cases: Sequence[Case], answers: Iterable[Answer]) -> AreaRecording:
        made = list(blocks(cases))
        digests = tuple(block.digest for block in made)
        sizes = tuple(len(block.cases) for block in made)
        return cls(area, digests, sizes, tuple(answers))

    def __post_init__(self) -> None:
        if len(self.digests) != len(self.sizes) or sum(self.sizes) != len(self.answers):
            raise RecordingError(
                f"{self.area}: {len(self.digests)} blocks of {sum(self.sizes)} cases in all, and "
                f"{len(self.answers)} answers"
            )

    def ask(self, cases: Iterable[Case]) -> Iterator[tuple[Case, Answer]]:
        """Each case with what is recorded of it, in order.  ``cases`` are the area's, all of them:
        a block is found by the whole of it."""
        starts = {}
        start = 0
        for digest, size in zip(self.digests, self.sizes, strict=True):
            starts[digest] = start
            start += size
        for block in blocks(cases):
            known = starts.get(block.digest)
            for index, case in enumerate(block.cases):
                yield case, Missing.UNRECORDED if known is None else self.answers[known + index]

    def pack(self) -> bytes:
        """The area's file: equal recordings give equal bytes."""
        outcomes, back = _pack(self.answers)
        data = {
            "format": FORMAT,
            "version": VERSION,
            "area": self.area,
            "digests": self.digests,
            "sizes": self.sizes,
            "outcomes": outcomes,
            "back": back,
        }
        return lzma.compress(json.dumps(data, separators=(",", ":")).encode(), preset=COMPRESSION)

    @classmethod
    def unpack(cls, packed: bytes) -> AreaRecording:
        """What :meth:`pack` gave; a RecordingError says what else ``packed`` is."""
        try:
            with _no_collections():
                data = json.loads(lzma.decompress(packed))
            if (data["format"], data["version"]) != (FORMAT, VERSION):
                raise RecordingError(f"its form is {data['format']!r}, version {data['version']!r}")
            answers = tuple(_unpack(data["outcomes"], data["back"]))
            return cls(data["area"], tuple(data["digests"]), tuple(data["sizes"]), answers)
        except (lzma.LZMAError, LookupError, TypeError, ValueError) as error:
            raise RecordingError(f"no outcomes of an area: {error}") from error


@contextmanager
def _no_collections() -> Iterator[None]:
    """What is read is kept, all of it: the collector would look through it again and again, which
    takes longer than to read it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _pack(answers: Sequence[Answer]) -> tuple[list[Any], list[int]]:
    """The answers that are new, in order, and how far back each stands; 0 is the next new one."""
    new: list[Any] = []
    back: list[int] = []
    last: dict[str, int] = {}
    for index, answer in enumerate(answers):
        told = None if isinstance(answer, Missing) else answer.to_json()
        text = json.dumps(told)
        if text not in last:
            new.append(told)
        back.append(index - last.get(text, index))
        last[text] = index
    return new, back


def _unpack(new: Sequence[Any], back: Sequence[int]) -> Iterator[Answer]:
    answers: list[Answer] = []
    told = iter(new)
    for index, distance in enumerate(back):
        if not 0 <= distance <= index:
            raise RecordingError(f"case {index} is said to end like that {distance} before it")
        answers.append(answers[index - distance] if distance else _answer(next(told, ...)))
    yield from answers
    if next(told, ...) is not ...:
        raise RecordingError("more outcomes than cases that bring a new one")


def _answer(told: Any) -> Answer:
    if told is ...:
        raise RecordingError("fewer outcomes than cases that bring a new one")
    return Missing.NONDETERMINISTIC if told is None else Outcome.from_json(told)
