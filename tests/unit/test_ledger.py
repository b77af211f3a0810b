"""The ledger makes listed mismatches known, and no others; it tells what it lists in vain."""

from pathlib import Path

import pytest

from conformance.case import Case
from conformance.compare import Comparison, Verdict, compare
from conformance.ledger import LEDGER_FILE, Entry, Ledger, LedgerError
from conformance.outcome import Outcome

ONE = Case("keys", "parse", "xp.p(1)")
TWO = Case("keys", "parse", "xp.p(2)")
OTHER = Case("tls", "guard", "xp.g()")
ODD = Case("keys", "DispatchKey [*]", "xp.k * 2")


def differ(case: Case) -> Comparison:
    return compare(case, Outcome("returned", "1 : int"), Outcome("raised", type="E"))


def ledger(*cases: str) -> Ledger:
    return Ledger(tuple(Entry(case, f"because of {case}") for case in cases))


def written(tmp_path: Path, text: str, release: str = "2.4.1") -> Ledger:
    path = tmp_path / "ledger.toml"
    path.write_text(text, encoding="utf-8")
    return Ledger.load(path, release)


# Judging ----------------------------------------------------------------------------------------


def test_a_listed_mismatch_becomes_known_with_the_entrys_reason() -> None:
    judged = ledger(OTHER.id, ONE.id).judge(differ(ONE))
    assert (judged.verdict, judged.reason) == ("known", f"because of {ONE.id}")
    assert (judged.case, judged.oracle) == (ONE, differ(ONE).oracle)


def test_an_unlisted_mismatch_stays_one() -> None:
    assert ledger(OTHER.id, ONE.id).judge(differ(TWO)) == differ(TWO)
    assert Ledger().judge(differ(TWO)) == differ(TWO)


@pytest.mark.parametrize("verdict", ["agree", "absent", "unjudged"])
def test_only_a_mismatch_becomes_known(verdict: Verdict) -> None:
    compared = Comparison(ONE, differ(ONE).oracle, differ(ONE).subject, verdict)
    assert ledger(ONE.id).judge(compared) == compared


def test_a_pattern_lists_several_cases_of_its_area() -> None:
    pattern = ledger("keys/parse/*")
    assert pattern.judge(differ(ONE)).verdict == pattern.judge(differ(TWO)).verdict == "known"
    assert pattern.judge(differ(OTHER)).verdict == "mismatch"
    assert pattern.judge(differ(ODD)).verdict == "mismatch"


def test_a_pattern_heeds_case() -> None:
    assert ledger("keys/PARSE/*").judge(differ(ONE)).verdict == "mismatch"


def test_an_id_with_letters_that_patterns_use_is_listed_as_it_is() -> None:
    assert ledger(ODD.id).judge(differ(ODD)).verdict == "known"


def test_the_first_entry_that_covers_a_mismatch_gives_the_reason() -> None:
    assert ledger("keys/*", ONE.id).judge(differ(ONE)).reason == "because of keys/*"


# Stale entries ----------------------------------------------------------------------------------


def test_an_entry_that_covers_no_difference_is_stale() -> None:
    assert ledger(ONE.id, TWO.id).stale([differ(ONE)], ["keys"]) == (TWO.id,)


def test_a_pattern_is_stale_only_if_none_of_its_cases_differs() -> None:
    assert ledger("keys/parse/*").stale([differ(ONE)], ["keys"]) == ()
    assert ledger("keys/parse/*").stale([differ(OTHER)], ["keys"]) == ("keys/parse/*",)


def test_entries_of_an_area_that_did_not_run_whole_are_not_stale() -> None:
    assert ledger(ONE.id, OTHER.id).stale([], ["tls"]) == (OTHER.id,)
    assert ledger(ONE.id, OTHER.id).stale([], []) == ()


# The file ---------------------------------------------------------------------------------------


def test_a_file_lists_cases_with_reasons(tmp_path: Path) -> None:
    text = """
        # why
        [[known]]
        case = "keys/parse/*"
        reason = "ours is better"
        [[known]]
        case = "tls/guard/0123456789ab"
        torch = ["2.4.1", "2.13.0"]
        reason = "older torch leaks a guard"
    """
    assert written(tmp_path, text).entries == (
        Entry("keys/parse/*", "ours is better"),
        Entry("tls/guard/0123456789ab", "older torch leaks a guard", ("2.4.1", "2.13.0")),
    )


def test_an_entry_holds_for_the_releases_it_names_and_else_for_all(tmp_path: Path) -> None:
    text = """
        [[known]]
        case = "keys/a/*"
        reason = "r"
        [[known]]
        case = "keys/b/*"
        torch = ["2.4.1"]
        reason = "r"
    """
    held = {
        release: [entry.case for entry in written(tmp_path, text, release).entries]
        for release in ("2.4.1", "2.4", "2.13.0")
    }
    assert held == {"2.4.1": ["keys/a/*", "keys/b/*"], "2.4": ["keys/a/*"], "2.13.0": ["keys/a/*"]}


def test_a_file_without_entries_is_an_empty_ledger(tmp_path: Path) -> None:
    assert written(tmp_path, "# nothing is known\n") == Ledger()


MALFORMED = {
    "no TOML": ("known = [", "Invalid value"),
    "no reason": ('[[known]]\ncase = "keys/a/1"', "{'case': 'keys/a/1'}"),
    "no case": ('[[known]]\nreason = "r"', "{'reason': 'r'}"),
    "an empty reason": ('[[known]]\ncase = "keys/a/1"\nreason = " "', "the reason is empty"),
    "a case that is no id": ('[[known]]\ncase = "keys"\nreason = "r"', "'keys' is no case id"),
    "a pattern for every area": ('[[known]]\ncase = "*/*"\nreason = "r"', "'*/*' is no case id"),
    "a pattern in the area": ('[[known]]\ncase = "key?/a"\nreason = "r"', "'key?/a' is no case id"),
    "a case that is no string": ("[[known]]\ncase = 1\nreason = 'r'", "'case': 1"),
    "a reason that is no string": ("[[known]]\ncase = 'keys/a'\nreason = []", "'reason': []"),
    "a release that is no list": (
        "[[known]]\ncase = 'keys/a'\nreason = 'r'\ntorch = '2.4.1'",
        "'torch': '2.4.1'",
    ),
    "a release that is a number": (
        "[[known]]\ncase = 'keys/a'\nreason = 'r'\ntorch = [2.4]",
        "'torch': [2.4]",
    ),
    "a misspelt key": (
        "[[known]]\ncase = 'keys/a'\nreason = 'r'\ntorhc = ['2.4.1']",
        "'torhc': ['2.4.1']",
    ),
    "a misspelt table": ("[[knwon]]\ncase = 'keys/a'\nreason = 'r'", "'knwon'"),
    "one table where there are several": ("[known]\ncase = 'keys/a'\nreason = 'r'", "'known'"),
    "a number where there are tables": ("known = 3", "3"),
    "strings where there are tables": ("known = ['keys/a']", "'keys/a'"),
}


@pytest.mark.parametrize(("text", "named"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_file_is_refused_by_its_name_and_what_is_wrong_in_it(
    tmp_path: Path, text: str, named: str
) -> None:
    with pytest.raises(LedgerError) as caught:
        written(tmp_path, text)
    assert str(tmp_path / "ledger.toml") in str(caught.value)
    assert named in str(caught.value)


def test_a_file_that_cannot_be_read_is_refused_by_its_name(tmp_path: Path) -> None:
    missing = tmp_path / "missing.toml"
    with pytest.raises(LedgerError, match=r"cannot read the ledger .*missing\.toml"):
        Ledger.load(missing, "2.4.1")
    missing.write_bytes(b"\xff\xfe")
    with pytest.raises(LedgerError, match=r"cannot read the ledger .*missing\.toml"):
        Ledger.load(missing, "2.4.1")


@pytest.mark.parametrize("release", ["2.4.1", "2.13.0"])
def test_the_ledger_we_ship_is_empty(release: str) -> None:
    assert Ledger.load(LEDGER_FILE, release) == Ledger()
