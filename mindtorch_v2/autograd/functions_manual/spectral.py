"""Helpers of Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_v2.autograd.at import call
from mindtorch_v2.tensor.geometry import wrap_dim


def fft_c2r_backward(grad: Any, dim: Sequence[int], normalization: int) -> Any:
    """One half of the spectrum: what stands for an element of the other half as well counts
    twice."""
    gradient = call("_fft_r2c", grad, dim, normalization, True)
    last = dim[-1]
    mirrored = grad._sizes[last] - gradient._sizes[last]
    if mirrored > 0:
        call("mul_", call("narrow", gradient, last, 1, mirrored), 2)
    return gradient


def fft_r2c_backward(
    grad: Any, dim: Sequence[int], normalization: int, onesided: bool, last_dim_size: int
) -> Any:
    """The real part, zeros for the half of the spectrum that was not computed."""
    if not onesided:
        return call("real", call("_fft_c2c", grad, dim, normalization, False))
    sizes = list(grad._sizes)
    last = wrap_dim(dim[-1], len(sizes))
    half = sizes[last]
    full = grad
    if last_dim_size > half:
        sizes[last] = last_dim_size
        full = call("new_zeros", grad, sizes)
        call("copy_", call("slice", full, last, 0, half), grad)
    return call("real", call("_fft_c2c", full, dim, normalization, False))
