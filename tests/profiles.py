"""Under which profiles the tests run that a process can run under one alone.

Every profile that is there would be a dozen times the same minutes: without more, those of the
releases that CI judges by.  ``MINDTORCH_TEST_PROFILES=all`` has them all.
"""

from __future__ import annotations

import os
from typing import Final

from mindtorch_v2 import profile

VARIABLE: Final = "MINDTORCH_TEST_PROFILES"
_JUDGED: Final = ("2.4", "2.13")


def others() -> list[str]:
    """Those besides this process's, the oldest first."""
    known = profile.known()
    chosen = known if os.environ.get(VARIABLE) == "all" else _JUDGED
    return [name for name in known if name in chosen and name != profile.active().name]
