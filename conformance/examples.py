"""The example database: what hypothesis found to fail, tried first wherever it is at hand.

Hypothesis keeps such a find as the choices that made it, which mean something to the strategy that
made them alone; a report has the line.  A find is under the name of its area, since the tests of
all areas are one function.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from hypothesis import settings
from hypothesis.database import (
    DirectoryBasedExampleDatabase,
    ExampleDatabase,
    GitHubArtifactDatabase,
    MultiplexedDatabase,
    ReadOnlyDatabase,
)

LOCAL: Final = ".hypothesis/examples"
GITHUB: Final = "github:"
ARTIFACT: Final = re.compile(r"github:([\w.-]+)/([\w.-]+)(?:/([\w.-]+))?")


class ExamplesError(ValueError):
    """No example database can be used like that; the message says why."""


def keep(named: str, profile: str) -> None:
    """Have the hypothesis profile of this name keep its finds in a database, and try those first.

    ``named`` is a directory, or ``github:OWNER/REPOSITORY[/ARTIFACT]``: see :func:`database`.
    ExamplesError if there is none of that name, or the profile draws the same cases every time.
    """
    found = settings.get_profile(profile)
    if found.derandomize:
        raise ExamplesError(
            f"the hypothesis profile {profile} draws the same cases every time and keeps none: "
            "choose --hypothesis-profile=dev or nightly"
        )
    settings.register_profile(profile, found, database=database(named))
    settings.load_profile(profile)


def database(named: str) -> ExampleDatabase:
    """A directory; or the newest artifact of a repository on GitHub that is called ARTIFACT
    (hypothesis-example-db), which is read, with what is found here kept in this directory.

    GITHUB_TOKEN is what GitHub asks for before it hands out an artifact.
    """
    if not named.startswith(GITHUB):
        return DirectoryBasedExampleDatabase(named)
    match = ARTIFACT.fullmatch(named)
    if match is None:
        raise ExamplesError(f"{named!r} is not of the form github:OWNER/REPOSITORY[/ARTIFACT]")
    shared = GitHubArtifactDatabase(*filter(None, match.groups()))
    return MultiplexedDatabase(DirectoryBasedExampleDatabase(LOCAL), ReadOnlyDatabase(shared))


def keep_under(name: str, test: Callable[[], Any]) -> None:
    """Keep a test's finds apart from those of others that have the same text.

    A test that is told the name itself has a database also where a seed is given, which a run of
    the suite always does to be found again; hypothesis' find() tells its test in this way.
    """
    test._hypothesis_internal_database_key = name.encode()  # type: ignore[attr-defined]
