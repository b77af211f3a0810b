"""``import mindtorch_v2``: what it brings along, what it reads, and what it needs to be told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from mindtorch_v2 import profile

ROOT: Final = Path(profile.__file__).parents[2]

IMPORTED: Final = """
import json, sys
before = set(sys.modules)
import mindtorch_v2
print(json.dumps(sorted(name.partition(".")[0] for name in set(sys.modules) - before)))
"""
OPENED: Final = """
import json, sys
opened = []
sys.addaudithook(lambda event, args: event == "open" and opened.append(str(args[0])))
import mindtorch_v2
opened = [path.replace("\\\\", "/") for path in opened if "__pycache__" not in path]
print(json.dumps([path for path in opened if "/profile/data/" in path]))
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
parsed = []
def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_name == "parse_schema" and "mindtorch" in code.co_filename:
        parsed.append(frame.f_locals["text"].partition("(")[0])
sys.setprofile(note)
import mindtorch_v2
at_import = list(parsed)
mindtorch_v2.ops.aten.relu.out
sys.setprofile(None)
print(json.dumps([at_import, parsed]))
"""


every_profile: Final = pytest.mark.parametrize("name", profile.known())


@every_profile
def test_nothing_but_numpy_and_the_standard_library_is_imported(name: str) -> None:
    imported = set(answer(IMPORTED, name))
    assert "mindtorch_v2" in imported
    ours = {"mindtorch_v2", "numpy"}
    assert imported - ours <= sys.stdlib_module_names


@every_profile
def test_torch_is_not_imported_even_if_it_is_there(name: str, tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise SystemExit('torch was imported')")
    done = python(
        "import mindtorch_v2",
        **{profile.ENVIRONMENT: name, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
    )
    assert (done.returncode, done.stderr) == (0, "")


@every_profile
def test_no_operator_facts_are_read(name: str) -> None:
    """Schemas, registrations and formulas are the big sections: they wait until asked for."""
    opened = {Path(path) for path in answer(OPENED, name)}
    assert {path.parent.name for path in opened} == {name}
    sections = {path.name.partition(".")[0] for path in opened}
    assert sections >= {"keys", "bindings"}
    assert sections.isdisjoint({"schemas", "registrations", "derivatives"})


@every_profile
def test_kernels_and_packages_beside_the_tensors_wait_until_they_are_named(name: str) -> None:
    names = ("kernels.install", "library", "nn", "npu", "optim")
    later = [f"mindtorch_v2.{each}" for each in names]
    there = "[each for each in later if each in sys.modules]"
    code = f"""
import json, sys, mindtorch_v2 as xp
later = {later!r}
at_import = {there}
assert set(dir(xp)) >= {{"library", "nn", "npu", "optim"}}
xp.nn, xp.npu, xp.optim, xp.library, xp.add(xp.ones(1), 1)
print(json.dumps([at_import, {there}]))"""
    assert answer(code, name) == [[], later]


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
    code = """
import gc, json, mindtorch_v2
from mindtorch_v2.binding.python.signature import Signature
print(json.dumps(sum(isinstance(each, Signature) for each in gc.get_objects())))"""
    assert answer(code, name) == 0
    first_use = "\ntry: mindtorch_v2.numel(1)\nexcept TypeError: pass\nfrom"
    assert answer(code.replace("\nfrom", first_use), name) == 1


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
    code = "import json, mindtorch_v2; print(json.dumps(mindtorch_v2._C._dispatch_num_backends()))"
    assert answer(code, name) == len(profile.load(name).keys.backends)
    assert answer(code, "") == len(profile.load(profile.DEFAULT).keys.backends)


@every_profile
def test_every_public_name_is_there(name: str) -> None:
    code = """
import json, mindtorch_v2
print(json.dumps([n for n in mindtorch_v2.__all__ if not hasattr(mindtorch_v2, n)]))
"""
    assert answer(code, name) == []
