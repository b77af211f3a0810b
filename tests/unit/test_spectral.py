"""Fourier transforms, there and back, and where their results lie in memory."""

import numpy as np
import pytest

import mindtorch_v2 as torch

NORMS = (None, "forward", "backward", "ortho")


def signal(*sizes: int) -> torch.Tensor:
    numbers = np.random.default_rng(0).normal(size=sizes)
    return torch.tensor(numbers.tolist(), dtype=torch.float64)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "hfft", "ihfft"])
def test_a_transform_is_numpys(name: str, norm: str | None) -> None:
    x = signal(3, 5)
    found = getattr(torch.fft, name)(x, norm=norm)
    wanted = getattr(np.fft, name)(np.array(x.tolist()), norm=norm)
    np.testing.assert_allclose(np.array(found.tolist()), wanted, atol=1e-12)


@pytest.mark.parametrize("norm", NORMS)
def test_a_transform_back_undoes_one(norm: str | None) -> None:
    x = signal(4, 3, 6)
    for there, back in (("fftn", "ifftn"), ("rfftn", "irfftn"), ("ihfftn", "hfftn")):
        spectrum = getattr(torch.fft, there)(x, norm=norm)
        again = getattr(torch.fft, back)(spectrum, norm=norm)
        np.testing.assert_allclose(np.array(again.tolist()), np.array(x.tolist()), atol=1e-12)


def test_both_sides_of_a_spectrum_are_conjugates() -> None:
    whole = np.array(torch.fft.fft(signal(7)).tolist())
    np.testing.assert_array_equal(whole[:0:-1], whole[1:].conj())


def test_what_is_transformed_lies_innermost() -> None:
    assert torch.fft.fft(signal(2, 3, 4), dim=0).stride() == (1, 8, 2)
    assert torch.fft.fft(signal(2, 3, 4).permute(2, 0, 1), dim=1).stride() == (2, 1, 8)


def test_an_infinity_makes_no_nan_of_a_sum() -> None:
    first = torch.fft.rfft(torch.tensor([1.0, float("inf")]))[0].item()
    assert (first.real, first.imag) == (float("inf"), 0)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "ihfft"])
def test_a_gradient_is_the_transform_of_the_weights(name: str) -> None:
    x = signal(5).requires_grad_()
    y = getattr(torch.fft, name)(x)
    weights = torch.arange(y.numel(), dtype=torch.float64)
    (y.real * weights).sum().backward()
    for place in range(5):
        unit = torch.zeros(5, dtype=torch.float64)
        unit[place] = 1
        slope = (getattr(torch.fft, name)(unit).real * weights).sum()
        assert x.grad[place].item() == pytest.approx(slope.item(), abs=1e-12)


def test_short_times_are_put_together_again() -> None:
    x, window = signal(2, 20), signal(4).abs() + 1
    frames = torch.stft(x, 4, 2, window=window, return_complex=True)
    assert frames.shape == (2, 3, 11)
    again = torch.istft(frames, 4, 2, window=window)
    np.testing.assert_allclose(np.array(again.tolist()), np.array(x.tolist()), atol=1e-12)


def test_a_refusal_shows_the_call() -> None:
    with pytest.raises(RuntimeError, match=r"stft\(torch.DoubleTensor\[3\], n_fft=9, hop_length=2"):
        torch.stft(signal(3), 9, window=signal(9), center=False, return_complex=True)


def test_shifts_are_undone() -> None:
    for size in (4, 5):
        numbers = torch.arange(size)
        assert torch.fft.ifftshift(torch.fft.fftshift(numbers)).tolist() == numbers.tolist()
