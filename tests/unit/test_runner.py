"""A subject that is wrong in any way is caught, and one that is right agrees.

Each row of SUBJECTS is what ``xp.f()`` does in the oracle, and what it does in a subject that is
wrong in one way.  Cases run as they always do: in forked workers, normalised, compared.
"""

from __future__ import annotations

import math
import os
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from fakes import PATIENCE, SECONDS, case, hostile, module, runner, vocabulary
from hypothesis import strategies as st

from conformance.area import Area
from conformance.case import Isolation
from conformance.cases import BY_NAME
from conformance.compare import Comparison
from conformance.ledger import Entry, Ledger
from conformance.outcome import Outcome
from conformance.runner import RefusedCaseError, Runner, prepare

Function = Callable[[ModuleType], Any]

MESSAGE = "Expected 2 dimensions, but got 3:\n  x at position 0 of Key::f"


def give(value: Any) -> Function:
    return lambda xp: value


def fail(message: str = MESSAGE, error: str = "Error") -> Function:
    def function(xp: ModuleType) -> None:
        raise getattr(xp, error)(message)

    return function


def fail_with(error: BaseException) -> Function:
    def function(xp: ModuleType) -> None:
        raise error

    return function


def fail_elsewhere(xp: ModuleType) -> None:
    raise xp.other.Error(MESSAGE)


def warn(*texts: str, category: type[Warning] = UserWarning, value: Any = None) -> Function:
    def function(xp: ModuleType) -> Any:
        for text in texts:
            warnings.warn(text, category, stacklevel=2)
        return value

    return function


def tensor(values: Any = (1.0, 0.1), **facts: Any) -> Function:
    return lambda xp: xp.Tensor(list(values), **facts)


class Point(NamedTuple):
    x: int
    y: int


class Kind(int):
    pass


class Row(NamedTuple):
    right: Function
    wrong: Function


SUBJECTS = {
    # Exceptions
    "another type": Row(fail(), fail_with(RuntimeError(MESSAGE))),
    "a type of the same name elsewhere": Row(fail(), fail_elsewhere),
    "a base of the type": Row(fail_with(KeyError("k")), fail_with(LookupError("'k'"))),
    "a type of Python's name": Row(fail_with(ValueError(MESSAGE)), fail()),
    "another word": Row(fail(), fail(MESSAGE.replace("but got", "but found"))),
    "a word less": Row(fail(), fail(MESSAGE.replace("but ", ""))),
    "another letter": Row(fail(), fail(MESSAGE.replace("Key", "Kez"))),
    "a letter's case": Row(fail(), fail(MESSAGE.replace("Expected", "expected"))),
    "another number": Row(fail(), fail(MESSAGE.replace("3", "4"))),
    "a space at the end": Row(fail(), fail(MESSAGE + " ")),
    "a line break at the end": Row(fail(), fail(MESSAGE + "\n")),
    "a space at the start": Row(fail(), fail(" " + MESSAGE)),
    "a space for a line break": Row(fail(), fail(MESSAGE.replace("\n", " "))),
    "two spaces for one": Row(fail(), fail(MESSAGE.replace("at position", "at  position"))),
    "a quote of another kind": Row(fail("no 'x'"), fail('no "x"')),
    "a letter that looks alike": Row(fail("a key"), fail("a kеy")),
    "a composed letter": Row(fail("Gr\u00f6\u00dfe"), fail("Gro\u0308\u00dfe")),
    "no message": Row(fail(), fail("")),
    "a message that is longer": Row(fail(), fail(MESSAGE + "\nNote: x")),
    "an address that is no repr's": Row(fail("at 0x7f00"), fail("at 0x7f01")),
    "another module's name": Row(fail("torch.f"), fail("torch_v2.f")),
    # Errors and values
    "an error that is swallowed": Row(fail(), give(None)),
    "an error that is returned": Row(fail(), lambda xp: xp.Error(MESSAGE)),
    "an error where there is none": Row(give(None), fail()),
    "an exit": Row(give(None), fail_with(SystemExit(0))),
    # Values
    "another value": Row(give(1), give(2)),
    "True for 1": Row(give(1), give(True)),
    "1 for True": Row(give(True), give(1)),
    "1.0 for 1": Row(give(1), give(1.0)),
    "1 for 1.0": Row(give(1.0), give(1)),
    "1+0j for 1.0": Row(give(1.0), give(1 + 0j)),
    "a subclass of int": Row(give(1), give(Kind(1))),
    "0.0 for -0.0": Row(give(-0.0), give(0.0)),
    "the last digit": Row(give(0.1), give(math.nextafter(0.1, 1))),
    "0.0 for nan": Row(give(math.nan), give(0.0)),
    "inf for nan": Row(give(math.nan), give(math.inf)),
    "None for nothing found": Row(give([]), give(None)),
    "a string for its value": Row(give(1), give("1")),
    "bytes for a string": Row(give("a"), give(b"a")),
    "another class": Row(give(int), give(float)),
    "an instance of another class": Row(lambda xp: xp.Key(), lambda xp: xp.Error()),
    # Containers
    "a tuple for a list": Row(give([1, 2]), give((1, 2))),
    "a tuple for a named one": Row(give(Point(1, 2)), give((1, 2))),
    "items in another order": Row(give([1, 2]), give([2, 1])),
    "an item less": Row(give([1, 2]), give([1])),
    "an item twice": Row(give([1, 2]), give([1, 2, 2])),
    "an item of another type": Row(give([1, [0]]), give([1, [False]])),
    "items nested otherwise": Row(give([[1], 2]), give([[1, 2]])),
    "a dict in another order": Row(give({"a": 1, "b": 2}), give({"b": 2, "a": 1})),
    "a dict's other value": Row(give({"a": 1}), give({"a": True})),
    "a dict's other key": Row(give({1: "a"}), give({1.0: "a"})),
    "a dict of another type": Row(give({"a": 1}), give(OrderedDict(a=1))),
    "a list for a set": Row(give({1}), give([1])),
    "a set's other member": Row(give({1, 2}), give({1, 3})),
    "a set's member of another type": Row(give({1}), give({True})),
    # Warnings
    "a warning less": Row(warn("old"), warn()),
    "a warning more": Row(warn(), warn("old")),
    "a warning twice": Row(warn("old"), warn("old", "old")),
    "another warning": Row(warn("old"), warn("older")),
    "a warning's category": Row(warn("old"), warn("old", category=FutureWarning)),
    "warnings in another order": Row(warn("a", "b"), warn("b", "a")),
    "a warning's value": Row(warn("old", value=1), warn("old", value=2)),
    # Tensors
    "a tensor's stride": Row(tensor(), tensor(stride=(2,))),
    "a tensor's shape": Row(tensor(), tensor(shape=(1, 2))),
    "a tensor's requires_grad": Row(tensor(), tensor(requires_grad=True)),
    "a tensor's dtype": Row(tensor(), tensor(dtype="float64")),
    "a tensor's device": Row(tensor(), tensor(device="cuda:0")),
    "a tensor's layout": Row(tensor(), tensor(layout="sparse_coo")),
    "a value's last digit": Row(tensor(), tensor((1.0, math.nextafter(0.1, 1)))),
    "a value's sign": Row(tensor((0.0, 1.0)), tensor((-0.0, 1.0))),
    "a value's type": Row(tensor((1.0, 2.0)), tensor((1, 2))),
    "a tensor's values for it": Row(tensor(), give([1.0, 0.1])),
    # Ends
    "a crash": Row(give(1), lambda xp: hostile.segfault()),
    "an exit with status 0": Row(give(None), lambda xp: hostile.leave(0)),
    "a hang": Row(give(1), lambda xp: hostile.spin_in_c()),
}


def compare(right: Function, other: Function, name: str = "imitation", **limits: Any) -> Comparison:
    """What is found between an oracle that does ``right`` and a subject that does ``other``."""
    made = runner(module("torch", f=right), module(name, f=other), **limits)
    [comparison] = made.compare([case("xp.f()")])
    return comparison


@pytest.mark.parametrize("row", SUBJECTS.values(), ids=SUBJECTS)
def test_a_wrong_subject_is_caught(row: Row) -> None:
    seconds = {"seconds": SECONDS} if row is SUBJECTS["a hang"] else {}
    comparison = compare(row.right, row.wrong, **seconds)
    assert comparison.verdict == "mismatch"
    assert comparison.oracle != comparison.subject


@pytest.mark.parametrize("row", SUBJECTS.values(), ids=SUBJECTS)
def test_the_right_subject_agrees(row: Row) -> None:
    assert compare(row.right, row.right).verdict == "agree"


@pytest.mark.parametrize("isolation", ["shared", "thread", "fork"])
@pytest.mark.parametrize("is_right", [True, False])
def test_a_recorded_oracle_judges_as_the_live_one_did(is_right: bool, isolation: Isolation) -> None:
    """Whatever a worker keeps to itself: every subject's verdict, and what it did."""
    rows = [row for row in SUBJECTS.values() if row is not SUBJECTS["a hang"]]
    right = {f"f{place}": row.right for place, row in enumerate(rows)}
    other = right if is_right else {f"f{place}": row.wrong for place, row in enumerate(rows)}
    made = runner(module("torch", **right), module("imitation", **other))
    cases = [case(f"xp.{name}()", isolation) for name in right]
    live = list(made.compare(cases))
    assert list(made.check(cases)) == [each.in_short() for each in live]
    assert {each.verdict for each in live} == {"agree" if is_right else "mismatch"}
    asked, recorded = [each.case for each in live], [each.oracle for each in live]
    assert list(replace(made, oracle=None).compare(asked, recorded)) == live


def test_floats_that_are_close_are_told_when_they_are_replayed() -> None:
    right, near = (tensor((one,), dtype="torch.float32") for one in (1.0, 1.0 + 1e-7))
    made = runner(module("torch", f=right), module("imitation", f=near))
    close = replace(case("xp.f()"), close=True)
    [live] = made.compare([close])
    assert live.verdict == "agree"
    assert live.subject != live.oracle
    assert list(replace(made, oracle=None).compare([close], [live.oracle])) == [live]


AGREEING = {
    "its own exceptions": fail(),
    "its own modules": fail_elsewhere,
    "its own classes": lambda xp: [xp.Key, xp.Error, xp.other.Error],
    "reprs with addresses": lambda xp: [xp.Key(), xp.Key()],
    "its own tensors": tensor(),
    "nan": give([math.nan, -math.nan]),
    "its name in a message": lambda xp: fail(f"module {xp.__name__!r} has no attribute")(xp),
    "sets, in whatever order": lambda xp: set(
        ["b", "a", "c"][:: 1 if xp.__name__ == "torch" else -1]
    ),
}


@pytest.mark.parametrize("function", AGREEING.values(), ids=AGREEING)
@pytest.mark.parametrize("name", ["imitation", "mindtorch_v2"])
def test_a_subject_of_another_name_agrees_in(function: Function, name: str) -> None:
    assert compare(function, function, name).verdict == "agree"


def test_warnings_are_not_compared_where_the_case_says_so() -> None:
    made = runner(module("torch", f=warn("old")), module("imitation", f=warn("older")))
    [comparison] = made.compare([case("xp.f()", warnings=False)])
    assert comparison.verdict == "agree"


@pytest.mark.parametrize(
    ("subject", "verdict"), [("imitation", "absent"), ("mindtorch_v2", "mismatch")]
)
def test_only_a_third_party_may_lack_a_name(subject: str, verdict: str) -> None:
    made = runner(module("torch", f=give(1), g=give(1)), module(subject, f=give(1)))
    [comparison] = made.compare([case("xp.g()")])
    assert comparison.verdict == verdict


def test_a_name_that_both_lack_is_no_absent_one() -> None:
    made = runner(module("torch"), module("imitation"))
    words = vocabulary(module("more", g=give(1)))
    [comparison] = replace(made, vocabulary=words).compare([case("xp.g()")])
    assert comparison.verdict == "agree"
    assert comparison.subject.type == "AttributeError"


# Many cases -------------------------------------------------------------------------------------


def flaky(xp: ModuleType, number: int) -> int:
    """Right but for every third number, where the imitation fails in one way after the other."""
    if xp.__name__ == "torch" or number % 3:
        return number
    ways: list[Callable[[], Any]] = [hostile.segfault, lambda: hostile.leave(0), lambda: 1 / 0]
    ways[number // 3 % 3]()
    return -number


def test_every_case_is_compared_in_order_whatever_the_others_do() -> None:
    made = runner(module("torch", f=flaky), module("imitation", f=flaky))
    cases = [
        case(f"xp.f({number})", isolation)
        for number in range(18)
        for isolation in ("shared", "thread", "fork")
    ]
    compared = list(made.compare(cases))
    assert [comparison.case for comparison in compared] == cases
    for number, comparison in zip([n for n in range(18) for _ in range(3)], compared, strict=True):
        assert comparison.oracle == Outcome("returned", f"{number} : int")
        assert comparison.verdict == ("agree" if number % 3 else "mismatch")
    assert list(made.check(cases)) == [each.in_short() for each in compared]


@pytest.mark.parametrize("isolation", ["shared", "thread", "fork"])
def test_what_the_oracle_does_not_survive_is_unjudged_unless_the_subject_dies_too(
    isolation: Isolation,
) -> None:
    def dies(xp: ModuleType, who: str) -> int:
        if xp.__name__ in who:
            hostile.segfault()
        return 1

    made = runner(module("torch", f=dies), module("imitation", f=dies))
    whose = ("", "torch", "imitation", "torch imitation")
    cases = [case(f"xp.f({who!r})", isolation) for who in whose]
    compared = list(made.compare(cases))
    assert list(made.check(cases)) == [each.in_short() for each in compared]
    assert [each.verdict for each in compared] == ["agree", "unjudged", "mismatch", "mismatch"]
    assert [(each.oracle.kind, each.subject.kind) for each in compared] == [
        ("returned", "returned"),
        ("crashed", "returned"),
        ("returned", "crashed"),
        ("crashed", "crashed"),
    ]


def both(function: Function, seconds: float = PATIENCE) -> Runner:
    """A runner of which each side's ``xp.f`` is the function."""
    return runner(*(module(name, f=function) for name in ("torch", "imitation")), seconds=seconds)


@pytest.mark.parametrize("who", ["torch", "imitation"])
def test_a_side_that_hangs_in_a_fork_of_both_is_told_from_the_other(who: str) -> None:
    def hangs(xp: ModuleType) -> int:
        if xp.__name__ == who:
            hostile.spin_in_python()
        return 1

    (compared,) = both(hangs, SECONDS).compare([case("xp.f()", "fork")])
    kinds = {"torch": compared.oracle.kind, "imitation": compared.subject.kind}
    assert kinds.pop(who) == "hung"
    assert list(kinds.values()) == ["returned"]


def test_what_was_drawn_is_kept_in_full_though_it_agrees() -> None:
    drawn = replace(case("xp.f()"), origin="hypothesis")
    [checked] = both(give(1)).check([drawn])
    assert isinstance(checked, Comparison)
    assert (checked.verdict, checked.oracle.value) == ("agree", "1 : int")


def test_a_fork_of_both_sides_is_one_process() -> None:
    compared = list(both(lambda xp: os.getpid()).compare([case("xp.f()", "fork")] * 3))
    assert [each.verdict for each in compared] == ["agree"] * 3
    assert len({each.oracle.value for each in compared}) == 3


def test_what_one_side_changes_does_not_reach_the_other() -> None:
    compared = list(runner(hostile).compare([case("xp.count()"), case("xp.count()")]))
    assert [each.subject.value for each in compared] == ["1 : int", "2 : int"]
    assert {each.verdict for each in compared} == {"agree"}


def test_a_mismatch_that_the_ledger_lists_is_known() -> None:
    asked = case("xp.f()")
    ledger = Ledger((Entry(asked.id, "we round"),))
    made = runner(module("torch", f=give(1)), module("imitation", f=give(2)), ledger=ledger)
    one, other = made.compare([asked, case("xp.f() + 1")])
    assert (one.verdict, one.reason) == ("known", "we round")
    assert other.verdict == "mismatch"


def test_what_is_compared_is_shown_normalised() -> None:
    comparison = compare(lambda xp: xp.Key(), give(1))
    assert comparison.oracle.value == "<torch.Key object at 0x…> : torch.Key"


# Refused texts ----------------------------------------------------------------------------------


def test_a_text_outside_the_grammar_is_no_case_and_ends_the_comparison() -> None:
    made = runner(module("torch", f=give(1)))
    comparing = made.compare([case("xp.f()"), case("import os\nos.abort()")])
    assert next(comparing).verdict == "agree"
    with pytest.raises(RefusedCaseError, match=r"^fakes/case/\w+ is no case: line 1, column 1: .*"):
        next(comparing)


# One case at a time -----------------------------------------------------------------------------


@pytest.fixture
def made() -> Runner:
    return runner(module("torch", f=flaky), module("imitation", f=flaky))


@pytest.fixture
def asking(made: Runner) -> Iterator[Callable[[int], Comparison]]:
    interactive = made.interactive()
    yield lambda number: interactive.compare(case(f"xp.f({number})"))
    interactive.close()


def test_cases_are_compared_one_at_a_time_as_they_are_all_together(
    made: Runner, asking: Callable[[int], Comparison]
) -> None:
    together = list(made.compare([case(f"xp.f({number})") for number in range(9)]))
    assert [asking(number) for number in range(9)] == together


def test_no_worker_is_left_when_comparing_is_closed(made: Runner) -> None:
    interactive = made.interactive()
    interactive.compare(case("xp.f(1)"))
    interactive.close()
    comparing = made.compare([case("xp.f(1)"), case("xp.f(2)")])
    next(comparing)
    comparing.close()
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_what_an_area_imports_is_there_before_a_case_is_forked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    imported: list[str] = []

    def spy(name: str) -> None:
        imported.append(name)
        if name.endswith(".nosuch"):
            raise ImportError(name)

    area = Area(
        "imports", lambda profile: (), lambda profile: st.nothing(), imports=("a", "nosuch")
    )
    monkeypatch.setitem(BY_NAME, "imports", area)
    monkeypatch.setattr("conformance.runner.import_module", spy)
    run = prepare(module("xp"))
    for name in ("imports", "imports", "other"):
        run(replace(case("1"), area=name))
    assert imported == ["xp.a", "xp.nosuch"]


def test_a_worker_makes_a_first_call_once_and_before_it_forks_alone() -> None:
    made: list[int] = []
    xp = module("xp")
    xp.ones = lambda size: made.append(size) or 1
    run = prepare(xp)
    run(case("1"))
    assert made == []
    for _ in range(2):
        run(replace(case("1"), isolation="fork"))
    assert made == [1]
