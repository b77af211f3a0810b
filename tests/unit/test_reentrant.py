"""Backward within backward, deeper than the stack of a thread bears."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.overrides import TorchFunctionMode
from mindtorch_v2.thread_state import in_another_thread


class Countdown(torch.autograd.Function):
    """Counts down to zero, one backward within another."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        with torch.enable_grad():
            ctx.next = x.detach().requires_grad_() - 1
        return ctx.next.detach()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        if ctx.next < 0:
            return at_zero(grad)
        with torch.enable_grad():
            Countdown.apply(ctx.next).sum().backward()
        return grad


def at_zero(grad: Any) -> Any:
    return grad


def backward_from(number: float) -> Any:
    x = torch.tensor(number, requires_grad=True)
    Countdown.apply(x).sum().backward()
    return x.grad


def test_depth_has_no_limit() -> None:
    before = threading.active_count()
    assert backward_from(200.0).item() == 1.0
    assert threading.active_count() == before


def test_an_error_comes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(grad: Any) -> Any:
        raise ValueError("deep down")

    monkeypatch.setitem(globals(), "at_zero", refuse)
    with pytest.raises(ValueError, match="deep down"):
        backward_from(100.0)
    monkeypatch.undo()
    assert backward_from(100.0).item() == 1.0


def test_it_ends_in_another_thread_without_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []

    def ask(grad: Any) -> Any:
        found.append((threading.current_thread(), torch.is_grad_enabled()))
        return grad

    monkeypatch.setitem(globals(), "at_zero", ask)
    backward_from(100.0)
    ((thread, is_enabled),) = found
    assert thread is not threading.current_thread()
    assert not is_enabled


def test_modes_go_along() -> None:
    seen = []

    class Watch(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    x = torch.ones(2)
    with torch.no_grad(), Watch():
        assert not in_another_thread(torch.is_grad_enabled)
        in_another_thread(lambda: torch.neg(x))
    assert seen == [torch.neg]
