"""Attention: both ways come to the same, and masks hide what they are to hide."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch_v2 as xp

attention = xp.nn.functional.scaled_dot_product_attention


def made(*sizes: int) -> Any:
    count = xp.ones(sizes).numel()
    return (xp.arange(count, dtype=xp.float64) * 7 % 23 / 23).view(sizes)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("scale", [None, 0.5])
def test_the_fused_way_and_that_of_operators_agree(is_causal: bool, scale: float | None) -> None:
    query, key = made(2, 3, 4, 5), made(2, 3, 6, 5)
    assert xp.ops.aten._fused_sdp_choice(query, key, key, None, 0.0, is_causal) == 1
    fused = attention(query, key, key, is_causal=is_causal, scale=scale)
    for place in range(2):
        parts = (query[place], key[place], key[place])  # of three dimensions, which is not fused
        by_operators = attention(*parts, is_causal=is_causal, scale=scale)
        assert xp.allclose(fused[place], by_operators)


def test_gradients_agree_too() -> None:
    weights, found = made(1, 2, 3, 4), []
    for is_fused in (True, False):
        query, key = (made(1, 2, 3, 4).requires_grad_() for _ in range(2))
        parts = (query, key, key) if is_fused else (query[0], key[0], key[0])
        (attention(*parts).view(1, 2, 3, 4) * weights).sum().backward()
        found.append((query.grad, key.grad))
    assert all(xp.allclose(one, two) for one, two in zip(*found, strict=True))


def test_what_is_masked_out_has_no_part_in_it() -> None:
    query, key, value = made(1, 1, 2, 4), made(1, 1, 3, 4), made(1, 1, 3, 4)
    mask = xp.tensor([[True, False, False], [True, True, False]])
    found = attention(query, key, value, mask)
    assert xp.allclose(found[0, 0, 0], value[0, 0, 0])
    assert xp.allclose(
        found[..., 1, :], attention(query, key[:, :, :2], value[:, :, :2])[..., 1, :]
    )


def test_heads_see_their_own_part() -> None:
    x, identity = made(3, 1, 4), xp.eye(4, dtype=xp.float64)
    heads = xp.nn.functional.multi_head_attention_forward
    packed = xp.cat([identity] * 3)
    options = (4, 2, packed, None, None, None, False, 0.0, identity, None)
    output, weights = heads(x, x, x, *options)
    unseen, nothing = heads(x, x, x, *options, need_weights=False)
    assert nothing is None
    assert xp.allclose(output, unseen)
    assert xp.allclose(weights.sum(-1), xp.ones(1, 3, dtype=xp.float64))
