"""Functions of a module as pybind11 makes them.

Mirrors ``module_::def`` of ``pybind11/pybind11.h``.
"""

from __future__ import annotations

from collections.abc import Mapping

from mindtorch_v2.pybind.cast import Caster, Loader
from mindtorch_v2.pybind.function import Implementation, Overload, cpp_function
from mindtorch_v2.pybind.signature import parse_docstring


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
        name: cpp_function(
            name,
            tuple(
                Overload(signature, implementation, loaders, cast)
                for signature in parse_docstring(docs[name])
            ),
            docs[name],
        )
        for name, implementation in implementations.items()
        if name in docs
    }
