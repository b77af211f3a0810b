"""Imports every module of rows, and has the dispatcher find them."""

from __future__ import annotations

from mindtorch_v2.dispatch import native
from mindtorch_v2.kernels import (
    autograd,
    backend_select,
    cloning,
    composite,
    composite_views,
    conversions,
    cpu,
    default_backend,
    factories,
    filling,
    gathering,
    indexing,
    joining,
    rearranging,
    reshaping,
    rows,
    scattering,
    sorting,
    view_backward,
    view_dtype,
    views,
    views_inplace,
    zero_tensor,
)
from mindtorch_v2.kernels.composite import matmul, overloads, pointwise
from mindtorch_v2.kernels.cpu import (
    activation,
    arithmetic,
    bitwise,
    clamp,
    comparison,
    products,
    reductions,
    ternary,
    unary,
)
from mindtorch_v2.kernels.refs import find

__all__ = [
    "activation",
    "arithmetic",
    "autograd",
    "backend_select",
    "bitwise",
    "clamp",
    "cloning",
    "comparison",
    "composite",
    "composite_views",
    "conversions",
    "cpu",
    "default_backend",
    "factories",
    "filling",
    "find",
    "gathering",
    "indexing",
    "joining",
    "matmul",
    "overloads",
    "pointwise",
    "products",
    "rearranging",
    "reductions",
    "reshaping",
    "scattering",
    "sorting",
    "ternary",
    "unary",
    "view_backward",
    "view_dtype",
    "views",
    "views_inplace",
    "zero_tensor",
]

native.provide(rows.find)
