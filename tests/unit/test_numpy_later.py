"""Modules that are imported when somebody asks them for something."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

from mindtorch_v2.numpy_later import Later, np

NAME: Final = "this_module_comes_later"


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that counts how often it was imported."""
    source = "import sys\nsys.times_imported += 1\nanswer = 42\ndef __getattr__(name):\n"
    source += "    if name == 'late': return 43\n    raise AttributeError(f'no {name}')\n"
    (tmp_path / f"{NAME}.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "times_imported", 0, raising=False)
    monkeypatch.delitem(sys.modules, NAME, raising=False)


def times_imported() -> int:
    return sys.times_imported  # type: ignore[attr-defined, no-any-return]


def test_it_is_imported_once_and_when_it_is_asked() -> None:
    later = Later(NAME)
    assert times_imported() == 0
    assert (later.answer, later.answer) == (42, 42)
    assert times_imported() == 1


def test_it_has_what_the_module_makes_for_who_asks() -> None:
    later = Later(NAME)
    assert later.late == 43
    with pytest.raises(AttributeError, match="no such"):
        _ = later.such


def test_it_is_an_ordinary_module_afterwards() -> None:
    """Whose attributes CPython reads without a function of Python."""
    later = Later(NAME)
    assert later.answer
    assert type(later) is ModuleType
    assert later.__dict__["answer"] == 42


def test_a_module_that_cannot_be_imported_is_asked_again() -> None:
    later = Later("no_module_is_called_so")
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="no_module_is_called_so"):
            _ = later.answer


def test_numpy_s_things_are_numpy_s() -> None:
    import numpy

    assert np.ndarray is numpy.ndarray
    assert np.float32(1).dtype == numpy.dtype("float32")
