"""NumPy, imported when somebody first asks it for something.

It takes as long to import as all of this package, and who defines operators or looks at schemas
does not need it.  What the package imports at once has ``np`` from here; what comes late, as the
kernels do, imports NumPy as anybody does.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["np"]


class Later(ModuleType):
    """Stands for a module, and has everything that is in there once it was asked for anything."""

    def __getattr__(self, name: str) -> Any:
        module = import_module(self.__name__)
        self.__dict__.update(module.__dict__)
        self.__class__ = ModuleType  # which is as fast as the module
        return getattr(module, name)


if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")
