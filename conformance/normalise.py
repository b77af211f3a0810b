"""The rules that take out of an outcome what no two runs can have in common.

There are five, and each is named, has its reason, and has a test that shows it cannot hide a
difference (tests/unit/test_normalise.py).  Everything else is compared to the letter.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from conformance.describe import Description
from conformance.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Rule:
    """A rewrite of text.  ``reason`` says why the text it takes out cannot be compared.

    ``literal`` is in every text that the pattern matches: the many without it are not searched.
    """

    name: str
    reason: str
    literal: str
    pattern: re.Pattern[str]
    replacement: str | Callable[[re.Match[str]], str]

    def __call__(self, text: str) -> str:
        return self.pattern.sub(self.replacement, text) if self.literal in text else text


MEMORY_ADDRESS: Final = Rule(
    "memory-address",
    "the default repr of an object ends in its address",
    " at 0x",
    re.compile(r" at 0x[0-9a-f]+>"),
    " at 0x…>",
)
REGISTRATION_SOURCE: Final = Rule(
    "registration-source",
    "a kernel registered from Python is shown with the file and line that registered it",
    ".py:",
    re.compile(r'\b(registered|implemented) at [^\s:…\\"]+\.py:\d+(?!\w)', re.ASCII),
    r"\1 at ….py:…",
)
_FRAMES: Final = (
    r"(?:{newline}Exception raised from {other}+ \(most recent call first\):"
    r"(?:{newline}C\+\+ CapturedTraceback:|{newline}<omitting python frames>"
    r"|{newline}(?:frame #\d+:|#\d+) {other}*)+)+{end}"
)
_PLAIN: Final = _FRAMES.format(newline=r"\n", other=r"[^\n]", end=r"(?:\n\Z)?")
_QUOTED: Final = _FRAMES.format(
    newline=r"\\n", other=r"(?:(?!\\n)[^\n])", end=r"""\\n(?=['"] : str\Z)"""
)
"""In a message that is a value, of which a description has the ``repr``."""

INTERPRETER_FRAMES: Final = Rule(
    "interpreter-frames",
    "a C++ error that is put into a message, and with TORCH_SHOW_CPP_STACKTRACES every one, has "
    "the frames of the interpreter's binary behind its own words",
    "Exception raised from ",
    re.compile(f"{_PLAIN}|{_QUOTED}"),
    "",
)

_STRING: Final = " : str"

BOTH_SIDES: Final = (MEMORY_ADDRESS, REGISTRATION_SOURCE, INTERPRETER_FRAMES)


@cache
def subject_module(name: str) -> Rule:
    """The fourth rule, for the subject alone: its module's name stands for torch's."""
    return Rule(
        "subject-module",
        "the subject's classes live in the subject's module, torch's in torch",
        name,
        re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])"),
        "torch",
    )


def _as_cpu(found: re.Match[str]) -> str:
    if found["npu"] is not None:
        return "cpu" + (found["quote"] or "")
    return {"NPU": "CPU", "cpu": "host", "torch.npu.": "torch."}.get(found[0], "")


DEVICE_NAME: Final = Rule(
    "device-name",
    "the fifth, for the subject in cases that run on its NPU: torch runs them on the CPU, which it "
    "shows with fewer words.  The CPU itself is called host, so what is on the wrong one of the "
    "two differs still; a folder of PyTorch's sources keeps its name",
    "",
    re.compile(
        r",(?: |\n +)device=\\?'npu:0\\?'|torch\.npu\.|NPU|(?<!/)\bcpu\b(?!/)"
        r"|(?P<npu>\bnpu\b)(?::0\b|(?P<quote>\\?'), index=0)?"
    ),
    _as_cpu,
)


def normalise(outcome: Outcome, rules: tuple[Rule, ...]) -> Outcome:
    """``outcome`` with every text of it rewritten by ``rules``, in their order."""
    told = _told(outcome)
    wanted = [rule for rule in rules if rule.literal in told]
    if not wanted:
        return outcome

    def rewrite(text: str) -> str:
        for rule in wanted:
            text = rule(text)
        return text

    return Outcome(
        outcome.kind,
        None if outcome.value is None else _rewrite_value(outcome.value, rewrite),
        rewrite(outcome.type),
        rewrite(outcome.message),
        tuple((rewrite(category), rewrite(text)) for category, text in outcome.warnings),
        outcome.uncovered,
    )


def _told(outcome: Outcome) -> str:
    """A text that has every literal that a text of ``outcome`` has: ``repr`` keeps what is ASCII,
    but quotes and backslashes."""
    value = "" if outcome.value is None else repr(outcome.value)
    warned = repr(outcome.warnings) if outcome.warnings else ""
    return "\n".join((value, outcome.type, outcome.message, warned))


def _rewrite_value(value: Description, rewrite: Callable[[str], str]) -> Description:
    rewritten: Description = _rewrite(value, rewrite)
    return rewritten


def _rewrite(value: Any, rewrite: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return _quoted_again(value, rewrite(value))
    if isinstance(value, list):
        return [_rewrite(item, rewrite) for item in value]
    if isinstance(value, dict):
        return {key: _rewrite(item, rewrite) for key, item in value.items()}
    return value


def _quoted_again(shown: str, rewritten: str) -> str:
    """``rewritten``, quoted as a string without what was taken out is: that may have been what
    ``repr`` chose the other quotes for."""
    if rewritten != shown and shown.endswith(_STRING):
        with suppress(SyntaxError, ValueError):  # of a string that is shown shortened
            return repr(literal_eval(rewritten.removesuffix(_STRING))) + _STRING
    return rewritten
