"""Questions about convolutions, for ``neural.json``: see :mod:`conformance.extract.neural`."""

from collections.abc import Callable

import torch

from conformance.extract import takes

A = torch.ops.aten


def convolution_of_one_volume() -> object:
    """With two biases, of which the volume of one slice has room for the first alone."""
    weight, bias = torch.ones(2, 1, 1, 1, 1), torch.ones(2)
    return A.slow_conv_dilated3d(torch.ones(1, 1, 1, 1), weight, [1, 1, 1], bias)


HABITS: dict[str, Callable[[], bool]] = {
    "one dilated volume is a batch": lambda: takes(convolution_of_one_volume),
}
