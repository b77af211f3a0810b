"""The oracles: a real torch that is installed here, or the recording of one that is not.

The facts of the live one come from the installed distribution's metadata where they can, so that
asking which release there is does not cost an import of torch.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Final, Literal, Protocol
from warnings import catch_warnings, simplefilter

from conformance.case import Case
from conformance.processor import compute_the_same_everywhere
from conformance.recorded.area import Answer, Missing
from conformance.recorded.recording import RECORDINGS, Recording, known

PROFILE_VARIABLE = "MINDTORCH_PROFILE"
RECORDING_VARIABLE = "CONFORMANCE_RECORDING"
"""Names the recording that is the oracle, by its release or its directory; unset, torch is."""

Asked = tuple[Case, Answer | None]
"""A case and what is known of its outcome; None: nothing yet, it is to be run."""


class NoOracleError(RuntimeError):
    """No torch is installed; the message says how to get one."""


class Oracle(Protocol):
    """What answers for PyTorch: which release it is, and what is known before a case runs."""

    @property
    def kind(self) -> Literal["live", "recorded"]: ...
    @property
    def version(self) -> str: ...
    @property
    def release(self) -> str: ...
    @property
    def profile(self) -> str: ...
    @property
    def full_version(self) -> str: ...
    @property
    def git_hash(self) -> str: ...
    @property
    def platform(self) -> str: ...

    def ask(self, area: str, cases: Iterable[Case]) -> Iterator[Asked]:
        """Every case of an area, in order, with what is known of its outcome."""
        ...

    def count(self, area: str) -> int | None:
        """How many cases an area had when the release was recorded; None if it was not."""
        ...


@dataclass(frozen=True, slots=True)
class LiveOracle:
    """An installed torch.  ``version`` is its full version, such as ``2.4.1+cu121``."""

    version: str

    @property
    def release(self) -> str:
        """``2.4.1`` for ``2.4.1+cu121``."""
        return self.version.partition("+")[0]

    @property
    def profile(self) -> str:
        """The name of the profile that mirrors this release: ``2.4`` for ``2.4.1``."""
        return profile_name(self.version)

    def module(self) -> ModuleType:
        """torch, imported and ready for cases: see :func:`prepare`."""
        return prepare("torch")

    @property
    def full_version(self) -> str:
        """What torch itself says, local build suffix included."""
        return str(self.module().__version__)

    @property
    def git_hash(self) -> str:
        return str(self.module().version.git_version)

    @property
    def platform(self) -> str:
        return f"{platform.system()} {platform.machine()}"

    @property
    def kind(self) -> Literal["live"]:
        return "live"

    def ask(self, area: str, cases: Iterable[Case]) -> Iterator[Asked]:
        """Nothing is known before it is run."""
        return ((case, None) for case in cases)

    def count(self, area: str) -> int | None:
        """What was recorded of the same release knows, to within what has been added since."""
        recording = _shipped(self.release)
        return None if recording is None else _count(recording, area)


@dataclass(frozen=True, slots=True)
class RecordedOracle:
    """A torch that was recorded.  It needs none to be installed."""

    recording: Recording

    @property
    def kind(self) -> Literal["recorded"]:
        return "recorded"

    @property
    def version(self) -> str:
        return self.full_version

    @property
    def release(self) -> str:
        return self.recording.source.release

    @property
    def profile(self) -> str:
        return profile_name(self.release)

    @property
    def full_version(self) -> str:
        return self.recording.source.full_version

    @property
    def git_hash(self) -> str:
        return self.recording.source.git_hash

    @property
    def platform(self) -> str:
        return self.recording.source.platform

    def ask(self, area: str, cases: Iterable[Case]) -> Iterator[Asked]:
        """What was recorded, or why there is nothing."""
        if area not in self.recording.areas:
            return ((case, Missing.UNRECORDED) for case in cases)
        return iter(self.recording.area(area).ask(cases))

    def count(self, area: str) -> int | None:
        return _count(self.recording, area)


def _count(recording: Recording, area: str) -> int | None:
    facts = recording.areas.get(area)
    return None if facts is None else facts.cases


@cache
def _shipped(release: str) -> Recording | None:
    """What was recorded of a release, if anything was."""
    return Recording.load(RECORDINGS / release) if release in known() else None


@cache
def live() -> LiveOracle:
    """The torch that is installed; NoOracleError if there is none."""
    try:
        return LiveOracle(importlib.metadata.version("torch"))
    except importlib.metadata.PackageNotFoundError:
        raise NoOracleError(
            "no torch is installed here. Run `nox -s conformance`, which installs one per "
            "release in an environment of its own, or `pip install torch==<release>`"
        ) from None


def chosen() -> Oracle:
    """The recording that the environment names, or the torch that is installed."""
    named = os.environ.get(RECORDING_VARIABLE)
    return recorded(named) if named else live()


def recorded(named: str) -> RecordedOracle:
    """The recording of a release, or in a directory; RecordingError if there is none."""
    shipped = RECORDINGS / named
    return RecordedOracle(Recording.load(shipped if shipped.is_dir() else Path(named)))


def choose_profile() -> str:
    """Have mindtorch_v2 mirror the oracle's release; to be called before it is imported.

    Raises NoOracleError without a torch, where no recording is chosen.
    """
    os.environ[PROFILE_VARIABLE] = chosen().profile
    return os.environ[PROFILE_VARIABLE]


def profile_name(version: str) -> str:
    """``2.4`` for ``2.4.1+cu121``."""
    match = re.match(r"\d+\.\d+", version)
    if match is None:
        raise ValueError(f"{version!r} is no torch version")
    return match[0]


SUBMODULES: Final = ("_python_dispatcher",)
"""What cases name that importing torch does not import."""
LAZY: Final = ("library", "nn", "npu", "optim")
"""What a module may import when it is first asked for it."""


@cache
def prepare(name: str) -> ModuleType:
    """Import a torch-like module for cases.

    Warnings that are shown once per process would come or not depending on which cases ran
    before, so both sides are asked to warn every time, or have warned by then.  What a module loads
    when it is first asked for an operator is loaded here, or each case with a fork of its own would
    load it again.
    """
    compute_the_same_everywhere()
    module = importlib.import_module(name)
    if hasattr(module, "set_warn_always"):
        module.set_warn_always(True)
    for submodule in SUBMODULES:
        with suppress(ImportError):
            importlib.import_module(f"{name}.{submodule}")
    for attribute in LAZY:
        getattr(module, attribute, None)
    with suppress(AttributeError), catch_warnings():
        simplefilter("ignore")
        module.tensor([1.0]).storage()  # warns once, whatever it is asked
    with suppress(AttributeError):
        module._C._dispatch_dump_table("aten::abs")
        module._C._jit_get_schemas_for_operator("aten::abs")
        module._C._jit_get_operation("aten::abs")
    return module
