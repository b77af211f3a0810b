"""What stands for a class's ``__torch_dispatch__`` where one operator is concerned.

Mirrors ``find_torch_dispatch_rule`` in ``torch/_library/simple_registry.py``, which
``torch/csrc/utils/python_arg_parser.cpp`` asks of every call that a mode or a tensor overrides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

Rule = Callable[..., Any]
"""Is called with the mode, or the tensor's class, and then as ``__torch_dispatch__`` is."""

RULES: Final[dict[tuple[str, type], Rule]] = {}
"""By the operator's full name and the class of modes or tensors; mostly there are none."""


def find_torch_dispatch_rule(op: Any, torch_dispatch_class: type) -> Rule | None:
    """The rule that a class has for an operator, or for one of its overloads."""
    return RULES.get((op.__qualname__, torch_dispatch_class))
