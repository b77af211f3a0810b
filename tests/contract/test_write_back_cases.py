"""Cases of the suite do the same without the CPU's in-place and ``out=`` kernels as with them.

The suite itself shows that what they do with them is what PyTorch does.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import zip_longest

import pytest

from mindtorch_v2.kernels.write_back import ENVIRONMENT, FUNCTIONAL

_ADDRESS = re.compile(r"\b0x[0-9a-f]+")


def outcomes(area: str, every: int, kernels: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.contract.case_outcomes", area, str(every)],
        env={**os.environ, ENVIRONMENT: kernels},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return _ADDRESS.sub("0x…", done.stdout).splitlines()


@pytest.mark.parametrize(("area", "every"), [("core-ops", 401), ("views-versions", 43)])
def test_a_case_needs_no_kernels_that_write(area: str, every: int) -> None:
    with_kernels, without = (outcomes(area, every, each) for each in ("", FUNCTIONAL))
    assert len(with_kernels) > 200
    differ = [pair for pair in zip_longest(with_kernels, without) if pair[0] != pair[1]]
    assert not differ
