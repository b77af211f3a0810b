"""``import mindtorch_v2``: what it brings along, what it reads, and what it needs to be told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from mindtorch_v2 import profile

ROOT: Final = Path(profile.__file__).parents[2]

FOUND: Final = """
import gc, json, sys
before, opened = set(sys.modules), []
sys.addaudithook(lambda event, args: event == "open" and opened.append(str(args[0])))
import mindtorch_v2 as xp
imported = sorted(name.partition(".")[0] for name in set(sys.modules) - before)
paths = [path.replace("\\\\", "/") for path in opened if "__pycache__" not in path]
later = [f"mindtorch_v2.{each}" for each in ("kernels.install", "library", "nn", "npu", "optim")]
later.append("numpy")
at_import = [each for each in later if each in sys.modules]
from mindtorch_v2.binding.python.signature import Signature
def signatures():
    return sum(isinstance(each, Signature) for each in gc.get_objects())
parsed = [signatures()]
try: xp.numel(1)
except TypeError: pass
parsed.append(signatures())
shown = dir(xp)
xp.nn, xp.npu, xp.optim, xp.library, xp.add(xp.ones(1), 1)
print(json.dumps({
    "imported": imported,
    "opened": [path for path in paths if "/profile/data/" in path],
    "backends": xp._C._dispatch_num_backends(),
    "shown": shown,
    "at import": at_import,
    "not yet": [each for each in later if each not in sys.modules],
    "signatures": parsed,
    "missing": [name for name in xp.__all__ if not hasattr(xp, name)],
}))
"""


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {name: v for name, v in os.environ.items() if name != profile.ENVIRONMENT}
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**variables, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def answer(code: str, name: str) -> Any:
    done = python(code, **{profile.ENVIRONMENT: name})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


PARSED: Final = """
import json, sys
PARSERS = ("parse_schema", "parse_printed_schema")
parsed = []
def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_name in PARSERS and "mindtorch" in code.co_filename:
        parsed.append(frame.f_locals["text"].partition("(")[0])
sys.setprofile(note)
import mindtorch_v2
at_import = list(parsed)
mindtorch_v2.ops.aten.relu.out
sys.setprofile(None)
print(json.dumps([at_import, parsed]))
"""


every_profile: Final = pytest.mark.parametrize("name", profile.known())


@cache
def found(name: str) -> dict[str, Any]:
    """What one process that imports the package, and then uses it a little, sees of it."""
    found: dict[str, Any] = answer(FOUND, name)
    return found


@every_profile
def test_nothing_but_numpy_and_the_standard_library_is_imported(name: str) -> None:
    imported = set(found(name)["imported"])
    assert "mindtorch_v2" in imported
    ours = {"mindtorch_v2", "numpy"}
    assert imported - ours <= sys.stdlib_module_names


def test_torch_is_not_imported_even_if_it_is_there(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise SystemExit('torch was imported')")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = python("import mindtorch_v2", PYTHONPATH=path)
    assert (done.returncode, done.stderr) == (0, "")


@every_profile
def test_no_operator_facts_are_read(name: str) -> None:
    """Schemas, registrations and formulas are the big sections: they wait until asked for."""
    opened = {Path(path) for path in found(name)["opened"]}
    assert {path.parent.name for path in opened} == {name}
    sections = {path.name.partition(".")[0] for path in opened}
    assert sections >= {"keys", "bindings"}
    assert sections.isdisjoint({"schemas", "registrations", "derivatives"})


@every_profile
def test_numpy_kernels_and_packages_beside_the_tensors_wait_until_they_are_named(name: str) -> None:
    seen = found(name)
    assert set(seen["shown"]) >= {"library", "nn", "npu", "optim"}
    assert (seen["at import"], seen["not yet"]) == ([], [])


@pytest.mark.parametrize("before", ["gc.enable()", "gc.disable()", "gc.freeze()"])
def test_the_collector_goes_on_as_it_was(before: str) -> None:
    code = f"""
import gc, json
{before}
was = gc.isenabled(), bool(gc.get_freeze_count())
import mindtorch_v2
print(json.dumps([was, [gc.isenabled(), bool(gc.get_freeze_count())]]))"""
    was, now = answer(code, profile.DEFAULT)
    assert now == was


@every_profile
def test_no_signature_is_parsed(name: str) -> None:
    """Before the first call, which parses its own."""
    assert found(name)["signatures"] == [0, 1]


@every_profile
def test_first_use_of_an_operator_parses_its_own_schema_only(name: str) -> None:
    at_import, parsed = answer(PARSED, name)
    assert at_import == []
    assert parsed == ["aten::relu.out"]


def test_an_unknown_profile_is_an_error_that_lists_the_known_ones() -> None:
    done = python("import mindtorch_v2", **{profile.ENVIRONMENT: "9.9"})
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "UnknownProfileError: unknown profile '9.9'" in last
    assert f"known profiles: {', '.join(profile.known())}" in last


@every_profile
def test_the_environment_chooses_the_release_that_is_mirrored(name: str) -> None:
    assert found(name)["backends"] == len(profile.load(name).keys.backends)


def test_an_empty_variable_chooses_none() -> None:
    code = "import json, mindtorch_v2; print(json.dumps(mindtorch_v2._C._dispatch_num_backends()))"
    assert answer(code, "") == len(profile.load(profile.DEFAULT).keys.backends)


@every_profile
def test_every_public_name_is_there(name: str) -> None:
    assert found(name)["missing"] == []
