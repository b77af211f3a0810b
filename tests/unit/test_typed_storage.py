"""What the suite cannot compare: a warning that comes once in a process, sizes in memory."""

from __future__ import annotations

import pickle
import sys
import warnings
from typing import Any

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.tensor import typed_storage


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_its_size_counts_the_bytes_of_its_elements() -> None:
    kinds: tuple[Any, ...] = (lambda x: x.storage(), lambda x: x.untyped_storage())
    for storage_of in kinds:
        sizes = [sys.getsizeof(storage_of(torch.zeros(count))) for count in (0, 10, 100)]
        assert [size - sizes[0] for size in sizes] == [0, 40, 400]


def test_typed_storages_warn_of_their_end_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typed_storage, "_warned", [])
    with pytest.warns(UserWarning, match="^TypedStorage is deprecated. It will be removed"):
        torch.ones(1).storage()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.ones(1).storage()


def test_an_untyped_storage_is_written_and_not_read() -> None:
    written = pickle.dumps(torch.ones(2).untyped_storage())
    with pytest.raises(AttributeError, match=r"'torch\.storage\.UntypedStorage' has no attribute"):
        pickle.loads(written)
    with pytest.raises(NotImplementedError, match=r"^Cannot copy out of meta tensor; no data!$"):
        pickle.dumps(torch.ones(2, device="meta").untyped_storage())
