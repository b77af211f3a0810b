"""What ``torch`` and ``torch._C`` have of the switches of the process.

Mirrors the functions of ``torch/csrc/Module.cpp`` that ask ``at::globalContext``, and what
``torch/__init__.py`` makes of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, partial
from types import ModuleType
from typing import Any, Final

from mindtorch_v2 import context
from mindtorch_v2.binding.python.function import module_function
from mindtorch_v2.binding.python.manual import value
from mindtorch_v2.binding.python.parser import ArgParser
from mindtorch_v2.binding.python.type_names import type_name

# --- torch._C -----------------------------------------------------------------------------------


@cache
def _deterministic() -> ArgParser:
    """Made when it is first asked for: imports parse no signature."""
    return ArgParser(["_set_deterministic_algorithms(bool mode, *, bool warn_only=False)"])


def _set_deterministic_algorithms(*args: Any, **kwargs: Any) -> None:
    parsed = _deterministic().parse(None, args, kwargs)
    context.set_deterministic_algorithms(
        value(parsed, "mode"), warn_only=value(parsed, "warn_only")
    )


def _set_fill(mode: Any) -> None:
    if not isinstance(mode, bool):
        raise RuntimeError(f"expected a bool, but got {type_name(mode)}")
    context.set_deterministic_fill_uninitialized_memory(mode)


def _set_threads(name: str, function: Callable[[int], None], count: Any) -> None:
    if isinstance(count, bool) or not isinstance(count, int):
        raise RuntimeError(f"{name} expects an int, but got {type_name(count)}")
    count = (count + 2**31) % 2**32 - 2**31  # C++ takes an int of what Python has
    if count <= 0:
        raise RuntimeError(f"{name} expects a positive integer")
    function(count)


def _threads(name: str) -> dict[str, Any]:
    """The function that asks for a number of threads, and the one that sets it."""
    ask, change = (getattr(context, f"{verb}_{name}") for verb in ("get", "set"))
    setter = partial(_set_threads, f"set_{name}", change)
    return {
        f"get_{name}": module_function(f"get_{name}", ask, 0, "torch"),
        f"set_{name}": module_function(f"set_{name}", setter, 1, "torch"),
    }


THREADS: Final[dict[str, Any]] = {
    **_threads("num_threads"),
    **_threads("num_interop_threads"),
}
"""What ``torch`` takes over as it is."""

_ASKED: Final = {
    "_get_deterministic_algorithms": context.deterministic_algorithms,
    "_get_deterministic_algorithms_warn_only": context.deterministic_algorithms_warn_only,
    "_get_deterministic_fill_uninitialized_memory": context.deterministic_fill_uninitialized_memory,
}

OF_C: Final[dict[str, Any]] = {
    **THREADS,
    **{name: module_function(name, function, 0) for name, function in _ASKED.items()},
    "_set_deterministic_algorithms": module_function(
        "_set_deterministic_algorithms", _set_deterministic_algorithms
    ),
    "_set_deterministic_fill_uninitialized_memory": module_function(
        "_set_deterministic_fill_uninitialized_memory", _set_fill, 1
    ),
}


# --- torch --------------------------------------------------------------------------------------


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Whether operators that may answer otherwise the next time are refused, or warned of."""
    _set_deterministic_algorithms(mode, warn_only=warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    return context.deterministic_algorithms()


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    return context.deterministic_algorithms_warn_only()


_MODES: Final = ("default", "warn", "error")


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """The same by a number or a word."""
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    wrong = "invalid value of debug_mode, expected"
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise RuntimeError(f"{wrong} one of `default`, `warn`, `error`, but got {debug_mode}")
        debug_mode = _MODES.index(debug_mode)
    if debug_mode not in range(len(_MODES)):
        raise RuntimeError(f"{wrong} 0, 1, or 2, but got {debug_mode}")
    context.set_deterministic_algorithms(debug_mode != 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode() -> int:
    if not context.deterministic_algorithms():
        return 0
    return 1 if context.deterministic_algorithms_warn_only() else 2


OF_TORCH: Final[dict[str, Any]] = {
    **THREADS,
    **{
        function.__name__: function
        for function in (
            use_deterministic_algorithms,
            are_deterministic_algorithms_enabled,
            is_deterministic_algorithms_warn_only_enabled,
            set_deterministic_debug_mode,
            get_deterministic_debug_mode,
        )
    },
}


class Deterministic(ModuleType):
    """The class of ``torch.utils.deterministic``, which has an attribute that is a switch."""

    @property
    def fill_uninitialized_memory(self) -> bool:
        """Whether new memory has known contents while algorithms are deterministic."""
        return context.deterministic_fill_uninitialized_memory()

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode: Any) -> None:
        _set_fill(mode)


def make_deterministic(module: str) -> None:
    """Give a module that is imported the switch."""
    sys.modules[module].__class__ = Deterministic
