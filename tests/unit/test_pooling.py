"""Pooling, without a torch: windows in one, two and three dimensions, and what undoes them."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch_v2 as torch

F = torch.nn.functional


def numbers(*sizes: int) -> Any:
    """From 0 in row-major order."""
    count = torch.ones(sizes).numel()
    return torch.arange(float(count)).reshape(sizes)


def test_the_largest_values_of_rows_are_the_same_with_and_without_their_places() -> None:
    x = torch.tensor([[3.0, 1, float("nan"), 2, 5, 4]])
    values, places = F.max_pool1d(x, 2, 1, 1, return_indices=True)
    assert str(F.max_pool1d(x, 2, 1, 1)) == str(values)
    assert places.tolist() == [[0, 0, 2, 2, 4, 4, 5]]


def test_a_volume_is_pooled_as_images_are_one_by_one() -> None:
    volume = numbers(2, 3, 4, 4)
    images = torch.stack([F.max_pool2d(volume[:, depth], 2) for depth in range(3)], 1)
    assert F.max_pool3d(volume, (1, 2, 2)).equal(images)
    images = torch.stack([F.avg_pool2d(volume[:, depth], 2, 1, 1) for depth in range(3)], 1)
    assert F.avg_pool3d(volume, (1, 2, 2), 1, (0, 1, 1)).equal(images)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_parts_that_divide_evenly_are_windows(dims: int) -> None:
    x = -numbers(2, *[4] * dims)
    adaptive = getattr(F, f"adaptive_max_pool{dims}d")(x, 2, return_indices=True)
    windows = getattr(F, f"max_pool{dims}d")(x, 2, return_indices=True)
    assert [each.tolist() for each in adaptive] == [each.tolist() for each in windows]
    means = getattr(F, f"adaptive_avg_pool{dims}d")(x, 2)
    assert means.equal(getattr(F, f"avg_pool{dims}d")(x, 2))


def test_parts_that_do_not_divide_evenly_overlap() -> None:
    x = numbers(1, 5)
    assert F.adaptive_max_pool1d(x, 3).tolist() == [[1.0, 3.0, 4.0]]
    assert F.adaptive_avg_pool3d(numbers(1, 1, 1, 5), (1, 1, 3)).tolist() == [[[[0.5, 2.0, 3.5]]]]


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_values_go_back_to_their_places(dims: int) -> None:
    x = numbers(1, *[4] * dims)
    pool = getattr(torch.nn, f"MaxPool{dims}d")(2, return_indices=True)
    values, places = pool(x)
    back = getattr(torch.nn, f"MaxUnpool{dims}d")(2)(values, places)
    assert back.shape == x.shape
    assert back.sum().item() == values.sum().item()
    assert back.flatten()[places.flatten()].equal(values.flatten())


def test_a_place_that_there_is_not_is_named() -> None:
    with pytest.raises(RuntimeError, match="Found an invalid max index: 4 "):
        F.max_unpool2d(torch.ones(1, 1, 1), torch.full((1, 1, 1), 4), 2)


def test_random_windows_begin_where_samples_say_and_the_last_one_ends_the_row() -> None:
    samples = torch.tensor([[[0.0, 0.9]]])  # of the width and of the height
    values, places = F.fractional_max_pool2d(numbers(1, 7, 7), 2, 4, None, True, samples)
    assert [row[0] // 7 for row in places[0].tolist()] == [1, 3, 4, 6]
    assert [place % 7 for place in places[0, 0].tolist()] == [1, 2, 4, 6]
    assert values.long().equal(places)


def test_a_gradient_goes_to_the_largest_value_of_all_windows_that_it_is_in() -> None:
    x = numbers(1, 3, 3, 3).requires_grad_()
    F.max_pool3d(x, 2, 1).sum().backward()
    assert x.grad.sum().item() == 8.0
    assert x.grad[0, 1:, 1:, 1:].equal(torch.ones(2, 2, 2))
    assert F.max_pool3d(x, 2).grad_fn.name() == "MaxPool3DWithIndicesBackward0"


def test_channels_stay_innermost_where_torch_keeps_them() -> None:
    x = numbers(1, 2, 4, 4, 4).contiguous(memory_format=torch.channels_last_3d)
    assert F.max_pool3d(x, 2).stride() == (16, 1, 8, 4, 2)
    assert F.max_pool3d(x.to("meta"), 2).stride() == (16, 1, 8, 4, 2)
    assert F.avg_pool3d(x, 2).stride() == (16, 8, 4, 2, 1)
