"""Functions of C are found again by who copies them or reads a pickle."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import mindtorch_v2 as torch

X = torch.ones(2)


@pytest.mark.parametrize(
    "function",
    [
        *(torch.tanh, torch._C._VariableFunctions.relu, torch.nn.functional.linear),
        *(torch.linalg.norm, torch.special.expit, torch.Tensor.add, X.add, torch.Tensor.__len__),
    ],
)
@pytest.mark.parametrize(
    "through", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]
)
def test_functions_are_copied_by_name(function: Any, through: Callable[[Any], Any]) -> None:
    found = through(function)
    assert found is function or found.__self__ is not None


def test_a_module_with_a_function_is_copied() -> None:
    module = torch.nn.Linear(2, 2)
    module.activation = torch.tanh
    assert copy.deepcopy(module).activation is torch.tanh


def test_c_has_what_torch_takes_over() -> None:
    assert torch._C.is_grad_enabled is torch.is_grad_enabled
    assert torch._C.Generator is torch.Generator


def test_there_is_no_cuda() -> None:
    assert not torch.cuda.is_available()
    assert torch.cuda.device_count() == 0
