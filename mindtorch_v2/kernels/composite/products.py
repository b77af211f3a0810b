"""Products that are made of others.

Mirrors ``aten/src/ATen/native/LinearAlgebra.cpp`` and ``Linear.cpp``.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

from mindtorch_v2.kernels.cpu.outer import check_vector
from mindtorch_v2.kernels.dtypes import HABITS
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.tensor.geometry import is_contiguous
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn

_IMPLICIT: Final = "CompositeImplicitAutograd"
_ADD: Final = OperatorHandle("aten::add.Tensor")
_ADD_: Final = OperatorHandle("aten::add_.Tensor")
_ADDMM: Final = OperatorHandle("aten::addmm")
_ADDMM_OUT: Final = OperatorHandle("aten::addmm.out")
_MATMUL: Final = OperatorHandle("aten::matmul")
_MATMUL_OUT: Final = OperatorHandle("aten::matmul.out")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_MUL_OUT: Final = OperatorHandle("aten::mul.out")
_OUTER: Final = OperatorHandle("aten::outer")
_OUTER_OUT: Final = OperatorHandle("aten::outer.out")
_RESHAPE: Final = OperatorHandle("aten::reshape")
_T: Final = OperatorHandle("aten::t")
_VIEW: Final = OperatorHandle("aten::view")


@kernel("aten::outer", key=_IMPLICIT)
def outer(self: Tensor, vec2: Tensor) -> Any:
    check_vector("outer", "self", self)
    check_vector("outer", "vec2", vec2)
    return _MUL(_RESHAPE(self, [self._sizes[0], 1]), vec2)


@kernel("aten::outer.out", key=_IMPLICIT)
def outer_out(self: Tensor, vec2: Tensor, out: Tensor) -> Any:
    check_vector("outer", "self", self)
    check_vector("outer", "vec2", vec2)
    _MUL_OUT(_RESHAPE(self, [self._sizes[0], 1]), vec2, out=out)
    return out


@kernel("aten::ger", key=_IMPLICIT)
def ger(self: Tensor, vec2: Tensor) -> Any:
    return _OUTER(self, vec2)


@kernel("aten::ger.out", key=_IMPLICIT)
def ger_out(self: Tensor, vec2: Tensor, out: Tensor) -> Any:
    warn(
        "ger_out",
        "torch.ger is deprecated and will be removed in a future PyTorch release. Use torch.outer "
        "instead.",
    )
    return _OUTER_OUT(self, vec2, out=out)


# --- linear -----------------------------------------------------------------------------------


@kernel("aten::linear", key=_IMPLICIT)
def linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Any:
    """By one ``addmm`` if the input is a matrix or can be seen as one."""
    rank, weight_rank = len(input._sizes), len(weight._sizes)
    if not rank or not weight_rank:
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {rank}D and "
            f"{weight_rank}D"
        )
    if bias is not None and rank == 2:
        return _ADDMM(bias, input, _T(weight))
    is_flat = is_contiguous(input._sizes, input._strides)
    if bias is not None and is_flat and _fits_addmm(bias, rank):
        return _flattened(input, weight, bias)
    output = _MATMUL(input, _T(weight))
    if bias is None:
        return output
    return (_ADD if bias.is_meta else _ADD_)(output, bias)  # ``isTensorSubclassLike``


def _fits_addmm(bias: Tensor, rank: int) -> bool:
    """Whether the bias is added by ``addmm`` to an input of more or less than two dimensions."""
    is_vector = len(bias._sizes) == 1
    if HABITS["linear flattens three dimensions whatever the bias"]:
        return rank == 3 or is_vector
    is_row = len([size for size in bias._sizes if size != 1]) == 1
    fits = is_vector or (rank == 3 and is_row)
    return fits and is_contiguous(bias._sizes, bias._strides)


def _flattened(input: Tensor, weight: Tensor, bias: Tensor) -> Any:
    """``_flatten_nd_linear``."""
    *outer_sizes, inner = input._sizes
    matrix = _RESHAPE(input, [prod(outer_sizes), inner])
    output = _ADDMM(bias, matrix, _T(weight))
    return _VIEW(output, [*outer_sizes, output._sizes[1]])


@kernel("aten::linear.out", key="CompositeExplicitAutograd")
def linear_out(input: Tensor, weight: Tensor, bias: Tensor | None, out: Tensor) -> Any:
    if bias is not None and len(input._sizes) == 2:
        return _ADDMM_OUT(bias, input, _T(weight), out=out)
    _MATMUL_OUT(input, _T(weight), out=out)
    return out if bias is None else _ADD_(out, bias)
