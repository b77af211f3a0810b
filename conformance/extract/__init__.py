"""Extract the profile of the installed torch release.

    python -m conformance.extract --out mindtorch_v2/profile/data

runs inside the environment of one release and writes ``<out>/<major.minor>/``, one file for
each section.  A section is a module here with one function, ``extract``, that asks torch for
facts and answers a value JSON can hold.  Nothing here imports mindtorch_v2.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any


class ExtractionError(Exception):
    """Torch does not have the shape a section relies on; nothing has been written."""


def require(condition: bool, message: str) -> None:
    """Stop the extraction with ``message`` unless ``condition`` holds."""
    if not condition:
        raise ExtractionError(message)


def extract(section: str) -> dict[str, Any]:
    """What the module of that name finds in the installed torch."""
    facts: dict[str, Any] = import_module(f"{__name__}.{section}").extract()
    return facts


# --- asking torch -----------------------------------------------------------------------------


def takes(call: Callable[[], object]) -> bool:
    """Whether a call is taken.  With which exception it is refused differs between releases."""
    try:
        call()
    except Exception:
        return False
    return True


def said(call: Callable[[], object]) -> str:
    """The message of what a call raises, or nothing."""
    try:
        call()
    except Exception as error:
        return str(error)
    return ""
