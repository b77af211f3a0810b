"""``torch-<version>.xml``: a run for the tools that read JUnit's form.

One test suite per area.  In it, one test case per target stands for all the cases that agree,
and each differing case has a test case of its own: a failure, or skipped when the ledger
lists it, the subject lacks the name, or the oracle did not survive it.  A last suite, ``run``,
holds what concerns no area.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from conformance.compare import Comparison
from conformance.report.atomic import write_text
from conformance.report.marks import command, inline, marked, sides, visible
from conformance.report.model import AreaResult, Run, number

FACTS: Final = ("full_version", "git_hash", "platform", "python", "suite", "subject", "profile")


def write(run: Run, path: Path) -> None:
    write_text(path, [render(run)])


def render(run: Run) -> str:
    """The report as XML 1.0; characters that XML cannot hold are shown as ``<U+…>``."""
    root = Element("testsuites", name=f"conformance {run.stem}", time=f"{run.seconds:.3f}")
    for area in run.areas:
        root.append(_area(run, area))
    root.append(_run(run))
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n'


def _area(run: Run, area: AreaResult) -> Element:
    suite = _suite(run, area.name)
    for target in area.targets:
        if target.counts.agree:
            test = _test(suite, area.name, target.name)
            _text(test, "system-out", f"{number(target.counts.agree, 'case')} agree")
    for comparison in area.differing:
        _single(suite, run, comparison)
    for comparison in area.casualties:
        if comparison.verdict == "unjudged":
            _single(suite, run, comparison)
    return _counted(suite)


def _single(suite: Element, run: Run, comparison: Comparison) -> None:
    case = comparison.case
    test = _test(suite, case.area, case.id.removeprefix(f"{case.area}/"))
    if comparison.verdict == "mismatch":
        failure = _text(test, "failure", describe(run, comparison))
        failure.set("type", "mismatch")
        failure.set("message", visible(case.text))
    else:
        SubElement(test, "skipped", message=visible(_skip_reason(run, comparison)))
        _text(test, "system-out", describe(run, comparison))


def _skip_reason(run: Run, comparison: Comparison) -> str:
    if comparison.verdict == "known":
        return f"known: {comparison.reason}"
    if comparison.verdict == "unjudged":
        return f"unjudged: PyTorch itself {comparison.oracle}"
    return f"absent from {run.facts.subject}"


def describe(run: Run, comparison: Comparison) -> str:
    """A differing case, whole, as plain text that is safe to print."""
    left, right = sides(comparison)
    return visible(
        "\n".join(
            [
                comparison.case.id,
                comparison.case.text,
                f"PyTorch {run.facts.torch}: {left}",
                f"{run.facts.subject}: {right}",
                f"difference: {inline(marked(comparison))}",
                f"reproduce: {command(comparison, run.facts)}",
            ]
        )
    )


def _run(run: Run) -> Element:
    """What failed or stopped the run besides its cases."""
    suite = _suite(run, "run")
    facts = SubElement(suite, "properties")
    for name in FACTS:
        SubElement(facts, "property", name=name, value=visible(str(getattr(run.facts, name))))
    finished = _test(suite, "run", "finished")
    if not run.complete:
        error = _text(finished, "error", "\n".join((run.verdict, *run.notes)))
        error.set("message", "the run was cut short")
    for entry in run.stale:
        test = _test(suite, "ledger", entry)
        failure = _text(test, "failure", f"{entry}: no case that it matches differs; remove it")
        failure.set("message", "stale ledger entry")
    return _counted(suite)


def _suite(run: Run, name: str) -> Element:
    return Element("testsuite", name=visible(name), timestamp=run.facts.started[:19])


def _test(suite: Element, area: str, name: str) -> Element:
    classname = f"conformance.{visible(area)}"
    return SubElement(suite, "testcase", classname=classname, name=visible(name))


def _text(parent: Element, tag: str, text: str) -> Element:
    element = SubElement(parent, tag)
    element.text = visible(text)
    return element


def _counted(suite: Element) -> Element:
    counts = {
        "tests": len(suite.findall("testcase")),
        "failures": len(suite.findall("testcase/failure")),
        "errors": len(suite.findall("testcase/error")),
        "skipped": len(suite.findall("testcase/skipped")),
    }
    for name, count in counts.items():
        suite.set(name, str(count))
    return suite
