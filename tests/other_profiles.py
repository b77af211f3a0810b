"""A test file that runs itself again under other profiles than this process's.

A process has one profile.  Where MINDTORCH_PROFILE is set, that profile alone is meant; else which
others are is said in ``tests/profiles.py``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Final

import pytest

from mindtorch_v2 import profile
from tests.profiles import others

CHOSEN: Final = bool(os.environ.get(profile.ENVIRONMENT))
OTHERS: Final = others()


def once_per_other_profile(test: Callable[[str], None]) -> Any:
    """Runs a test of ``other``, the name of a profile, once for each of the others."""
    test = pytest.mark.parametrize("other", OTHERS)(test)
    return pytest.mark.skipif(CHOSEN, reason="one profile is chosen")(test)


def run_again(file: str, other: str) -> None:
    """Runs the tests of a file under another profile, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file],
        env={**os.environ, profile.ENVIRONMENT: other},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
