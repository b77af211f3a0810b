"""``matmul``: which product it is, by the dimensions of its operands.

Mirrors ``_matmul_impl`` in ``aten/src/ATen/native/LinearAlgebra.cpp``.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

from mindtorch_v2.kernels.broadcasting import infer_size
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor

_BMM: Final = OperatorHandle("aten::bmm")
_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_DOT: Final = OperatorHandle("aten::dot")
_EXPAND: Final = OperatorHandle("aten::expand")
_MATMUL: Final = OperatorHandle("aten::matmul")
_MM: Final = OperatorHandle("aten::mm")
_MT: Final = OperatorHandle("aten::mT")
_MV: Final = OperatorHandle("aten::mv")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_SQUEEZE: Final = OperatorHandle("aten::squeeze.dim")
_SQUEEZE_: Final = OperatorHandle("aten::squeeze_.dim")
_T: Final = OperatorHandle("aten::t")
_UNSAFE_VIEW: Final = OperatorHandle("aten::_unsafe_view")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")

_FORMAT: Final = MEMORY_FORMATS["contiguous_format"]


@kernel("aten::matmul", key="CompositeImplicitAutograd")
def matmul(self: Tensor, other: Tensor) -> Any:
    ranks = (len(self._sizes), len(other._sizes))
    if 0 in ranks:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {ranks[0]}D and "
            f"{ranks[1]}D"
        )
    if ranks == (1, 1):
        return _DOT(self, other)
    if ranks == (2, 1):
        return _MV(self, other)
    if ranks == (1, 2):
        return _SQUEEZE_(_MM(_UNSQUEEZE(self, 0), other), 0)
    if ranks == (2, 2):
        return _MM(self, other)
    return _folded(self, other) if _should_fold(self, other) else _batched(self, other)


def _should_fold(self: Tensor, other: Tensor) -> bool:
    """Whether the larger operand can become a matrix without a copy, or is to be one anyway."""
    larger = len(self._sizes) >= len(other._sizes)
    one, two = (self, other) if larger else (_MT(other), self)
    if len(one._sizes) < 3 or len(two._sizes) > 2:
        return False
    if two.requires_grad:
        return True
    if len(self._sizes) == 2:
        return False
    if not numel(one._sizes):
        return True
    sizes, strides = one._sizes, one._strides
    return all(strides[dim] == strides[dim + 1] * sizes[dim + 1] for dim in range(len(sizes) - 2))


def _folded(self: Tensor, other: Tensor) -> Any:
    transpose = len(other._sizes) > len(self._sizes)
    one, two = self, other
    if transpose:
        one, two = _MT(other), _T(self) if len(self._sizes) == 2 else self
    shape = list(one._sizes[:-1])
    folded = _RESHAPE(one, [prod(shape), one._sizes[-1]])
    if len(two._sizes) != 2:
        return _UNSAFE_VIEW(_MV(folded, two), shape)
    output = _UNSAFE_VIEW(_MM(folded, two), [*shape, two._sizes[1]])
    return _CONTIGUOUS(_MT(output), memory_format=_FORMAT) if transpose else output


def _batched(self: Tensor, other: Tensor) -> Any:
    one, two = list(self._sizes), list(other._sizes)
    rows = one[-2] if len(one) > 1 else 1
    inner = two[-2] if len(two) > 1 else two[0]
    columns = two[-1] if len(two) > 1 else 1
    if len(one) == len(two) == 3 and one[0] != two[0]:
        if one[0] == 1 and self.requires_grad:
            return _MATMUL(_SQUEEZE(self, 0), other)
        if two[0] == 1 and other.requires_grad:
            return _MATMUL(self, _SQUEEZE(other, 0))
    shape = list(infer_size(tuple(one[:-2]), tuple(two[:-2])))
    count = prod(shape)
    first = _RESHAPE(_EXPAND(self, [*shape, rows, one[-1]]), [count, rows, one[-1]])
    expanded = [*shape, inner] if len(two) == 1 else [*shape, inner, columns]
    second = _RESHAPE(_EXPAND(other, expanded), [count, inner, columns])
    if len(one) > 1:
        shape.append(rows)
    if len(two) > 1:
        shape.append(columns)
    return _UNSAFE_VIEW(_BMM(first, second), shape)
