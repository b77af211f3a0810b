"""A recording: one release's outcomes, area by area, and which torch they come from.

``recordings/<release>/recording.json`` is for people and says what was recorded; a file for each
area has the outcomes.  The areas need not be of one day: what changes is recorded again alone, by
the same build of torch.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from conformance.recorded.area import AreaRecording, RecordingError
from conformance.report.atomic import write_bytes, write_text

RECORDINGS: Final = Path(__file__).parents[1] / "recordings"
MANIFEST: Final = "recording.json"
SUFFIX: Final = ".json.xz"
FORMAT: Final = "mindtorch-conformance-recording"
VERSION: Final = 1
CAPABILITY: Final = re.compile(r"- CPU capability usage: \w+ ")
"""Of a build's text what is the processor's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The torch that was recorded, and where it ran."""

    release: str
    full_version: str
    git_hash: str
    build: str
    """What ``torch.__config__.show()`` says, in one line and without directories."""
    platform: str
    python: str
    numpy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AreaFacts:
    """What there is to know of an area's file without opening it."""

    cases: int
    nondeterministic: tuple[str, ...]
    """The ids of the cases that were dropped: they did not end the same way twice."""
    suite: str
    """The version of the suite that recorded it."""
    recorded: str
    """When, in UTC."""
    sha256: str
    """Of the area's file."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What was recorded of one release; the outcomes are read when they are asked for."""

    directory: Path
    source: Source
    areas: Mapping[str, AreaFacts]

    @classmethod
    def load(cls, directory: Path) -> Recording:
        """Read what ``directory`` says of itself; RecordingError says what is wrong with it."""
        path = directory / MANIFEST
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if (data["format"], data["version"]) != (FORMAT, VERSION):
                raise RecordingError(f"its form is {data['format']!r}, version {data['version']!r}")
            areas = {name: _facts(each) for name, each in data["areas"].items()}
            return cls(directory, Source(**data["source"]), areas)
        except (OSError, LookupError, TypeError, ValueError, AttributeError) as error:
            raise RecordingError(f"{path} is no recording: {error}") from error

    def area(self, name: str) -> AreaRecording:
        """An area's outcomes."""
        path = self.directory / f"{name}{SUFFIX}"
        try:
            packed = path.read_bytes()
            if hashlib.sha256(packed).hexdigest() != self.areas[name].sha256:
                raise RecordingError(f"it is not the file that {MANIFEST} speaks of")
            return AreaRecording.unpack(packed)
        except (OSError, RecordingError) as error:
            raise RecordingError(f"{path}: {error}") from error

    @property
    def cases(self) -> int:
        return sum(area.cases for area in self.areas.values())

    @property
    def bytes(self) -> int:
        """What the recording takes on disk."""
        return sum(path.stat().st_size for path in self.directory.iterdir())


def known(root: Path = RECORDINGS) -> list[str]:
    """The releases of which there are recordings, the oldest first."""
    found = [path.parent.name for path in root.glob(f"*/{MANIFEST}")]
    return sorted(found, key=lambda release: [int(n) for n in re.findall(r"\d+", release)])


def check_source(known: Recording, source: Source) -> None:
    """RecordingError if another build of torch was recorded, or elsewhere.

    On which processor is no matter: vectors are as long on all of them (`conformance.processor`),
    and what was recorded before they were differs in last digits at most, which are not compared.
    """
    if _on_any_processor(known.source) != _on_any_processor(source):
        raise RecordingError(
            f"{known.directory} was recorded from another torch, or elsewhere: {known.source}, and "
            f"this is {source}. Record all areas: remove the directory first"
        )


def _on_any_processor(source: Source) -> Source:
    return replace(source, build=CAPABILITY.sub("", source.build))


def add(
    directory: Path, source: Source, recorded: AreaRecording, facts: Mapping[str, Any]
) -> Recording:
    """Put an area into the recording of ``directory``, in place of an older one; the recording.

    ``facts`` are those of AreaFacts that are not of its file.  RecordingError if what is there
    comes from another build of torch, or from elsewhere.
    """
    areas: dict[str, AreaFacts] = {}
    if (directory / MANIFEST).exists():
        there = Recording.load(directory)
        areas = dict(there.areas)
        if areas.keys() - {recorded.area}:
            check_source(there, source)
    packed = recorded.pack()
    directory.mkdir(parents=True, exist_ok=True)
    write_bytes(directory / f"{recorded.area}{SUFFIX}", [packed])
    areas[recorded.area] = AreaFacts(sha256=hashlib.sha256(packed).hexdigest(), **facts)
    data = {
        "format": FORMAT,
        "version": VERSION,
        "source": asdict(source),
        "areas": {name: asdict(areas[name]) for name in sorted(areas)},
    }
    write_text(directory / MANIFEST, [json.dumps(data, indent=1) + "\n"])
    return Recording(directory, source, areas)


def _facts(data: Mapping[str, Any]) -> AreaFacts:
    return AreaFacts(**{**data, "nondeterministic": tuple(data["nondeterministic"])})
