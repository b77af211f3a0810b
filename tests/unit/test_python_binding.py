"""Area ``python-binding`` has cases for every bound name of each release."""

from collections import Counter
from collections.abc import Iterable
from functools import cache

import pytest

from conformance.cases.python_binding import AREA
from conformance.cases.python_signatures import OWNERS, WRONG_ONLY, bound_names, refused
from conformance.cases.python_tensors import properties
from conformance.names import NEVER
from mindtorch_v2.profile import load

ENOUGH = 8
"""Cases that a name needs to count as covered."""

RELEASES = ("2.4", "2.13")


@cache
def targets(release: str) -> Counter[str]:
    """How many cases each target has."""
    return Counter(case.target for case in AREA.cases(load(release)))


def uncovered(names: Iterable[str], cases: Counter[str]) -> dict[str, int]:
    return {name: cases[name] for name in names if cases[name] < ENOUGH}


@pytest.mark.parametrize("release", RELEASES)
def test_every_bound_name_is_covered_or_refused_for_a_reason(release: str) -> None:
    profile = load(release)
    without = refused(profile)
    names = [f"{owner}.{name}" for owner in OWNERS for name in bound_names(profile, owner)]
    missing = uncovered((name for name in names if name not in without), targets(release))
    assert not missing, f"bound names with fewer than {ENOUGH} cases: {missing}"
    assert len(names) > 1_700


@pytest.mark.parametrize("release", RELEASES)
def test_every_owner_has_the_names_that_torch_binds_there(release: str) -> None:
    """Against what was seen in the release: what a type of torch's own binds is in the list."""
    names = load(release).signatures["names"]
    for owner, place in OWNERS.items():
        bound = set(bound_names(load(release), owner))
        assert bound, f"no names are bound in {place}"
        left = {name for name in names[place] if name not in bound and not name.startswith("__")}
        kinds = {names[place][name] for name in left}
        assert kinds <= {"getset_descriptor"}, f"{place} has names of other kinds: {kinds}"


@pytest.mark.parametrize("release", RELEASES)
def test_every_property_of_tensors_is_covered(release: str) -> None:
    profile = load(release)
    missing = uncovered((f"Tensor.{name}" for name in properties(profile)), targets(release))
    assert not missing, f"properties with fewer than {ENOUGH} cases: {missing}"
    kinds = profile.signatures["names"]["torch._C.TensorBase"]
    bound = {name for name, kind in kinds.items() if kind == "getset_descriptor"}
    assert bound - set(properties(profile)) <= {"_cdata", "_post_accumulate_grad_hooks"}


@pytest.mark.parametrize("release", RELEASES)
def test_every_class_of_tensors_by_name_is_covered(release: str) -> None:
    kinds = load(release).signatures["names"]["torch"]
    classes = [name for name, kind in kinds.items() if kind == "tensortype"]
    assert len(classes) == 10
    assert not uncovered([*classes, *(f"sparse.{n}" for n in classes[:1])], targets(release))


def test_a_name_with_too_few_cases_is_named() -> None:
    cases = Counter({"torch.add": ENOUGH, "torch.sub": ENOUGH - 1})
    named = uncovered(("torch.add", "torch.sub", "torch.mul"), cases)
    assert named == {"torch.sub": 7, "torch.mul": 0}


@pytest.mark.parametrize("release", RELEASES)
def test_what_is_refused_is_never_said_by_any_case(release: str) -> None:
    names = {name.partition(".")[2] for name in refused(load(release))}
    assert names <= NEVER.keys(), "only names that the vocabulary judges are left out"


@pytest.mark.parametrize("name", sorted(WRONG_ONLY))
def test_a_name_that_is_only_called_wrong_has_a_reason_and_is_in_a_release(name: str) -> None:
    assert WRONG_ONLY[name]
    releases = [load(release) for release in RELEASES]
    assert any(name in bound_names(each, owner) for each in releases for owner in OWNERS)
