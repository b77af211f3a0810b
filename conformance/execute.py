"""Runs one case in the calling process and says what came of it.

Called in forked workers only (:mod:`conformance.worker`): a case may crash the interpreter.
"""

from __future__ import annotations

import gc
import threading
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from types import MappingProxyType, ModuleType, SimpleNamespace
from typing import Any, Final

import numpy

from conformance import grammar
from conformance.annotated import annotated
from conformance.bound import bound
from conformance.case import Case
from conformance.copied import copied, deepcopy, pickled
from conformance.describe import describe, qualified_name
from conformance.functionalized import attempt, functionalized
from conformance.on_npu import Here, settled
from conformance.outcome import Kind, Outcome, Warned
from conformance.pipelined import pipeline
from conformance.traced import traced
from conformance.vocabulary import Vocabulary


def in_thread(function: Callable[[], Any]) -> Any:
    """Call ``function`` in a new thread and return what it returns, or raise what it raises.

    Cases may use it by this name: ``in_thread(lambda: xp._C._dispatch_tls_local_include_set())``.
    """
    box: list[Any] = []

    def target() -> None:
        try:
            box.append((True, function()))
        except BaseException as error:
            box.append((False, error))

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    returned, value = box.pop()
    if returned:
        return value
    raise value


NUMPY: Final = (
    "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
    " complex64 complex128 str_ array"
)
"""What of NumPy a case may reach: the classes of its scalars, and ``array``."""

HELPERS: dict[str, Any] = {
    "annotated": annotated,
    "attempt": attempt,
    "bound": bound,
    "collect": gc.collect,
    "copied": copied,
    "deepcopy": deepcopy,
    "functionalized": functionalized,
    "here": Here,
    "in_thread": in_thread,
    "pickled": pickled,
    "pipeline": pipeline,
    "traced": traced,
    "np": SimpleNamespace(**{name: getattr(numpy, name) for name in NUMPY.split()}),
}
"""What a case finds in its namespace besides ``xp`` and the builtins of the grammar."""


ParsedCases = Mapping[str, grammar.ParsedCase]
"""Cases that have been parsed, by their texts."""


def parse_all(
    cases: Iterable[Case], vocabulary: Vocabulary, *, were_let_in: bool = False
) -> ParsedCases:
    """The cases that the grammar lets in, to be run on both sides; the others are left out.

    Of those that ``were_let_in`` before nothing is checked again.
    """
    parse = grammar.compiled if were_let_in else partial(grammar.parse, vocabulary=vocabulary)
    parsed = {}
    for case in cases:
        with suppress(grammar.CaseRefused):
            parsed[case.text] = parse(case.text)
    return parsed


def execute(
    case: Case,
    xp: ModuleType,
    vocabulary: Vocabulary,
    known: ParsedCases = MappingProxyType({}),
    *,
    may_lack: bool = False,
) -> Outcome:
    """Run ``case`` with ``xp``; a ``thread`` case runs in a thread of its own, or as if it did.

    A text outside the grammar is not run; its outcome is ``refused``.  ``known`` cases are not
    parsed again.  Of an ``xp`` that ``may_lack`` names, a name that is not there is ``absent``.
    """
    try:
        parsed = known.get(case.text) or grammar.parse(case.text, vocabulary)
    except grammar.CaseRefused as refusal:
        return Outcome("refused", message=str(refusal))
    once = partial(_once, case, parsed, xp, vocabulary)
    here = Here(xp)
    outcome = once(here)
    # Once more for each other value that there may be; a case that registers something in a process
    # of its own cannot do that twice, and is compared as it is.
    if here.left_open:
        outcome = settled(outcome, here.left_open, lambda: once(Here(xp)))
    if outcome.kind == "absent" and not may_lack:
        outcome = replace(outcome, kind="raised")
    return outcome


def _namespace(xp: ModuleType, vocabulary: Vocabulary, here: Here) -> dict[str, Any]:
    if hasattr(xp, "set_warn_always"):
        xp.set_warn_always(True)  # else what a case warns of depends on the cases before it
    return grammar.namespace(xp, vocabulary, {**_helpers(xp), "here": here})


def _run(parsed: grammar.ParsedCase, names: dict[str, Any], *, collect: bool = False) -> Outcome:
    """``collect``: undo here, in the case's own thread, also what only the collector finds."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = Outcome("returned", value=describe(_evaluate(parsed, names)))
        except BaseException as error:  # SystemExit and KeyboardInterrupt are outcomes too
            kind: Kind = "absent" if _is_of_a_missing_name(error, names) else "raised"
            outcome = Outcome(kind, type=qualified_name(type(error)), message=_text(error))
            traceback.clear_frames(error.__traceback__)
        names.clear()  # guards that the case left open are undone here, in its own thread
        if collect:
            gc.collect(1)  # the young: what was there before the case is not its own
    return _with_warnings(outcome, caught)


def _is_of_a_missing_name(error: BaseException, names: Mapping[str, Any]) -> bool:
    """Whether the case itself asked a module, a class or an object of ``xp`` for what it lacks."""
    if not isinstance(error, AttributeError) or "xp" not in names:
        return False
    end = error.__traceback__
    while end is not None and end.tb_next is not None:
        end = end.tb_next
    if end is None or end.tb_frame.f_globals is not names:
        return False
    holder = error.obj if isinstance(error.obj, (ModuleType, type)) else type(error.obj)
    name = holder.__name__ if isinstance(holder, ModuleType) else holder.__module__
    package, _, _ = str(name).partition(".")
    return bool(package == names["xp"].__name__)


def _evaluate(parsed: grammar.ParsedCase, names: dict[str, Any]) -> Any:
    """The value of the case's last line, if that is an expression; else None."""
    for statements in parsed.statements:
        # Some releases name this line, the 172nd, as where a library of a case has registered
        # something, and recordings have the number: as many lines stay above it.
        # (tests/unit/test_execute.py)
        exec(statements, names)
    return None if parsed.expression is None else eval(parsed.expression, names)


def _once(
    case: Case, parsed: grammar.ParsedCase, xp: ModuleType, vocabulary: Vocabulary, here: Here
) -> Outcome:
    names = _namespace(xp, vocabulary, here)
    if case.isolation == "thread":
        outcome: Outcome = _apart(xp)(lambda: _run(parsed, names, collect=True))
    else:
        outcome = _run(parsed, names)
    outcome = here.judged(outcome)
    return outcome if case.warnings else replace(outcome, warnings=())


def _apart(xp: ModuleType) -> Callable[[Callable[[], Outcome]], Outcome]:
    """How a case runs so that nothing it sets in its thread is there for the next one.

    In a new thread, unless ``xp`` has a way to give it a new thread's state without one.
    """
    own = getattr(xp, "thread_state", None)
    return getattr(own, "as_in_a_new_thread", in_thread)


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as failure:
        return f"<str raised {qualified_name(type(failure))}>"


def _with_warnings(outcome: Outcome, caught: list[warnings.WarningMessage]) -> Outcome:
    if not caught:
        return outcome
    warned: tuple[Warned, ...] = tuple(
        (qualified_name(item.category), str(item.message)) for item in caught
    )
    return replace(outcome, warnings=warned)


@lru_cache(maxsize=16)
def _helpers(xp: ModuleType) -> dict[str, Any]:
    about_xp = {
        "annotated": partial(annotated, xp),
        "bound": partial(bound, xp),
        "functionalized": partial(functionalized, xp),
        "pipeline": partial(pipeline, xp),
        "traced": partial(traced, xp),
    }
    return {**HELPERS, **about_xp}
