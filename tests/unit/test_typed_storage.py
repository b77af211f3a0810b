"""What the suite cannot compare: a warning that comes once in a process."""

from __future__ import annotations

import warnings

import pytest

import mindtorch_v2 as torch
from mindtorch_v2.tensor import typed_storage


def test_typed_storages_warn_of_their_end_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typed_storage, "_warned", [])
    with pytest.warns(UserWarning, match="^TypedStorage is deprecated. It will be removed"):
        torch.ones(1).storage()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.ones(1).storage()
