"""Imports every module of rows, and has the dispatcher find them."""

from __future__ import annotations

from mindtorch_v2.dispatch import native
from mindtorch_v2.kernels import autograd, composite, cpu, rows
from mindtorch_v2.kernels.composite import overloads, pointwise
from mindtorch_v2.kernels.cpu import (
    activation,
    arithmetic,
    bitwise,
    clamp,
    comparison,
    reductions,
    ternary,
    unary,
)
from mindtorch_v2.kernels.refs import find

__all__ = [
    "activation",
    "arithmetic",
    "autograd",
    "bitwise",
    "clamp",
    "comparison",
    "composite",
    "cpu",
    "find",
    "overloads",
    "pointwise",
    "reductions",
    "ternary",
    "unary",
]

native.provide(rows.find)
