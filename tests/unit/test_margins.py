"""Losses that keep a margin, and what came with them: each held against what it means."""

from __future__ import annotations

import numpy as np
import pytest

import mindtorch_v2 as xp

functional = xp.nn.functional


def test_a_multi_margin_loss_is_by_how_much_classes_come_too_near() -> None:
    scores = xp.tensor([[1.0, 0.5, 2.0], [0.0, 3.0, 0.0]])
    labels = xp.tensor([0, 1])
    found = functional.multi_margin_loss(scores, labels, reduction="none")
    assert found.tolist() == pytest.approx([(0.5 + 2.0) / 3, 0.0])
    weighted = functional.multi_margin_loss(
        scores, labels, p=2, weight=xp.tensor([3.0, 1.0, 1.0]), reduction="sum"
    )
    assert weighted.item() == pytest.approx(3 * (0.25 + 4.0) / 3)


def test_labels_behind_a_negative_one_do_not_count() -> None:
    scores = xp.tensor([0.1, 0.2, 0.4, 0.8])
    found = functional.multilabel_margin_loss(scores, xp.tensor([3, 0, -1, 1]))
    near = [1 - (0.8 - 0.2), 1 - (0.8 - 0.4), 1 - (0.1 - 0.2), 1 - (0.1 - 0.4)]
    assert found.item() == pytest.approx(sum(near) / 4)


@pytest.mark.parametrize("name", ["soft_margin_loss", "multi_margin_loss"])
def test_a_gradient_is_a_small_difference(name: str) -> None:
    loss = getattr(functional, name)
    target = xp.tensor([1.0, -1.0, 1.0]) if name == "soft_margin_loss" else xp.tensor(1)
    scores = xp.tensor([0.3, -0.7, 0.9], dtype=xp.float64, requires_grad=True)
    loss(scores, target).backward()
    step = 1e-6
    for place in range(3):
        moved = scores.detach().clone()
        moved[place] += step
        slope = (loss(moved, target) - loss(scores.detach(), target)).item() / step
        assert scores.grad[place].item() == pytest.approx(slope, abs=1e-5)


def test_a_soft_margin_loss_has_a_second_gradient() -> None:
    score = xp.tensor([0.4], dtype=xp.float64, requires_grad=True)
    loss = functional.soft_margin_loss(score, xp.tensor([1.0]))
    (slope,) = xp.autograd.grad(loss, score, create_graph=True)
    (bend,) = xp.autograd.grad(slope.sum(), score)
    height = 1 / (1 + np.exp(-0.4))
    assert bend.item() == pytest.approx(height * (1 - height))


def test_slopes_of_rrelu_are_its_noise() -> None:
    x = xp.tensor([-1.0, 2.0, -3.0, 0.0])
    noise = xp.zeros(4)
    made = xp.ops.aten.rrelu_with_noise(x, noise, 0.1, 0.3, True)
    assert made.tolist() == (x * noise).tolist()
    assert noise[1].item() == 1
    assert all(0.1 <= slope < 0.3 for slope in noise[[0, 2, 3]].tolist())
    assert xp.rrelu(x, 0.1, 0.3).tolist() == pytest.approx([-0.2, 2.0, -0.6, 0.0])


def test_channels_are_dealt_out_and_gathered_again() -> None:
    x = xp.arange(24).view(2, 6, 2)
    dealt = functional.channel_shuffle(x, 2)
    assert dealt[0, :, 0].tolist() == [0, 6, 2, 8, 4, 10]
    assert functional.channel_shuffle(dealt, 3).tolist() == x.tolist()


def test_dropout_of_channels_leaves_out_whole_ones() -> None:
    xp.manual_seed(0)
    kept = functional.dropout2d(xp.ones(4, 8, 3, 3), 0.5)
    assert {len(each.unique()) for each in kept.flatten(0, 1)} == {1}
    assert sorted(kept.unique().tolist()) == [0, 2]


def test_an_instance_norm_is_a_batch_norm_of_each_sample() -> None:
    x = xp.arange(24.0).view(2, 3, 4) ** 2
    samples = [functional.batch_norm(each[None], None, None, training=True) for each in x]
    assert xp.equal(functional.instance_norm(x), xp.cat(samples))


def test_an_rms_norm_has_a_mean_square_of_one() -> None:
    made = functional.rms_norm(xp.arange(1.0, 9.0).view(2, 4), (4,))
    assert made.pow(2).mean(-1).tolist() == pytest.approx([1.0, 1.0])


def test_a_local_response_is_divided_by_that_of_its_neighbours() -> None:
    x = xp.tensor([1.0, 2.0, 3.0]).view(1, 3, 1)
    made = functional.local_response_norm(x, 2, alpha=1.0, beta=1.0, k=2.0)
    means = [(0 + 1) / 2, (1 + 4) / 2, (4 + 9) / 2]
    expected = [value / (2 + mean) for value, mean in zip((1, 2, 3), means, strict=True)]
    assert made.flatten().tolist() == pytest.approx(expected)


def test_modules_show_what_they_were_made_with() -> None:
    assert repr(xp.nn.RReLU(0, 1, True)) == "RReLU(lower=0, upper=1, inplace=True)"
    assert repr(xp.nn.AlphaDropout(0.1)) == "AlphaDropout(p=0.1, inplace=False)"
    assert repr(xp.nn.ChannelShuffle(2)) == "ChannelShuffle(groups=2)"
    assert list(xp.nn.RMSNorm(3).state_dict()) == ["weight"]
    assert not xp.nn.InstanceNorm2d(3).state_dict()


def test_an_instance_norm_refuses_other_channels_only_if_it_learns() -> None:
    x = xp.ones(2, 4, 3)
    with pytest.raises(ValueError, match="match num_features"):
        xp.nn.InstanceNorm1d(3, affine=True)(x)
    with pytest.warns(UserWarning, match="does not match num_features"):
        xp.nn.InstanceNorm1d(3)(x)
