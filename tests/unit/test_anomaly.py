"""What anomaly mode says of the node that raised in backward."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.autograd import Function


class Fails(Function):
    @staticmethod
    def forward(ctx: Any, tensor: Any) -> Any:
        return tensor * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        raise ValueError("no gradient")


class FailsTwice(Fails):
    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return Fails.apply(grad)


def _leaf() -> Any:
    return torch.ones(1, requires_grad=True)


def _said(run: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with (
            torch.autograd.set_detect_anomaly(True),
            pytest.raises(ValueError, match="no gradient"),
        ):
            run()
    return [str(each.message) for each in caught]


def test_a_node_tells_where_it_was_made() -> None:
    (said,) = _said(lambda: Fails.apply(_leaf()).backward())
    assert said.startswith("Error detected in FailsBackward. Traceback of forward call that caused")
    assert "Fails.apply(_leaf()).backward()" in said
    assert "mindtorch_v2" not in said.partition("(Triggered")[0].replace(__file__, "")


def test_a_node_that_was_made_before_tells_nothing() -> None:
    made = Fails.apply(_leaf())
    (said,) = _said(made.backward)
    assert "No forward pass information available" in said


def test_what_waits_in_a_pipeline_was_made_before() -> None:
    leaf = _leaf()
    with torch.pipeline():
        made = leaf * 2
        with torch.autograd.set_detect_anomaly(True):
            later = leaf * 3
        nodes = made.grad_fn, later.grad_fn
    assert [bool(node.metadata) for node in nodes] == [False, True]


def test_a_node_that_backward_made_names_whose_backward() -> None:
    def run() -> None:
        leaf = _leaf()
        made = FailsTwice.apply(leaf)
        (grad,) = torch.autograd.grad(made, leaf, _leaf(), create_graph=True)
        assert grad.grad_fn.metadata["parent_"] is made.grad_fn
        grad.backward()

    node, parent = _said(run)
    assert node.startswith("Error detected in FailsBackward.")
    assert parent.startswith("\n\nPrevious calculation was induced by FailsTwiceBackward.")


def test_a_warning_that_is_an_error_does_not_hide_what_was_raised(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mode = torch.autograd.set_detect_anomaly(True)
        warnings.simplefilter("error")
        with mode, pytest.raises(ValueError, match="no gradient"):
            Fails.apply(_leaf()).backward()
    assert "Error detected in FailsBackward" in capsys.readouterr().err
