"""Area ``python-binding`` has cases for every bound name of each release."""

from collections import Counter

import pytest

from conformance.cases.python_binding import AREA
from conformance.cases.python_signatures import OWNERS, WRONG_ONLY, bound_names, refused
from conformance.vocabulary import NEVER
from mindtorch_v2.profile import load

ENOUGH = 8
"""Cases that a name needs to count as covered."""


@pytest.mark.parametrize("release", ["2.4", "2.13"])
def test_every_bound_name_is_covered_or_refused_for_a_reason(release: str) -> None:
    profile = load(release)
    cases = Counter(case.target for case in AREA.cases(profile))
    without = refused(profile)
    names = [f"{owner}.{name}" for owner in OWNERS for name in bound_names(profile, owner)]
    missing = {name: cases[name] for name in names if cases[name] < ENOUGH and name not in without}
    assert not missing, f"bound names with fewer than {ENOUGH} cases: {missing}"
    assert len(names) > 1_700


@pytest.mark.parametrize("release", ["2.4", "2.13"])
def test_what_is_refused_is_never_said_by_any_case(release: str) -> None:
    names = {name.partition(".")[2] for name in refused(load(release))}
    assert names <= NEVER.keys(), "only names that the vocabulary judges are left out"


@pytest.mark.parametrize("name", sorted(WRONG_ONLY))
def test_a_name_that_is_only_called_wrong_has_a_reason_and_is_in_a_release(name: str) -> None:
    assert WRONG_ONLY[name]
    releases = [load("2.4"), load("2.13")]
    assert any(name in bound_names(each, owner) for each in releases for owner in OWNERS)
