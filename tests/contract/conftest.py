"""Runs every contract under several profiles (``tests/profiles.py``).

A process has one profile.  The contracts run in this one under the default, and an item
``under profile 2.13`` at the end of each file runs the same tests under another, in a process of
its own.  Where MINDTORCH_PROFILE is set, that profile alone is meant, and there are no such items.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import settings

from mindtorch_v2 import profile
from mindtorch_v2.dispatch import tls
from tests.profiles import others

CONTRACTS: Final = Path(__file__).parent

# How long an example takes says nothing about a contract, and a loaded machine is slow.
settings.register_profile("contract", settings.default, deadline=None)
settings.load_profile("contract")


@pytest.fixture(autouse=True)
def fresh_thread_local_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test starts from the defaults, whatever another left behind."""
    monkeypatch.setattr(tls.thread_local, "raw", tls.RawLocalDispatchKeySet())


class OtherProcessError(Exception):
    """The tests failed in the other process; the message is what it printed."""


class OtherProfile(pytest.Item):
    """The tests of one file, run under a profile that is not this process's."""

    def __init__(self, *, profile_name: str, tests: list[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.profile_name = profile_name
        self.tests = tests

    def runtest(self) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *self.tests],
            cwd=self.config.rootpath,
            env={**os.environ, profile.ENVIRONMENT: self.profile_name},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != pytest.ExitCode.OK:
            raise OtherProcessError(done.stdout + done.stderr)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, OtherProcessError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[os.PathLike[str], None, str]:
        return self.path, None, f"{self.path.name} under profile {self.profile_name}"


@pytest.hookimpl(trylast=True)  # after -k and -m have chosen
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not os.environ.get(profile.ENVIRONMENT):
        items[:] = _with_other_profiles(items)


def _with_other_profiles(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    for path, group in groupby(items, key=lambda item: item.path):
        of_file = list(group)
        yield from of_file
        module = of_file[0].getparent(pytest.Module)
        if module is None or path.parent != CONTRACTS:
            continue
        # a test's parameters may be the profile's own, so it is chosen by its name alone
        tests = list(dict.fromkeys(item.nodeid.partition("[")[0] for item in of_file))
        for name in others():
            label = f"under profile {name}"
            yield OtherProfile.from_parent(module, name=label, profile_name=name, tests=tests)
