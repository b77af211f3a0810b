"""Functions of a module as pybind11 makes them.

Mirrors ``module_::def`` of ``pybind11/pybind11.h``.
"""

from __future__ import annotations

from collections.abc import Mapping

from mindtorch_v2.pybind.cast import Caster, Loader
from mindtorch_v2.pybind.function import Implementation, cpp_function


def bound_functions(
    docs: Mapping[str, str],
    implementations: Mapping[str, Implementation],
    loaders: Mapping[str, Loader] | None = None,
    cast: Caster | None = None,
) -> dict[str, cpp_function]:
    """Those of the implementations that this release has, by name.

    ``docs`` are the release's docstrings; ``loaders`` is for parameters whose C++ type the
    signature does not tell, and ``cast`` for a result whose it does not.
    """
    return {
        name: cpp_function.documented(name, docs[name], implementation, loaders, cast)
        for name, implementation in implementations.items()
        if name in docs
    }
