"""Windows of signals."""

import numpy as np
import pytest

import mindtorch_v2 as torch


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hann"])
def test_a_window_is_numpys_and_a_periodic_one_lacks_its_end(name: str) -> None:
    make = getattr(torch, f"{name}_window")
    found = make(9, False, dtype=torch.float64).numpy()
    wanted = getattr(np, {"hann": "hanning"}.get(name, name))(9)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    np.testing.assert_allclose(make(8, dtype=torch.float64).numpy(), wanted[:-1], atol=1e-12)


def test_a_window_of_one_number_is_one() -> None:
    assert torch.hann_window(1).tolist() == [1.0]
    assert torch.blackman_window(0).tolist() == []


def test_windows_are_of_floats() -> None:
    with pytest.raises(RuntimeError, match=r"got: TensorOptions\(dtype=long int, device=cpu"):
        torch.bartlett_window(3, dtype=torch.int64)
