"""The suite's side of pytest: options, batches as items, and the reports at the end.

conformance/oracles/conftest.py hands these hooks to pytest.
"""

from __future__ import annotations

import os
import platform
import random
import time
from argparse import ArgumentTypeError
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from rich.console import Console

from conformance import draws, examples, oracle, report
from conformance.batch import Batch, Outcomes, Plan, batches
from conformance.case import OWN_SUBJECT, Case
from conformance.cases import BY_NAME
from conformance.compare import Comparison
from conformance.ledger import LEDGER_FILE, Ledger
from conformance.oracle import Asked
from conformance.outcome import Outcome
from conformance.recorded.area import Missing
from conformance.report import job_summary, junit, terminal
from conformance.report.model import number
from conformance.runner import Runner
from conformance.shard import Shard
from mindtorch_v2 import profile as profiles
from mindtorch_v2.version import __version__

STATE = pytest.StashKey["State"]()
BATCH_SIZE = 12_000  # what each call takes the first time, each batch's worker takes anew

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
        self.oracle = oracle.chosen()
        self.profile = profiles.load(self.oracle.profile)
        self.shard = _shard(config)
        self.reports = Path(config.getoption("reports") or config.rootpath / "reports")
        stem = report.stem(self.oracle.release, self.oracle.kind, self.shard)
        self.outcomes = Outcomes(self.reports / "outcomes" / stem)
        self.whole: dict[str, int] = {}
        """By area, how many generated cases all shards of the run have."""
        self._asked: tuple[str, Sequence[Asked]] = ("", ())
        """The area that a batch was last of, and its cases."""
        self._runner: Runner | None = None
        self.run: report.Run | None = None
        self.written: tuple[Path, ...] = ()

    @property
    def runner(self) -> Runner:
        """Made when the first batch runs: the controller of a distributed run imports no torch."""
        if self._runner is None:
            self._runner = Runner.of(self.oracle, self.config.getoption("subject"))
        return self._runner

    def asked(self, batch: Batch) -> Sequence[Asked]:
        """The cases of a batch, with what the oracle knows of them."""
        if self._asked[0] != batch.area:
            self._asked = "", ()  # not two areas at a time
            cases = BY_NAME[batch.area].cases(self.profile)
            self._asked = batch.area, list(self.oracle.ask(batch.area, cases))
        return batch.of(self._asked[1])

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
            oracle=self.oracle.kind,
            hypothesis_profile=settings.get_current_profile_name(),
            seed=_seed(self.config),
        )


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance")
    group.addoption(
        "--subject", default=OWN_SUBJECT, help="the torch-like module to judge (%(default)s)"
    )
    group.addoption("--reports", default=None, help="where reports go (reports/)")
    group.addoption(
        "--batch-size", type=int, default=BATCH_SIZE, help="cases per test item (%(default)s)"
    )
    group.addoption(
        "--shard", metavar="K/N", help="run the K-th of N parts; `conformance merge` joins them"
    )
    group.addoption(
        "--examples",
        metavar="DATABASE",
        help="where what hypothesis finds is kept, and tried first: a directory, or "
        "github:OWNER/REPOSITORY[/ARTIFACT]",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    state = config.stash[STATE] = State(config)
    draws.follow_from_the_seed()
    if config.getoption("--hypothesis-profile", None) is None:
        settings.load_profile("ci" if os.environ.get("CI") else "dev")
    if config.getoption("examples") is not None:
        _keep_examples(config)
    if state.is_controller:
        _choose_seed(config)
        if not config.option.collectonly:
            state.outcomes.clear()
    # What workers print to stderr, torch's own complaints included; for looking into a crash.
    os.environ.setdefault("CONFORMANCE_WORKER_LOG", str(state.outcomes.directory / "worker.log"))


def _drawing(config: pytest.Config) -> str:
    """The name of the hypothesis profile, which hypothesis' own plugin may load later."""
    return config.getoption("--hypothesis-profile", None) or settings.get_current_profile_name()


def _keep_examples(config: pytest.Config) -> None:
    try:
        examples.keep(config.getoption("examples"), _drawing(config))
    except examples.ExamplesError as error:
        raise pytest.UsageError(f"--examples: {error}") from None


def _choose_seed(config: pytest.Config) -> None:
    """A seed of our own where none is given, so that what a run finds can be found again."""
    name = _drawing(config)
    if _seed(config) is None and not settings.get_profile(name).derandomize:
        sharded = config.getoption("--shard") is not None  # the shards are to draw as one run does
        chosen = 0 if sharded else random.SystemRandom().randrange(1 << 32)
        config.option.hypothesis_seed = str(chosen)


def _seed(config: pytest.Config) -> int | None:
    seed = config.getoption("--hypothesis-seed", None)
    return int(seed) if str(seed).isdigit() else None


def _shard(config: pytest.Config) -> Shard | None:
    """An option of plain text, since pytest-xdist hands it to its workers as such."""
    text = config.getoption("shard")
    try:
        return None if text is None else Shard.parse(text)
    except ArgumentTypeError as error:
        raise pytest.UsageError(f"--shard: {error}") from None


def pytest_report_header(config: pytest.Config) -> list[str]:
    state = config.stash[STATE]
    seed = _seed(config)
    return [
        f"conformance: {config.getoption('subject')} against torch {state.oracle.version}"
        + (", recorded" if state.oracle.kind == "recorded" else "")
        + f", profile {state.profile.name}, hypothesis profile "
        + settings.get_current_profile_name()
        + ("" if seed is None else f", --hypothesis-seed={seed}")
        + ("" if state.shard is None else f", shard {state.shard}")
    ]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with a ``batch`` argument gets one item per batch of its module's AREA."""
    if "batch" not in metafunc.fixturenames:
        return
    config = metafunc.config
    state = config.stash[STATE]
    area = BY_NAME[metafunc.module.AREA]
    # To count the cases takes as long as to make them; a batch that has others says so.
    count = state.oracle.count(area.name) or area.count(state.profile)
    made = list(batches(area.name, count, config.getoption("--batch-size")))
    metafunc.parametrize("batch", made, ids=[batch.id for batch in made])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What hypothesis draws comes first: it cannot be split among workers, so none ends alone.

    A recorded oracle has no outcomes of drawn cases.  A shard takes its part of what is left.
    """
    state = config.stash[STATE]
    drawn = [item for item in items if not _is_generated(item)]
    generated = [item for item in items if _is_generated(item)]
    wanted = generated if state.oracle.kind == "recorded" else [*drawn, *generated]
    state.whole = _planned(wanted)
    chosen = wanted if state.shard is None else state.shard.of(wanted)
    kept = set(chosen)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = chosen


def _is_generated(item: pytest.Item) -> bool:
    return "batch" in getattr(item, "fixturenames", ())


def _planned(items: Iterable[pytest.Item]) -> dict[str, int]:
    """How many generated cases each area has; an area of which none is left has 0."""
    planned: Counter[str] = Counter()
    for item in filter(_is_generated, items):
        batch = item.callspec.params["batch"]  # type: ignore[attr-defined]
        planned[item.module.AREA] += batch.size if isinstance(batch, Batch) else 0  # type: ignore[attr-defined]
    return dict(planned)


def pytest_collection_finish(session: pytest.Session) -> None:
    state = session.config.stash[STATE]
    if not state.whole or session.config.option.collectonly:  # a shard may have nothing of a whole
        return
    state.outcomes.write_plan(Plan(_planned(session.items), state.whole))


class Checker:
    """What the tests use: compare, record, and fail with every mismatch shown singly."""

    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def profile(self) -> profiles.Profile:
        return self._state.profile

    def check(self, batch: Batch) -> None:
        """Compare every case of a batch of which the oracle has an answer, or can give one."""
        mismatches: list[Comparison] = []
        asked = self._state.asked(batch)
        cases = [case for case, answer in asked if not isinstance(answer, Missing)]
        recorded = [answer for _, answer in asked if isinstance(answer, Outcome)]
        others = {batch.area: len(asked) - batch.size}
        with self._state.outcomes.open(batch.id, _left_out(asked), others) as file:
            for comparison in self._state.runner.check(cases, recorded):
                file.add(comparison)
                if isinstance(comparison, Comparison) and comparison.verdict == "mismatch":
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

            examples.keep_under(area, compare)
            compare()

    def explore(self, area: str) -> Exploration:
        """For a hypothesis test of its own: compare case by case.  Use as a context manager."""
        return Exploration(self._state, area)

    def _fail(self, mismatches: list[Comparison]) -> None:
        if mismatches:
            pytest.fail(render(self._state, mismatches), pytrace=False)


def _left_out(asked: Iterable[Asked]) -> dict[str, dict[str, int]]:
    """How many cases do not run for want of an answer, by why and by area."""
    found: dict[str, dict[str, int]] = {}
    for case, answer in asked:
        if isinstance(answer, Missing):
            by_area = found.setdefault(answer.name.lower(), {})
            by_area[case.area] = by_area.get(case.area, 0) + 1
    return found


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
                file.add(comparison)

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
    is_idle = state.shard is not None and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED
    if not run.areas and not is_idle:
        return
    try:
        state.written = report.write(run, state.reports)
    except OSError as error:  # a full disk, for one
        pytest.exit(
            f"the reports cannot be written: {error}.  Every outcome that could be kept is in "
            f"{state.outcomes.directory}; make room, and run again.",
            returncode=pytest.ExitCode.INTERNAL_ERROR,
        )
    job_summary.append(run)
    state.run = run
    if is_idle:
        session.exitstatus = pytest.ExitCode.OK
    if not run.passed and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def collect_run(state: State, *, interrupted: bool) -> report.Run:
    """The run as far as it has come, from the files of its batches."""
    plan = state.outcomes.read_plan()
    builder = report.RunBuilder(state.facts(), plan.cases)
    for kept in state.outcomes.read():
        if isinstance(kept, Comparison):
            builder.add(kept)
            continue
        for agreed in kept.agreed:
            builder.add_agreed(*agreed)
        for area, others in kept.others.items():
            builder.plan(area, others)
        for why, by_area in kept.left_out.items():
            for area, count in by_area.items():
                builder.leave_out(why, area, count)
    run = replace(builder.run(), seconds=time.monotonic() - state.started, interrupted=interrupted)
    if state.shard is not None:  # whether an entry is stale, the shards show together
        return replace(run, shard=report.ShardOf(state.shard, plan.cases, plan.whole))
    ledger = Ledger.load(LEDGER_FILE, state.oracle.release)
    return replace(run, stale=ledger.stale(run.differing, run.whole_areas))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    state = config.stash.get(STATE, None)
    if state is None or state.run is None:
        return
    writer = terminalreporter
    writer.section(f"conformance with torch {state.oracle.version}")
    # A log has no width that a number would have to be cut for.
    width = None if writer.hasmarkup else terminal.UNBOUNDED
    console = Console(file=writer._tw._file, force_terminal=writer.hasmarkup or None, width=width)
    terminal.render(state.run, console)
    for path in state.written:
        writer.line(f"wrote {path}")
