"""Facts in a form that loads fast, kept as Python keeps bytecode.

To unpack and parse the sections of a profile takes longer than to import the modules that look at
them.  So what came of it is written where bytecode is (``__pycache__``), in the format that
bytecode has, and is read from there as long as the file has the same time and size.  Where no
bytecode is written, neither is this.
"""

import marshal
import os
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.util import cache_from_source
from typing import Any

_HEADER = struct.Struct("<qq")
"""The time and the size of the file that the facts come from."""


def facts_of(path: str, parse: Callable[[bytes], Any]) -> Any:
    """What ``parse`` makes of a file's contents, or has made of them before."""
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        header = _HEADER.pack(status.st_mtime_ns, status.st_size)
        if sys.implementation.cache_tag is None:
            return parse(file.read())
        kept_at = cache_from_source(path)
        with suppress(OSError, EOFError, ValueError, TypeError), open(kept_at, "rb") as kept:
            if kept.read(_HEADER.size) == header:
                return marshal.loads(kept.read())
        value = parse(file.read())
    if not sys.dont_write_bytecode:
        with suppress(OSError):  # nobody has to be able to write there
            _write(kept_at, header + marshal.dumps(value))
    return value


def _write(path: str, data: bytes) -> None:
    """In one step: another process may read at the same time."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    written = f"{path}.{os.getpid()}"
    try:
        with open(written, "xb") as file:
            file.write(data)
        os.replace(written, path)
    except OSError:
        with suppress(OSError):
            os.unlink(written)
