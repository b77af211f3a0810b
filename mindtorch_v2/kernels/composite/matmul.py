"""``matmul``: which product it is, by the dimensions of its operands.

Mirrors ``_matmul_impl`` in ``aten/src/ATen/native/LinearAlgebra.cpp``.
"""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import Any, Final

from mindtorch_v2.dispatch import tls
from mindtorch_v2.kernels.dtypes import HABITS
from mindtorch_v2.kernels.elementwise.broadcasting import infer_size
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import resize_output
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.dtype import MEMORY_FORMATS
from mindtorch_v2.tensor.geometry import numel
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.torch_dispatch import is_tensor_subclass_like

_BMM: Final = OperatorHandle("aten::bmm")
_BMM_OUT: Final = OperatorHandle("aten::bmm.out")
_CONTIGUOUS: Final = OperatorHandle("aten::contiguous")
_COPY_: Final = OperatorHandle("aten::copy_")
_DOT: Final = OperatorHandle("aten::dot")
_DOT_OUT: Final = OperatorHandle("aten::dot.out")
_EXPAND: Final = OperatorHandle("aten::expand")
_MM: Final = OperatorHandle("aten::mm")
_MM_OUT: Final = OperatorHandle("aten::mm.out")
_MT: Final = OperatorHandle("aten::mT")
_MV: Final = OperatorHandle("aten::mv")
_MV_OUT: Final = OperatorHandle("aten::mv.out")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_SQUEEZE: Final = OperatorHandle("aten::squeeze.dim")
_SQUEEZE_: Final = OperatorHandle("aten::squeeze_.dim")
_T: Final = OperatorHandle("aten::t")
_UNSAFE_VIEW: Final = OperatorHandle("aten::_unsafe_view")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_VIEW_AS: Final = OperatorHandle("aten::view_as")

_FORMAT: Final = MEMORY_FORMATS["contiguous_format"]


@kernel("aten::matmul", key="CompositeImplicitAutograd")
def matmul(self: Tensor, other: Tensor) -> Any:
    ranks = _checked_ranks(self, other)
    if ranks == (1, 1):
        return _DOT(self, other)
    if ranks == (2, 1):
        return _MV(self, other)
    if ranks == (1, 2):
        return _SQUEEZE_(_MM(_UNSQUEEZE(self, 0), other), 0)
    if ranks == (2, 2):
        return _MM(self, other)
    return _folded(self, other) if _should_fold(self, other) else _batched(self, other)


@kernel("aten::matmul.out", key="CompositeImplicitAutograd")
def matmul_out(self: Tensor, other: Tensor, out: Tensor) -> Any:
    ranks = _checked_ranks(self, other)
    if tls.is_grad_enabled() and any(each.requires_grad for each in (self, other, out)):
        raise RuntimeError(
            "matmul(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )
    if ranks == (1, 1):
        return _DOT_OUT(self, other, out=out)
    if ranks == (2, 1):
        return _MV_OUT(self, other, out=out)
    if ranks == (1, 2):
        return _SQUEEZE_(_MM_OUT(_UNSQUEEZE(self, 0), other, out=out), 0)
    if ranks == (2, 2):
        return _MM_OUT(self, other, out=out)
    if _should_fold(self, other, has_out=True):
        _folded_into(out, self, other)
    else:
        _batched_into(out, self, other)
    return out


def _checked_ranks(self: Tensor, other: Tensor) -> tuple[int, int]:
    ranks = (self._dim(), other._dim())
    if 0 in ranks:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {ranks[0]}D and "
            f"{ranks[1]}D"
        )
    return ranks


def _should_fold(self: Tensor, other: Tensor, *, has_out: bool = False) -> bool:
    """Whether the larger operand can become a matrix without a copy, or is to be one anyway."""
    larger = len(self._sizes) >= len(other._sizes)
    one, two = (self, other) if larger else (_MT(other), self)
    if len(one._sizes) < 3 or len(two._sizes) > 2:
        return False
    if two.requires_grad and not has_out:
        return True
    if len(self._sizes) == 2:
        return False
    if not numel(one._sizes):
        return True
    rows = list(zip(one._sizes, one._strides, strict=True))[:-1]
    if HABITS["matmul folds whatever the stride of one row is"]:
        rows = [row for row in rows if row[0] != 1]
    return all(stride == size * inner for (_, stride), (size, inner) in pairwise(rows))


def _folded_operands(self: Tensor, other: Tensor) -> tuple[Any, Any, list[int], bool]:
    """The larger operand as a matrix, the smaller, the shape of the result but for the columns
    of the latter, and whether the operands have changed places."""
    transpose = len(other._sizes) > len(self._sizes)
    one, two = self, other
    if transpose:
        one, two = _MT(other), _T(self) if len(self._sizes) == 2 else self
    shape = list(one._sizes[:-1])
    return _RESHAPE(one, [prod(shape), one._sizes[-1]]), two, shape, transpose


def _folded(self: Tensor, other: Tensor) -> Any:
    folded, two, shape, transpose = _folded_operands(self, other)
    if len(two._sizes) != 2:
        return _UNSAFE_VIEW(_MV(folded, two), shape)
    output = _UNSAFE_VIEW(_MM(folded, two), [*shape, two._sizes[1]])
    return _CONTIGUOUS(_MT(output), memory_format=_FORMAT) if transpose else output


def _folded_into(out: Tensor, self: Tensor, other: Tensor) -> None:
    folded, two, shape, _ = _folded_operands(self, other)
    rows = [prod(shape)]
    is_matrix = len(two._sizes) == 2
    if is_matrix:
        shape, rows = [*shape, two._sizes[1]], [*rows, two._sizes[-1]]
    resize_output(out, shape)
    reshaped = _RESHAPE(out, rows)
    (_MM_OUT if is_matrix else _MV_OUT)(folded, two, out=reshaped)
    if not _is_alias(reshaped, out):
        _COPY_(out, reshaped, False)


def _batched_operands(self: Tensor, other: Tensor) -> tuple[Any, Any, list[int]]:
    """Both operands as batches of matrices, and the shape of the result."""
    one, two = list(self._sizes), list(other._sizes)
    rows = one[-2] if len(one) > 1 else 1
    inner = two[-2] if len(two) > 1 else two[0]
    columns = two[-1] if len(two) > 1 else 1
    shape = list(infer_size(tuple(one[:-2]), tuple(two[:-2])))
    count = prod(shape)
    first = _RESHAPE(_EXPAND(self, [*shape, rows, one[-1]]), [count, rows, one[-1]])
    if len(two) == 1:
        second = _UNSQUEEZE(_RESHAPE(_EXPAND(other, [*shape, inner]), [count, inner]), 2)
    else:
        second = _RESHAPE(_EXPAND(other, [*shape, inner, columns]), [count, inner, columns])
    if len(one) > 1:
        shape.append(rows)
    if len(two) > 1:
        shape.append(columns)
    return first, second, shape


def _without_batch_of_one(self: Tensor, other: Tensor) -> tuple[Any, Any] | None:
    """Operands that are folded after all, lest a gradient of one matrix be that of a batch."""
    if not len(self._sizes) == len(other._sizes) == 3 or self._sizes[0] == other._sizes[0]:
        return None
    if self._sizes[0] == 1 and (self.requires_grad or is_tensor_subclass_like(self)):
        return _SQUEEZE(self, 0), other
    if other._sizes[0] == 1 and (other.requires_grad or is_tensor_subclass_like(other)):
        return self, _SQUEEZE(other, 0)
    return None


def _batched(self: Tensor, other: Tensor) -> Any:
    folded = _without_batch_of_one(self, other)
    if folded is not None:
        return matmul(*folded)
    first, second, shape = _batched_operands(self, other)
    product = _BMM(first, second)
    return _UNSAFE_VIEW(_SQUEEZE(product, -1) if len(other._sizes) == 1 else product, shape)


def _batched_into(out: Tensor, self: Tensor, other: Tensor) -> None:
    folded = _without_batch_of_one(self, other)
    if folded is not None:
        matmul_out(*folded, out)
        return
    first, second, shape = _batched_operands(self, other)
    resize_output(out, shape)
    reshaped = _RESHAPE(out, [first._sizes[0], first._sizes[1], second._sizes[2]])
    _BMM_OUT(first, second, out=reshaped)
    if len(other._sizes) == 1:
        reshaped = _SQUEEZE(reshaped, -1)
    if not _is_alias(reshaped, out):
        _COPY_(out, _VIEW_AS(reshaped, out), False)


def _is_alias(one: Tensor, two: Tensor) -> bool:
    """``is_alias_of``."""
    return one._storage is two._storage
