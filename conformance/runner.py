"""Runs cases in the oracle and in the subject, and compares what came out."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from threading import Thread
from types import MappingProxyType, ModuleType
from typing import Final

from conformance import annotated, ascend, on_npu, worker
from conformance import oracle as oracles
from conformance.case import GENERATED, OWN_SUBJECT, Case
from conformance.cases import BY_NAME
from conformance.compare import Agreement, Comparison, compare
from conformance.execute import HELPERS, ParsedCases, execute, parse_all
from conformance.grammar import ParsedCase
from conformance.heard import Both, Heard, both_of, read
from conformance.ledger import LEDGER_FILE, Ledger
from conformance.normalise import BOTH_SIDES, DEVICE_NAME, Rule, normalise, subject_module
from conformance.outcome import Outcome
from conformance.syntax import FILENAME
from conformance.vocabulary import Vocabulary, for_profile
from conformance.worker import Limits, Prepare
from mindtorch_v2 import profile as profiles


class RefusedCaseError(ValueError):
    """A case's text is outside the grammar; the message says where."""


@dataclass(frozen=True)
class Runner:
    """One oracle, one subject, and the limits cases run under."""

    oracle: ModuleType | None
    """None if it is a recorded one, whose outcomes come with the cases."""
    subject: ModuleType
    vocabulary: Vocabulary
    ledger: Ledger = field(default_factory=Ledger)
    limits: Limits = field(default_factory=Limits)

    @classmethod
    def live(cls, subject: str = OWN_SUBJECT) -> Runner:
        """The installed torch against ``subject``."""
        return cls.of(oracles.live(), subject)

    @classmethod
    def of(cls, oracle: oracles.Oracle, subject: str = OWN_SUBJECT) -> Runner:
        """An oracle against ``subject``, under that release's profile and ledger.

        The modules are imported here, before any worker is forked.  oracle.choose_profile must
        have been called before mindtorch_v2 was first imported.
        """
        if profiles.active().name != oracle.profile:
            raise RuntimeError(
                f"mindtorch_v2 mirrors torch {profiles.active().name}, the oracle is torch "
                f"{oracle.release}: set {oracles.PROFILE_VARIABLE}={oracle.profile}"
            )
        return cls(
            oracle.module() if isinstance(oracle, oracles.LiveOracle) else None,
            oracles.prepare(subject),
            for_profile(oracle.profile).with_helpers(*HELPERS).with_free_attributes(),
            Ledger.load(LEDGER_FILE, oracle.release),
        )

    def compare(
        self, cases: Sequence[Case], recorded: Sequence[Outcome] = ()
    ) -> Iterator[Comparison]:
        """A comparison for each case, in order, whatever the cases do.

        ``recorded`` has the outcomes of a recorded oracle, one for each case.
        """
        _provide_devices(cases)
        if self.oracle is None:
            yield from self._replay(cases, recorded)
            return
        parsed = parse_all(cases, self.vocabulary)  # once: both sides' workers are forks of this
        if all(case.isolation == "fork" for case in cases):
            yield from self._compare_forks(self.oracle, cases, parsed)
            return
        oracle = self.outcomes(self.oracle, cases, parsed)
        subject = self.outcomes(self.subject, cases, parsed)
        for case, left, right in zip(cases, oracle, subject, strict=True):
            yield self.judge(case, left, right)

    def check(
        self, cases: Sequence[Case], recorded: Sequence[Outcome] = ()
    ) -> Iterator[Comparison | Agreement]:
        """The same, `Comparison.in_short`.

        With a live oracle that takes less time: what both did is not even read.
        """
        are_forks = all(case.isolation == "fork" for case in cases)
        are_kept = any(case.origin != GENERATED for case in cases)
        # on an NPU names are rewritten, which is for `judge`
        if self.oracle is None or are_forks or are_kept or _are_on_npu(cases):
            yield from (found.in_short() for found in self.compare(cases, recorded))
            return
        parsed = parse_all(cases, self.vocabulary)
        heard = Heard(self.subject.__name__)
        oracle = self._answers(self.oracle, cases, parsed, heard.oracle)
        subject = self._answers(self.subject, cases, parsed, heard.subject)
        for case, left, right in zip(cases, oracle, subject, strict=True):
            if isinstance(right, Outcome):
                yield self.judge(case, read(left), right).in_short()
            else:
                yield Agreement(case, right)
            heard.forget()

    def _compare_forks(
        self, oracle: ModuleType, cases: Sequence[Case], parsed: ParsedCases
    ) -> Iterator[Comparison]:
        """Both sides of a case in one fork, which takes as long as a side.

        Of one that did not come back nobody knows which side it was: each is asked again, alone.
        """
        sides = oracle, self.subject
        one, other = (self._execute(xp, parsed) for xp in sides)
        prepared = [prepare(xp) for xp in sides]

        def provide(case: Case) -> None:
            for each in prepared:
                each(case)

        def execute(case: Case) -> Both:
            return Both(one(case), other(case))

        found = worker.answers(cases, execute, self.limits, provide, hear=both_of)
        for case, both in zip(cases, found, strict=True):
            if isinstance(both, Both):
                left, right = both
            else:
                (left,), (right,) = (self.outcomes(xp, [case], parsed) for xp in sides)
            yield self.judge(case, left, right)

    def _replay(self, cases: Sequence[Case], recorded: Sequence[Outcome]) -> Iterator[Comparison]:
        """The worker compares as well, and tells outcomes that differ alone.

        A case that was recorded was let in by the grammar then.
        """
        known = dict(zip(cases, recorded, strict=True))
        run = self._execute(self.subject, parse_all(cases, self.vocabulary, were_let_in=True))

        def execute(case: Case) -> worker.Answer:
            outcome = run(case)
            return None if self._is_as_recorded(case, known[case], outcome) else outcome

        answers = worker.answers(
            cases, execute, self.limits, prepare(self.subject), hear=worker.answer_of
        )
        for case, left, right in zip(cases, recorded, answers, strict=True):
            if right is None:
                yield Comparison(case, left, left, "agree")
            else:
                yield self.judge(case, left, right)

    def _is_as_recorded(self, case: Case, recorded: Outcome, outcome: Outcome) -> bool:
        """Whether there is nothing to judge: both ended alike, and no device lacked a kernel."""
        if outcome.kind not in ("returned", "raised") or outcome.uncovered:
            return False
        return normalise(outcome, self._rules(case)) == recorded

    def outcomes(
        self, xp: ModuleType, cases: Sequence[Case], parsed: ParsedCases = MappingProxyType({})
    ) -> Iterator[Outcome]:
        """What each case does with ``xp``, as it came out of the worker."""
        return self._answers(xp, cases, parsed, worker.outcome_of)

    def _answers(
        self,
        xp: ModuleType,
        cases: Sequence[Case],
        parsed: ParsedCases,
        hear: worker.Hear[worker.Said],
    ) -> Iterator[worker.Said | Outcome]:
        execute = self._execute(xp, parsed)
        return worker.answers(cases, execute, self.limits, prepare(xp), hear=hear)

    def interactive(self) -> Interactive:
        """The same, one case at a time; close it when done."""
        return Interactive(self)

    def worker(self, xp: ModuleType) -> worker.Interactive:
        """One that is asked; what runs in a fork of its own, it parses before it forks."""
        parsed: dict[str, ParsedCase] = {}
        provide = prepare(xp)

        def prepare_and_parse(case: Case) -> None:
            provide(case)
            parsed.clear()
            if case.isolation == "fork":
                parsed.update(parse_all([case], self.vocabulary))

        return worker.Interactive(self._execute(xp, parsed), self.limits, prepare_and_parse)

    def _execute(
        self, xp: ModuleType, parsed: ParsedCases = MappingProxyType({})
    ) -> Callable[[Case], Outcome]:
        third_party = xp is self.subject and xp.__name__ != OWN_SUBJECT
        return lambda case: execute(case, xp, self.vocabulary, parsed, may_lack=third_party)

    def judge(self, case: Case, oracle: Outcome, subject: Outcome) -> Comparison:
        """Normalise, compare, and look into the ledger.

        Raises RefusedCaseError for a text that the grammar does not let in.
        """
        for outcome in (oracle, subject):
            if outcome.kind == "refused":
                raise RefusedCaseError(f"{case.id} is no case: {outcome.message}\n{case.text}")
        left, right = normalise(oracle, BOTH_SIDES), normalise(subject, self._rules(case))
        return self.ledger.judge(compare(case, left, right))

    def _rules(self, case: Case) -> tuple[Rule, ...]:
        """What of the subject's outcome is rewritten."""
        rules = (subject_module(self.subject.__name__), *BOTH_SIDES)
        return (*rules, DEVICE_NAME) if on_npu.is_on_npu(case.text) else rules


def _are_on_npu(cases: Sequence[Case]) -> bool:
    return any(on_npu.is_on_npu(case.text) for case in cases)


def _provide_devices(cases: Sequence[Case]) -> None:
    """What cases on an NPU need, which takes longer than a case may."""
    if _are_on_npu(cases):
        ascend.provide()


def prepare(xp: ModuleType) -> Prepare:
    """Imports what the cases of an area have ``xp`` import, and makes what they would all make.

    What ``xp`` lacks, it does not import.
    """

    imported: set[str] = set()
    is_warm = False

    def run(case: Case) -> None:
        nonlocal is_warm
        area = BY_NAME.get(case.area)
        names = [f"{xp.__name__}.{name}" for name in (area.imports if area else ())]
        if not imported.issuperset(names):
            imported.update(names)
            for name in names:
                with suppress(ImportError):
                    import_module(name)
            gc.freeze()  # what came in need not be looked at by every collection
        if case.isolation == "fork" and not is_warm:
            is_warm = True
            warm(xp)
            gc.freeze()

    return run


def warm(xp: ModuleType) -> None:
    """Make what ``xp`` makes at the first calls of all, and each fork would make again."""
    with suppress(AttributeError):  # not every xp is a whole torch
        annotated.types(xp)
    # What registers operators looks for its caller's module, and keeps the files of all modules.
    inspect.getmodule(compile("", FILENAME, "exec"))
    thread = Thread(target=_first_calls, args=(xp,))  # whose nodes are numbered apart
    thread.start()
    thread.join()


def _first_calls(xp: ModuleType) -> None:
    with suppress(Exception):  # not every xp works
        str(xp.ones(1) + 1)
        x = xp.ones(2, 3, requires_grad=True)
        y = (x * 2 + x).clone().sin() - x / 2
        (y * y).sum().backward()
        str(x.grad)
        z = xp.zeros_like(xp.zeros(3).add_(1).mul_(2))
        z.copy_(x.detach().view(-1)[:3]).tolist()
        with xp.no_grad():
            xp.add(x, 1)
        for refuse in (xp.add, xp.ops.aten.add.Tensor):
            with suppress(TypeError, RuntimeError):
                refuse(x, "s")
        for _ in range(_OFTEN):
            _most_made(xp)


_OFTEN: Final = 12
"""So many calls it takes until they are at their fastest."""


def _most_made(xp: ModuleType) -> None:
    """What most cases in processes of their own begin with."""
    for size in range(1, 6):
        xp.ones(size)
    xp.ones(2, 2)
    xp.zeros(2)
    xp.arange(2)
    xp.ones(2, requires_grad=True)
    xp.ones(2, device="meta")
    xp.empty(2, device="meta")


class Interactive:
    """Compares one case at a time, in two workers that live as long as the cases let them."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        if runner.oracle is None:
            raise oracles.NoOracleError("a recording knows no other cases than those it has")
        self._oracle = runner.worker(runner.oracle)
        self._subject = runner.worker(runner.subject)

    def compare(self, case: Case) -> Comparison:
        _provide_devices([case])
        return self._runner.judge(case, self._oracle.ask(case), self._subject.ask(case))

    def close(self) -> None:
        self._oracle.close()
        self._subject.close()
