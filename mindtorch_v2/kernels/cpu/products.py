"""Products of matrices and vectors.

Mirrors ``aten/src/ATen/native/LinearAlgebra.cpp`` and ``Blas.cpp``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from mindtorch_v2.kernels import structured
from mindtorch_v2.kernels.cpu.blas import BLAS, LEAST_FOR_MKL, REAL, gemm, sum_of_terms
from mindtorch_v2.kernels.dtypes import HABITS, check_implemented
from mindtorch_v2.kernels.elementwise.alike import is_computed_as_stored
from mindtorch_v2.kernels.elementwise.pointwise import as_array, element, opmath_element, rounded
from mindtorch_v2.kernels.elementwise.promotion import (
    Number,
    check_can_cast,
    result_type,
    to_opmath,
)
from mindtorch_v2.kernels.factories.filling import copy_
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import (
    as_it_was,
    check_out,
    new_tensor,
    resize_output,
    set_output,
    set_sizes,
)
from mindtorch_v2.kernels.overlap import assert_no_internal_overlap
from mindtorch_v2.kernels.pointers import check_pointers
from mindtorch_v2.kernels.rows import kernel
from mindtorch_v2.kernels.structured import Outputs, changed_in_place
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor import copying
from mindtorch_v2.tensor.copying import is_on_accelerator, raw_array
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.elements import Array
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.support import CPP_NAMES, TYPE_NAMES, worded
from mindtorch_v2.tensor.tensor import Tensor
from mindtorch_v2.tensor.zeros import is_zero_tensor

_KEYS: Final = ("CPU", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
"""On meta a function of Python is asked."""
_HALF: Final = DTYPES["float16"]
_BFLOAT16: Final = DTYPES["bfloat16"]
_ADDMM_: Final = OperatorHandle("aten::addmm_")
_ADDMV_: Final = OperatorHandle("aten::addmv_")
_ADDMV_OUT: Final = OperatorHandle("aten::addmv.out")
_CONJ: Final = OperatorHandle("aten::_conj")
_COPY_: Final = OperatorHandle("aten::copy_")
_EXPAND: Final = OperatorHandle("aten::expand")
_MUL_: Final = OperatorHandle("aten::mul_.Tensor")
_MUL_OUT: Final = OperatorHandle("aten::mul.out")
_SCALAR_TENSOR: Final = OperatorHandle("aten::scalar_tensor")
_ZERO_: Final = OperatorHandle("aten::zero_")


def check_matrices(name: str, one: Tensor, two: Tensor, **shown: str) -> None:
    """RuntimeError, in the words of ``mm`` or ``addmm``, some replaced by what is ``shown``, for
    what cannot be multiplied."""
    for place, each in (("of", one), ("by", two)):
        if len(each._sizes) != 2:
            raise worded(f"{name} {place} a vector", **{"1-D": f"{len(each._sizes)}-D", **shown})
    (rows, inner), (length, columns) = one._sizes, two._sizes
    if inner != length:
        shapes = f"{rows}x{inner} and {length}x{columns}"
        raise worded(f"{name} of other sizes", **{"2x3 and 5x7": shapes, **shown})


@structured.structured("aten::mm", keys=_KEYS)
def mm(outputs: Outputs, self: Tensor, mat2: Tensor) -> tuple[Tensor, ...]:
    check_matrices("mm", self, mat2)
    shape = (self._sizes[0], mat2._sizes[1])
    one, two = (as_it_was(each, outputs) for each in (self, mat2))
    output = set_output(outputs[0], shape, self._dtype, self._device)
    _multiply(output, one, two, is_new=outputs[0] is None)
    return (output,)


@structured.structured("aten::addmm", keys=_KEYS)
def addmm(
    outputs: Outputs, self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number, alpha: Number
) -> tuple[Tensor, ...]:
    _check_dtypes(self, mat1, mat2)
    check_matrices("addmm", mat1, mat2)
    shape = (mat1._sizes[0], mat2._sizes[1])
    one, two = (as_it_was(each, outputs) for each in (mat1, mat2))
    output = set_output(
        outputs[0], shape, mat1._dtype, mat1._device, self=changed_in_place(outputs)
    )
    added = _expanded(self, shape)
    _multiply(output, one, two, added, beta, alpha, is_new=outputs[0] is None)
    return (output,)


def _expanded(self: Tensor, shape: Sequence[int]) -> Tensor:
    """``expand_size``: what has the shape stays what it is."""
    found: Tensor = self if tuple(self._sizes) == tuple(shape) else _EXPAND(self, list(shape))
    return found


def _check_dtypes(self: Tensor, mat1: Tensor, mat2: Tensor) -> None:
    for name, one in (("self", self), ("mat1", mat1)):
        if one._dtype is not mat2._dtype:
            raise RuntimeError(
                f"{name} and mat2 must have the same dtype, but got {CPP_NAMES[one._dtype]} and "
                f"{CPP_NAMES[mat2._dtype]}"
            )


def _multiply(
    result: Tensor,
    m1: Tensor,
    m2: Tensor,
    added: Tensor | None = None,
    beta: Number = 0,
    alpha: Number = 1,
    *,
    is_new: bool = False,
) -> None:
    """``addmm_impl_cpu_``: ``beta * added + alpha * (m1 @ m2)``, in place in a new result."""
    if m1._dtype is not m2._dtype:
        raise RuntimeError(
            "expected m1 and m2 to have the same dtype, but got: "
            f"{TYPE_NAMES[m1._dtype]} != {TYPE_NAMES[m2._dtype]}"
        )
    if result.is_meta or not numel(result._sizes):
        return
    dtype = m1._dtype
    if not m1._sizes[1] and added is None:
        copying.zero(result)
        return
    if added is not None and not is_new:
        _begin(result, added, beta)
    if m1._sizes[1]:
        check_implemented("aten::mm", dtype)
    if not is_new and m1._sizes[1]:
        assert_no_internal_overlap(result)  # to which what ``gemm`` cannot write is copied
    with np.errstate(all="ignore"):
        other = None if added is None else _scaled(added, beta, dtype, m1._sizes[1])
        if added is not None and _is_left_out(m1._sizes[1], alpha, dtype):
            copying.store(result, np.asarray(0) if other is None else rounded(other, dtype))
            return
        place = _place(result) if is_new else None
        one, two = as_array(m1, dtype), as_array(m2, dtype)
        if other is not None and m1._sizes[1] == 1 and dtype in REAL:  # added without a zero
            found = np.multiply(one * element(alpha, dtype), two, out=place)
        else:
            found = _scaled_product(one, two, alpha, dtype, place)
        if other is not None:
            found = np.add(found, other, out=place)
        if place is None:
            copying.store(result, rounded(np.asarray(found), dtype))


def _is_left_out(inner: int, alpha: Number, dtype: DType) -> bool:
    """Whether no product is made: of nothing, or by MKL, which does not look at zero times it."""
    return not inner or (alpha == 0 and dtype in BLAS)


def _scaled(added: Tensor, beta: Number, dtype: DType, inner: int) -> Array | None:
    """What is added; zero times it is not looked at."""
    if beta == 0:
        return None
    if not inner:
        check_can_cast(result_type((added, beta)), dtype)  # as multiplying in place asks
    values = as_array(added, dtype)
    return values if beta == 1 else np.asarray(values * _factor(beta, dtype, inner))


def _begin(result: Tensor, added: Tensor, beta: Number) -> None:
    """``result.copy_(added)``, which is then scaled where it is: an output may share its memory."""
    if beta != 0 and added is not result:
        copy_(result, added, False)


def _place(result: Tensor) -> Array | None:
    """The memory of a new result, if it takes what NumPy computes as it is."""
    if is_on_accelerator(result) or not is_computed_as_stored(result._dtype):
        return None
    return raw_array(result)


def _scaled_product(
    one: Array, two: Array, alpha: Number, dtype: DType, place: Array | None
) -> Array:
    """``gemm`` scales an operand, and half precision, which it adds up in more, the sum."""
    if alpha == 1:
        return _product(dtype)(one, two, out=place)
    if to_opmath(dtype) is dtype:
        return _product(dtype)(one * element(alpha, dtype), two, out=place)
    return np.asarray(np.matmul(one, two) * opmath_element(alpha, dtype))


def _product(dtype: DType) -> Callable[..., Array]:
    return gemm if dtype in REAL else np.matmul


def _factor(beta: Number, dtype: DType, inner: int) -> Any:
    """What is added times this: where nothing is summed it is made a tensor of ``dtype``."""
    return (opmath_element if inner else element)(beta, dtype)


# --- batches ----------------------------------------------------------------------------------


@structured.structured("aten::bmm", keys=(*_KEYS, "Meta"))
def bmm(outputs: Outputs, self: Tensor, mat2: Tensor) -> tuple[Tensor, ...]:
    _check_batches(self, mat2)
    count, rows, inner = self._sizes
    shape = (count, rows, mat2._sizes[2])
    one, two = (as_it_was(each, outputs) for each in (self, mat2))
    output = set_output(outputs[0], shape, mat2._dtype, mat2._device)
    if output.is_meta or not numel(shape):
        return (output,)
    if not inner:
        copying.zero(output)
        return (output,)
    dtype = self._dtype
    check_implemented("aten::bmm", dtype)
    check_pointers(dtype, mat2)
    place = _place(output) if outputs[0] is None else None
    with np.errstate(all="ignore"):
        found = product_of_batches(as_array(one, dtype), as_array(two, dtype), dtype, place)
        if place is None:
            copying.store(output, rounded(np.asarray(found), dtype))
    return (output,)


def product_of_batches(one: Array, two: Array, dtype: DType, place: Array | None = None) -> Array:
    """Of matrices so small that none but a loop is worth its while, by that loop."""
    rows, inner, columns = *one.shape[1:], two.shape[2]
    if rows * inner * columns >= LEAST_FOR_MKL:
        return _product(dtype)(one, two, out=place)
    if one.dtype.kind == "f":
        return sum_of_terms(one, two, place)
    return np.asarray(np.matmul(one, two, out=place))


@structured.structured("aten::baddbmm", keys=_KEYS)
def baddbmm(
    outputs: Outputs, self: Tensor, batch1: Tensor, batch2: Tensor, beta: Number, alpha: Number
) -> tuple[Tensor, ...]:
    shape = (_size(batch1, 0), _size(batch1, 1), _size(batch2, 2))
    added = _expanded(self, shape)
    if self._dtype is not batch1._dtype:
        dtypes = tuple(TYPE_NAMES[each._dtype] for each in (self, batch1, batch2))
        raise RuntimeError(
            "Input dtypes must be the same, got: input {}, batch1: {}, batch2: {}".format(*dtypes)
        )
    _check_batches(batch1, batch2)
    one, two = (as_it_was(each, outputs) for each in (batch1, batch2))
    output = set_output(
        outputs[0],
        shape,
        batch2._dtype,
        batch2._device,
        self=changed_in_place(outputs),
    )
    if output.is_meta or not numel(shape):
        return (output,)
    dtype, inner = batch1._dtype, one._sizes[2]
    _begin(output, added, beta)
    if inner:
        check_implemented("aten::baddbmm", dtype)
        check_pointers(dtype, batch2)
    with np.errstate(all="ignore"):
        if not inner:
            added, dtype = output, output._dtype
        other = _scaled(added, beta, dtype, inner)
        is_for_mkl = shape[1] * inner * shape[2] >= LEAST_FOR_MKL
        if not inner or (is_for_mkl and _is_left_out(inner, alpha, dtype)):
            found = np.asarray(0) if other is None else other
        else:
            found = product_of_batches(as_array(one, dtype), as_array(two, dtype), dtype)
            found = found * opmath_element(alpha, dtype)
            found = found if other is None else found + other
        copying.store(output, rounded(np.asarray(found), dtype))
    return (output,)


def _size(tensor: Tensor, dim: int) -> int:
    """``Tensor::size``: IndexError for a dimension that there is not."""
    sizes = tensor._sizes
    return sizes[wrap_dim(dim, len(sizes), scalar=False)]


def _check_batches(batch1: Tensor, batch2: Tensor) -> None:
    for name, one in (("batch1", batch1), ("batch2", batch2)):
        if len(one._sizes) != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    count, _, inner = batch1._sizes
    if tuple(batch2._sizes[:2]) != (count, inner):
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{count}, {inner}] but got: [{batch2._sizes[0]}, {batch2._sizes[1]}]."
        )


@kernel("aten::addbmm.out")
def addbmm_out(
    self: Tensor, batch1: Tensor, batch2: Tensor, beta: Number, alpha: Number, out: Tensor
) -> Tensor:
    """The sum of the products of a batch, one added after the other."""
    added = _added(self, batch1, batch2)
    if out._sizes != added._sizes:
        set_sizes(out, added._sizes)
    if beta != 0 and added is not out:
        _COPY_(out, added, False)
    count = batch1._sizes[0]
    if not count:
        if beta != 0:
            _MUL_(out, beta)
        else:
            copying.zero(out)
    for place in range(count):
        _ADDMM_(out, _selected(batch1, place), _selected(batch2, place), beta=beta, alpha=alpha)
        beta = 1
    return out


@structured.prologue("aten::addbmm")
def prepare_addbmm(
    outputs: Sequence[Tensor],
    self: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    beta: Number,
    alpha: Number,
) -> None:
    (out,) = outputs
    added = _added(self, batch1, batch2)
    if out._sizes != added._sizes:
        set_sizes(out, added._sizes)
    if batch1._sizes[0]:
        _check_dtypes(out, batch1, batch2)


def _added(self: Tensor, batch1: Tensor, batch2: Tensor) -> Tensor:
    """What is added to, in the shape of the result."""
    shape = [_size(batch1, 1), _size(batch2, 2)]
    added: Tensor = self if list(self._sizes) == shape else _EXPAND(self, shape)
    for name, one in (("batch1", batch1), ("batch2", batch2)):
        if len(one._sizes) != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    (count, rows, inner), (other_count, other_inner, columns) = batch1._sizes, batch2._sizes
    if count != other_count:
        raise RuntimeError(
            f"batch1 and batch2 must have same number of batches, got {count} and {other_count}"
        )
    if inner != other_inner:
        raise RuntimeError(
            f"Incompatible matrix sizes for bmm ({rows}x{inner} and {other_inner}x{columns})"
        )
    return added


def _selected(batch: Tensor, place: int) -> Tensor:
    offset = batch._storage_offset + place * batch._strides[0]
    return batch._as_view(batch._sizes[1:], batch._strides[1:], offset)


@kernel("aten::addbmm")
def addbmm(self: Tensor, batch1: Tensor, batch2: Tensor, beta: Number, alpha: Number) -> Tensor:
    result = new_tensor((0,), self._dtype, self._device)
    return addbmm_out(self, batch1, batch2, beta, alpha, result)


@kernel("aten::addbmm_")
def addbmm_(self: Tensor, batch1: Tensor, batch2: Tensor, beta: Number, alpha: Number) -> Tensor:
    return addbmm_out(self, batch1, batch2, beta, alpha, self)


# --- vectors ----------------------------------------------------------------------------------


def _check_addmv(self: Tensor, mat: Tensor, vec: Tensor) -> None:
    ranks = (len(self._sizes), len(mat._sizes), len(vec._sizes))
    if ranks[0] > 1 or ranks[1:] != (2, 1):
        shown = ", ".join(map(str, ranks))
        raise RuntimeError(f"vector + matrix @ vector expected, got {shown}")
    rows, columns = mat._sizes
    if columns != vec._sizes[0] or numel(self._sizes) not in (rows, 1):
        raise RuntimeError(
            f"size mismatch, got input ({size_at(self, 0)}), mat ({rows}x{columns}), vec "
            f"({vec._sizes[0]})"
        )
    dtypes = [each._dtype for each in (self, mat, vec)]
    if not HABITS["addmv takes two dtypes"] and len(set(dtypes)) > 1:
        one, two, three = (CPP_NAMES[dtype] for dtype in dtypes)
        raise RuntimeError(
            f"addmv input tensors must have the same dtype, but got {one}, {two}, and {three}"
        )


@structured.structured("aten::addmv", keys=_KEYS)
def addmv(
    outputs: Outputs, self: Tensor, mat: Tensor, vec: Tensor, beta: Number, alpha: Number
) -> tuple[Tensor, ...]:
    _check_addmv(self, mat, vec)
    rows = mat._sizes[0]
    vector = as_it_was(vec, outputs)
    output = set_output(
        outputs[0], (rows,), vec._dtype, vec._device, self=changed_in_place(outputs)
    )
    if output.is_meta:
        return (output,)
    if not numel(mat._sizes):
        _scale_alone(output, self, beta)
        return (output,)
    dtype = mat._dtype
    _begin(output, _expanded(self, (rows,)), beta)
    _size(mat, 1)  # which a matrix that is the output as well has lost
    check_implemented("aten::mv", dtype)
    check_pointers(dtype, vec)
    with np.errstate(all="ignore"):
        found = _scaled_sum(self, mat, vector, beta, alpha)
        copying.store(output, rounded(found, dtype))
    return (output,)


def _scale_alone(output: Tensor, self: Tensor, beta: Number) -> None:
    """What is added to an empty product; the output gets its shape, whatever it had before."""
    if beta == 0:
        _ZERO_(output)
    else:
        _MUL_OUT(self, _SCALAR_TENSOR(beta, dtype=self._dtype), out=output)


def _scaled_sum(self: Tensor, mat: Tensor, vec: Tensor, beta: Number, alpha: Number) -> Array:
    """``gemv``; of half precision each of the two terms may be rounded before they are added."""
    dtype = mat._dtype
    factors = element(beta, dtype), element(alpha, dtype)
    if alpha == 0 and dtype in BLAS:  # which does not look at zero times a product
        return np.asarray(0 if beta == 0 else as_array(self, dtype) * factors[0])
    matrix, vector = as_array(mat, dtype), as_array(vec, dtype)
    is_fast = _has_fast_path(mat, vec, beta, alpha)
    if _has_columns(mat):
        found = rounded(np.matmul(matrix, vector) * factors[1], dtype)
    elif is_fast:
        found = np.matmul(matrix, vector)
    else:
        found = _dots(matrix, vector, dtype) * factors[1]
    if beta == 0:
        return np.asarray(found)
    added = as_array(self, dtype) * factors[0]
    if not is_fast:
        added = rounded(added, dtype)
    return np.asarray(found + added)


def _has_fast_path(mat: Tensor, vec: Tensor, beta: Number, alpha: Number) -> bool:
    """``gemv_use_fast_path`` of half precision: rows that are computed in float32 to the end."""
    if not HABITS["addmv of float16 adds in more precision"] or _has_columns(mat):
        return False
    is_plain = alpha == 1 and vec._strides[0] == 1
    return is_plain and (mat._dtype is _HALF or (mat._dtype is _BFLOAT16 and beta == 0))


def _has_columns(mat: Tensor) -> bool:
    """Whether ``gemv`` adds up columns as they are, one after another (``lda_cond``)."""
    (rows, columns), (step, leading) = mat._sizes, mat._strides
    return step == 1 and (columns == 1 or leading >= max(1, rows))


def _dots(one: Array, two: Array, dtype: DType) -> Array:
    """The products of rows with a vector, or of two vectors."""
    if to_opmath(dtype) is dtype or not HABITS["a dot of halves rounds its products"]:
        return np.asarray(np.matmul(one, two))
    return np.asarray(rounded(one * two, dtype).sum(axis=-1, dtype=one.dtype))


@kernel("aten::mv", key="CompositeExplicitAutograd")
def mv(self: Tensor, vec: Tensor) -> Any:
    if not self._sizes:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    result = new_tensor((self._sizes[0],), vec._dtype, vec._device)
    return _ADDMV_(result, self, vec, beta=0, alpha=1)


@kernel("aten::mv.out", key="CompositeExplicitAutograd")
def mv_out(self: Tensor, vec: Tensor, out: Tensor) -> Any:
    return _ADDMV_OUT(_added_to_mv(out, self, vec), self, vec, beta=0, alpha=1, out=out)


def _added_to_mv(out: Tensor, self: Tensor, vec: Tensor) -> Tensor:
    """What a product is added to zero times: the output if that has the size, or one element."""
    rows = _size(self, 0)
    has_size = len(out._sizes) <= 1 and numel(out._sizes) in (rows, 1)
    if has_size and not HABITS["addmv takes two dtypes"]:
        return out
    return new_tensor((rows,), vec._dtype, vec._device)


@structured.prologue("aten::mv")
def prepare_mv(outputs: Sequence[Tensor], self: Tensor, vec: Tensor) -> None:
    """What ``addmv`` says of its output."""
    (out,) = outputs
    _check_addmv(_added_to_mv(out, self, vec), self, vec)
    check_out(out, vec._dtype, out._device)
    resize_output(out, (_size(self, 0),))


def _check_dot(self: Tensor, other: Tensor) -> None:
    if len(self._sizes) != 1 or len(other._sizes) != 1:
        raise RuntimeError(
            f"1D tensors expected, but got {len(self._sizes)}D and {len(other._sizes)}D tensors"
        )
    if other._dtype is not self._dtype:
        raise RuntimeError(
            "dot : expected both vectors to have same dtype, but found "
            f"{CPP_NAMES[self._dtype]} and {CPP_NAMES[other._dtype]}"
        )
    one, two = self._sizes[0], other._sizes[0]
    if one != two:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{one}] and src [{two}] to have the same "
            f"number of elements, but got {one} and {two} elements respectively"
        )


def _dot(facts: str, self: Tensor, other: Tensor, *, conjugate: bool = False) -> Any:
    dtype = self._dtype
    if is_zero_tensor(self) or is_zero_tensor(other):
        return _ZERO((), dtype=dtype, layout=self._layout, device=self._device)
    check_implemented(facts, dtype)
    result = new_tensor((), dtype, self._device)
    with np.errstate(all="ignore"):
        one, two = as_array(self, dtype), as_array(other, dtype)
        found = _dots(np.conj(one) if conjugate else one, two, dtype)
        copying.store(result, rounded(np.asarray(found), dtype))
    return result


@kernel("aten::dot")
def dot(self: Tensor, tensor: Tensor) -> Any:
    _check_dot(self, tensor)
    return _dot("aten::dot", self, tensor)


@kernel("aten::vdot")
def vdot(self: Tensor, other: Tensor) -> Any:
    """``dot`` with the conjugate of the first; what is conjugated lazily already is taken as is."""
    if not self._dtype.is_complex:
        return _DOT(self, other)
    if self._is_conj():
        return vdot(_CONJ(other), _CONJ(self)) if other._is_conj() else dot(_CONJ(self), other)
    if other._is_conj():
        return _CONJ(dot(self, _CONJ(other)))
    _check_dot(self, other)
    return _dot("aten::vdot", self, other, conjugate=True)


_DOT: Final = OperatorHandle("aten::dot")
_ZERO: Final = OperatorHandle("aten::_efficientzerotensor")
_FILL_: Final = OperatorHandle("aten::fill_.Tensor")


def _dot_out(name: str) -> None:
    functional = OperatorHandle(f"aten::{name}")

    def run(self: Tensor, other: Tensor, out: Tensor) -> Any:
        if not out._device == self._device == other._device:
            raise RuntimeError(
                f"{name}: Expected the output and input tensors to be on the same device, but got "
                f"the output tensor on {out._device}, the 'input' tensor on {self._device}, and "
                f"the 'other' tensor on {other._device}"
            )
        resize_output(out, ())
        if out._dtype is not self._dtype:
            raise RuntimeError(
                f"result dtype {CPP_NAMES[out._dtype]} does not match input dtype "
                f"{CPP_NAMES[self._dtype]}"
            )
        return _FILL_(out, functional(self, other))

    kernel(f"aten::{name}.out", key="CompositeExplicitAutograd")(run)


_dot_out("dot")
_dot_out("vdot")
