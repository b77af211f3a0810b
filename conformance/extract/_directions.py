"""Extracts the direction numbers of Sobol's sequences, which are the same in every release.

``python -m conformance.extract._directions`` writes the file that
:mod:`mindtorch_v2.kernels.cpu.samples.direction_numbers` reads.  The numbers of a column are odd
and below a power of two, so that the lowest bit and those above that power are not kept; of the
others come first those of the second column, the highest dimension last, each from its lowest bit
on.
"""

import sys
from pathlib import Path

import numpy as np
import torch

from mindtorch_v2.kernels.cpu.samples import direction_numbers
from mindtorch_v2.kernels.cpu.samples.direction_numbers import COUNTS, MAXBIT, MAXDIM

TARGET = Path(direction_numbers.__file__).with_suffix(".bin")


def extract() -> bytes:
    state = torch.zeros(MAXDIM, MAXBIT, dtype=torch.int64)
    torch.ops.aten._sobol_engine_initialize_state_(state, MAXDIM)
    numbers = state.numpy() >> np.arange(MAXBIT - 1, -1, -1)
    first = np.cumsum((1, *COUNTS))
    columns = (
        (numbers[first[column] :, column, None] >> np.arange(1, column + 1)) & 1
        for column in range(1, len(COUNTS))
    )
    return np.packbits(np.concatenate([each.ravel() for each in columns])).tobytes()


def main() -> int:
    TARGET.write_bytes(extract())
    return 0


if __name__ == "__main__":
    sys.exit(main())
