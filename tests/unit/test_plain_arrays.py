"""Arrays of plain tensors: what a tensor keeps is what it has, whatever becomes of it meanwhile."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import mindtorch_v2 as xp
from mindtorch_v2.kernels.cpu import (
    reductions,
)
from mindtorch_v2.tensor.pending import AWAY

_OFTEN = 12


def kept() -> Any:
    """A tensor that has been in plain calls, so that it keeps an array."""
    x = xp.arange(6.0).view(2, 3).clone()
    for _ in range(_OFTEN):
        xp.neg(x)
        xp.add(x, x)
    assert x._array is not None
    return x


def computed() -> Any:
    """One that a plain call has answered: it has its array alone."""
    x = kept()
    y = xp.add(x, xp.zeros(2, 3))
    assert y._raw_storage is AWAY
    return y


def new() -> Any:
    """One that a factory has made: it has its array alone as well."""
    y = xp.zeros(2, 3).copy_(kept())
    assert y._raw_storage is AWAY
    return y


CHANGES = {
    "transpose_": lambda x: x.transpose_(0, 1),
    "unsqueeze_": lambda x: x.unsqueeze_(0),
    "squeeze_": lambda x: x.unsqueeze_(0).squeeze_(),
    "as_strided_": lambda x: x.as_strided_((3,), (1,), 2),
    "resize_, smaller": lambda x: x.resize_(2, 2),
    "resize_, larger": lambda x: x.resize_(6).resize_(3, 2),
    "set_": lambda x: x.set_(xp.full((2, 2), 7.0)),
    "set_, of its own storage": lambda x: x.set_(x.untyped_storage(), 1, (2, 2), (2, 1)),
    "data": lambda x: setattr(x, "data", xp.full((2, 2), 9.0)),
    "data of another dtype": lambda x: setattr(x, "data", xp.ones(2, dtype=xp.int64)),
    "data that is conjugated": lambda x: setattr(x, "data", xp.ones(2, dtype=xp.complex64).conj()),
    "a view is changed": lambda x: x[1].fill_(5.0),
    "its storage is resized": lambda x: x.untyped_storage().resize_(24).resize_(48),
    "its storage is filled": lambda x: x.untyped_storage().fill_(0),
    "NumPy changes it": lambda x: x.numpy().fill(4.0),
    "a lazy bit": lambda x: xp._utils.set_tensor_metadata(x, {"neg": True}),
    "it waits in a pipeline": lambda x: _in_a_pipeline(x),
}


def _in_a_pipeline(x: Any) -> None:
    with xp.pipeline():
        x.mul_(2)
        x[0].add_(1)


@pytest.mark.parametrize("make", [kept, computed, new])
@pytest.mark.parametrize("change", CHANGES)
def test_a_plain_call_sees_what_a_tensor_is_now(change: str, make: Any) -> None:
    x = make()
    CHANGES[change](x)
    twin = xp.tensor(x.tolist(), dtype=x.dtype)
    for _ in range(2):  # the first may keep an array anew
        assert xp.neg(x).tolist() == xp.neg(twin).tolist()
        assert xp.add(x, twin).tolist() == xp.add(twin, twin).tolist()
    x.add_(twin)
    assert x.tolist() == xp.add(twin, twin).tolist()


def test_a_result_has_a_storage_when_somebody_asks() -> None:
    y = computed()
    before = y.tolist()
    storage = y.untyped_storage()
    assert storage is y.untyped_storage()
    assert storage.nbytes() == 24
    assert y.data_ptr() == storage.data_ptr() != 0
    y.add_(1)
    assert y.tolist() == [[each + 1 for each in row] for row in before]
    assert y._version == 1


def test_threads_that_ask_at_once_get_one_storage() -> None:
    y, inside, found = computed(), threading.Barrier(4), []

    def ask() -> None:
        inside.wait()
        found.append((y.untyped_storage(), y._versions))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({tuple(map(id, each)) for each in found}) == 1


def test_a_result_never_has_the_memory_of_an_operand() -> None:
    flags = xp.ones(3, dtype=xp.bool)
    for _ in range(_OFTEN):
        same = xp.abs(flags) if flags.dtype is not xp.bool else xp.bitwise_not(flags)
    same.fill_(False)
    assert flags.tolist() == [True] * 3
    x = xp.ones(3, dtype=xp.int64)
    for _ in range(_OFTEN):
        whole = xp.floor(x)  # of integers the elements themselves
    whole.add_(1)
    assert x.tolist() == [1, 1, 1]


def test_parameters_are_plain_too() -> None:
    parameter, x = xp.nn.Parameter(xp.ones(2)), xp.ones(2)
    for _ in range(_OFTEN):
        made = xp.mul(x, parameter)
        with xp.no_grad():
            parameter.add_(x)
            assert xp.add(parameter, x).grad_fn is None
    assert type(made) is xp.Tensor
    assert made.grad_fn.name() == "MulBackward0"
    assert parameter._version == _OFTEN
    assert parameter._array is not None


def test_numbers_of_no_dimension_stay_such() -> None:
    x = xp.tensor(2.0)
    for _ in range(_OFTEN):
        made = xp.add(x, x)
    assert made.shape == ()
    assert isinstance(made._array, np.ndarray)
    assert made.item() == 4.0


@pytest.mark.parametrize(
    "dtype", [xp.float32, xp.float64, xp.float16, xp.bfloat16, xp.int64, xp.complex64, xp.bool]
)
@pytest.mark.parametrize("dim", [None, 0, 1, (0, 1), -1])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("name", ["sum", "mean", "amax", "prod", "any"])
def test_what_is_made_of_an_array_is_what_is_made_step_by_step(
    name: str, dim: Any, keepdim: bool, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = (xp.arange(12.0).view(3, 4) * 200.3).to(dtype)

    def answer() -> Any:
        try:
            y = getattr(xp, name)(x) if dim is None else getattr(xp, name)(x, dim, keepdim)
        except Exception as error:
            return type(error), str(error)
        return y.tolist(), y.dtype, y.shape, y.stride(), y._version

    found = answer()
    monkeypatch.setattr(reductions, "_of_plain", lambda *args: None)
    assert found == answer()
