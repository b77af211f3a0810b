"""Annotations of cases: from a list of the harness, and of nothing but a case's own functions."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from conformance import annotated as hints
from conformance.annotated import TEXTS, annotated, names, types
from conformance.syntax import FILENAME


def xp() -> Any:
    stand_in = ModuleType("xp")
    vars(stand_in).update(Tensor=SimpleNamespace, dtype=int, device=str)
    return stand_in


def function() -> Any:
    namespace: dict[str, Any] = {}
    exec(compile("def f(x): return x", FILENAME, "exec"), namespace)
    return namespace["f"]


def test_a_function_gets_the_hints_that_are_named() -> None:
    f = function()
    assert annotated(xp(), f, x="Tensor", returns="None") is f
    assert f.__annotations__ == {"x": SimpleNamespace, "return": None}


@pytest.mark.parametrize("hint", ["__import__('os')", "'os'", "xp.os", ""])
def test_a_text_of_the_cases_own_is_no_hint(hint: str) -> None:
    f = function()
    with pytest.raises(ValueError, match="knows no type"):
        annotated(xp(), f, x=hint)
    assert not f.__annotations__


@pytest.mark.parametrize("other", [len, annotated, SimpleNamespace, 1])
def test_nothing_but_a_cases_function_is_annotated(other: Any) -> None:
    with pytest.raises(ValueError, match="function that the case has made"):
        annotated(xp(), other, x="Tensor")


def test_names_are_the_same_for_every_module() -> None:
    assert names() == list(types(xp()))
    assert {repr(text) for text in TEXTS} <= set(names())


def test_names_are_listed_without_making_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    """typing remembers the first of those that are equal, and the subject is to make it."""

    def fail(item: Any) -> Any:
        raise AssertionError(f"made of {item}")

    expected = names()
    monkeypatch.setattr(hints, "_CONTAINERS", dict.fromkeys(hints._CONTAINERS, fail))
    assert names() == expected
    types.cache_clear()
    with pytest.raises(AssertionError, match="made of"):
        types(xp())
