"""The static site in the directory of reports: pages of runs, of their areas, and the index."""

from __future__ import annotations

from pathlib import Path

from conformance.report import area_page, history, index_page, release_page
from conformance.report.atomic import write_text
from conformance.report.model import Run
from conformance.report.places import INDEX
from conformance.report.places import area_page as place_of_area
from conformance.report.places import release_page as place_of_release
from conformance.report.shelf import Shelf


def write_run(run: Run, directory: Path) -> Path:
    """Write the pages of ``run`` and its areas; those of areas that it has no more go."""
    kept, _ = history.read(directory, run.stem)
    path = directory / place_of_release(run)
    pages = {directory / place_of_area(run, area): area for area in run.areas}
    for old in (directory / run.stem).glob("*.html"):
        if old not in pages:
            old.unlink()
    for place, area in pages.items():
        write_text(place, area_page.pieces(run, area, kept))
    write_text(path, release_page.pieces(run, kept))
    return path


def write_index(shelf: Shelf, directory: Path) -> Path:
    """Write the page over all runs that are in ``directory``."""
    path = directory / INDEX
    write_text(path, index_page.pieces(shelf))
    return path
