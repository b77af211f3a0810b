"""Differences that have one cause are one rule, and those that have not are not."""

from __future__ import annotations

import time

import pytest
from fakes.planted import (
    ABSENT,
    BOTH_CRASHED,
    HOSTILE,
    MISMATCHES,
    PLANTED,
    SWALLOWED,
    differ,
    raised,
    returned,
)
from hypothesis import given
from hypothesis import strategies as st

from conformance.compare import Comparison
from conformance.outcome import Outcome
from conformance.report.rules import MAX_COMPARED, by_rule, rule_of


def messages(left: str, right: str, text: str = "xp.f()") -> Comparison:
    return differ("t", text, raised("TypeError", left), raised("TypeError", right))


def rule(left: str, right: str) -> str:
    return str(rule_of(messages(left, right)))


@pytest.mark.parametrize(
    ("left", "right", "shown"),
    [
        (
            "add(): argument 'other' (position 2) must be Tensor, not int",
            "add(): argument 'other' (position 2) must be a Tensor, not int",
            "raised TypeError: … ‹number›) must be {+a +}Tensor, not …",
        ),
        (
            "size 3 of a must match size 4 of b",
            "size 3 of a must match size 5 of b",
            "raised TypeError: … must match size [-‹number›-]{+‹number›+} of b",
        ),
        (
            "shape [2, 3] is invalid",
            "shape [2, 3] is invalid.",
            "raised TypeError: … ‹numbers› is invalid{+.+}",
        ),
        (
            "no kernel for aten::add",
            "no kernel for add",
            "raised TypeError: … no kernel for [-‹name›-]{+add+}",
        ),
        ("one two", "one two three", "raised TypeError: one two{+ three+}"),
        (
            "keys CPU, CUDA, Meta",
            "keys CPU, Meta",
            "raised TypeError: keys ‹name›, [-‹name›, -]Meta",
        ),
    ],
)
def test_a_rule_reads_like_the_difference(left: str, right: str, shown: str) -> None:
    assert rule(left, right) == shown


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "argument 'a' (position 1) must be {}Tensor",
            "argument 'bias' (position 12) must be {}Tensor",
        ),
        ("f(): expected {}sizes [1, 2]", "batch_norm(): expected {}sizes [3, 4, 5]"),
        ("'aten::add.Tensor' has {}schema", "'aten::_fused_adam_' has {}schema"),
        ("got torch.float32 {}here", "got torch.int64 {}here"),
        ("value 1e-05 {}out of range", "value -3 {}out of range"),
        ("keys A_B, CPU, CUDA {}end", "keys CPU {}end"),
        ("words, and at last {}the end", "other things altogether, and at last {}the end"),
    ],
)
def test_names_shapes_and_numbers_make_no_rule(one: str, other: str) -> None:
    def of(text: str) -> str:
        return rule(text.format(""), text.format("some "))

    assert of(one) == of(other)


def test_other_words_other_types_and_other_endings_make_another_rule() -> None:
    word = messages("must be Tensor", "must be a Tensor")
    others = [
        word,
        messages("must be Tensor", "must be one Tensor"),
        messages("must be a Tensor", "must be Tensor"),
        differ(
            "t",
            "x",
            raised("ValueError", "must be Tensor"),
            raised("ValueError", "must be a Tensor"),
        ),
        differ(
            "t", "x", raised("TypeError", "must be Tensor"), raised("ValueError", "must be Tensor")
        ),
        differ("t", "x", raised("TypeError", "must be Tensor"), returned("1 : int")),
        differ("t", "x", raised("TypeError", "must be Tensor"), returned("1.0 : float")),
        differ(
            "t", "x", raised("TypeError", "must be Tensor"), Outcome("crashed", message="SIGSEGV")
        ),
        BOTH_CRASHED,
        ABSENT,
    ]
    assert len({rule_of(each) for each in others}) == len(others)
    assert len({rule_of(each).id for each in others}) == len(others)


def test_a_returned_tensor_is_told_from_another_by_the_field_that_differs() -> None:
    tensor = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "values": ["1.0"]}
    dtype = differ("t", "x", returned(tensor), returned({**tensor, "dtype": "torch.float64"}))
    values = differ("t", "x", returned(tensor), returned({**tensor, "values": ["2.0"]}))
    assert str(rule_of(dtype)).startswith("returned torch.Tensor(dtype=[-‹name›-]{+‹name›+}, ")
    assert str(rule_of(values)) == (
        "returned torch.Tensor … shape=‹numbers›, values=[-‹numbers›-]{+‹numbers›+})"
    )


def test_outcomes_of_different_kinds_are_told_in_short() -> None:
    assert str(rule_of(BOTH_CRASHED)) == "[-crashed: SIGSEGV-]{+crashed: SIGABRT+}"
    assert str(rule_of(SWALLOWED)) == "[-raised TypeError: bad-]{+returned a value : NoneType+}"
    assert str(rule_of(ABSENT)) == "[-returned a value : int-]{+absent: xp.gone+}"


def test_the_rule_of_most_cases_comes_first_and_its_smallest_case() -> None:
    few = [messages("a b", "a c", f"xp.f({number})") for number in (30, 4)]
    many = [messages("d e", "d f", f"xp.g({number})") for number in (500, 60, 7)]
    broken = by_rule([*few, *many])
    assert [[each.case.text for each in rule.comparisons] for rule in broken] == [
        ["xp.g(7)", "xp.g(60)", "xp.g(500)"],
        ["xp.f(4)", "xp.f(30)"],
    ]
    assert broken == by_rule([*many[::-1], *few[::-1]])


def test_every_difference_has_a_rule_that_is_no_longer_than_a_few_lines() -> None:
    for comparison in MISMATCHES:
        shown = str(rule_of(comparison))
        assert any(kind != "same" for kind, _ in rule_of(comparison).spans), shown
        assert len(shown) < 800
    assert sum(len(rule.comparisons) for rule in by_rule(PLANTED)) == len(PLANTED)


@given(st.text("ab1 ,.'[]()=:\n", max_size=60), st.text("ab1 ,.'[]()=:\n", max_size=60))
def test_any_two_messages_have_a_rule(left: str, right: str) -> None:
    found = rule_of(messages(left, right))
    assert found == rule_of(messages(left, right, "xp.another_case()"))
    assert (left != right) == any(kind != "same" for kind, _ in found.spans)


def test_a_hostile_text_has_a_rule_with_a_plain_name() -> None:
    found = rule_of(messages(HOSTILE, f"{HOSTILE}."))
    assert found.id.isalnum()


@pytest.mark.parametrize(
    "text", ["a " * 20_000, "[" * 20_000, "'" * 20_000, "1" * 20_000, "a.a" * 7000, "(1, " * 5000]
)
def test_no_rule_takes_long(text: str) -> None:
    started = time.process_time()
    rule_of(messages(text, f"b{text}"))
    rule_of(messages(text, text[: MAX_COMPARED // 2]))
    assert time.process_time() - started < 4
