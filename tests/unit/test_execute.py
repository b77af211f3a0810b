"""Running one case: what becomes its outcome, and what it finds around it."""

import threading
import warnings
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from fakes import case, module, vocabulary

from conformance import execute as execute_module
from conformance.case import Case
from conformance.execute import HELPERS, execute, in_thread
from conformance.outcome import Outcome
from conformance.vocabulary import for_profile


class Guard:
    """Notes in which thread it was made and undone."""

    log: list[tuple[str, int]]

    def __init__(self) -> None:
        self.log.append(("made", threading.get_ident()))

    def __del__(self) -> None:
        self.log.append(("undone", threading.get_ident()))


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def warn(xp: ModuleType, *texts: str) -> int:
    for text in texts:
        warnings.warn(text, xp.Caution, stacklevel=1)
    return len(texts)


def fail(xp: ModuleType, *texts: str) -> None:
    warn(xp, *texts)
    raise xp.Error("\n".join(["first line", "", "  third line "]))


def make() -> ModuleType:
    made = module(
        "torch",
        echo=lambda xp, value: value,
        warn=warn,
        fail=fail,
        fail_unprintably=lambda xp: (_ for _ in ()).throw(UnprintableError),
        thread=lambda xp: threading.get_ident(),
        guard=lambda xp: xp.Guard(),
    )
    made.Caution = type("Caution", (UserWarning,), {"__module__": "torch"})
    made.Guard = type("Guard", (Guard,), {"log": []})
    return made


def run(text: str | Case, xp: ModuleType | None = None) -> Outcome:
    xp = make() if xp is None else xp
    return execute(text if isinstance(text, Case) else case(text), xp, vocabulary(xp))


def value(text: str) -> Any:
    outcome = run(text)
    assert outcome.kind == "returned"
    return outcome.value


# Outcomes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "described"),
    [
        ("xp.echo(1)", "1 : int"),
        ("a = 1\nb = xp.echo(a)\nb + 1", "2 : int"),
        ("a = 1", "None : NoneType"),
        ("a = 1; a", "1 : int"),
        ("def f(n): return n + 1\nf(1)", "2 : int"),
        ("for i in range(3): a = i\na", "2 : int"),
    ],
)
def test_the_value_of_a_case_is_that_of_its_last_line(text: str, described: str) -> None:
    assert value(text) == described


def test_an_exception_is_told_by_its_qualified_type_and_its_whole_message() -> None:
    assert run("xp.fail()") == Outcome(
        "raised", type="torch.Error", message="first line\n\n  third line "
    )


def test_an_exception_that_cannot_say_its_message_is_an_outcome_too() -> None:
    outcome = run("xp.fail_unprintably()")
    assert outcome.type == "test_execute.UnprintableError"
    assert outcome.message == "<str raised RuntimeError>"


def test_a_text_outside_the_grammar_is_refused_and_not_run() -> None:
    xp = make()
    assert run("xp.guard()\nxp.nosuch", xp) == Outcome(
        "refused",
        message="line 2, column 4: attribute 'nosuch' is not on the list of names a case may reach",
    )
    assert xp.Guard.log == []


def test_a_case_finds_nothing_that_an_earlier_one_bound() -> None:
    xp = make()
    assert run("a = 1\na", xp).kind == "returned"
    assert run("a", xp).kind == "refused"
    assert run("if xp.echo(0): a = 1\na", xp).type == "NameError"


# Warnings ---------------------------------------------------------------------------------------


def test_warnings_are_part_of_the_outcome_in_their_order_and_number() -> None:
    outcome = run("xp.warn('old', 'older', 'old')")
    assert outcome == Outcome(
        "returned",
        "3 : int",
        warnings=(
            ("torch.Caution", "old"),
            ("torch.Caution", "older"),
            ("torch.Caution", "old"),
        ),
    )


def test_a_warning_that_was_shown_once_is_drawn_again_by_the_next_case() -> None:
    xp = make()
    assert run("xp.warn('old')", xp) == run("xp.warn('old')", xp)


def test_warnings_before_an_exception_are_part_of_the_outcome() -> None:
    outcome = run("xp.fail('old')")
    assert outcome.type == "torch.Error"
    assert outcome.warnings == (("torch.Caution", "old"),)


def test_warnings_are_no_part_of_the_outcome_where_the_case_says_so() -> None:
    assert run(case("xp.warn('old')", warnings=False)) == Outcome("returned", "1 : int")


def test_the_filters_of_the_process_neither_count_nor_change() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = list(warnings.filters)
        assert run("xp.warn('old')").warnings
        assert warnings.filters == before


# Threads and guards -----------------------------------------------------------------------------


def test_a_thread_case_runs_in_a_thread_of_its_own_that_has_ended_afterwards() -> None:
    outcome = run(case("xp.thread()", "thread"))
    assert outcome.value != f"{threading.get_ident()} : int"
    assert threading.active_count() == 1


def test_a_shared_case_runs_in_the_thread_of_the_worker() -> None:
    assert value("xp.thread()") == f"{threading.get_ident()} : int"


@pytest.mark.parametrize(
    "text",
    [
        "g = xp.guard()\n1",
        "def f():\n    g = xp.guard()\n    def h(): return h, g\nf()\n1",  # a cycle
        "def f():\n    g = xp.guard()\n    return lambda: g\nh = f()\nxp.echo(1)",
        "g = xp.guard()\nxp.fail()",
        "def f():\n    g = xp.guard()\n    xp.fail()\nf()",
    ],
)
def test_what_a_case_leaves_open_is_undone_in_its_own_thread(text: str) -> None:
    xp = make()
    run(case(text, "thread"), xp)
    (made, there), (undone, thread) = xp.Guard.log
    assert (made, undone) == ("made", "undone")
    assert there == thread != threading.get_ident()


def test_what_can_do_without_a_thread_has_none() -> None:
    xp = make()
    calls: list[Any] = []

    def as_in_a_new_thread(call: Any) -> Any:
        calls.append(call)
        return call()

    xp.thread_state = SimpleNamespace(as_in_a_new_thread=as_in_a_new_thread)
    run(case("guard = xp.Guard()\n1", "thread"), xp)
    (_, there), (_, thread) = xp.Guard.log
    assert there == thread == threading.get_ident()
    run(case("1", "shared"), xp)
    assert len(calls) == 1


def test_in_thread_returns_what_its_function_returns() -> None:
    assert in_thread(lambda: threading.get_ident()) != threading.get_ident()


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt("no"), SystemExit(3)])
def test_in_thread_raises_what_its_function_raises(error: BaseException) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        in_thread(fail)
    assert caught.value is error


def test_in_thread_is_there_for_cases() -> None:
    assert value("in_thread(xp.thread) == xp.thread()") == "False : bool"


def test_of_numpy_a_case_has_scalars_and_array() -> None:
    numpy = HELPERS["np"]
    assert set(vars(numpy)) <= for_profile("2.4").attributes
    assert not hasattr(numpy, "load")
    assert not hasattr(numpy, "lib")
    assert numpy.array([numpy.int8(3)]).sum() == 3


# --- names that are not there ---------------------------------------------------------------------


def lacking(text: str, *, may_lack: bool = True) -> Outcome:
    xp = make()
    xp.Guard.__module__ = "torch.guards"
    xp.Guard.broken = property(lambda self: self.nothing)
    xp.inner = lambda: xp.nothing
    names = vocabulary(xp, module("more", nothing=None, broken=None))
    return execute(case(text), xp, names, may_lack=may_lack)


@pytest.mark.parametrize("text", ["xp.nothing(1)", "xp.Guard.nothing", "xp.Guard().nothing"])
def test_a_name_that_a_third_party_lacks_is_absent(text: str) -> None:
    assert lacking(text).kind == "absent"
    assert lacking(text).type == "AttributeError"


@pytest.mark.parametrize("text", ["(1).nothing", "xp.inner()", "xp.Guard().broken"])
def test_other_attribute_errors_are_raised(text: str) -> None:
    assert lacking(text).kind == "raised"


def test_our_own_names_are_never_absent() -> None:
    assert lacking("xp.nothing(1)", may_lack=False).kind == "raised"


def test_the_line_that_runs_statements_is_the_one_that_recordings_name() -> None:
    """Releases tell where a library was registered by the frame that is so far out."""
    lines = Path(execute_module.__file__).read_text("utf-8").split("\n")
    assert lines[171].strip() == "exec(statements, names)"
