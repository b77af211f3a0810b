"""Imports every module of rows, and has the dispatcher find them."""

from __future__ import annotations

from mindtorch_v2.dispatch import native
from mindtorch_v2.kernels import (
    autograd,
    composite_views,
    gathering,
    indexing,
    joining,
    rearranging,
    reshaping,
    rows,
    sorting,
    view_dtype,
    views,
    views_inplace,
)
from mindtorch_v2.kernels.cpu import binary

__all__ = [
    "autograd",
    "binary",
    "composite_views",
    "gathering",
    "indexing",
    "joining",
    "rearranging",
    "reshaping",
    "sorting",
    "view_dtype",
    "views",
    "views_inplace",
]

native.provide(rows.find)
