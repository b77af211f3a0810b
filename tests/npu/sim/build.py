"""Builds the simulated runtime with the system's C compiler.

An installation is made as Ascend's would be found: a root with ``lib64/libascendcl.so``,
``lib64/libnnopbase.so`` and ``lib64/libopapi.so``, to which ``ASCEND_HOME_PATH`` points.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

__all__ = ["CompilerMissingError", "build", "find_compiler"]

SOURCES: Final = Path(__file__).parent
#: Library, folder of its sources, libraries it needs: in the order in which they are linked.
LIBRARIES: Final = (
    ("libascendcl.so", "runtime", ()),
    ("libnnopbase.so", "nnopbase", ("ascendcl",)),
    ("libopapi.so", "opapi", ("nnopbase", "ascendcl")),
)
COMPILE: Final = (
    *("-std=gnu11", "-D_GNU_SOURCE", "-fPIC", "-fwrapv", "-fvisibility=hidden", "-pthread"),
    *("-Wall", "-Wextra", "-Werror"),
)
#: Tests are small and a build happens before the first: it must not take long.
PLAIN: Final = ("-O0",)
SANITIZE: Final = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-omit-frame-pointer")


class CompilerMissingError(Exception):
    """There is no C compiler on this machine."""


def find_compiler() -> str:
    """The compiler that ``CC`` names, else ``cc``; raises `CompilerMissingError`."""
    name = os.environ.get("CC", "cc")
    found = shutil.which(name)
    if found is None:
        raise CompilerMissingError(f"no C compiler ({name}) is on the path")
    return found


def build(cache: Path, *, sanitize: bool = False, missing: Sequence[str] = ()) -> Path:
    """The root of an installation under ``cache``, built unless it is there already.

    ``sanitize`` adds the address, undefined-behaviour and leak sanitisers.  ``missing`` names
    operators (``"Square"``) that this installation does not export.
    """
    compiler = find_compiler()
    flags = [*COMPILE, *(SANITIZE if sanitize else PLAIN)]
    root = cache / _key(compiler, flags, missing)
    if not root.exists():
        cache.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=cache, prefix="building-"))
        try:
            _make(compiler, flags, made, missing)
            made.rename(root)
        except OSError:
            # Another process was faster: its build is as good.
            if not root.exists():
                raise
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return root


def _key(compiler: str, flags: Sequence[str], missing: Sequence[str]) -> str:
    """What the build depends on, in short."""
    digest = hashlib.sha256(repr((compiler, flags, tuple(missing))).encode())
    for source in sorted((*SOURCES.rglob("*.c"), *SOURCES.rglob("*.h"))):
        digest.update(str(source.relative_to(SOURCES)).encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _make(compiler: str, flags: Sequence[str], root: Path, missing: Sequence[str]) -> None:
    objects, libraries = root / "objects", root / "lib64"
    objects.mkdir()
    libraries.mkdir()
    sources = [source for _, folder, _ in LIBRARIES for source in (SOURCES / folder).glob("*.c")]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda source: _compile(compiler, flags, source, objects), sources))
    for name, folder, needs in LIBRARIES:
        parts = [str(_object_of(source, objects)) for source in (SOURCES / folder).glob("*.c")]
        links = [f"-L{libraries}", *(f"-l{need}" for need in needs), "-Wl,-rpath,$ORIGIN", "-lm"]
        hidden = _hiding(missing, objects) if folder == "opapi" else []
        target = ["-o", str(libraries / name)]
        _run([compiler, *flags, "-shared", *target, *parts, *hidden, *links])
    shutil.rmtree(objects)


def _compile(compiler: str, flags: Sequence[str], source: Path, objects: Path) -> None:
    _run([compiler, *flags, "-c", str(source), "-o", str(_object_of(source, objects))])


def _object_of(source: Path, objects: Path) -> Path:
    return objects / f"{source.parent.name}-{source.stem}.o"


def _hiding(missing: Sequence[str], objects: Path) -> list[str]:
    """Linker arguments that keep operators out of the library's exports."""
    if not missing:
        return []
    names = [f"aclnn{name}{phase};" for name in missing for phase in ("GetWorkspaceSize", "")]
    script = objects / "exports.map"
    script.write_text("{ local: " + " ".join(names) + " };\n")
    return [f"-Wl,--version-script={script}"]


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
