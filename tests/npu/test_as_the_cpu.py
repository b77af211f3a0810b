"""Calls whose answer, or error, is the CPU's alone to know: the NPU must have the same."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import mindtorch_v2 as torch
from tests.other_profiles import once_per_other_profile, run_again

from .comparing import assert_same

pytestmark = [pytest.mark.npu, pytest.mark.usefixtures("warns_always")]

aten = torch.ops.aten


def _zeros(device: str) -> Any:
    return torch._efficientzerotensor(3, device=device)


def _complex(device: str) -> Any:
    return torch.tensor([1 + 2j, 3 - 1j], device=device)


def _grid(device: str, *, dtype: Any = torch.float32) -> Any:
    made = torch.arange(36.0, device=device).view(2, 6, 3, 1).to(dtype)
    return made.to(memory_format=torch.channels_last)


def _layer_norm(device: str, input: Any, weight: Any, bias: Any) -> Any:
    x = torch.ones(2, 3, dtype=input, device=device)
    learned = (
        torch.ones(3, dtype=each, device=device) if each else None for each in (weight, bias)
    )
    return torch.native_layer_norm(x, [3], *learned, 1e-5)


def _layer_norm_backward(device: str, input: Any, statistics: Any, mask: list[bool]) -> Any:
    x = torch.ones(2, 3, dtype=input, device=device)
    moment = torch.ones(2, 1, dtype=statistics, device=device)
    return aten.native_layer_norm_backward(x, x, [3], moment, moment, None, None, mask)


def _gradients_of_convolution(device: str) -> Any:
    x, w = _grid(device).requires_grad_(), torch.ones(6, 6, 1, 1, device=device, requires_grad=True)
    return torch.autograd.grad(torch.conv2d(x, w).sum(), (x, w))


def _loss_of_two_dtypes(device: str) -> Any:
    x = torch.ones(2, device=device, requires_grad=True)
    y = torch.tensor([1, 3], device=device, dtype=torch.float16)
    torch.nn.functional.mse_loss(x, y).backward()
    return x.grad


def _softmax_backward_in_pipeline(device: str) -> Any:
    with torch.pipeline():
        x = torch.ones(2, device=device)
        return aten._softmax_backward_data(x, x, 0, 100)


def _put_by_bytes(device: str) -> Any:
    x = torch.ones(2, device=device)
    x[torch.ones(2, dtype=torch.uint8, device=device)] = 2
    return x


CALLS: dict[str, Callable[[str], Any]] = {
    "softmax's gradient of two dtypes": lambda d: aten._softmax_backward_data(
        torch.ones(3, device=d), torch.ones(3, device=d).half(), 0, torch.float32
    ),
    "log_softmax's gradient as halves": lambda d: aten._log_softmax_backward_data(
        torch.ones(3, device=d), torch.ones(3, device=d), 0, torch.float16
    ),
    "a dtype that Python has not": _softmax_backward_in_pipeline,
    "a loss of two dtypes": _loss_of_two_dtypes,
    "a norm of halves": lambda d: _layer_norm(d, torch.float16, None, None),
    "a norm of halves, learned as floats": lambda d: _layer_norm(
        d, torch.bfloat16, torch.float32, torch.float32
    ),
    "a norm learned as halves": lambda d: _layer_norm(d, torch.float32, torch.float16, None),
    "a norm of halves with another bias": lambda d: _layer_norm(
        d, torch.float16, torch.float16, torch.float32
    ),
    "a norm's gradient with statistics of another dtype": lambda d: _layer_norm_backward(
        d, torch.float16, torch.float32, [True] * 3
    ),
    "two gradients of three": lambda d: _layer_norm_backward(
        d, torch.float32, torch.float32, [True] * 2
    ),
    "the format of a group norm": lambda d: torch.group_norm(_grid(d), 2),
    "the format of a convolution's gradients": _gradients_of_convolution,
    "a sum of complex numbers as real ones": lambda d: _complex(d).cumsum(0, dtype=torch.int16),
    "a mean of complex numbers as real ones": lambda d: _complex(d).mean(dtype=torch.float32),
    "a number beyond a half": lambda d: torch.ones(1, device=d).half().fill_(1e300),
    "a complex number into halves": lambda d: torch.ones(1, device=d).bfloat16().fill_(1j),
    "a mask of bytes": _put_by_bytes,
    "zeros that are not stored": lambda d: torch.dot(_zeros(d), torch.ones(3, device=d)).clone(),
    "what is conjugated later": lambda d: torch.vdot(
        _complex(d), _complex(d).conj()
    ).resolve_conj(),
    "a formula that there is not": lambda d: torch.nn.functional.gelu(
        torch.ones(2, device=d), approximate="none of them"
    ),
    "sizes before dtypes": lambda d: torch.pow(
        torch.ones(0, dtype=torch.uint16, device=d), torch.ones(2, dtype=torch.bool, device=d)
    ),
}


def _outcome(call: Callable[[str], Any], device: str) -> tuple[Any, list[str]]:
    """What it answers, or its error and the words of that, and which warnings were given."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = call(device)
        except Exception as error:
            answer = type(error), str(error)
    said = [str(each.message) for each in caught]
    return answer, [text for text in said if "falls back to run on the CPU" not in text]


@once_per_other_profile
def test_under_the_other_profile(other: str) -> None:
    run_again(__file__, other)


@pytest.mark.parametrize("what", CALLS)
def test_it_is_as_on_the_cpu(npu: ModuleType, what: str) -> None:
    expected, on_device = (_outcome(CALLS[what], device) for device in ("cpu", "npu"))
    assert on_device[1] == expected[1]
    if isinstance(expected[0], tuple) and isinstance(expected[0][0], type):
        assert on_device[0] == expected[0]
        return
    assert_same(on_device[0], expected[0], rtol=2e-3)


def test_zeros_that_are_not_stored_come_back_so(npu: ModuleType) -> None:
    assert torch.dot(_zeros("npu"), torch.ones(3, device="npu"))._is_zerotensor()


def test_a_sparse_tensor_is_named_as_torch_names_those_of_its_backend(npu: ModuleType) -> None:
    x = torch.ones(2, requires_grad=True, device="npu")
    y = x * 2
    y.register_hook(lambda grad: grad.to_sparse())
    with pytest.raises(RuntimeError, match=r"torch\.npu\.FloatTensor got torch\.npu\.sparse\.Fl"):
        y.sum().backward()
