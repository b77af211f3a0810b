"""Questions about operators over lists of tensors, for ``neural.json``: see
:mod:`conformance.extract.neural`."""

from collections.abc import Callable

import torch

from conformance.extract._asking import error_of

ROWS = torch.zeros(2, 2)

HABITS: dict[str, Callable[[], bool]] = {
    "numbers for each tensor are counted": lambda: (
        "got 1 and 2" in error_of(lambda: torch._foreach_addcmul([ROWS], [ROWS], [ROWS], [1, 2]))[1]
    ),
    "norms of lists have checks of their own": lambda: (
        "expects ord" in error_of(lambda: torch._foreach_norm([ROWS], 1j))[1]
    ),
    "a maximum of a list has a check of its own": lambda: (
        "_foreach_max" in error_of(lambda: torch._foreach_max([ROWS[:0]]))[1]
    ),
}
