"""Devices that there is nothing for: no call answers a tensor on one of them.

CUDA is refused as the wheels for the CPU refuse it, which no recording of another wheel can show.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

import mindtorch_v2 as xp

ABSENT: Final = ("cuda", "cuda:3", "xpu", "mps", "hpu", "mtia", "xla:0", "lazy", "privateuseone")
MAKING: Final[list[Callable[[Any], Any]]] = [
    lambda device: xp.ones(2).to(device),
    lambda device: xp.ones(2, device="meta").to(device),
    lambda device: xp.ones(2, device=device),
    lambda device: xp.empty(2, device=device),
    lambda device: xp.tensor(1.0, device=device),
    lambda device: xp.asarray(xp.ones(2), device=device),
    lambda device: xp.as_tensor([1], device=device),
    lambda device: xp.zeros_like(xp.ones(2), device=device),
    lambda device: xp.ones(2).new_empty_strided((2,), (1,), device=device),
    lambda device: xp.nn.Linear(2, 2).to(device),
    lambda device: xp.UntypedStorage(2, device=device),
    lambda device: xp.ops.aten._to_copy(xp.ones(2), device=xp.device(device)),
]


@pytest.mark.parametrize("device", ABSENT)
@pytest.mark.parametrize("make", MAKING)
def test_nothing_is_made_there(make: Callable[[Any], Any], device: str) -> None:
    with pytest.raises((AssertionError, RuntimeError, ModuleNotFoundError)):
        make(device)


@pytest.mark.parametrize(
    "make",
    [
        lambda: xp.ones(2).cuda(),
        lambda: xp.ones(2).to("cuda"),
        lambda: xp.ones(2, device="cuda:1"),
        lambda: xp.tensor([1], device="cuda"),
        lambda: xp.nn.Linear(2, 2).cuda(),
        lambda: xp.cuda.current_device(),
    ],
)
def test_cuda_was_not_compiled_in(make: Callable[[], Any]) -> None:
    with pytest.raises(AssertionError, match=r"\ATorch not compiled with CUDA enabled\Z"):
        make()


def test_a_call_of_a_form_that_was_seen_often_refuses_as_well() -> None:
    for _ in range(20):
        xp.ones(2, device="cpu")
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        xp.ones(2, device="cuda")
