"""Moments of groups that lie side by side in each pixel."""

import numpy as np
import pytest

from mindtorch_v2.kernels.cpu.column_moments import column_moments
from mindtorch_v2.tensor.dtype import DTYPES


@pytest.mark.parametrize("pixels", [1, 6, 1024])
@pytest.mark.parametrize("channels", [1, 7, 8, 19, 40])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_moments_are_those_of_the_numbers(pixels: int, channels: int, dtype: str) -> None:
    kind = np.float64 if dtype == "float64" else np.float32
    values = np.random.default_rng(0).normal(size=(2, pixels, 3, channels)).astype(kind)
    mean, variance = column_moments(values, DTYPES[dtype])
    assert mean.dtype == variance.dtype == kind
    np.testing.assert_allclose(mean, values.mean(axis=(1, 3)), atol=1e-6)
    np.testing.assert_allclose(variance, values.var(axis=(1, 3)), rtol=1e-4, atol=1e-6)


def test_a_variance_is_never_negative() -> None:
    values = np.full((1, 3, 1, 5), 1e4 + 0.1, np.float32)
    _, variance = column_moments(values, DTYPES["float32"])
    assert variance.item() >= 0
