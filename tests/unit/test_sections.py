"""What makes a profile: every module of ``conformance.extract`` is a section, but its parts."""

import ast
from pathlib import Path

import pytest

from conformance.extract import __main__ as extraction
from mindtorch_v2 import profile

DIRECTORY = Path(extraction.__file__).parent


@pytest.mark.parametrize("section", extraction.sections())
def test_a_section_can_be_extracted(section: str) -> None:
    module = ast.parse((DIRECTORY / f"{section}.py").read_text())
    assert "extract" in {each.name for each in module.body if isinstance(each, ast.FunctionDef)}


def test_the_sections_are_those_of_a_profile() -> None:
    data = Path(profile.__file__).parent / "data" / "2.4"
    assert {path.name.partition(".")[0] for path in data.iterdir()} == set(extraction.sections())
