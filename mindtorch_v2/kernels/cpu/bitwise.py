"""Bits: operators of integers and truth values.

Mirrors the shifts and the bitwise operators of ``aten/src/ATen/native/BinaryOps.cpp``.
"""

from __future__ import annotations

import numpy as np

from mindtorch_v2.kernels.elementwise.pointwise import pointwise
from mindtorch_v2.kernels.elementwise.tensor_iterator import BINARY_OP, UNARY_OP
from mindtorch_v2.tensor.elements import Array


def _outside(other: Array, bits: int) -> Array:
    """Whether a shift is by less than nothing or by more bits than there are."""
    return np.asarray((other < 0) | (other >= bits))


def _left_shift(self: Array, other: Array) -> Array:
    bits = 8 * self.dtype.itemsize
    outside = _outside(other, bits)
    shifted = np.left_shift(self, np.where(outside, 0, other))
    return np.asarray(np.where(outside, 0, shifted), self.dtype)


def _right_shift(self: Array, other: Array) -> Array:
    most = 8 * self.dtype.itemsize - (self.dtype.kind == "i")
    shift = np.where(_outside(other, most), most, other)
    return np.asarray(np.right_shift(self, shift.astype(self.dtype)))


for _name, _compute in (
    ("bitwise_and", np.bitwise_and),
    ("bitwise_or", np.bitwise_or),
    ("bitwise_xor", np.bitwise_xor),
    ("bitwise_left_shift", _left_shift),
    ("bitwise_right_shift", _right_shift),
):
    pointwise(f"aten::{_name}.Tensor", _compute, BINARY_OP, 2)
for _name, _compute, _facts in (
    ("__lshift__", _left_shift, "aten::bitwise_left_shift.Tensor"),
    ("__rshift__", _right_shift, "aten::bitwise_right_shift.Tensor"),
):
    pointwise(f"aten::{_name}.Tensor", _compute, BINARY_OP, 2, facts=_facts)
    pointwise(f"aten::{_name}.Scalar", _compute, BINARY_OP, 2, facts=_facts)

pointwise("aten::bitwise_not", np.invert, UNARY_OP, 1)
