"""Storages work through tensors while somebody sees it, and else with their memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.tensor import seen_storages
from mindtorch_v2.utils._python_dispatch import TorchDispatchMode

pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")


class Log(TorchDispatchMode):
    """Takes down which operators are called."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


def seen(call: Callable[[], Any]) -> tuple[Any, list[str]]:
    with Log() as log:
        return call(), log.names


MADE = ["aten.lift_fresh.default", "aten.set_.source_Storage"]
MADE_OF_BYTES = ["aten.empty.memory_format", "aten.set_.source_Storage"]
READ = ["aten.select.int", "aten._local_scalar_dense.default"]


def test_elements_are_read_and_written_through_tensors() -> None:
    storage = torch.tensor([1.0, 2.0]).storage()
    assert seen(lambda: storage[1]) == (2.0, [*MADE, *READ])
    assert seen(storage.tolist) == ([1.0, 2.0], [*MADE, *READ] * 2)
    assert seen(lambda: 1.0 in storage) == (True, [*MADE, *READ])
    _, names = seen(lambda: storage.fill_(3))
    assert names == [*MADE, "aten.lift_fresh.default", "aten.fill_.Tensor"]
    assert storage.tolist() == [3.0, 3.0]
    converted, names = seen(storage.int)
    assert (converted.tolist(), names) == ([3, 3], [*MADE, "aten._to_copy.default"])
    same, _ = seen(storage.float)
    assert same.data_ptr() != storage.data_ptr()


def test_bytes_are_read_and_written_through_tensors() -> None:
    storage = torch.tensor([1, 2], dtype=torch.uint8).untyped_storage()
    assert seen(lambda: storage[1]) == (2, [*MADE_OF_BYTES, *READ])
    write = [*MADE_OF_BYTES, "aten.select.int", "aten.fill_.Scalar"]
    assert seen(lambda: storage.__setitem__(0, 5))[1] == write
    assert seen(lambda: storage.__setitem__(slice(0, 2), 7))[1] == write * 2
    assert storage.tolist() == [7, 7]
    assert seen(lambda: storage.fill_(9))[1] == [*MADE_OF_BYTES, "aten.fill_.Scalar"]
    copy, names = seen(storage.clone)
    assert names == [*MADE_OF_BYTES * 2, "aten.copy_.default"]
    assert copy.tolist() == storage.tolist() == [9, 9]
    assert seen(lambda: storage[0:1])[1] == []


def test_while_nobody_sees_it_no_operator_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen_storages, "call", lambda *args, **kwargs: pytest.fail("called"))
    storage = torch.tensor([1, 2], dtype=torch.uint8).untyped_storage()
    storage[0] = 4
    assert storage.fill_(5).clone().copy_(storage).tolist() == [5, 5]
