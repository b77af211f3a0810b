"""Rows: an operator, and how it is called in ACLNN.

    @row("aten::mm")
    def mm(b: Builder, self: Tensor, mat2: Tensor) -> Tensor:
        b.launch("Mm", self, mat2, b.out, b.cube_math_type)
        return b.out

A row is a function of a :class:`~mindtorch_v2.kernels.npu.plans.Builder` and the operator's
arguments, as kernels get them; it names the calls and answers what the operator answers.  What it
cannot do it leaves to the CPU's kernel by UnsupportedError, which the builder raises by itself for
dtypes that ACLNN does not take.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from mindtorch_v2.kernels.npu.plans import Builder

Compose = Callable[..., Any]
"""From a builder and the operator's arguments to its answer."""
AnyCompose = TypeVar("AnyCompose", bound=Compose)

ROWS: Final[dict[str, Compose]] = {}
"""By the operator's full name."""


def row(*names: str) -> Callable[[AnyCompose], AnyCompose]:
    """Make a function the row of operators; ValueError if one of them has one."""

    def register(compose: AnyCompose) -> AnyCompose:
        for name in names:
            add(name, compose)
        return compose

    return register


def add(name: str, compose: Compose) -> None:
    """The same as a call."""
    if name in ROWS:
        raise ValueError(f"{name} has a row already")
    ROWS[name] = compose


__all__ = ["ROWS", "Builder", "Compose", "add", "row"]
