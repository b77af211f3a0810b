"""Files that are either the old ones or the new ones, and nothing in between."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path


def write_text(path: Path, pieces: Iterable[str]) -> None:
    """Write ``pieces`` to ``path`` as UTF-8: to a file beside it first, then in one step.

    Whoever reads ``path`` meanwhile, or after an interruption, finds a whole file.
    """
    write_bytes(path, (piece.encode() for piece in pieces))


def write_bytes(path: Path, pieces: Iterable[bytes]) -> None:
    """The same for what is no text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(handle, "wb") as file:
            file.writelines(pieces)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    """The process's umask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
