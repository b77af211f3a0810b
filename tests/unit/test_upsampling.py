"""Images of another size, and at the places of a grid."""

import copy

import numpy as np
import pytest

import mindtorch_v2 as torch
from mindtorch_v2.kernels.cpu.images.taps import Axis, cubic, linear, nearest, nearest_idx
from mindtorch_v2.nn import functional


def _image(*sizes: int) -> torch.Tensor:
    return torch.arange(int(np.prod(sizes))).reshape(sizes).double()


def test_a_step_is_the_quotient_of_sizes_unless_a_scale_is_given() -> None:
    assert Axis(4, 8).step(np.float64) == 0.5
    assert Axis(4, 8, scale=3.0).step(np.float64) == pytest.approx(1 / 3)
    assert Axis(4, 8, scale=0.0).step(np.float64) == 0.5
    assert Axis(4, 7, align_corners=True).step(np.float64) == 0.5
    assert Axis(4, 1, align_corners=True).step(np.float64) == 0


def test_the_nearest_pixel_is_the_one_before_unless_it_is_to_be_exact() -> None:
    axis = Axis(3, 2)
    assert nearest(axis, np.float32, exact=False).tolist() == [0, 1]
    assert nearest(axis, np.float32, exact=True).tolist() == [0, 2]
    assert nearest_idx(Axis(2, 4, scale=7.0), exact=False).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("taps", [linear, cubic])
@pytest.mark.parametrize("align_corners", [True, False])
def test_weights_add_up_to_one(taps: object, align_corners: bool) -> None:
    found = taps(Axis(5, 13, align_corners=align_corners), np.float64)  # type: ignore[operator]
    np.testing.assert_allclose(found.weights.sum(0), 1)
    assert found.places.min() == 0
    assert found.places.max() == 4


def test_corners_stay_where_they_are_if_they_are_aligned() -> None:
    image = _image(1, 1, 3, 4)
    found = functional.interpolate(image, (5, 9), mode="bilinear", align_corners=True)
    assert found[..., 0, 0].item() == 0
    assert found[..., -1, -1].item() == 11
    assert found.shape == (1, 1, 5, 9)


def test_an_antialiased_pixel_is_the_mean_of_what_it_covers() -> None:
    found = functional.interpolate(_image(1, 1, 1, 8), (1, 1), mode="bilinear", antialias=True)
    assert found.item() == pytest.approx(3.5)


def test_bytes_are_rounded_and_stay_bytes() -> None:
    image = torch.tensor([[[[0, 255]]]], dtype=torch.uint8)
    found = functional.interpolate(image, (1, 4), mode="bilinear")
    assert found.tolist() == [[[[0, 64, 191, 255]]]]


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic"])
def test_a_gradient_has_as_much_as_the_output_had(mode: str) -> None:
    image = _image(1, 2, 3, 4).requires_grad_()
    functional.interpolate(image, (5, 7), mode=mode).sum().backward()
    assert image.grad is not None
    assert image.grad.sum().item() == pytest.approx(70)


def test_channels_lie_innermost_where_they_did() -> None:
    image = _image(1, 5, 3, 4).to(memory_format=torch.channels_last)
    for device in ("cpu", "meta"):
        found = functional.interpolate(image.to(device), scale_factor=2, mode="bilinear")
        assert found.stride() == (240, 1, 40, 5)


def test_a_size_or_a_factor_is_given() -> None:
    with pytest.raises(ValueError, match="either size or scale_factor should be defined"):
        functional.interpolate(_image(1, 1, 2))
    with pytest.raises(ValueError, match="only one of size or scale_factor"):
        functional.interpolate(_image(1, 1, 2), 2, 2.0)
    with pytest.raises(NotImplementedError, match="Got 3D input, but bilinear mode needs 4D"):
        functional.interpolate(_image(1, 1, 2), 2, mode="bilinear")


def test_the_grid_of_a_map_that_changes_nothing_finds_the_image() -> None:
    theta = torch.tensor([[[1.0, 0, 0], [0, 1, 0]]], dtype=torch.float64)
    image = _image(1, 2, 3, 4)
    for align_corners in (True, False):
        grid = functional.affine_grid(theta, (1, 2, 3, 4), align_corners)
        found = functional.grid_sample(image, grid, align_corners=align_corners)
        np.testing.assert_allclose(found.numpy(), image.numpy(), atol=1e-12)


@pytest.mark.parametrize(("padding", "found"), [("zeros", 0), ("border", 3), ("reflection", 2)])
def test_what_is_beyond_an_image(padding: str, found: int) -> None:
    grid = torch.tensor([[[[1.75, 0.0]]]], dtype=torch.float64)
    options = {"mode": "nearest", "padding_mode": padding, "align_corners": False}
    assert functional.grid_sample(_image(1, 1, 1, 4), grid, **options).item() == found


def test_a_module_that_was_copied_upsamples_alike() -> None:
    module = torch.nn.Upsample(scale_factor=(2, 3))
    assert repr(module) == "Upsample(scale_factor=(2.0, 3.0), mode='nearest')"
    copied = copy.deepcopy(module)
    assert copied(_image(1, 1, 2, 2)).shape == (1, 1, 4, 6)
