"""Forked workers: a case may crash, hang or eat memory, and the run goes on.

A worker is a fork of this process, in which torch is imported already; it runs cases and writes
an outcome for each.  This process keeps the clock and watches the memory.  A worker that dies
or must be killed takes with it the one case that it was running: the outcome says so, and a new
worker goes on with the next.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import json
import os
import select
import signal
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final, Generic, NoReturn, Protocol, TextIO, TypeVar

from conformance import pages
from conformance.case import Case
from conformance.outcome import Outcome


class Told(Protocol):
    """What a worker writes of a case: its outcome, or those of both sides."""

    def to_json(self) -> Any: ...


Said = TypeVar("Said")
"""What is read of that."""
Answer = Outcome | None
"""What a case did; None: what is expected of it, which need not be told."""
Execute = Callable[[Case], Told | None]
"""What a worker does with a case; None as above."""
Prepare = Callable[[Case], None]
"""What a worker does before a case, and before it forks for one."""
Hear = Callable[[bytes], Said]
"""What a line that a worker wrote says; ValueError and the like if it says nothing."""


def _nothing(case: Case) -> None:
    """Most cases need no preparation."""


POLL_SECONDS: Final = 0.05
"""How often a silent worker's memory is looked at."""
CLOSED_POLL_SECONDS: Final = 0.001
"""How often a worker that has closed its pipe is looked at: most end the next moment."""
GATHER_SECONDS: Final = 0.002
"""How long outcomes are let gather before they are read: to be woken for each costs more."""
READ_BYTES: Final = 1 << 16
KEEP_EVERY: Final = 500
"""After so many cases a worker keeps for good what they have left: operators, what was made for
their first calls.  Full collections would look through ever more of it, and find nothing."""
UNREADABLE: Final = (ValueError, TypeError, KeyError, AttributeError)
"""What is raised of a line that is no outcome's."""
NO_OUTCOME: Final = Outcome("crashed", message="wrote what is no outcome")
_AS_EXPECTED: Final = b"="
"""What a worker writes in place of an outcome that is expected."""
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
_PR_SET_PDEATHSIG: Final = 1


def outcome_of(line: bytes) -> Outcome:
    """The outcome that a worker has written."""
    return Outcome.from_json(json.loads(line))


def answer_of(line: bytes) -> Answer:
    """The same, of a worker that knows what is expected."""
    return None if line == _AS_EXPECTED else outcome_of(line)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a case may use: seconds until an outcome, bytes of memory of its worker."""

    seconds: float = 20.0
    memory: int = 4 << 30


class Worker(Generic[Said]):
    """One forked process working through ``cases``; iterate it for their outcomes, in order.

    Iteration ends after the outcome that says how the worker ended.  A worker that is through
    with its cases ends too, so ask it for no more outcomes than it has cases.
    """

    def __init__(
        self,
        cases: Iterable[Case],
        execute: Execute,
        limits: Limits,
        prepare: Prepare = _nothing,
        *,
        hear: Hear[Said],
        gather: float = 0.0,
    ) -> None:
        self._limits = limits
        self._gather = gather
        self._says = hear
        self._lines: deque[bytes] = deque()
        self._rest = b""
        self._pid = 0
        self._read_end, write_end = os.pipe()
        self._is_open = True
        parent = os.getpid()
        # An interrupt waits until this process knows of its child, and the child ignores it.
        held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            try:
                self._pid = _fork()
                if self._pid == 0:
                    os.close(self._read_end)
                    _work(cases, execute, prepare, write_end, parent)
            finally:
                os.close(write_end)
                signal.pthread_sigmask(signal.SIG_SETMASK, held)
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[Said | Outcome]:
        while self._pid:
            yield self._next()

    @property
    def has_ended(self) -> bool:
        """Whether the process is there no more; what it wrote may still be unread."""
        if not self._pid:
            return True
        # The zombie is kept: it is what keeps the process's id from being given away.
        return os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def close(self) -> None:
        """Kill the worker if it still runs, and free what it held."""
        self._end()
        if self._read_end >= 0:
            os.close(self._read_end)
            self._read_end = -1

    def _next(self) -> Said | Outcome:
        """The next outcome, or the one that says how the worker ended."""
        if not self._lines:
            ended = self._wait()
            if ended is not None:
                return ended
        try:
            return self._says(self._lines.popleft())
        except UNREADABLE:
            self._end()
            return NO_OUTCOME

    def _wait(self) -> Outcome | None:
        """Wait for a line; if none comes, the outcome that says how the worker ended."""
        deadline = time.monotonic() + self._limits.seconds
        while not self._lines:
            if self._hear(POLL_SECONDS):
                pass
            elif self.has_ended and not self._hear(0):
                return _crash(self._end())
            elif _resident_bytes(self._pid) > self._limits.memory:
                self._end()
                limit = f"{self._limits.memory / (1 << 30):g} GiB"
                return Outcome("exhausted", message=f"used more than {limit} of memory")
            if time.monotonic() > deadline and not self._lines:
                self._end()
                limit = f"{self._limits.seconds:g} s"
                return Outcome("hung", message=f"gave no outcome within {limit}")
        return None

    def _hear(self, seconds: float) -> bool:
        """Wait for the worker to write; whether it did.

        A pipe that is closed says no more than that: its worker may run on without it, as a pipe
        that is open may have been left to a process that the worker made.
        """
        if not self._is_open:
            time.sleep(min(seconds, CLOSED_POLL_SECONDS))
            return False
        ready, _, _ = select.select([self._read_end], [], [], seconds)
        if not ready:
            return False
        if self._gather:
            time.sleep(self._gather)
        data = os.read(self._read_end, READ_BYTES)
        self._is_open = bool(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._lines.extend(lines)
        return bool(data)

    def _end(self) -> int:
        """Kill the worker if it still runs, and the processes it made; its wait status.

        It leads a process group, which outlives it while they do.
        """
        if not self._pid:
            return 0
        for kill in (os.killpg, os.kill):
            with suppress(ProcessLookupError):  # it may not have made its group yet
                kill(self._pid, signal.SIGKILL)
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        return status


def _fork() -> int:
    """``os.fork``, which as of Python 3.12 warns of threads: torch and NumPy start some."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _crash(status: int) -> Outcome:
    """The outcome of a case whose process ended with this wait status."""
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return Outcome("crashed", message=f"exited with status {code}")
    try:
        name = signal.Signals(-code).name
    except ValueError:  # of the real-time signals only the first and the last have one
        name = f"signal {-code}"
    return Outcome("crashed", message=f"killed by {name}")


def answers(
    cases: Sequence[Case],
    execute: Execute,
    limits: Limits,
    prepare: Prepare = _nothing,
    *,
    hear: Hear[Said],
) -> Iterator[Said | Outcome]:
    """What is heard of each case, in order, or how it ended the worker: whatever the cases do."""
    done = 0
    while done < len(cases):
        worker = Worker(cases[done:], execute, limits, prepare, gather=GATHER_SECONDS, hear=hear)
        try:
            for outcome in islice(worker, len(cases) - done):
                done += 1
                yield outcome
        finally:
            worker.close()


class Interactive:
    """A worker that is asked one case at a time, for hypothesis, which decides as it goes."""

    def __init__(
        self, execute: Callable[[Case], Outcome], limits: Limits, prepare: Prepare = _nothing
    ) -> None:
        self._execute = execute
        self._limits = limits
        self._prepare = prepare
        self._worker: Worker[Outcome] | None = None

    def ask(self, case: Case) -> Outcome:
        """What ``case`` does; if it ends the worker, the next question starts a new one."""
        try:
            outcome = self._answer(case)
        except BaseException:
            self.close()  # its next answer would be that to this question
            raise
        if not outcome.survived:
            self.close()
        return outcome

    def _answer(self, case: Case) -> Outcome:
        if self._worker is not None and self._worker.has_ended:
            self.close()  # by something that an earlier case left running
        if self._worker is None:
            self._start()
        with suppress(BrokenPipeError):  # its end is the answer
            _write_all(self._requests, json.dumps(case.to_json()).encode() + b"\n")
        return next(self._outcomes)

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None
            os.close(self._requests)

    def _start(self) -> None:
        read_end, self._requests = os.pipe()
        asked = _read_cases(read_end, self._requests)
        self._worker = Worker(asked, self._execute, self._limits, self._prepare, hear=outcome_of)
        os.close(read_end)
        self._outcomes = iter(self._worker)


def _read_cases(read_end: int, write_end: int) -> Iterator[Case]:
    """In the worker: the cases that are asked.  Its own copy of the writing end would keep it."""
    os.close(write_end)
    with os.fdopen(read_end, "rb") as requests:
        for line in requests:
            yield Case.from_json(json.loads(line))


# --- in the worker ----------------------------------------------------------------------------


def _work(
    cases: Iterable[Case], execute: Execute, prepare: Prepare, write_end: int, parent: int
) -> NoReturn:
    """Run the cases and write their outcomes; never returns to the caller's stack."""
    status = 1
    try:
        _detach(parent)
        forks = 0
        for count, case in enumerate(cases):
            if count % KEEP_EVERY == 0:
                gc.collect(1)  # what is garbage already is not kept
                gc.freeze()
            prepare(case)
            if case.isolation == "fork":
                if not forks:
                    pages.collapse()
                forks += 1
                line = _forked(case, execute)
            else:
                line = _line(execute(case))
            _write_all(write_end, line)
        status = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())  # lands in the log that _detach has opened
    finally:
        os._exit(status)


_inherited: list[TextIO] = []
"""The parent's streams, kept: to let go of one would print what the parent has yet to print."""


def _detach(parent: int) -> None:
    """Lead a process group, die with the parent, leave Ctrl-C to it; read and print nowhere."""
    os.setpgid(0, 0)
    faulthandler.disable()  # pytest's would print the crash; the parent says it better
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    _die_with(parent)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    log = os.environ.get("CONFORMANCE_WORKER_LOG", os.devnull)
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    # Under pytest these write elsewhere than to 1 and 2.
    _inherited.extend((sys.stdout, sys.stderr))
    sys.stdout = sys.stderr = open(  # noqa: SIM115
        descriptor, "w", buffering=1, errors="backslashreplace"
    )


def _die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends, however that ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def _line(answer: Told | None) -> bytes:
    if answer is None:
        return _AS_EXPECTED + b"\n"
    return json.dumps(answer.to_json(), separators=(",", ":")).encode() + b"\n"


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _forked(case: Case, execute: Execute) -> bytes:
    """Run one case in a fork of the worker, so that what it changes is gone afterwards.

    The line that it writes; one that says how it ended if it wrote none.  It answers in a file,
    which unlike a pipe is read to its end whoever else holds it open.
    """
    worker = os.getpid()
    with TemporaryFile(buffering=0) as file:
        pid = _fork()
        if pid == 0:
            status = 1
            try:
                _die_with(worker)
                _write_all(file.fileno(), _line(execute(case)))
                status = 0
            except BaseException:
                sys.excepthook(*sys.exc_info())
            finally:
                os._exit(status)
        _, ended = os.waitpid(pid, 0)
        file.seek(0)
        answer = file.read()
    if ended != 0 or answer.count(b"\n") != 1 or not answer.endswith(b"\n"):
        return _line(_crash(ended))
    return answer


# --- watching ---------------------------------------------------------------------------------


def _resident_bytes(pid: int) -> int:
    """Resident memory of a worker and of its forks; 0 where /proc does not tell."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # not every kernel lists them
        children = []
    return pages * _PAGE_BYTES + sum(_resident_bytes(int(child)) for child in children)
