"""Values of the harness: cases, outcomes and comparisons, and what holds between outcomes."""

import json
from dataclasses import replace
from itertools import pairwise, product

import pytest
from fakes import patient
from hypothesis import given
from hypothesis import strategies as st

from conformance.case import ID_DIGITS, Case
from conformance.compare import AreaCounts, Comparison, compare, difference
from conformance.outcome import Kind, Outcome

CASE = Case("keys", "DispatchKey |", "xp._C.DispatchKey.CPU")
RETURNED = Outcome("returned", "1 : int")
RAISED = Outcome("raised", type="ValueError", message="no")
CRASHED = Outcome("crashed", message="killed by SIGSEGV")
HUNG = Outcome("hung", message="gave no outcome within 20 s")
EXHAUSTED = Outcome("exhausted", message="used more than 4 GiB of memory")
ABSENT = Outcome("absent", message="xp.f")

TEXT = st.text(max_size=8)
SURROGATES = st.text(st.characters(codec=None), max_size=8)
DESCRIPTIONS = st.recursive(
    TEXT,
    lambda inner: st.one_of(
        st.builds(lambda name, items: {"type": name, "items": items}, TEXT, st.lists(inner)),
        st.builds(
            lambda name, pairs: {"type": name, "pairs": pairs},
            TEXT,
            st.lists(st.tuples(inner, inner).map(list)),
        ),
    ),
    max_leaves=5,
)
WARNINGS = st.lists(st.tuples(TEXT, SURROGATES), max_size=2).map(tuple)
OUTCOMES = st.one_of(
    st.builds(Outcome, st.just("returned"), DESCRIPTIONS, warnings=WARNINGS),
    st.builds(Outcome, st.just("raised"), type=TEXT, message=SURROGATES, warnings=WARNINGS),
    st.builds(
        Outcome,
        st.sampled_from(["crashed", "hung", "exhausted", "absent", "refused"]),
        message=TEXT,
    ),
)
CASES = st.builds(
    Case,
    TEXT,
    TEXT,
    SURROGATES,
    TEXT,
    st.sampled_from(["shared", "thread", "fork"]),
    st.booleans(),
)


# Cases ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "id"),
    [
        (CASE, "keys/DispatchKey |/79c71a1dc168"),
        (Case("tls", "state machine", "a = 1\n'é€'"), "tls/state machine/c9223d2f235b"),
    ],
)
def test_a_cases_id_is_what_it_always_was(case: Case, id: str) -> None:
    """Ledgers, reports and recordings name cases by it."""
    assert case.id == id


@patient
@given(CASES, CASES)
def test_a_cases_id_depends_on_area_target_and_text_alone(case: Case, other: Case) -> None:
    assert len(case.id) == len(f"{case.area}/{case.target}/") + ID_DIGITS
    same_place = replace(other, area=case.area, target=case.target, text=case.text)
    assert same_place.id == case.id
    if case.text != other.text:
        assert replace(case, text=other.text).id != case.id


@patient
@given(CASES)
def test_a_case_comes_back_from_json_as_it_was(case: Case) -> None:
    assert Case.from_json(json.loads(json.dumps(case.to_json()))) == case


# Outcomes ---------------------------------------------------------------------------------------


@patient
@given(OUTCOMES)
def test_an_outcome_comes_back_from_json_as_it_was(outcome: Outcome) -> None:
    assert Outcome.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome


def test_an_outcomes_json_holds_only_what_is_set() -> None:
    assert RETURNED.to_json() == {"kind": "returned", "value": "1 : int"}
    assert Outcome("raised", type="E").to_json() == {"kind": "raised", "type": "E", "message": ""}


@pytest.mark.parametrize(
    ("outcome", "survived", "shown"),
    [
        (RETURNED, True, "returned 1 : int"),
        (RAISED, True, "raised ValueError: no"),
        (ABSENT, True, "absent: xp.f"),
        (CRASHED, False, "crashed: killed by SIGSEGV"),
        (HUNG, False, "hung: gave no outcome within 20 s"),
        (EXHAUSTED, False, "exhausted: used more than 4 GiB of memory"),
        (
            replace(RETURNED, warnings=(("UserWarning", "old"), ("E", "x"))),
            True,
            "warned UserWarning: old\nwarned E: x\nreturned 1 : int",
        ),
    ],
)
def test_an_outcome_says_how_it_ended(outcome: Outcome, survived: bool, shown: str) -> None:
    assert outcome.survived == survived
    assert str(outcome) == shown


# Verdicts ---------------------------------------------------------------------------------------


@patient
@given(OUTCOMES, OUTCOMES)
def test_outcomes_agree_only_if_they_are_equal_and_both_sides_survived(
    oracle: Outcome, subject: Outcome
) -> None:
    verdict = compare(CASE, oracle, subject).verdict
    agrees = oracle == subject and subject.survived and subject.kind != "absent"
    assert (verdict == "agree") == agrees


DIED = (CRASHED, HUNG, EXHAUSTED)


@pytest.mark.parametrize(
    ("oracle", "subject", "verdict"),
    [
        (RETURNED, RETURNED, "agree"),
        (RAISED, RAISED, "agree"),
        (RETURNED, RAISED, "mismatch"),
        (RAISED, RETURNED, "mismatch"),
        *((oracle, ABSENT, "absent") for oracle in (RETURNED, RAISED, *DIED)),
        *((oracle, subject, "unjudged") for oracle in DIED for subject in (RETURNED, RAISED)),
        *((oracle, subject, "mismatch") for oracle in (RETURNED, RAISED) for subject in DIED),
        *((oracle, subject, "mismatch") for oracle, subject in product(DIED, DIED)),
    ],
)
def test_the_verdict_follows_from_how_both_ended(
    oracle: Outcome, subject: Outcome, verdict: str
) -> None:
    assert compare(CASE, oracle, subject).verdict == verdict


CHANGES = {
    "another kind": Outcome("returned", type="ValueError", message="no"),
    "another type": replace(RAISED, type="TypeError"),
    "another message": replace(RAISED, message="No"),
    "a space at the end": replace(RAISED, message="no "),
    "a value": replace(RAISED, value="1 : int"),
    "a warning": replace(RAISED, warnings=(("UserWarning", "old"),)),
}


@pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES)
def test_outcomes_that_differ_in_one_field_do_not_agree(changed: Outcome) -> None:
    assert compare(CASE, RAISED, changed).verdict == "mismatch"
    assert compare(CASE, changed, RAISED).verdict == "mismatch"


def test_warnings_agree_only_in_the_same_order() -> None:
    one = replace(RETURNED, warnings=(("E", "a"), ("E", "b")))
    other = replace(RETURNED, warnings=(("E", "b"), ("E", "a")))
    assert compare(CASE, one, other).verdict == "mismatch"


# Comparisons ------------------------------------------------------------------------------------


@patient
@given(
    st.builds(
        Comparison,
        CASES,
        OUTCOMES,
        OUTCOMES,
        st.sampled_from(["agree", "mismatch", "known", "absent", "unjudged"]),
        TEXT,
    )
)
def test_a_comparison_comes_back_from_json_as_it_was(comparison: Comparison) -> None:
    assert Comparison.from_json(json.loads(json.dumps(comparison.to_json()))) == comparison


def test_a_comparisons_json_holds_the_subjects_outcome_only_where_it_differs() -> None:
    assert "subject" not in compare(CASE, RETURNED, RETURNED).to_json()
    assert "subject" in compare(CASE, RETURNED, RAISED).to_json()


# Differences ------------------------------------------------------------------------------------

ALIKE = st.text("ab \n", max_size=12)


@patient
@given(st.one_of(ALIKE, st.text()), st.one_of(ALIKE, st.text()))
def test_a_difference_joins_back_to_both_texts(left: str, right: str) -> None:
    spans = difference(left, right)
    assert "".join(text for side, text in spans if side != "right") == left
    assert "".join(text for side, text in spans if side != "left") == right


@patient
@given(ALIKE, ALIKE)
def test_a_difference_has_no_empty_spans_and_none_that_could_be_one(left: str, right: str) -> None:
    spans = difference(left, right)
    assert all(text for _, text in spans)
    assert all(one != other for (one, _), (other, _) in pairwise(spans))


@patient
@given(ALIKE)
def test_equal_texts_have_one_span_or_none(text: str) -> None:
    assert difference(text, text) == ([("same", text)] if text else [])


def test_a_difference_is_found_in_a_long_text_of_few_letters() -> None:
    left, right = "ab" * 200 + "c" + "ab" * 50, "ab" * 200 + "d" + "ab" * 50
    assert difference(left, right) == [
        ("same", "ab" * 200),
        ("left", "c"),
        ("right", "d"),
        ("same", "ab" * 50),
    ]


# Counts -----------------------------------------------------------------------------------------


def test_an_area_counts_verdicts_and_what_the_oracle_did_not_survive() -> None:
    pairs = [
        (RETURNED, RETURNED),
        (RETURNED, RAISED),
        (RETURNED, ABSENT),
        (CRASHED, RETURNED),
        (HUNG, RAISED),
        (EXHAUSTED, CRASHED),
    ]
    compared = [compare(CASE, oracle, subject) for oracle, subject in pairs]
    compared.append(replace(compared[1], verdict="known"))
    assert AreaCounts.of(compared) == AreaCounts(
        cases=7, agree=1, mismatch=2, known=1, absent=1, oracle_crashed=1, oracle_hung=2
    )
    assert AreaCounts.of([]) == AreaCounts()


def test_every_kind_of_outcome_is_known_here() -> None:
    kinds = {each.kind for each in (RETURNED, RAISED, *DIED, ABSENT)} | {"refused"}
    assert kinds == set(Kind.__args__)  # type: ignore[attr-defined]
