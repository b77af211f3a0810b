"""Gradients that are operators of their own, made of others.

Mirrors ``gather_backward`` and ``index_select_backward`` of
``aten/src/ATen/native/TensorAdvancedIndexing.cpp``, and ``cumprod_backward`` of ``ReduceOps.cpp``.
A formula finds the functions themselves.
"""

from __future__ import annotations

from typing import Final

from mindtorch_v2.autograd.functions_manual.reductions import cumprod_backward
from mindtorch_v2.autograd.functions_manual.shapes import (
    gather_backward,
    index_select_backward,
    masked_select_backward,
)
from mindtorch_v2.kernels.rows import add

_IMPLICIT: Final = "CompositeImplicitAutograd"

for _function in (cumprod_backward, gather_backward, index_select_backward, masked_select_backward):
    add(f"aten::{_function.__name__}", _IMPLICIT, _function)
