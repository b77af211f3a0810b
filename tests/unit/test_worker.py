"""Forked workers survive what cases do to them, and every case gets the outcome that is its own."""

import gc
import os
import signal
import subprocess
import sys
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fakes import PATIENCE, SECONDS, case, hostile, runner
from fakes.processes import are_gone, children, descriptors, ended, eventually, is_gone

from conformance import worker
from conformance.case import Case, Isolation
from conformance.outcome import Outcome
from conformance.worker import Limits

ROOT = Path(__file__).parents[2]
ISOLATIONS: tuple[Isolation, ...] = ("shared", "thread", "fork")
PROCESSES: tuple[Isolation, ...] = ("shared", "fork")
"""Isolations that differ in the process which runs the case."""


class Garbage:
    """What holds itself."""

    holder: object


def returned(value: object) -> Outcome:
    return Outcome("returned", f"{value!r} : {type(value).__name__}")


def crashed(message: str) -> Outcome:
    return Outcome("crashed", message=message)


def outcomes(*texts: str | Case, isolation: Isolation = "shared", **limits: float) -> list[Outcome]:
    """What the cases do, in a worker as the suite uses it."""
    cases = [text if isinstance(text, Case) else case(text, isolation) for text in texts]
    return list(runner(hostile, **limits).outcomes(hostile, cases))


def between(text: str, isolation: Isolation, **limits: float) -> Outcome:
    """The outcome of ``text``, which has left those of the cases before and after it alone."""
    before, outcome, after = outcomes(
        "xp.echo(1)", text, "xp.echo(2)", isolation=isolation, **limits
    )
    assert (before, after) == (returned(1), returned(2))
    return outcome


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """No test leaves a child process or an open descriptor in this process."""
    before = descriptors()
    started = children()
    yield
    assert children() <= started
    assert descriptors() == before


@pytest.fixture
def noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[int]]:
    """The processes that have noted themselves with hostile's help."""
    path = tmp_path / "pids"
    path.touch()
    monkeypatch.setattr(hostile, "pids", path)
    return lambda: [int(line) for line in path.read_text().split()]


# Cases that end their process -------------------------------------------------------------------

ENDINGS = {
    "xp.segfault()": "killed by SIGSEGV",
    "xp.abort()": "killed by SIGABRT",
    "xp.leave(3)": "exited with status 3",
    "xp.leave(0)": "exited with status 0",
    "xp.kill_own_group()": "killed by SIGKILL",
    "xp.close_everything()": "exited with status 1",
    f"xp.raise_signal({signal.SIGTERM:d})": "killed by SIGTERM",
    f"xp.raise_signal({signal.SIGRTMIN + 6:d})": f"killed by signal {signal.SIGRTMIN + 6}",
}


@pytest.mark.parametrize("isolation", ISOLATIONS)
@pytest.mark.parametrize(("text", "message"), ENDINGS.items(), ids=ENDINGS)
def test_a_case_that_ends_its_process_crashed_and_the_run_goes_on(
    text: str, message: str, isolation: Isolation
) -> None:
    assert between(text, isolation) == crashed(message)


def test_every_case_of_a_batch_may_crash() -> None:
    texts = ["xp.segfault()", "xp.leave(0)", "xp.abort()", "xp.leave(4)"]
    assert [outcome.message for outcome in outcomes(*texts)] == [
        "killed by SIGSEGV",
        "exited with status 0",
        "killed by SIGABRT",
        "exited with status 4",
    ]


def test_a_thread_that_ends_the_process_after_the_last_case_adds_no_outcome() -> None:
    found = outcomes("xp.leave_a_thread_that_exits(0)")
    assert len(found) == 1


def test_exceptions_that_end_programs_are_outcomes_like_others() -> None:
    assert outcomes("xp.interrupt()", "xp.quit_python()", "xp.echo(1)") == [
        Outcome("raised", type="KeyboardInterrupt", message="by the case"),
        Outcome("raised", type="SystemExit", message="5"),
        returned(1),
    ]


# Cases that do not end --------------------------------------------------------------------------

ENDLESS = ("xp.spin_in_c()", "xp.spin_in_python()", "xp.stop()", "xp.close_everything_and_sleep()")


@pytest.mark.parametrize("isolation", PROCESSES)
@pytest.mark.parametrize("text", ENDLESS)
def test_a_case_that_does_not_end_hung_and_the_run_goes_on(text: str, isolation: Isolation) -> None:
    seconds = 2 * SECONDS  # which the plain cases around it have too, on however busy a machine
    hung = Outcome("hung", message=f"gave no outcome within {seconds:g} s")
    started = time.monotonic()
    assert between(text, isolation, seconds=seconds) == hung
    assert time.monotonic() - started < PATIENCE / 2


def test_a_case_that_hangs_in_a_thread_of_its_own_hung() -> None:
    hung = Outcome("hung", message=f"gave no outcome within {SECONDS} s")
    assert between("xp.spin_in_c()", "thread", seconds=SECONDS) == hung


def test_the_deadline_is_that_of_a_case_not_of_a_batch() -> None:
    texts = ["xp.take(0.75)"] * 4
    assert outcomes(*texts, seconds=SECONDS) == [returned(0.75)] * 4


def test_the_time_that_the_reader_takes_is_not_the_cases() -> None:
    cases = [case("xp.echo(1)"), case("xp.echo(2)")]
    running = runner(hostile, seconds=SECONDS).outcomes(hostile, cases)
    assert next(running) == returned(1)
    time.sleep(SECONDS + 0.1)
    assert list(running) == [returned(2)]


@pytest.mark.parametrize("isolation", PROCESSES)
def test_a_case_that_eats_memory_is_exhausted_and_the_run_goes_on(isolation: Isolation) -> None:
    limit = worker._resident_bytes(os.getpid()) * 2 + (200 << 20)
    outcome = between("xp.eat_memory()", isolation, memory=limit)
    assert outcome.kind == "exhausted"
    assert outcome.message == f"used more than {limit / (1 << 30):g} GiB of memory"


def test_memory_is_watched_where_the_kernel_does_not_list_children(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = Path.read_text

    def read_text(path: Path) -> str:
        if path.name == "children":
            raise FileNotFoundError
        return real(path)

    monkeypatch.setattr(Path, "read_text", read_text)
    assert worker._resident_bytes(os.getpid()) > 1 << 20


# What cases leave -------------------------------------------------------------------------------


@pytest.mark.parametrize("isolation", PROCESSES)
def test_children_that_a_case_leaves_neither_delay_the_run_nor_outlive_it(
    isolation: Isolation, noted: Callable[[], list[int]]
) -> None:
    started = time.monotonic()
    assert between("xp.leave_children()", isolation) == returned("left")
    assert time.monotonic() - started < PATIENCE / 2
    assert are_gone(noted())


@pytest.mark.parametrize("isolation", PROCESSES)
def test_a_crash_is_a_crash_even_where_children_keep_the_pipe_open(
    isolation: Isolation, noted: Callable[[], list[int]]
) -> None:
    started = time.monotonic()
    outcome = between("xp.leave_children_and('segfault')", isolation)
    assert outcome == crashed("killed by SIGSEGV")
    assert time.monotonic() - started < PATIENCE / 2
    assert are_gone(noted())


def test_a_forked_case_that_leaves_the_workers_group_does_not_outlive_it(
    noted: Callable[[], list[int]],
) -> None:
    outcome = between("xp.lead_a_session_and_linger()", "fork", seconds=SECONDS)
    assert outcome.kind == "hung"
    assert are_gone(noted())


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_what_a_case_prints_is_neither_seen_nor_taken_for_an_outcome(
    isolation: Isolation, capfd: pytest.CaptureFixture[str]
) -> None:
    assert between("xp.print_noise()", isolation) == returned("printed")
    assert capfd.readouterr() == ("", "")


def test_what_a_case_prints_through_pythons_streams_is_not_seen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert between("xp.print_noise()", "shared") == returned("printed")
    assert capsys.readouterr() == ("", "")


def test_what_a_case_prints_goes_to_the_log_where_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "worker.log"
    monkeypatch.setenv("CONFORMANCE_WORKER_LOG", str(log))
    outcomes("xp.print_noise()")
    assert log.read_bytes().count(hostile.NOISE.encode()) >= 4


def test_a_case_that_reads_its_input_finds_none() -> None:
    assert between("xp.listen()", "shared") == returned("")


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_an_outcome_may_be_longer_than_a_pipe_holds(isolation: Isolation) -> None:
    outcome = between("xp.huge(1000000)", isolation)
    assert outcome == returned("x" * 1_000_000)


@pytest.mark.parametrize("garbage", [b"\n", b"=\n", b"5\n", b"{}\n", b"no\xff\n", b'["kind"]\n'])
def test_what_is_no_outcome_is_a_crash(garbage: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_line", lambda answer: garbage)
    [outcome] = outcomes("xp.echo(1)")
    assert outcome == crashed("wrote what is no outcome")


def test_a_fork_that_writes_more_than_a_line_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    line = worker._line

    def twice(answer: Outcome) -> bytes:
        return line(answer) * (2 if answer.kind == "returned" else 1)

    monkeypatch.setattr(worker, "_line", twice)
    found = outcomes("xp.echo(1)", "xp.interrupt()", isolation="fork")
    assert [outcome.kind for outcome in found] == ["crashed", "raised"]


def test_endless_garbage_is_ended_by_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    def write(descriptor: int, data: bytes) -> None:
        while True:
            os.write(descriptor, b"x")
            time.sleep(0.001)

    monkeypatch.setattr(worker, "_write_all", write)
    started = time.monotonic()
    assert [outcome.kind for outcome in outcomes("xp.echo(1)", seconds=SECONDS)] == ["hung"]
    assert time.monotonic() - started < PATIENCE / 2


# Isolation --------------------------------------------------------------------------------------


def test_what_a_case_leaves_in_its_thread_reaches_the_next_of_the_same_worker() -> None:
    assert outcomes("xp.tell_thread(5)", "xp.of_thread()")[1] == returned(5)


def test_what_a_case_leaves_in_a_thread_of_its_own_does_not_reach_the_next() -> None:
    found = outcomes("xp.tell_thread(5)", "xp.of_thread()", isolation="thread")
    assert found[1] == returned("nothing")


def test_a_thread_of_its_own_does_not_see_what_shared_cases_left() -> None:
    left, asked = case("xp.tell_thread(5)"), case("xp.of_thread()", "thread")
    assert outcomes(left, asked)[1] == returned("nothing")


def test_in_thread_is_another_thread_than_the_cases_own() -> None:
    text = "xp.tell_thread(5)\n(xp.of_thread(), in_thread(xp.of_thread))"
    [outcome] = outcomes(text, isolation="thread")
    assert outcome.value == {"type": "tuple", "items": ["5 : int", "'nothing' : str"]}


@pytest.mark.parametrize("isolation", ["shared", "thread"])
def test_what_a_case_changes_in_its_process_reaches_the_next_of_the_same_worker(
    isolation: Isolation,
) -> None:
    assert outcomes("xp.count()", "xp.count()", isolation=isolation) == [returned(1), returned(2)]


def test_what_cases_have_left_is_looked_at_by_no_collection_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker, "KEEP_EVERY", 2)
    left: list[list[object]] = []

    def execute(_: Case) -> Outcome:
        left.append([])
        looked_at = {id(each) for each in gc.get_objects()}
        return Outcome("returned", " ".join(str(id(each) in looked_at) for each in left))

    found = worker.answers([case("1")] * 4, execute, Limits(), hear=worker.outcome_of)
    assert [each.value for each in found] == [
        "True",
        "True True",
        "False False True",
        "False False True True",
    ]


def test_what_is_garbage_already_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "KEEP_EVERY", 1)
    made: list[weakref.ref[Garbage]] = []

    def execute(_: Case) -> Outcome:
        there = [each() is not None for each in made]
        cycle = [Garbage()]
        cycle[0].holder = cycle
        made.append(weakref.ref(cycle[0]))
        return Outcome("returned", str(there))

    found = worker.answers([case("1")] * 2, execute, Limits(), hear=worker.outcome_of)
    assert [each.value for each in found] == ["[]", "[False]"]


def test_what_a_case_changes_in_a_fork_of_its_own_does_not_reach_the_next() -> None:
    assert outcomes("xp.count()", "xp.count()", isolation="fork") == [returned(1)] * 2


def test_what_cases_change_does_not_reach_the_parent() -> None:
    outcomes("xp.count()", "xp.tell_thread(5)")
    assert hostile._counter == 0
    assert hostile.of_thread() == "nothing"


def test_a_crash_in_a_fork_of_its_own_leaves_the_worker_alone() -> None:
    found = outcomes("xp.count()", case("xp.segfault()", "fork"), "xp.count()")
    assert found == [returned(1), crashed("killed by SIGSEGV"), returned(2)]


def test_a_crash_in_the_worker_starts_another() -> None:
    found = outcomes("xp.count()", "xp.segfault()", "xp.count()")
    assert found == [returned(1), crashed("killed by SIGSEGV"), returned(1)]


# The parent -------------------------------------------------------------------------------------


def test_a_run_that_is_given_up_leaves_nothing_behind(noted: Callable[[], list[int]]) -> None:
    cases = [case("xp.echo(1)"), case("xp.linger()")]
    running = runner(hostile).outcomes(hostile, cases)
    assert next(running) == returned(1)
    assert eventually(lambda: bool(noted()))
    running.close()
    [pid] = noted()
    assert is_gone(pid)


def test_no_cases_need_no_worker() -> None:
    assert outcomes() == []


def test_a_warning_about_forking_beside_threads_does_not_end_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = os.fork

    def fork() -> int:  # as of Python 3.12
        pid = real()
        if pid:
            warnings.warn("multi-threaded, use of fork() may …", DeprecationWarning, stacklevel=2)
        return pid

    monkeypatch.setattr(os, "fork", fork)
    assert outcomes("xp.echo(1)", case("xp.echo(2)", "fork")) == [returned(1), returned(2)]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(Path(__file__).parent)])}


@pytest.mark.parametrize("isolation", PROCESSES)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_parent_that_is_interrupted_or_killed_leaves_no_workers_behind(
    number: signal.Signals, isolation: Isolation, noted: Callable[[], list[int]]
) -> None:
    assert hostile.pids is not None
    program = subprocess.Popen(
        [sys.executable, "-m", "fakes.interrupted", str(hostile.pids), isolation],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with ended(program):
        assert program.stdout is not None
        assert program.stdout.readline() == "returned 1 : int\n"
        assert eventually(lambda: bool(noted()))
        os.killpg(program.pid, number)  # as a terminal does
        program.communicate(timeout=PATIENCE)
    assert program.returncode == -number
    assert are_gone(noted())


def test_an_interrupt_that_meets_a_worker_before_it_has_begun_is_the_parents_alone() -> None:
    """Else the worker would go up its parent's stack, and be the parent a second time."""
    program = """
import ctypes, functools, os, signal
from fakes import case, hostile, runner
strike = functools.partial(getattr(ctypes.CDLL(None), "raise"), signal.SIGINT)
os.register_at_fork(after_in_child=strike)
for isolation in ("shared", "fork"):
    for outcome in runner(hostile).outcomes(hostile, [case("xp.echo(1)", isolation)]):
        print(outcome, flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("returned 1 : int\n" * 2, "")


def test_an_interrupt_while_a_worker_starts_leaves_no_worker_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = os.fork

    def fork() -> int:
        pid = real()
        if pid:
            signal.raise_signal(signal.SIGINT)
        return pid

    monkeypatch.setattr(os, "fork", fork)
    with pytest.raises(KeyboardInterrupt):
        outcomes("xp.linger()")


# Interactive workers ----------------------------------------------------------------------------


@pytest.fixture
def interactive() -> Iterator[worker.Interactive]:
    made = runner(hostile, seconds=SECONDS).worker(hostile)
    yield made
    made.close()


def test_an_interactive_worker_answers_one_case_after_the_other(
    interactive: worker.Interactive,
) -> None:
    assert [interactive.ask(case("xp.count()")) for _ in range(3)] == [*map(returned, (1, 2, 3))]


@pytest.mark.parametrize(
    ("text", "kind"),
    [("xp.segfault()", "crashed"), ("xp.leave(0)", "crashed"), ("xp.spin_in_c()", "hung")],
)
def test_an_interactive_worker_starts_again_after_a_case_that_ended_it(
    interactive: worker.Interactive, text: str, kind: str
) -> None:
    assert interactive.ask(case("xp.count()")) == returned(1)
    assert interactive.ask(case(text)).kind == kind
    assert interactive.ask(case("xp.count()")) == returned(1)


def test_an_interactive_worker_that_ended_between_two_cases_starts_again(
    interactive: worker.Interactive,
) -> None:
    assert interactive.ask(case("xp.leave_a_thread_that_exits(0.1)")) == returned("left")
    time.sleep(0.4)
    assert interactive.ask(case("xp.echo(1)")) == returned(1)


def test_an_interactive_worker_takes_cases_longer_than_a_pipe_holds(
    interactive: worker.Interactive,
) -> None:
    text = "'" + "\N{EURO SIGN}" * 19_000 + "'"
    assert interactive.ask(case(text)) == returned("€" * 19_000)


def test_an_interactive_worker_that_was_interrupted_does_not_give_an_old_answer(
    interactive: worker.Interactive,
) -> None:
    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            interactive.ask(case("xp.take(0.4)"))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interactive.ask(case("xp.echo(1)")) == returned(1)


def test_an_interactive_worker_is_closed_as_often_as_one_likes() -> None:
    made = worker.Interactive(lambda asked: returned(asked.text), Limits())
    made.close()
    assert made.ask(case("one")) == returned("one")
    made.close()
    made.close()
    assert made.ask(case("two")) == returned("two")
    made.close()
