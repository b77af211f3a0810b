"""Questions about losses, for ``neural.json``: see :mod:`conformance.extract.neural`."""

from collections.abc import Callable

import torch

from conformance.extract import takes

A = torch.ops.aten


def loss_of_no_batch() -> object:
    return A._ctc_loss(torch.zeros(1, 0, 1), torch.zeros(0, 1, dtype=torch.int64), [], [])


HABITS: dict[str, Callable[[], bool]] = {
    "a loss of no log probabilities is refused": lambda: not takes(loss_of_no_batch),
}
