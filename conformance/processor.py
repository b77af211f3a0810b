"""Has torch's libraries compute the same on every processor.

They choose code by what the machine has: another one adds up in another order, and where terms
cancel, another number is left, or a zero of another sign.  And they share work among as many
threads as it has processors.
"""

from __future__ import annotations

import os
from typing import Final

SAME_EVERYWHERE: Final = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "MKL_CBWR": "COMPATIBLE",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "OMP_NUM_THREADS": "1",
}
"""Variables of the environment, read when a library first computes: torch's own vectors and those
of oneDNN are no longer than any machine's, and MKL has "conditional numerical reproducibility".  A
case is too small to be shared among threads: they would wait for each other, and be in the way of
the workers beside theirs."""


def compute_the_same_everywhere() -> None:
    """To be called before torch is imported; what the user has set stays."""
    for variable, value in SAME_EVERYWHERE.items():
        os.environ.setdefault(variable, value)
