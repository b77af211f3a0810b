"""The suite's side of pytest: options, batches as items, and the reports at the end.

conformance/oracles/conftest.py hands these hooks to pytest.
"""

from __future__ import annotations

import os
import platform
import random
import time
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from rich.console import Console

from conformance import oracle, report
from conformance.batch import Batch, Outcomes, batches, record
from conformance.case import Case
from conformance.cases import BY_NAME
from conformance.compare import Comparison
from conformance.ledger import LEDGER_FILE, Ledger
from conformance.report import junit, terminal
from conformance.report.model import number
from conformance.runner import DEFAULT_SUBJECT, Runner
from mindtorch_v2 import profile as profiles
from mindtorch_v2.version import __version__

STATE = pytest.StashKey["State"]()
BATCH_SIZE = 4000  # what torch imports late, each batch's worker imports anew

# A mismatch explains itself: its line and the seed are what reproduces it.
PHASES = tuple(phase for phase in Phase if phase is not Phase.explain)
# Hypothesis' own defaults differ where CI is set; ours are the same everywhere.
COMMON = settings(settings.get_profile("default"), deadline=None, print_blob=False, phases=PHASES)

settings.register_profile("ci", COMMON, derandomize=True, max_examples=200)
settings.register_profile("dev", COMMON, max_examples=200)
settings.register_profile(
    "nightly", COMMON, max_examples=20_000, suppress_health_check=[HealthCheck.too_slow]
)


class State:
    """What a process of the session keeps: where outcomes go, and the runner once needed."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.started = time.monotonic()
        self.clock = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.oracle = oracle.live()
        self.profile = profiles.load(self.oracle.profile)
        self.reports = Path(config.getoption("reports") or config.rootpath / "reports")
        self.outcomes = Outcomes(self.reports / "outcomes" / f"torch-{self.oracle.release}")
        self._runner: Runner | None = None
        self.run: report.Run | None = None
        self.written: tuple[Path, ...] = ()

    @property
    def runner(self) -> Runner:
        """Made when the first batch runs: the controller of a distributed run imports no torch."""
        if self._runner is None:
            self._runner = Runner.live(self.config.getoption("subject"))
        return self._runner

    @property
    def is_controller(self) -> bool:
        return not hasattr(self.config, "workerinput")

    def facts(self) -> report.Facts:
        return report.Facts(
            torch=self.oracle.release,
            full_version=self.oracle.full_version,
            git_hash=self.oracle.git_hash,
            platform=self.oracle.platform,
            python=platform.python_version(),
            suite=__version__,
            subject=self.config.getoption("subject"),
            profile=self.profile.name,
            started=self.clock,
            hypothesis_profile=settings.get_current_profile_name(),
            seed=_seed(self.config),
        )


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance")
    group.addoption(
        "--subject", default=DEFAULT_SUBJECT, help="the torch-like module to judge (%(default)s)"
    )
    group.addoption("--reports", default=None, help="where reports go (reports/)")
    group.addoption(
        "--batch-size", type=int, default=BATCH_SIZE, help="cases per test item (%(default)s)"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    state = config.stash[STATE] = State(config)
    if config.getoption("--hypothesis-profile", None) is None:
        settings.load_profile("ci" if os.environ.get("CI") else "dev")
    if state.is_controller:
        _choose_seed(config)
        if not config.option.collectonly:
            state.outcomes.clear()
    # What workers print to stderr, torch's own complaints included; for looking into a crash.
    os.environ.setdefault("CONFORMANCE_WORKER_LOG", str(state.outcomes.directory / "worker.log"))


def _choose_seed(config: pytest.Config) -> None:
    """A seed of our own where none is given, so that what a run finds can be found again."""
    name = config.getoption("--hypothesis-profile", None) or settings.get_current_profile_name()
    if _seed(config) is None and not settings.get_profile(name).derandomize:
        config.option.hypothesis_seed = str(random.SystemRandom().randrange(1 << 32))


def _seed(config: pytest.Config) -> int | None:
    seed = config.getoption("--hypothesis-seed", None)
    return int(seed) if str(seed).isdigit() else None


def pytest_report_header(config: pytest.Config) -> list[str]:
    state = config.stash[STATE]
    seed = _seed(config)
    return [
        f"conformance: {config.getoption('subject')} against torch {state.oracle.version}, "
        f"profile {state.profile.name}, hypothesis profile {settings.get_current_profile_name()}"
        + ("" if seed is None else f", --hypothesis-seed={seed}")
    ]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with a ``batch`` argument gets one item per batch of its module's AREA."""
    if "batch" not in metafunc.fixturenames:
        return
    state = metafunc.config.stash[STATE]
    area = BY_NAME[metafunc.module.AREA]
    size = metafunc.config.getoption("--batch-size")
    made = list(batches(area, area.cases(state.profile), size))
    metafunc.parametrize("batch", made, ids=[batch.id for batch in made])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What hypothesis draws comes first: it cannot be split among workers, so none ends alone."""
    items.sort(key=lambda item: "batch" in getattr(item, "fixturenames", ()))


def pytest_collection_finish(session: pytest.Session) -> None:
    planned: Counter[str] = Counter()
    for item in session.items:
        batch = getattr(item, "callspec", None) and item.callspec.params.get("batch")  # type: ignore[attr-defined]
        if isinstance(batch, Batch):
            planned[batch.area] += batch.size
    if session.items and not session.config.option.collectonly:
        session.config.stash[STATE].outcomes.write_plan(dict(planned))


class Checker:
    """What the tests use: compare, record, and fail with every mismatch shown singly."""

    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def profile(self) -> profiles.Profile:
        return self._state.profile

    def check(self, batch: Batch) -> None:
        """Compare every case of a batch."""
        mismatches: list[Comparison] = []
        with self._state.outcomes.open(batch.id) as file:
            for comparison in self._state.runner.compare(batch.cases):
                record(file, comparison)
                if comparison.verdict == "mismatch":
                    mismatches.append(comparison)
        self._fail(mismatches)

    def examples(self, area: str) -> int:
        """How many cases hypothesis is to draw for an area."""
        number = BY_NAME[area].examples.get(settings.get_current_profile_name())
        return settings().max_examples if number is None else number

    def draw(self, area: str) -> None:
        """Compare the cases that hypothesis draws for an area."""
        with self.explore(area) as exploration:

            @settings(max_examples=self.examples(area))
            @given(BY_NAME[area].drawn(self.profile))
            def compare(case: Case) -> None:
                exploration.check(case)

            compare()

    def explore(self, area: str) -> Exploration:
        """For a hypothesis test of its own: compare case by case.  Use as a context manager."""
        return Exploration(self._state, area)

    def _fail(self, mismatches: list[Comparison]) -> None:
        if mismatches:
            pytest.fail(render(self._state, mismatches), pytrace=False)


class Exploration:
    """Compares what hypothesis draws.

    What is recorded is every case that agreed, once, and of those that did not only the last:
    hypothesis ends with the smallest.
    """

    def __init__(self, state: State, area: str) -> None:
        self._state = state
        self._area = area
        self._seen: dict[str, Comparison] = {}
        self._smallest: Comparison | None = None

    def __enter__(self) -> Exploration:
        self._workers = self._state.runner.interactive()
        return self

    def __exit__(self, *exception: object) -> None:
        self._workers.close()
        found = [*self._seen.values(), *([self._smallest] if self._smallest else [])]
        with self._state.outcomes.open(f"{self._area}-drawn") as file:
            for comparison in found:
                record(file, comparison)

    def check(self, case: Case) -> None:
        """Compare ``case``; a mismatch fails the example, and hypothesis shrinks it.

        A case that agreed is not run again: what it registers in torch, it can only once.
        """
        if case.id in self._seen:
            return
        comparison = self._workers.compare(case)
        if comparison.verdict == "mismatch":
            self._smallest = comparison
            found = render(self._state, [comparison])
            raise MismatchError(f"{found}\n{self._found_by()}")
        self._seen[case.id] = comparison

    def _found_by(self) -> str:
        name = settings.get_current_profile_name()
        seed = _seed(self._state.config)
        if seed is not None:
            return f"found with --hypothesis-profile={name} --hypothesis-seed={seed}"
        return f"found with --hypothesis-profile={name}, which draws the same cases every time"


class MismatchError(AssertionError):
    """The oracle and the subject differ in a case that hypothesis drew."""


def render(state: State, mismatches: list[Comparison]) -> str:
    """Every mismatch, one after the other, each complete in itself."""
    run = report.Run(state.facts(), ())
    shown = "\n\n".join(junit.describe(run, comparison) for comparison in mismatches)
    return f"{number(len(mismatches), 'mismatch', 'mismatches')}\n\n{shown}"


@pytest.fixture(scope="session")
def checker(pytestconfig: pytest.Config) -> Checker:
    return Checker(pytestconfig.stash[STATE])


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Merge what every process recorded, write the reports, and judge the ledger."""
    state = session.config.stash.get(STATE, None)
    if state is None or not state.is_controller or session.config.option.collectonly:
        return
    run = collect_run(state, interrupted=exitstatus == pytest.ExitCode.INTERRUPTED)
    if not run.areas:
        return
    state.written = report.write(run, state.reports)
    state.run = run
    if not run.passed and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def collect_run(state: State, *, interrupted: bool) -> report.Run:
    """The run as far as it has come, from the files of its batches."""
    planned = state.outcomes.read_plan()
    builder = report.RunBuilder(state.facts(), planned)
    for comparison in state.outcomes.read():
        builder.add(comparison)
    run = builder.run()
    whole = [area.name for area in run.areas if area.planned is None]
    differing = [comparison for area in run.areas for comparison in area.differing]
    ledger = Ledger.load(LEDGER_FILE, state.oracle.release)
    return builder.run(
        seconds=time.monotonic() - state.started,
        interrupted=interrupted,
        stale=ledger.stale(differing, whole),
    )


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    state = config.stash.get(STATE, None)
    if state is None or state.run is None:
        return
    writer = terminalreporter
    writer.section(f"conformance with torch {state.oracle.version}")
    console = Console(file=writer._tw._file, force_terminal=writer.hasmarkup or None)
    terminal.render(state.run, console)
    for path in state.written:
        writer.line(f"wrote {path}")
