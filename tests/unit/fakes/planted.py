"""Comparisons that differ in every way that a report must show, and runs of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from conformance import report
from conformance.case import Case
from conformance.compare import Comparison, compare
from conformance.outcome import Outcome

KEYS = [f"{form}{key}" for form in ("", "Sparse", "Autograd") for key in ("CPU", "CUDA", "Meta")]
LONG = f"DispatchKeySet({', '.join(KEYS * 30)}) : torch._C.DispatchKeySet"
HOSTILE = (
    "xp.f('\u202e\u2066 </script><script>alert(1)</script> <b>&amp; ]]> --> {{ 7 * 7 }} {% raw %}"
    " \u2028 \x00\x1b[31m \x85 \x7f \ufffe \ud800 [bold]x[/bold] \u200b \ufeff \xa0"
    " é 中文 \U0001f600')"
)


def facts(torch: str = "2.4.1", **others: Any) -> report.Facts:
    values = {
        "torch": torch,
        "full_version": f"{torch}+cpu",
        "git_hash": "ee1b6804381c57161c477caa380a840a84167676",
        "platform": "Linux x86_64",
        "python": "3.11.7",
        "suite": "0.1.0",
        "subject": "mindtorch_v2",
        "profile": "2.4",
        "started": "2026-01-31T12:00:00Z",
    }
    return report.Facts(**{**values, **others})


def returned(value: Any, *warnings: tuple[str, str]) -> Outcome:
    return Outcome("returned", value, warnings=warnings)


def raised(kind: str, message: str) -> Outcome:
    return Outcome("raised", None, kind, message)


def differ(target: str, text: str, oracle: Outcome, subject: Outcome) -> Comparison:
    return compare(Case("keys", target, text), oracle, subject)


WRONG_TYPE = differ(
    "parse", "xp.p('B')", raised("RuntimeError", "no B"), raised("ValueError", "no B")
)
WRONG_WORD = differ("parse", "xp.p('CPU')", raised("E", "no such key"), raised("E", "no such kez"))
WRONG_ORDER = differ("or", "xp.a | xp.b", returned("Set(CPU, Meta)"), returned("Set(Meta, CPU)"))
MISSING_KEY = differ("full", "xp.full()", returned(LONG), returned(LONG.replace("CUDA, ", "", 1)))
WARNING = differ("warn", "xp.w()", returned("1 : int", ("UserWarning", "old")), returned("1 : int"))
SWALLOWED = differ("swallow", "xp.s()", raised("TypeError", "bad"), returned("None : NoneType"))
LINES = differ(
    "lines",
    "for i in range(2):\n    x = 'it\\'s'\nx",
    returned("1 : int"),
    raised("E", "line one\n\n  line three"),
)
LONG_MESSAGES = differ("long", "xp.long()", raised("E", "x" * 3000), raised("E", "x" * 2999 + "y"))
UNICODE = differ("unicode", "xp.u('é中文')", returned("'é' : str"), returned("'e\u0301' : str"))
STRANGE = differ(
    "</td><script>alert(2)</script>\u202e\x1b",
    HOSTILE,
    raised("E", f"oracle {HOSTILE}"),
    raised("E", f"subject {HOSTILE}"),
)
LOOK_ALIKE = differ(
    "alike",
    "xp.items()",
    returned({"type": "list", "items": ["1", "2"]}),
    returned({"type": "list", "items": ["1, 2"]}),
)
SUBJECT_CRASH = differ(
    "crash", "xp.c()", returned("1 : int"), Outcome("crashed", message="SIGSEGV")
)
KNOWN = replace(
    differ("known", "xp.k()", raised("E", "a"), raised("E", "b")),
    verdict="known",
    reason="<the reason> | of the \u202e ledger",
)
ABSENT = differ("absent", "xp.gone()", returned("1 : int"), Outcome("absent", message="xp.gone"))
CRASHED = differ("crashed", "xp.boom()", Outcome("crashed", message="SIGSEGV"), raised("E", "no"))
HUNG = differ("hung", "xp.loop()", Outcome("hung", message="10 s"), returned("1 : int"))
EXHAUSTED = differ("ate", "xp.eat()", Outcome("exhausted", message="2 GiB"), returned("1 : int"))
BOTH_CRASHED = differ(
    "both",
    "xp.both()",
    Outcome("crashed", message="SIGSEGV"),
    Outcome("crashed", message="SIGABRT"),
)
AGREE = differ("parse", "xp.p('Meta')", returned("1 : int"), returned("1 : int"))

MISMATCHES = [
    WRONG_TYPE,
    WRONG_WORD,
    WRONG_ORDER,
    MISSING_KEY,
    WARNING,
    SWALLOWED,
    LINES,
    LONG_MESSAGES,
    UNICODE,
    STRANGE,
    LOOK_ALIKE,
    SUBJECT_CRASH,
    BOTH_CRASHED,
]
UNJUDGED = [CRASHED, HUNG, EXHAUSTED]
PLANTED = [*MISMATCHES, KNOWN, ABSENT, *UNJUDGED, AGREE]


def agreeing(count: int, area: str = "keys") -> Iterator[Comparison]:
    for number in range(count):
        case = Case(area, f"target{number % 7}", f"xp.f({number})")
        yield compare(case, returned(f"{number} : int"), returned(f"{number} : int"))


def planted_run(**others: Any) -> report.Run:
    return report.build_run(PLANTED, facts(), seconds=1.5, **others)


def clean_run(torch: str = "2.4.1") -> report.Run:
    comparisons = itertools.chain(agreeing(40), agreeing(2, "tls"))
    return report.build_run(comparisons, facts(torch), planned={"keys": 40, "tls": 2})
