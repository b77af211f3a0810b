"""Histograms, and reductions of segments."""

import numpy as np
import pytest

import mindtorch_v2 as torch


def test_a_histogram_is_numpys() -> None:
    numbers = np.random.default_rng(0).normal(size=100)
    counts, edges = torch.histogram(torch.tensor(numbers.tolist(), dtype=torch.float64), 7)
    wanted, ends = np.histogram(numbers, 7)
    assert counts.tolist() == wanted.tolist()
    np.testing.assert_allclose(np.array(edges.tolist()), ends)


def test_a_value_that_is_an_edge_begins_a_bin_but_for_the_last() -> None:
    counts, _ = torch.histogram(torch.tensor([0.0, 1, 2, 3]), torch.tensor([0.0, 1, 3]))
    assert counts.tolist() == [1, 3]


def test_a_density_is_one_altogether() -> None:
    points = (torch.arange(12.0) % 5).view(6, 2)
    hist, (first, second) = torch.histogramdd(points, [2, 3], density=True)
    volumes = first.diff().view(2, 1) * second.diff().view(1, 3)
    assert (hist * volumes).sum().item() == pytest.approx(1)


def test_halves_stop_counting_where_one_is_lost() -> None:
    counts, _ = torch.histogram(torch.ones(3000).half(), 1, range=(0, 2))
    assert counts.item() == 2048


def test_segments_by_lengths_are_those_by_offsets() -> None:
    data = torch.arange(12.0).view(6, 2)
    lengths, offsets = torch.tensor([2, 0, 4]), torch.tensor([0, 2, 2, 6])
    for reduction in ("sum", "mean", "max", "min", "prod"):
        one = torch.segment_reduce(data, reduction, lengths=lengths)
        two = torch.segment_reduce(data, reduction, offsets=offsets)
        np.testing.assert_array_equal(np.array(one.tolist()), np.array(two.tolist()))


def test_equal_extremes_share_a_gradient() -> None:
    data = torch.tensor([1.0, 2, 2, 5]).requires_grad_()
    torch.segment_reduce(data, "max", lengths=torch.tensor([3, 1])).sum().backward()
    assert data.grad.tolist() == [0, 0.5, 0.5, 1]


def test_a_factor_of_zero_leaves_the_others_their_product() -> None:
    data = torch.tensor([2.0, 0, 3]).requires_grad_()
    torch.segment_reduce(data, "prod", lengths=torch.tensor([3])).sum().backward()
    assert data.grad.tolist() == [0, 6, 0]
