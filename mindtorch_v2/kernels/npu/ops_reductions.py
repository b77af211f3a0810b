"""Products of matrices, reductions, scans, and what orders elements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from mindtorch_v2.kernels.elementwise.promotion import Number
from mindtorch_v2.kernels.npu.marshal import UnsupportedError
from mindtorch_v2.kernels.npu.plans import Builder, RefusedError, check_dtype
from mindtorch_v2.kernels.npu.rows import add, row
from mindtorch_v2.tensor.dtype import DTYPES
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.tensor import Tensor

Dims = Sequence[int] | int | None
_BFLOAT16: Final = DTYPES["bfloat16"]
_BOOL: Final = DTYPES["bool"]


def _axes(self: Tensor, dims: Dims) -> list[int]:
    """Every axis, where none is named."""
    rank = len(self._sizes)
    named = [dims] if isinstance(dims, int) else list(dims or ())
    return [wrap_dim(dim, rank) for dim in named if rank] if named else list(range(rank))


# --- products of matrices -------------------------------------------------------------------------


def _product(name: str, b: Builder, self: Tensor, other: Tensor) -> Tensor:
    out = b.out
    check_dtype(self._dtype, other)
    b.launch(name, self, other, out, b.cube_math_type(self._dtype))
    return out


add("aten::mm", partial(_product, "Mm"))
add("aten::bmm", partial(_product, "BatchMatMul"))


def _column(vector: Tensor) -> Tensor:
    """A vector as a matrix of one column, and a tensor without dimensions as one of one row too."""
    sizes, strides = vector._sizes or (1,), vector._strides or (1,)
    return vector._as_view((*sizes, 1), (*strides, 1), vector._storage_offset)


@row("aten::mv")
def mv(b: Builder, self: Tensor, vec: Tensor) -> Tensor:
    """A product with a matrix of one column."""
    out = b.out
    check_dtype(self._dtype, vec)
    b.launch("Mm", self, _column(vec), _column(out), b.cube_math_type(self._dtype))
    return out


@row("aten::dot")
def dot(b: Builder, self: Tensor, tensor: Tensor) -> Tensor:
    out = b.out
    check_dtype(self._dtype, tensor)
    b.launch("Dot", self, tensor, out)
    return out


def _added_product(
    name: str, b: Builder, self: Tensor, one: Tensor, two: Tensor, beta: Number, alpha: Number
) -> Tensor:
    out = b.out
    check_dtype(self._dtype, one, two)
    scalars = (float(beta.real), float(alpha.real))
    b.launch(name, self, one, two, *scalars, out, b.cube_math_type(out._dtype))
    return out


add("aten::addmm", partial(_added_product, "Addmm"))
add("aten::addbmm", partial(_added_product, "Addbmm"))
add("aten::baddbmm", partial(_added_product, "Baddbmm"))


@row("aten::addmv")
def addmv(
    b: Builder, self: Tensor, mat: Tensor, vec: Tensor, beta: Number, alpha: Number
) -> Tensor:
    out = b.out
    check_dtype(self._dtype, mat, vec)
    operands, scalars = (_column(self), mat, _column(vec)), (float(beta.real), float(alpha.real))
    b.launch("Addmm", *operands, *scalars, _column(out), b.cube_math_type(out._dtype))
    return out


@row("aten::vdot")
def vdot(b: Builder, self: Tensor, other: Tensor) -> Tensor:
    """Of real numbers, the same as ``dot``."""
    if self._dtype.is_complex:
        raise UnsupportedError("the numbers of the first vector are to be conjugated")
    return dot(b, self, other)


# --- reductions -----------------------------------------------------------------------------------


@row("aten::sum.dim_IntList")
def sum_dims(b: Builder, self: Tensor, dim: Dims, keepdim: bool, dtype: int | None) -> Tensor:
    out = b.out
    # bool counts, which not every kernel does by itself
    source = b.cast(self, out._dtype) if self._dtype is _BOOL else self
    b.launch("ReduceSum", source, _axes(self, dim), keepdim, out._dtype, out)
    return out


@row("aten::sum")
def sum_all(b: Builder, self: Tensor, dtype: int | None) -> Tensor:
    return sum_dims(b, self, None, False, dtype)


@row("aten::mean.dim")
def mean_dims(b: Builder, self: Tensor, dim: Dims, keepdim: bool, dtype: int | None) -> Tensor:
    out = b.out
    b.launch("Mean", b.cast(self, out._dtype), _axes(self, dim), keepdim, out._dtype, out)
    return out


@row("aten::mean")
def mean_all(b: Builder, self: Tensor, dtype: int | None) -> Tensor:
    return mean_dims(b, self, None, False, dtype)


@row("aten::prod")
def prod_all(b: Builder, self: Tensor, dtype: int | None) -> Tensor:
    out = b.out
    b.launch("Prod", b.cast(self, out._dtype), out._dtype, out)
    return out


@row("aten::prod.dim_int")
def prod_dim(b: Builder, self: Tensor, dim: int, keepdim: bool, dtype: int | None) -> Tensor:
    out = b.out
    b.launch("ProdDim", b.cast(self, out._dtype), dim, keepdim, out._dtype, out)
    return out


def _extremes(name: str, b: Builder, self: Tensor, dim: Dims, keepdim: bool) -> Tensor:
    out = b.out
    b.launch(name, self, _axes(self, dim), keepdim, out)
    return out


add("aten::amax", partial(_extremes, "Amax"))
add("aten::amin", partial(_extremes, "Amin"))


def _truths(name: str, b: Builder, self: Tensor, dim: Dims, keepdim: bool) -> Tensor:
    if dim == []:
        raise UnsupportedError("no dimension is named, and none is reduced")
    return _extremes(name, b, self, dim, keepdim)


for _short in ("any", "all"):
    for _overload in ("dim", "dims"):
        add(f"aten::{_short}.{_overload}", partial(_truths, _short.capitalize()))


def _of_all(name: str, b: Builder, self: Tensor) -> Tensor:
    out = b.out
    b.launch(name, self, out)
    return out


add("aten::max", partial(_of_all, "Max"))
add("aten::min", partial(_of_all, "Min"))


def _whether(name: str, b: Builder, self: Tensor) -> Tensor:
    return _extremes(name, b, self, None, False)


add("aten::any", partial(_whether, "Any"))
add("aten::all", partial(_whether, "All"))


def _extremes_of_dim(name: str, b: Builder, self: Tensor, dim: int, keepdim: bool) -> Any:
    values, indices = b.outputs
    b.launch(name, self, dim, keepdim, values, indices)
    return b.answer


add("aten::max.dim", partial(_extremes_of_dim, "MaxDim"))
add("aten::min.dim", partial(_extremes_of_dim, "MinDim"))


def _place(name: str, b: Builder, self: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    out = b.out
    if dim is None:
        count = numel(self._sizes)
        flat = b.contiguous(self)
        self = flat._as_view((count,), (1,), flat._storage_offset)
        b.launch(name, self, 0, False, out._as_view((), (), 0))
    else:
        b.launch(name, self, dim, keepdim, out)
    return out


add("aten::argmax", partial(_place, "ArgMax"))
add("aten::argmin", partial(_place, "ArgMin"))


def _correction(self: Tensor, out: Tensor, correction: Number | None) -> int:
    """ACLNN takes whole numbers; the CPU warns of one that leaves no degree of freedom."""
    found = 1 if correction is None else correction
    if not isinstance(found, int):
        raise UnsupportedError("a correction is no whole number")
    if found >= numel(self._sizes) // max(numel(out._sizes), 1):
        raise RefusedError("there are no degrees of freedom")
    return found


@row("aten::var.correction")
def var(b: Builder, self: Tensor, dim: Dims, correction: Number | None, keepdim: bool) -> Tensor:
    out = b.out
    count = _correction(self, out, correction)
    b.launch("VarCorrection", self, _axes(self, dim), count, keepdim, out)
    return out


@row("aten::std.correction")
def std(b: Builder, self: Tensor, dim: Dims, correction: Number | None, keepdim: bool) -> Tensor:
    out = b.out
    count = _correction(self, out, correction)
    b.launch("Std", self, _axes(self, dim), count, keepdim, out)
    return out


@row("aten::var_mean.correction")
def var_mean(b: Builder, self: Tensor, dim: Dims, correction: Number | None, keepdim: bool) -> Any:
    of_var, of_mean = b.outputs
    places, count = _axes(self, dim), _correction(self, of_var, correction)
    b.launch("VarMean", self, places, count, keepdim, of_var, of_mean)
    return b.answer


@row("aten::std_mean.correction")
def std_mean(b: Builder, self: Tensor, dim: Dims, correction: Number | None, keepdim: bool) -> Any:
    of_std, of_mean = b.outputs
    places, count = _axes(self, dim), _correction(self, of_std, correction)
    of_var = b.new(of_std._sizes, of_std._dtype, of_std._strides)
    b.launch("VarMean", self, places, count, keepdim, of_var, of_mean)
    b.launch("Sqrt", of_var, of_std)
    return b.answer


@row("aten::linalg_vector_norm")
def vector_norm(
    b: Builder, self: Tensor, ord: Number, dim: Dims, keepdim: bool, dtype: int | None
) -> Tensor:
    out = b.out
    if self._dtype.is_complex:
        raise UnsupportedError("a norm of complex numbers")
    source = b.cast(self, out._dtype)
    order, places = float(ord.real), _axes(self, dim)
    b.launch("LinalgVectorNorm", source, order, places, keepdim, out._dtype, out)
    return out


@row("aten::logsumexp")
def logsumexp(b: Builder, self: Tensor, dim: Dims, keepdim: bool) -> Tensor:
    out = b.out
    if not isinstance(dim, int) and not dim:
        raise UnsupportedError("no dimension is named, and none is reduced")
    b.launch("LogSumExp", b.cast(self, out._dtype), _axes(self, dim), keepdim, out)
    return out


# --- along one dimension --------------------------------------------------------------------------


@row("aten::cumsum")
def cumsum(b: Builder, self: Tensor, dim: int, dtype: int | None) -> Tensor:
    out = b.out
    b.launch("Cumsum", b.cast(self, out._dtype), dim, out._dtype, out)
    return out


@row("aten::cumprod")
def cumprod(b: Builder, self: Tensor, dim: int, dtype: int | None) -> Tensor:
    out = b.out
    b.launch("Cumprod", b.cast(self, out._dtype), dim, out._dtype, out)
    return out


def _softmax(name: str, b: Builder, self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    out = b.out
    b.launch(name, b.cast(self, out._dtype), dim, out)
    return out


add("aten::_softmax", partial(_softmax, "Softmax"))
add("aten::_log_softmax", partial(_softmax, "LogSoftmax"))


def _softmax_backward(
    name: str, b: Builder, grad_output: Tensor, output: Tensor, dim: int, input_dtype: int
) -> Tensor:
    out = b.out
    check_dtype(grad_output._dtype, output, out)
    b.launch(name, grad_output, output, dim, out)
    return out


add("aten::_softmax_backward_data", partial(_softmax_backward, "SoftmaxBackward"))
add("aten::_log_softmax_backward_data", partial(_softmax_backward, "LogSoftmaxBackward"))


@row("aten::topk")
def topk(b: Builder, self: Tensor, k: int, dim: int, largest: bool, sorted: bool) -> Any:
    if not self._sizes:
        raise UnsupportedError("a tensor without dimensions has one largest element, whatever k")
    values, indices = b.outputs
    b.launch("Topk", self, k, dim, largest, True, values, indices)
    return b.answer


@row("aten::sort.stable")
def sort(b: Builder, self: Tensor, stable: bool | None, dim: int, descending: bool) -> Any:
    values, indices = b.outputs
    if self._dtype is _BFLOAT16 and wrap_dim(dim, len(self._sizes)) == 1:
        raise UnsupportedError("bfloat16 is not sorted along the second dimension")
    b.launch("Sort", self, bool(stable), dim, descending, values, indices)
    return b.answer
