"""The command in a report that shows a case again."""

import shlex
import subprocess
from dataclasses import replace

from fakes import patient
from hypothesis import given
from hypothesis import strategies as st

from conformance.case import Case
from conformance.compare import compare
from conformance.outcome import Outcome
from conformance.report.marks import command, shell_quote

CASE = Case("keys", "DispatchKey |", "xp._C.DispatchKey.CPU")
RETURNED = Outcome("returned", "1 : int")
RAISED = Outcome("raised", type="ValueError", message="no")


def test_a_comparison_is_reproduced_by_the_cases_text() -> None:
    case = replace(CASE, text="a = 'x'")
    reproduce = command(compare(case, RETURNED, RAISED))
    assert shlex.split(reproduce) == ["nox", "-s", "reproduce", "--", "a = 'x'"]


@patient
@given(st.text())
def test_a_quoted_text_is_one_word_of_a_shell(text: str) -> None:
    assert shlex.split(shell_quote(text)) == [text]


def test_a_shell_takes_a_quoted_text_as_it_is() -> None:
    text = "a = \"$HOME\" + '`id`' + '\\n' * 2 # !! \\\n\t'é€' "
    script = f"printf %s {shell_quote(text)}"
    assert subprocess.run(["sh", "-c", script], capture_output=True).stdout.decode() == text
