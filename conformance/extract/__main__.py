"""Command line: ``python -m conformance.extract --out mindtorch_v2/profile/data``."""

import argparse
import json
import lzma
import os
import pkgutil
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

# Third-party backends load themselves on ``import torch``; a profile holds torch alone.
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"

from conformance.extract import ExtractionError, __path__, extract
from conformance.processor import compute_the_same_everywhere

compute_the_same_everywhere()

#: Sections too large to be read in a diff.
COMPRESSED = {
    "bindings",
    "derivatives",
    "functionalization",
    "kernels",
    "opinfo",
    "refs",
    "registrations",
    "schemas",
    "signatures",
}


def main() -> int:
    """Extract every section, then put the directory of this release in place."""
    options = parse_arguments()
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".extract-", dir=out) as scratch:
        staged = Path(scratch) / "new"
        staged.mkdir()
        try:
            release = write_sections(staged)
        except ExtractionError as error:
            print(f"error: {error}\nNothing was written.", file=sys.stderr)
            return 1
        replace(staged, out / profile_name(release), Path(scratch) / "old")
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m conformance.extract", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="directory of all profiles")
    return parser.parse_args()


def sections() -> list[str]:
    """Every module of this package is a section, but for parts of one: ``_hints``."""
    found = (module.name for module in pkgutil.iter_modules(__path__))
    return sorted(name for name in found if not name.startswith("_"))


def write_sections(directory: Path) -> str:
    """Write each section into ``directory`` and answer the release they describe."""
    release = ""
    for section in sections():
        started = time.perf_counter()
        value = facts(section)
        release = value.get("release", release)
        compressed = section in COMPRESSED
        name = f"{section}.json.xz" if compressed else f"{section}.json"
        data = encode(value) if compressed else readable(value).encode()
        (directory / name).write_bytes(data)
        took = time.perf_counter() - started
        print(f"{name:24} {len(data):9,} bytes  {took:6.1f} s", flush=True)
    return release


def facts(section: str) -> dict[str, Any]:
    """What a section holds, from a process of its own.

    A profile is torch as it is after a plain ``import torch``.  What a section tries out may
    leave guards entered, operators registered, and more of torch imported.
    """
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(extract, section).result()


def profile_name(release: str) -> str:
    """``2.4.1`` is profile ``2.4``."""
    return ".".join(release.split(".")[:2])


def replace(staged: Path, target: Path, aside: Path) -> None:
    """Put ``staged`` where ``target`` is; if that fails, ``target`` is what it was."""
    if target.exists():
        target.rename(aside)
    try:
        staged.rename(target)
    except OSError:
        if aside.exists():
            aside.rename(target)
        raise


def encode(value: Any) -> bytes:
    """Compact JSON, xz-compressed with fixed settings: equal values give equal bytes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return lzma.compress(text.encode(), format=lzma.FORMAT_XZ, preset=9 | lzma.PRESET_EXTREME)


def readable(value: Any) -> str:
    """Indented JSON for diffs, a list of numbers on one line."""
    return indented(value, "") + "\n"


def indented(value: Any, margin: str) -> str:
    """``value`` as JSON text that continues a line at ``margin``."""
    inner = margin + "  "
    if isinstance(value, dict) and value:
        lines = [f"{inner}{json.dumps(k)}: {indented(v, inner)}" for k, v in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{margin}}}"
    if isinstance(value, list) and not all(isinstance(item, int) for item in value):
        lines = [inner + indented(item, inner) for item in value]
        return "[\n" + ",\n".join(lines) + f"\n{margin}]"
    return json.dumps(value)


if __name__ == "__main__":
    sys.exit(main())
