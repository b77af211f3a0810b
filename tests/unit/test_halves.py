"""Where kernels round halves: at each step, or once from a buffer of floats (PyTorch's results)."""

from __future__ import annotations

import pytest

import mindtorch_v2 as torch

_PLACES = [0, 0, 0, 1]


def _ones_after(first: float, dtype: torch.dtype) -> torch.Tensor:
    """A number to which ones are too little to be added one by one."""
    return torch.tensor([first, 1, 1, 1], dtype=dtype)


@pytest.mark.parametrize(("dtype", "first"), [(torch.bfloat16, 256), (torch.float16, 2048)])
def test_elements_are_put_to_one_place_one_after_the_other(
    dtype: torch.dtype, first: float
) -> None:
    places, values = torch.tensor(_PLACES), _ones_after(first, dtype)
    put = torch.zeros(2, dtype=dtype).index_put((places,), values, accumulate=True)
    taken = torch.zeros(2, dtype=dtype).put(places, values, accumulate=True)
    added = torch.zeros(2, dtype=dtype).index_add(0, places, values)
    assert put.tolist() == taken.tolist() == added.tolist() == [first, 1]


@pytest.mark.parametrize(("dtype", "first"), [(torch.bfloat16, 256), (torch.float16, 2048)])
def test_elements_are_scattered_to_a_buffer_of_floats(dtype: torch.dtype, first: float) -> None:
    places, values = torch.tensor(_PLACES), _ones_after(first, dtype)
    assert torch.zeros(2, dtype=dtype).scatter_add(0, places, values).tolist() == [first + 2, 1]


def test_gradients_of_a_row_that_is_read_again_are_added_one_by_one() -> None:
    table = torch.zeros(2, 1, dtype=torch.bfloat16, requires_grad=True)
    rows = torch.nn.functional.embedding(torch.tensor(_PLACES), table)
    (rows[:, 0] * _ones_after(256, torch.bfloat16)).sum().backward()
    assert table.grad.tolist() == [[256], [1]]


def test_losses_of_rows_are_added_in_halves() -> None:
    scores = torch.tensor([[256.0], [0.3], [0.3], [0.3]], dtype=torch.bfloat16)
    loss = torch.nn.functional.nll_loss(scores, torch.zeros(4, dtype=torch.int64), reduction="sum")
    assert loss.item() == -256


def test_a_loss_of_float16_is_rounded_at_each_step() -> None:
    near, beta = torch.linspace(0, 0.6, 20, dtype=torch.float16), 0.7
    zero = torch.zeros(20, dtype=torch.float16)
    loss = torch.nn.functional.smooth_l1_loss(near, zero, reduction="none", beta=beta)
    in_floats = (near.float() ** 2 / 2 / torch.tensor(beta).half().float()).half()
    assert loss.tolist() == (near * 0.5 * near / torch.tensor(beta).half()).tolist()
    assert loss.tolist() != in_floats.tolist()


def test_a_layer_norm_rounds_its_weight_s_gradient_after_each_row() -> None:
    """As PyTorch 2.13.0 answers; of the sum that is rounded once, three elements are others."""
    count = torch.arange(20)
    x = (count * 13 % 61 * 0.25 - 7.0).view(5, 4).bfloat16()
    grad = (count * 5 % 17 * 0.25 - 2).view(5, 4).bfloat16()
    weight = (torch.arange(4) * 7 % 11 * 0.125 + 0.5).bfloat16().requires_grad_()
    torch.nn.functional.layer_norm(x, (4,), weight).backward(grad)
    assert weight.grad.tolist() == [0.2431640625, 1.046875, -5.6875, 2.15625]
