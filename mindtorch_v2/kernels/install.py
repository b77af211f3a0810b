"""Imports every module of rows, and has the dispatcher find them."""

from __future__ import annotations

from mindtorch_v2.dispatch import native
from mindtorch_v2.kernels import autograd, rows
from mindtorch_v2.kernels.cpu import binary

__all__ = ["autograd", "binary"]

native.provide(rows.find)
