"""Drift: what changed between two releases is found, once, under the rule that names it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import strategies as st

from conformance import oracle
from conformance.__main__ import main
from conformance.area import Area
from conformance.drift import answers, facts, outcomes, schemas, text
from conformance.drift.model import Drift, Item, Section, section
from conformance.outcome import Outcome
from conformance.recorded.area import Answer, AreaRecording, Missing
from conformance.recorded.recording import Recording, Source, add
from mindtorch_v2 import profile as profiles
from mindtorch_v2.profile import Profile

FIRST, *_, LAST = profiles.known()


def found(section: Section) -> dict[str, list[Item]]:
    return {rule.title: list(rule.items) for rule in section.rules}


def names(section: Section) -> dict[str, list[str]]:
    return {title: [item.name for item in items] for title, items in found(section).items()}


def test_the_rule_with_the_most_items_comes_first() -> None:
    made = section("s", [("one", Item("a")), ("two", Item("b")), ("two", Item("c"))])
    assert names(made) == {"two": ["b", "c"], "one": ["a"]}
    assert made.count == 3


@pytest.mark.parametrize("name", [FIRST, LAST])
def test_a_release_has_no_drift_from_itself(name: str) -> None:
    profile = profiles.load(name)
    sections = [
        facts.keys(profile, profile),
        schemas.drift(profile, profile),
        facts.signatures(profile, profile),
        facts.tables(profile, profile),
        *facts.rest(profile, profile),
    ]
    assert [each.name for each in sections if each.rules] == []
    assert facts.notes(profile, profile) == ()


# Schemas ----------------------------------------------------------------------------------------


def with_schemas(*texts: str) -> Profile:
    named = [each.partition("(")[0] for each in texts]
    return cast(Profile, SimpleNamespace(schemas={"schemas": texts, "dispatcher_names": named}))


@pytest.mark.parametrize(
    ("before", "after", "rules"),
    [
        ("(Tensor a) -> Tensor", "(Tensor a, int b=0) -> Tensor", ["an argument was added"]),
        ("(Tensor a, int b=0) -> Tensor", "(Tensor a) -> Tensor", ["an argument was removed"]),
        ("(int a) -> ()", "(SymInt a) -> ()", ["the type of an argument changed"]),
        ("(int a=0) -> ()", "(int a=1) -> ()", ["the default of an argument changed"]),
        ('(str a="b, c") -> ()', '(str a="b, d") -> ()', ["the default of an argument changed"]),
        (
            "(int[2] a=[0, 1]) -> ()",
            "(int[2] a=[0, 2]) -> ()",
            ["the default of an argument changed"],
        ),
        ("(int a, int b) -> ()", "(int b, int a) -> ()", ["the order of arguments changed"]),
        (
            "(int a, *, int b) -> ()",
            "(int a, int b) -> ()",
            ["an argument became keyword-only, or is no more"],
        ),
        ("(int a) -> ()", "(int a) -> (Tensor, Tensor)", ["what it returns changed"]),
        ("(Tensor a) -> ()", "(Tensor(a!) a) -> ()", ["the type of an argument changed"]),
        (
            "(int a, int b) -> ()",
            "(SymInt a) -> Tensor",
            [
                "an argument was removed",
                "the type of an argument changed",
                "what it returns changed",
            ],
        ),
    ],
)
def test_a_schema_changed_by_a_rule(before: str, after: str, rules: list[str]) -> None:
    made = schemas.drift(with_schemas(f"n::f{before}"), with_schemas(f"n::f{after}"))
    assert sorted(names(made)) == sorted(rules)
    assert made.rules[0].items == (Item("n::f", f"n::f{before}", f"n::f{after}"),)


def test_operators_come_and_go() -> None:
    made = schemas.drift(
        with_schemas("n::a() -> ()", "n::b() -> ()"), with_schemas("n::b() -> ()", "n::c() -> ()")
    )
    assert names(made) == {"operator added": ["n::c"], "operator removed": ["n::a"]}


@pytest.mark.parametrize("name", [FIRST, LAST])
def test_every_argument_of_a_release_is_read(name: str) -> None:
    """As many as the schema has: ``arguments`` splits what torch prints."""
    import mindtorch_v2

    for printed in profiles.load(name).schemas["schemas"][::50]:
        try:
            parsed = mindtorch_v2._C.parse_schema(printed)
        except RuntimeError:
            continue  # of another profile than the active one
        read = [name for name in schemas.arguments(printed) if name != "..."]
        assert read == [each.name for each in parsed.arguments]


# Other facts ------------------------------------------------------------------------------------


def test_keys_and_keysets_are_compared_by_name() -> None:
    """A new key at the front moves every other one, and changes no keyset."""
    profile = profiles.load(FIRST)
    old = profile.keys
    moved = old._replace(
        functionality_keys=(*old.functionality_keys, "New"),
        members={**old.members, "New": 999},
    )
    made = facts.keys(profile, replace(profile, keys=moved))
    assert names(made) == {"key added": ["New"]}
    dropped = old._replace(default_excluded=0)
    [rule] = facts.keys(profile, replace(profile, keys=dropped)).rules
    assert rule.title == "a keyset of torch._C has other keys"
    assert rule.items[0].name == "excluded by default"
    assert "AutocastCPU" in rule.items[0].before
    assert rule.items[0].after == ""


def test_other_builds_are_noted() -> None:
    profile = profiles.load(FIRST)
    other = replace(profile, keys=profile.keys._replace(build="other"))
    [note] = facts.notes(profile, other)
    assert "+other are different builds" in note


def test_kernels_are_told_by_key() -> None:
    profile = profiles.load(FIRST)
    kernels = {name: {"kernels": [("CPU", 0, 0, 0)]} for name in ("n::a", "n::b")}
    before = {"operators": kernels, "fallbacks": {"CPU": {"debug": 0, "fallthrough": True}}}
    after = {
        "operators": {**kernels, "n::b": {"kernels": [("Meta", 0, 0, 0)]}},
        "fallbacks": {"CPU": {"debug": 1, "fallthrough": False}},
    }
    old, new = (
        cast(Profile, SimpleNamespace(registrations=each, keys=profile.keys))
        for each in (before, after)
    )
    assert names(facts.tables(old, new)) == {
        "a kernel at CPU is gone": ["n::b"],
        "a kernel at Meta is new": ["n::b"],
        "a fallback falls through, or does no more": ["CPU"],
    }


# Outcomes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "rules"),
    [
        ("f(): no 'a'", "f(): not 'a'", [("no", "not")]),
        ("got 'a'", "has 'a'", [("got", "has")]),
        ("got 1", "got 7", [("got …", "got …")]),
        ("at f.h:1, say so", "at f.h:7, say so", [("at f.h:…, say so", "at f.h:…, say so")]),
        ("1", "7", [("…", "…")]),
        ("of [1]", "of [-1, 2]", [("of […]", "of […]")]),
        ("['add x', 'mul y']", "['add x']", [(", 'mul …'", "")]),
        ("a 'don't' b", "a 'won't' b", [("don", "won")]),
        ("one two three", "one three", [("two", "")]),
        ("sizes must match", "sizes have length", [("must match", "have length")]),
        ("old, of: old", "new, of: new", [("old, of: old", "new, of: new")]),
        (
            "old: of all these. old",
            "new: of all these. not",
            [("old", "new"), ("old", "not")],
        ),
        ("old b " * 200, "new d " * 200, [(("old b " * 200).strip(), ("new d " * 200).strip())]),
        ("a", "a", []),
    ],
)
def test_outcomes_change_by_their_words_whatever_the_names(
    before: str, after: str, rules: list[tuple[str, str]]
) -> None:
    assert outcomes.replaced(before, after) == rules


def recording(directory: Path, release: str, cases: Any, answers: list[Answer]) -> Recording:
    source = Source(
        release=release,
        full_version=release,
        git_hash="0" * 40,
        build="",
        platform="Linux",
        python="3.11",
        numpy="2",
    )
    made = AreaRecording.of("keys", cases, answers)
    known = {"cases": len(cases), "nondeterministic": (), "suite": "0", "recorded": "today"}
    return add(directory / release, source, made, known)


def test_a_message_that_was_reworded_is_one_rule(tmp_path: Path) -> None:
    texts = [("t", f"xp.f({number})") for number in range(7)]
    area = Area("keys", lambda profile: texts, lambda profile: st.nothing())
    cases = list(area.cases(profiles.load(FIRST)))
    old: list[Answer] = [Outcome("raised", type="E", message=f"no {n}") for n in range(7)]
    new: list[Answer] = [Outcome("raised", type="E", message=f"never {n}") for n in range(7)]
    new[0] = old[0]
    new[1] = Missing.NONDETERMINISTIC
    new[2] = Outcome("crashed", message="killed by SIGSEGV")
    old[5] = Outcome("returned")
    old[6] = Outcome("raised", type="E", message="line 1 of 2")
    new[6] = Outcome("raised", type="E", message="line 3 of 2")
    sides = [
        oracle.RecordedOracle(recording(tmp_path, release, cases, answers))
        for release, answers in (("2.4.1", old), ("2.13.0", new))
    ]
    assert outcomes.names(*sides) == {"outcomes: keys": "keys"}
    profile = profiles.load(FIRST)
    told = (answers.survived(area, side, profile) for side in sides)
    made = outcomes.changes("outcomes: keys", *told)
    assert made.name == "outcomes: keys"
    assert {rule.title: rule.items for rule in made.rules} == {
        "no → never": (
            Item("xp.f(3)", "raised E: no 3", "raised E: never 3"),
            Item("xp.f(4)", "raised E: no 4", "raised E: never 4"),
        ),
        "E: line … of …, with other names or numbers": (
            Item("xp.f(6)", "raised E: line 1 of 2", "raised E: line 3 of 2"),
        ),
        "returned → raised E: never …": (Item("xp.f(5)", str(old[5]), "raised E: never 5"),),
    }


# The views --------------------------------------------------------------------------------------


def test_the_text_has_a_limit_for_each_rule() -> None:
    drift = Drift("1", "2", (section("s", [("r", Item(str(n), "a\nb")) for n in range(4)]),))
    lines = [line for line, _ in text.lines(drift, 1)]
    assert lines == [
        "PyTorch 1 → 2",
        "",
        "s: 4 changes, 1 rule",
        "  r: 4",
        "    0",
        "      - a⏎b",
        "    … 3 more",
    ]
    assert len(list(text.lines(drift, None))) == 4 + 8


def test_the_text_has_a_limit_of_rules() -> None:
    made = section("s", [(str(n), Item("i")) for n in range(4)])
    lines = [line for line, _ in text.lines(Drift("1", "2", (made,)), 1, 1)]
    assert lines[2:] == [
        "s: 4 changes, 4 rules",
        "  0: 1",
        "    i",
        "  … 3 more rules, of 3 changes",
    ]


def test_the_command_tells_two_releases_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shared = ["--recordings", str(tmp_path), "--json"]
    assert main(["drift", FIRST, LAST, *shared]) == 1
    told = json.loads(capsys.readouterr().out)
    assert {"keys", "schemas", "signatures", "tables"} <= {
        each["name"] for each in told["sections"]
    }
    assert main(["drift", FIRST, LAST, "--section", "keys", *shared]) == 1
    assert [each["name"] for each in json.loads(capsys.readouterr().out)["sections"]] == ["keys"]
    assert main(["drift", FIRST, FIRST, *shared]) == 0
    assert main(["drift", FIRST, "1.0", *shared]) == 2
    assert main(["drift", FIRST, LAST, "--section", "nosuch", *shared]) == 2
