"""Imports the modules of a package, which is what puts their rows and bodies in the tables."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType


def import_modules(package: ModuleType, apart: tuple[str, ...] = ()) -> None:
    """Import every module of ``package`` and of the packages in it, but for those ``apart``."""
    for module in iter_modules(package.__path__, f"{package.__name__}."):
        if module.name in apart:
            continue
        found = import_module(module.name)
        if module.ispkg:
            import_modules(found, apart)
