"""Every operator of the simulator against numpy: contiguous, strided, broadcast, empty."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from . import elementwise_cases, tensor_cases
from .sim.cases import Case, empty_of, in_place_of, run_case
from .sim.harness import Runtime

pytestmark = pytest.mark.npu

OUT_OF_PLACE = [*elementwise_cases.CASES, *tensor_cases.CASES]


def exported_operators(root: Path) -> set[str]:
    """The names in the library's table of symbols."""
    contents = (root / "lib64" / "libopapi.so").read_bytes()
    found = re.findall(rb"aclnn(\w+?)GetWorkspaceSize\0", contents)
    return {name.decode() for name in found}


def all_cases(root: Path) -> list[Case]:
    """The cases, and those of the in-place twins that the library has."""
    twins = {f"Inplace{case.name}": case for case in reversed(elementwise_cases.CASES)}
    exported = exported_operators(root)
    written = {case.name for case in OUT_OF_PLACE}
    derived = [in_place_of(c) for n, c in twins.items() if n in exported and n not in written]
    return [*OUT_OF_PLACE, *derived]


def test_every_exported_operator_has_a_case(simulator_root: Path) -> None:
    tested = {case.name for case in all_cases(simulator_root)} | tensor_cases.TESTED_ELSEWHERE
    assert exported_operators(simulator_root) - tested == set()


@pytest.mark.parametrize("case", OUT_OF_PLACE, ids=str)
def test_against_numpy(runtime: Runtime, case: Case) -> None:
    for layout in case.layouts:
        run_case(runtime, case, layout)
    if case.empty:
        run_case(runtime, empty_of(case), "contiguous")


def test_in_place_twins_against_numpy(runtime: Runtime, simulator_root: Path) -> None:
    for case in all_cases(simulator_root):
        if case.name.startswith("Inplace") and case not in OUT_OF_PLACE:
            run_case(runtime, case, "contiguous")
            run_case(runtime, case, "strided")
