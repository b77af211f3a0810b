"""Plain calls of ``index`` answer what it would answer step by step."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch_v2 as xp
from mindtorch_v2.kernels.indexing import index as indexing
from mindtorch_v2.kernels.indexing import plain as plain_indexing

_MASKS = {
    "a mask": lambda: xp.arange(12.0).view(4, 3) % 5 > 1,
    "a mask of rows": lambda: xp.tensor([True, False, True, True]),
    "a mask of nothing": lambda: xp.zeros(4, 3, dtype=xp.bool),
    "a mask that does not fit": lambda: xp.ones(3, dtype=xp.bool),
    "a mask that lies across": lambda: (xp.arange(12.0).view(3, 4) > 4).t(),
    "a single truth": lambda: xp.tensor(True),
    "bytes": lambda: xp.tensor([1, 0, 1, 0], dtype=xp.uint8),
}
_PLACES = {
    "places": lambda: xp.tensor([2, 0, -1, 2]),
    "no places": lambda: xp.tensor([], dtype=xp.int64),
    "one place": lambda: xp.tensor(1),
    "rows of places": lambda: xp.tensor([[0, 1], [3, 2]]),
    "integers of 32 bits": lambda: xp.tensor([1, 2], dtype=xp.int32),
    "a place too far": lambda: xp.tensor([0, 4]),
    "a place too far below": lambda: xp.tensor([-5]),
    "floats": lambda: xp.tensor([1.0]),
}
_TENSORS = {
    "floats": lambda: xp.arange(12.0).view(4, 3),
    "integers": lambda: xp.arange(12).view(4, 3),
    "truths": lambda: xp.arange(12).view(4, 3) % 2 == 0,
    "across": lambda: xp.arange(12.0).view(3, 4).t(),
    "halves": lambda: xp.arange(12.0, dtype=xp.float16).view(4, 3),
    "with history": lambda: xp.arange(12.0, requires_grad=True).view(4, 3),
    "a row": lambda: xp.arange(4.0),
    "a number": lambda: xp.tensor(3.0),
    "nothing": lambda: xp.zeros(0, 3),
    "unsigned": lambda: xp.arange(4).to(xp.uint16),
}


def _answer(tensor: str, index: str) -> Any:
    made = {**_MASKS, **_PLACES}[index]()
    x = _TENSORS[tensor]()
    try:
        y = x[made]
    except Exception as error:
        return type(error), str(error)
    history = type(y.grad_fn).__name__
    return y.tolist(), y.dtype, y.shape, y.stride(), y.storage_offset(), y._version, history


@pytest.mark.parametrize("index", [*_MASKS, *_PLACES])
@pytest.mark.parametrize("tensor", _TENSORS)
@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
def test_an_index_picks_what_it_picks_step_by_step(
    tensor: str, index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _answer(tensor, index)
    monkeypatch.setattr(indexing, "picked_from_plain", lambda *args: None)
    assert found == _answer(tensor, index)


def test_what_is_picked_is_nobody_elses() -> None:
    x = xp.arange(4.0)
    y = x[xp.tensor([0, 1, 2, 3])]
    y.fill_(7.0)
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_a_tensor_of_inference_mode_is_picked_from_step_by_step() -> None:
    x, mask = xp.arange(4.0), xp.tensor([True, False, True, False])
    with xp.inference_mode():
        assert x[mask].is_inference()
        assert plain_indexing.picked_from_plain(x, [mask]) is None
    assert plain_indexing.picked_from_plain(x, [mask]) is not None


@pytest.mark.filterwarnings("ignore:Warning only once for all operators")
def test_a_kernel_that_somebody_registers_for_what_masks_become_is_called() -> None:
    x, mask = xp.arange(4.0), xp.tensor([True, False, True, False])
    assert x[mask].tolist() == [0.0, 2.0]
    library = xp.library.Library("aten", "IMPL")
    library.impl("nonzero", lambda self: xp.tensor([[3]]), "CPU")
    assert x[mask].tolist() == [3.0]
    library._destroy()
    assert x[mask].tolist() == [0.0, 2.0]
