"""What holds for all these tests."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.small_suite import SmallSuite


@pytest.fixture(scope="session", autouse=True)
def interrupts_arrive() -> Iterator[None]:
    """A shell has what it runs in the background ignore interrupts, and all that this starts."""
    found = signal.getsignal(signal.SIGINT)
    if found is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, found)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the runs keep what they have compiled: nothing of them lands in the repository."""
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture
def suite(tmp_path: Path, compiled: Path) -> SmallSuite:
    return SmallSuite(tmp_path, compiled)
