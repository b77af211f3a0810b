"""What C++ says of Python: the module that has an operator's fake implementation, and its lack;
which kernels torch itself has registered from there.

Mirrors ``Dispatcher::registerPythonModule`` of ``aten/src/ATen/core/dispatch/Dispatcher.cpp`` and
``aten/src/ATen/core/MetaFallbackKernel.cpp``.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from string import Template
from typing import Final

from mindtorch_v2 import profile


@cache
def _python_modules() -> dict[str, tuple[str, str]]:
    return {
        name: (stub["module"], stub["context"])
        for stub in profile.active().library["pystubs"]
        for name in stub["operators"]
    }


def python_module(name: str) -> tuple[str, str] | None:
    """The module that was named for an operator by its full name, and in which context."""
    return _python_modules().get(name)


def is_in_python(name: str, key: str) -> bool:
    """Whether torch itself has registered a kernel at a key for an operator by its full name, from
    Python."""
    facts = profile.active().registrations
    operator = facts["operators"].get(name)
    return operator is not None and any(
        at == key and _IN_PYTHON.search(facts["texts"][debug])
        for at, debug, *_ in operator["kernels"]
    )


_IN_PYTHON: Final = re.compile(r"/dev/null:\d|\.py:\d")
"""Where releases say that a kernel in Python was registered."""


def no_meta_kernel(name: str) -> NotImplementedError:
    """What the fallback at Meta says of a call of an operator by its full name."""
    found = python_module(name)
    if found is None:
        (text,) = profile.active().library["messages"]["no meta kernel"]
        return NotImplementedError(Template(text).safe_substitute(name=name))
    module, context = found
    text = f"{name}: We could not find the fake impl for this operator. "
    if module not in sys.modules:
        text += (
            f"The operator specified that you may need to import the '{module}' Python module to "
            f"load the fake impl. {context}"
        )
    return NotImplementedError(text)
