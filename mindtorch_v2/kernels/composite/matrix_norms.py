"""Norms of matrices, and condition numbers, which are products of them.

Mirrors ``linalg_norm``, ``linalg_matrix_norm``, ``nuclear_norm``, ``frobenius_norm``,
``linalg_cond`` and ``linalg_vecdot`` of ``aten/src/ATen/native/LinearAlgebra.cpp`` and
``BatchLinearAlgebra.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels.cpu.moments import real_value_type
from mindtorch_v2.kernels.cpu.norms import check_dtype
from mindtorch_v2.kernels.dtypes import HABITS as KERNEL_HABITS
from mindtorch_v2.kernels.elementwise.promotion import Number, dtype_numbered
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.linear_algebra import (
    check_castable,
    check_floating_or_complex,
    check_is_matrix,
    check_same_device,
    check_square,
)
from mindtorch_v2.kernels.outputs import resize_output
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.switches import HABITS
from mindtorch_v2.tensor.dtype import DTYPES, strided
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.scalars import scalar_to
from mindtorch_v2.tensor.support import CPP_NAMES, refused_as, streamed, worded
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.warn import warn_once

_IMPLICIT: Final = "CompositeImplicitAutograd"
_NAME: Final = "linalg.matrix_norm"
_FLOAT64: Final = DTYPES["float64"]
Order = Number | str

_AMAX: Final = OperatorHandle("aten::amax")
_AMIN: Final = OperatorHandle("aten::amin")
_CONJ: Final = OperatorHandle("aten::conj")
_COPY_: Final = OperatorHandle("aten::copy_")
_DIV: Final = OperatorHandle("aten::div.Tensor")
_GT: Final = OperatorHandle("aten::gt.Scalar")
_INV_EX: Final = OperatorHandle("aten::linalg_inv_ex")
_MASKED_FILL_: Final = OperatorHandle("aten::masked_fill_.Scalar")
_MATRIX_NORM: Final = OperatorHandle("aten::linalg_matrix_norm")
_MATRIX_NORM_OUT: Final = OperatorHandle("aten::linalg_matrix_norm.str_ord_out")
_MATRIX_NORM_STR: Final = OperatorHandle("aten::linalg_matrix_norm.str_ord")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_NAN_TO_NUM_: Final = OperatorHandle("aten::nan_to_num_")
_NARROW: Final = OperatorHandle("aten::narrow")
_NORM: Final = OperatorHandle("aten::norm.ScalarOpt_dim")
_NORM_OUT: Final = OperatorHandle("aten::norm.out")
_NUMBER_NORM: Final = OperatorHandle("aten::linalg_norm")
_NUMBER_COND: Final = OperatorHandle("aten::linalg_cond")
_PERMUTE: Final = OperatorHandle("aten::permute")
_RECIPROCAL: Final = OperatorHandle("aten::reciprocal")
_SQUEEZE: Final = OperatorHandle("aten::squeeze.dim")
_STR_COND: Final = OperatorHandle("aten::linalg_cond.p_str")
_STR_NORM: Final = OperatorHandle("aten::linalg_norm.ord_str")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")
_SUM_OUT: Final = OperatorHandle("aten::sum.IntList_out")
_SVDVALS: Final = OperatorHandle("aten::linalg_svdvals")
_TO: Final = OperatorHandle("aten::to.dtype")
_UNSQUEEZE: Final = OperatorHandle("aten::unsqueeze")
_UNSQUEEZE_: Final = OperatorHandle("aten::unsqueeze_")
_VDOT: Final = OperatorHandle("aten::vdot")
_VDOT_OUT: Final = OperatorHandle("aten::vdot.out")
_VECTOR_NORM: Final = OperatorHandle("aten::linalg_vector_norm")
_ZEROS: Final = OperatorHandle("aten::zeros")


# --- of matrices --------------------------------------------------------------------------------


def _checked_dims(
    self: Tensor, dim: Sequence[int], dtype: int | None, *, halves: bool
) -> list[int]:
    """``_linalg_matrix_norm_checks``; the dimensions, counted from the first."""
    check_is_matrix(self, _NAME)
    check_floating_or_complex(self, _NAME, halves=halves)
    if len(dim) != 2:
        raise RuntimeError(f"{_NAME}: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    first, second = (wrap_dim(each, len(self._sizes)) for each in dim)
    if first == second:
        raise RuntimeError(f"{_NAME}: dims must be different. Got ({first}, {second})")
    if dtype is not None:
        check_dtype(self._dtype, dtype_numbered(dtype), _NAME)
    return [first, second]


def _asked(dtype: int | None) -> dict[str, Any]:
    return {} if dtype is None else {"dtype": dtype_numbered(dtype)}


def _of_singular_values(
    self: Tensor,
    dims: Sequence[int],
    keepdim: bool,
    dtype: int | None,
    reduce: Callable[[Any], Any],
) -> Any:
    """Of those of the matrices in two dimensions, which come last where they are computed."""
    rank = len(self._sizes)
    order = [place for place in range(rank) if place not in dims] + list(dims)
    wanted = self if dtype is None else _TO(self, dtype_numbered(dtype))
    result = reduce(_SVDVALS(_PERMUTE(wanted, order)))
    if not keepdim:
        return result
    back = sorted(range(rank), key=order.__getitem__)
    return _PERMUTE(_UNSQUEEZE(result, -1), back)


@kernel("aten::linalg_matrix_norm", key=_IMPLICIT)
def linalg_matrix_norm(
    self: Tensor, ord: Number, dim: Sequence[int], keepdim: bool, dtype: int | None
) -> Any:
    if isinstance(ord, complex) and KERNEL_HABITS["a norm looks at the kind of its order"]:
        raise RuntimeError(f"{_NAME}: Expected a non-complex scalar as the order of norm.")
    order = float(scalar_to(ord, _FLOAT64))
    if abs(order) not in (1, 2, np.inf):
        raise RuntimeError(f"{_NAME}: Order {streamed(order)} not supported.")
    dims = _checked_dims(self, dim, dtype, halves=abs(order) != 2)
    if abs(order) == 2:
        reduce = partial(_extreme, order=order, dim=-1, keepdim=keepdim)
        return _of_singular_values(self, dims, keepdim, dtype, reduce)
    if abs(order) == np.inf:
        dims.reverse()
    first, second = dims
    if not keepdim and first < second:
        second -= 1
    sums = _VECTOR_NORM(self, 1.0, [first], keepdim, **_asked(dtype))
    return _extreme(sums, order, second, keepdim)


def _extreme(values: Any, order: float, dim: int, keepdim: bool) -> Any:
    """The largest of some norms, or the least for an order below zero."""
    if order < 0:
        return _AMIN(values, [dim], keepdim)
    sizes = list(values._sizes)
    if sizes[dim] or not HABITS["the largest norm of none is zero"]:
        return _AMAX(values, [dim], keepdim)
    sizes[dim] = 1
    if not keepdim:
        del sizes[dim]
    options = {"layout": values._layout, "device": values._device}
    return _ZEROS(sizes, dtype=values._dtype, **options)


@kernel("aten::linalg_matrix_norm.str_ord", key=_IMPLICIT)
def linalg_matrix_norm_str(
    self: Tensor, ord: str, dim: Sequence[int], keepdim: bool, dtype: int | None
) -> Any:
    if ord not in ("fro", "nuc"):
        raise RuntimeError(f"{_NAME}: Order {ord} not supported.")
    dims = _checked_dims(self, dim, dtype, halves=ord != "nuc")
    if ord == "fro":
        return _VECTOR_NORM(self, 2, dims, keepdim, **_asked(dtype))
    return _of_singular_values(
        self, dims, keepdim, dtype, lambda values: _SUM(values, [-1], keepdim)
    )


# --- of whatever there is -----------------------------------------------------------------------


def _check_norm(
    self: Tensor, dim: Sequence[int] | None, *, is_asked: bool, is_named: bool = False
) -> None:
    rank = len(self._sizes)
    if dim is not None and len(dim) not in (1, 2):
        word = "mut" if is_named and HABITS["a norm by its name is misspelt"] else "must"
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it {word} be of length 1 or 2. Got {list(dim)}"
        )
    if dim is None and is_asked and rank not in (1, 2):
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{rank}D."
        )


@kernel("aten::linalg_norm", key=_IMPLICIT)
def linalg_norm(
    self: Tensor,
    ord: Number | None,
    dim: Sequence[int] | None,
    keepdim: bool,
    dtype: int | None,
) -> Any:
    _check_norm(self, dim, is_asked=ord is not None)
    count = len(self._sizes) if dim is None else len(dim)
    if ord is not None and count == 2:
        dims = [0, 1] if dim is None else list(dim)
        return _MATRIX_NORM(self, ord, dims, keepdim, **_asked(dtype))
    return _VECTOR_NORM(self, 2.0 if ord is None else ord, dim, keepdim, **_asked(dtype))


@kernel("aten::linalg_norm.ord_str", key=_IMPLICIT)
def linalg_norm_str(
    self: Tensor, ord: str, dim: Sequence[int] | None, keepdim: bool, dtype: int | None
) -> Any:
    _check_norm(self, dim, is_asked=True, is_named=True)
    dims = [0, 1] if dim is None else list(dim)
    return _MATRIX_NORM_STR(self, ord, dims, keepdim, **_asked(dtype))


def _into(name: str, operator: OperatorHandle) -> Callable[..., Tensor]:
    """The ``out=`` form of a norm: a copy of it."""

    def norm_out(
        self: Tensor, ord: Any, dim: Any, keepdim: bool, dtype: int | None, out: Tensor
    ) -> Tensor:
        check_same_device(name, self, out)
        result = operator(self, ord, dim, keepdim, **_asked(dtype))
        if result._dtype is not out._dtype:
            raise RuntimeError(
                f"{name} expected out tensor dtype {CPP_NAMES[result._dtype]} but got: "
                f"{CPP_NAMES[out._dtype]}"
            )
        resize_output(out, result._sizes)
        _COPY_(out, result)
        return out

    return norm_out


for _form, _operator in (("out", _MATRIX_NORM), ("str_ord_out", _MATRIX_NORM_STR)):
    kernel(f"aten::linalg_matrix_norm.{_form}", key=_IMPLICIT)(_into(_NAME, _operator))
for _form, _operator in (("out", _NUMBER_NORM), ("ord_str_out", _STR_NORM)):
    kernel(f"aten::linalg_norm.{_form}", key=_IMPLICIT)(_into("linalg.norm", _operator))


# --- deprecated names ---------------------------------------------------------------------------


def _deprecate(self: Tensor, function: str) -> None:
    """``function`` is the one that warns, of a few of the name."""
    if self._layout is strided and self._device.type in ("cpu", "cuda", "meta"):
        name = function.partition("_norm")[0] + "_norm"
        instead = "matrix_norm(A, 'nuc'" if name == "nuclear_norm" else "vector_norm(A, 2."
        warn_once(
            function,
            f"at::{name} is deprecated and it is just left for JIT compatibility. It will be "
            f"removed in a future PyTorch release. Please use `linalg.{instead}, dim, keepdim)` "
            "instead",
        )


@kernel("aten::nuclear_norm", key=_IMPLICIT)
def nuclear_norm(self: Tensor, keepdim: bool) -> Any:
    return nuclear_norm_dim(self, [-2, -1], keepdim)


@kernel("aten::nuclear_norm.out", key=_IMPLICIT)
def nuclear_norm_out(self: Tensor, keepdim: bool, out: Tensor) -> Any:
    _deprecate(self, "nuclear_norm_out")
    return _MATRIX_NORM_OUT(self, "nuc", [-2, -1], keepdim, out=out)


@kernel("aten::nuclear_norm.dim", key=_IMPLICIT)
def nuclear_norm_dim(self: Tensor, dim: Sequence[int], keepdim: bool) -> Any:
    _deprecate(self, "nuclear_norm")
    return _MATRIX_NORM_STR(self, "nuc", dim, keepdim)


@kernel("aten::nuclear_norm.dim_out", key=_IMPLICIT)
def nuclear_norm_dim_out(self: Tensor, dim: Sequence[int], keepdim: bool, out: Tensor) -> Any:
    _deprecate(self, "nuclear_norm_dim_out")
    return _MATRIX_NORM_OUT(self, "nuc", dim, keepdim, out=out)


def _check_few(dim: Sequence[int]) -> None:
    if len(dim) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dim)} dimensions instead.")


@kernel("aten::frobenius_norm.dim", key=_IMPLICIT)
def frobenius_norm(self: Tensor, dim: Sequence[int], keepdim: bool) -> Any:
    _deprecate(self, "frobenius_norm")
    _check_few(dim)
    return _NORM(self, 2.0, dim, keepdim)


@kernel("aten::frobenius_norm.out", key=_IMPLICIT)
def frobenius_norm_out(self: Tensor, dim: Sequence[int], keepdim: bool, out: Tensor) -> Any:
    _deprecate(self, "frobenius_norm_out")
    _check_few(dim)
    return _NORM_OUT(self, 2.0, dim, keepdim, out=out)


# --- condition numbers --------------------------------------------------------------------------


def _of_inverse(self: Tensor, norm: OperatorHandle, ord: Order) -> Any:
    """``_linalg_cond_helper``: the norm times that of the inverse, which is infinite if there is
    none."""
    inverse, info = _INV_EX(self)
    _UNSQUEEZE_(_UNSQUEEZE_(info, -1), -1)
    _MASKED_FILL_(inverse, _GT(info, 0), np.inf)
    result = _MUL(norm(self, ord), norm(inverse, ord))
    return _NAN_TO_NUM_(result, np.inf, np.inf, -np.inf)


def _zeros_for_empty(self: Tensor) -> Any:
    options = {"layout": self._layout, "device": self._device}
    return _ZEROS(list(self._sizes[:-2]), dtype=real_value_type(self._dtype), **options)


@kernel("aten::linalg_cond", key=_IMPLICIT)
def linalg_cond(self: Tensor, p: Number | None) -> Any:
    if len(self._sizes) < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    ord = 2 if p is None else p
    if isinstance(ord, complex):
        raise worded("cond of a complex norm")
    order = float(scalar_to(ord, _FLOAT64))
    if abs(order) not in (1, 2, np.inf):
        raise refused_as(
            "cond of no such norm", f"linalg.cond got an invalid norm type: {streamed(order)}"
        )
    if not numel(self._sizes):
        return _zeros_for_empty(self)
    if abs(order) == 2:
        values = _SVDVALS(self)
        largest, least = _NARROW(values, -1, 0, 1), _NARROW(values, -1, -1, 1)
        pair = (largest, least) if order > 0 else (least, largest)
        return _SQUEEZE(_DIV(*pair), -1)
    shown = f"{ord:f}" if isinstance(ord, float) else str(int(ord))
    check_square(self, f"linalg.cond(ord={shown})")
    return _of_inverse(self, _MATRIX_NORM, ord)


@kernel("aten::linalg_cond.p_str", key=_IMPLICIT)
def linalg_cond_str(self: Tensor, p: str) -> Any:
    check_square(self, f"linalg.cond(ord={p})")
    if p not in ("fro", "nuc"):
        raise refused_as(
            "cond of a norm of no such name", f"linalg.cond got an invalid norm type: {p}"
        )
    if not numel(self._sizes):
        return _zeros_for_empty(self)
    if p == "nuc":
        values = _SVDVALS(self)
        return _MUL(_SUM(values, [-1]), _SUM(_RECIPROCAL(values), [-1]))
    return _of_inverse(self, _MATRIX_NORM_STR, p)


def _cond_into(operator: OperatorHandle) -> Callable[..., Tensor]:
    def cond_out(self: Tensor, p: Any, out: Tensor) -> Tensor:
        check_same_device("linalg.cond", out, self)
        check_castable("linalg.cond", out, real_value_type(self._dtype))
        result = operator(self, p)
        resize_output(out, result._sizes)
        _COPY_(out, result)
        return out

    return cond_out


kernel("aten::linalg_cond.out", key=_IMPLICIT)(_cond_into(_NUMBER_COND))
kernel("aten::linalg_cond.p_str_out", key=_IMPLICIT)(_cond_into(_STR_COND))


# --- products of vectors ------------------------------------------------------------------------


def _check_vecdot(x: Tensor, y: Tensor) -> None:
    check_floating_or_complex(x, "linalg.vecdot")
    if x._dtype is not y._dtype:
        raise RuntimeError(
            "linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{CPP_NAMES[x._dtype]} and y of type {CPP_NAMES[y._dtype]} instead"
        )


def _are_vectors(x: Tensor, y: Tensor) -> bool:
    return len(x._sizes) == len(y._sizes) == 1


@kernel("aten::linalg_vecdot", key=_IMPLICIT)
def linalg_vecdot(x: Tensor, y: Tensor, dim: int) -> Any:
    _check_vecdot(x, y)
    return _VDOT(x, y) if _are_vectors(x, y) else _SUM(_MUL(_CONJ(x), y), [dim])


@kernel("aten::linalg_vecdot.out", key=_IMPLICIT)
def linalg_vecdot_out(x: Tensor, y: Tensor, dim: int, out: Tensor) -> Any:
    _check_vecdot(x, y)
    if out._dtype is not x._dtype:
        raise RuntimeError(
            f"linalg.vecdot: Expected out of dtype{CPP_NAMES[x._dtype]} but found "
            f"{CPP_NAMES[out._dtype]}"
        )
    check_same_device("linalg.vecdot", x, out)
    if _are_vectors(x, y):
        resize_output(out, ())
        return _VDOT_OUT(x, y, out=out)
    return _SUM_OUT(_MUL(_CONJ(x), y), [dim], out=out)
