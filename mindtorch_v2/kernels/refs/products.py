"""The reference functions of products of matrices.

Mirrors functions of ``torch/_meta_registrations.py``, ``torch/_decomp/decompositions.py`` and
``torch/_refs/__init__.py``.
"""

from __future__ import annotations

from typing import Any, Final

from mindtorch_v2.kernels.elementwise.promotion import BOOL, Number
from mindtorch_v2.kernels.handle import OperatorHandle
from mindtorch_v2.kernels.outputs import new_tensor
from mindtorch_v2.kernels.refs.bodies import body
from mindtorch_v2.kernels.refs.common import (
    HABITS,
    broadcast_shapes,
    check_same_device,
    dtype_to_type,
    is_weakly_lesser_type,
    pw_cast_for_opmath,
)
from mindtorch_v2.kernels.switches import HABITS as NEURAL_HABITS
from mindtorch_v2.kernels.views.strided import size_at
from mindtorch_v2.tensor.dtype import DTYPES, DType
from mindtorch_v2.tensor.geometry import numel, wrap_dim
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.tensor import Tensor

_META: Final = "torch._meta_registrations."
_DECOMPOSED: Final = "torch._decomp.decompositions."


_HALVES: Final = (DTYPES["float16"], DTYPES["bfloat16"])


def _result_dtype(input: DType, out_dtype: DType | None, message: str) -> DType:
    """The dtype that is asked for: the input's, or float32 of halves; else a RuntimeError."""
    asked = input if out_dtype is None else out_dtype
    if asked is not input and (asked is not DTYPES["float32"] or input not in _HALVES):
        raise RuntimeError(message)
    return asked


@body(_META + "meta_mm")
def meta_mm(a: Tensor, b: Tensor, out_dtype: DType | None = None) -> Tensor:
    for name, one in (("a", a), ("b", b)):
        if len(one._sizes) != 2:
            raise RuntimeError(f"{name} must be 2D")
    (rows, inner), (other, columns) = a._sizes, b._sizes
    if inner != other:
        raise RuntimeError(
            f"a and b must have same reduction dim, but got [{rows}, {inner}] X "
            f"[{other}, {columns}]."
        )
    message = "out_dtype must be the same as input dtype or fp32 for fp16/bf16 inputs"
    return new_tensor((rows, columns), _result_dtype(a._dtype, out_dtype, message), a._device)


@body(_META + "meta_bmm_dtype")
def meta_bmm_dtype(self: Tensor, mat2: Tensor, out_dtype: DType) -> Tensor:
    made = meta_bmm(self, mat2)
    message = (
        "out_dtype only supported for torch.float32 output with float16/bfloat16 inputs or same as "
        "input dtypes"
    )
    return new_tensor(made._sizes, _result_dtype(self._dtype, out_dtype, message), made._device)


@body(_META + "meta_bmm")
def meta_bmm(self: Tensor, mat2: Tensor) -> Tensor:
    for name, one in (("batch1", self), ("batch2", mat2)):
        if len(one._sizes) != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if HABITS["bmm looks at dtypes"] and self._dtype is not mat2._dtype:
        raise RuntimeError(f"expected scalar type {self._dtype} but found {mat2._dtype}")
    count, rows, inner = self._sizes
    if tuple(mat2._sizes[:2]) != (count, inner):
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{count}, {inner}] but got: [{mat2._sizes[0]}, {mat2._sizes[1]}]."
        )
    return new_tensor((count, rows, mat2._sizes[2]), mat2._dtype, mat2._device)


_ADD: Final = OperatorHandle("aten::add.Tensor")
_MM: Final = OperatorHandle("aten::mm")
_EXPAND: Final = OperatorHandle("aten::expand")
_MUL: Final = OperatorHandle("aten::mul.Tensor")
_MV: Final = OperatorHandle("aten::mv")
_SUM: Final = OperatorHandle("aten::sum.dim_IntList")


def factors_for(self: Tensor, *factors: Any) -> tuple[Any, ...]:
    """Those of integers are cut off to integers."""
    return tuple(map(int, factors)) if is_integral(self._dtype) else factors


@body(_DECOMPOSED + "addmm")
def addmm(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number = 1, alpha: Number = 1) -> Any:
    """Where the dtype of the result is given, that is taken for ``beta``."""
    beta, alpha = factors_for(self, beta, alpha)
    product = _MUL(_MM(mat1, mat2), alpha)
    if isinstance(beta, DType):
        raise TypeError("unsupported operand type(s) for *: 'torch.dtype' and 'Tensor'")
    return _added(self, product, beta)


@body(_DECOMPOSED + "addmv")
def addmv(self: Tensor, mat1: Tensor, vec: Tensor, beta: Number = 1, alpha: Number = 1) -> Any:
    dtypes = [each._dtype for each in (self, mat1, vec)]
    if not HABITS["addmv takes two dtypes on meta"] and len(set(dtypes)) > 1:
        one, two, three = dtypes
        raise RuntimeError(
            f"addmv input tensors must have the same dtype, but got {one}, {two}, and {three}"
        )
    return _addmv_impl(self, mat1, vec, beta, alpha)


@pw_cast_for_opmath
def _addmv_impl(self: Tensor, mat1: Tensor, vec: Tensor, beta: Number, alpha: Number) -> Any:
    beta, alpha = factors_for(self, beta, alpha)
    product = _MUL(_MV(mat1, vec), alpha)
    if beta != 0 and not numel(product._sizes) and HABITS["nothing is added to an empty product"]:
        return _MUL(self, beta)
    return _added(self, product, beta)


def _added(self: Tensor, product: Any, beta: Number) -> Any:
    """``self`` may widen the product, where the release does not expand it to that."""
    if beta == 0:
        return product
    if HABITS["what is added to a product is expanded"]:
        self = _EXPAND(self, list(product._sizes))
    return _ADD(product, _MUL(self, beta))


@body(_DECOMPOSED + "mv")
def mv(self: Tensor, vec: Tensor) -> Any:
    if (len(self._sizes), len(vec._sizes)) != (2, 1):
        raise RuntimeError(f"matrix @ vector expected, got {len(self._sizes)}, {len(vec._sizes)}")
    rows, columns = self._sizes
    if columns != vec._sizes[0]:
        raise RuntimeError(f"size mismatch, got input ({rows}x{columns}), vec ({vec._sizes[0]})")
    return _SUM(_MUL(self, vec), [1], False)


@body("torch._refs._dot_check_wrapper", "torch._refs.dot", "torch._refs.vdot")
def dot(self: Tensor, other: Tensor) -> Tensor:
    if len(self._sizes) != 1 or len(other._sizes) != 1:
        raise RuntimeError(
            f"1D tensors expected, but got {len(self._sizes)}D and {len(other._sizes)}D tensors"
        )
    if self._dtype is not other._dtype:
        raise RuntimeError(
            "dot : expected both vectors to have same dtype, but found "
            f"{self._dtype} and {other._dtype}"
        )
    one, two = self._sizes[0], other._sizes[0]
    if one != two:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{one}] and src [{two}] to have the"
            f"same number of elements, but got {one} and {two} elements respectively"
        )
    check_same_device(self, other)
    return new_tensor((), self._dtype, self._device)


# --- batches that are added -------------------------------------------------------------------


def _size(tensor: Tensor, dim: int) -> int:
    return tensor._sizes[wrap_dim(dim, len(tensor._sizes), scalar=False)]


def _check_batches(batch1: Tensor, batch2: Tensor) -> None:
    for name, one in (("batch1", batch1), ("batch2", batch2)):
        if len(one._sizes) != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")


@body(_META + "meta_baddbmm")
def meta_baddbmm(
    self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    shape = [_size(batch1, 0), _size(batch1, 1), _size(batch2, 2)]
    _EXPAND(self, shape)
    _check_batches(batch1, batch2)
    if not self._dtype is batch1._dtype is batch2._dtype:
        raise RuntimeError(
            f"Input dtypes must be the same, got: input: {self._dtype}, batch1: {batch1._dtype}, "
            f"batch2: {batch2._dtype}"
        )
    count, _, inner = batch1._sizes
    if tuple(batch2._sizes[:2]) != (count, inner):
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{count}, {inner}] but got: [{batch2._sizes[0]}, {batch2._sizes[1]}]."
        )
    return new_tensor(shape, self._dtype, self._device)


@body(_META + "meta_addbmm")
def meta_addbmm(
    self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    shape = [_size(batch1, 1), _size(batch2, 2)]
    _EXPAND(self, shape)
    _check_batches(batch1, batch2)
    (count, rows, inner), (other_count, other_inner, columns) = batch1._sizes, batch2._sizes
    if count != other_count:
        raise RuntimeError(
            f"batch1 and batch2 must have same number of batches, got {count} and {other_count}"
        )
    if inner != other_inner:
        raise RuntimeError(
            f"Incompatible matrix sizes for bmm ({rows}x{inner} and {other_inner}x{columns})"
        )
    return new_tensor(shape, self._dtype, self._device)


# --- addr -------------------------------------------------------------------------------------

_FULL_LIKE: Final = OperatorHandle("aten::full_like")
_LOGICAL_OR: Final = OperatorHandle("aten::logical_or")
_OUTER: Final = OperatorHandle("aten::outer")


@body("torch._refs.addr")
def addr(self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Any:
    for name, vector in (("vec1", vec1), ("vec2", vec2)):
        if len(vector._sizes) != 1:
            raise RuntimeError(
                f"addr: Expected 1-D argument {name}, but got {len(vector._sizes)}-D"
            )
    if HABITS["addr looks at truth values"]:
        for name, number in (("alpha", alpha), ("beta", beta)):
            if isinstance(number, bool) and self._dtype is not BOOL:
                raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
    self = _EXPAND(self, [vec1._sizes[0], vec2._sizes[0]])
    if self._dtype is BOOL:
        return _addr_of_truth(self, vec1, vec2, beta, alpha)
    for number in (beta, alpha):
        if not is_weakly_lesser_type(type(number), dtype_to_type(self._dtype)):
            raise RuntimeError(f"cannot safely convert {type(number)} to {self._dtype}")
    product = _MUL(_OUTER(vec1, vec2), alpha)
    return product if beta == 0 else _ADD(_MUL(self, beta), product)


def _addr_of_truth(self: Tensor, vec1: Tensor, vec2: Tensor, beta: Number, alpha: Number) -> Any:
    right = HABITS["addr looks at truth values"]  # which of them the message shows
    for name, number, shown in (("beta", beta, beta), ("alpha", alpha, alpha if right else beta)):
        if not is_weakly_lesser_type(type(number), int):
            raise RuntimeError(f"expected bool/int {name} but got {type(shown)}")
    product = _OUTER(vec1, vec2) if alpha else _FULL_LIKE(self, False)
    return _LOGICAL_OR(self, product) if beta else product


@body("torch._meta_registrations.linalg_cross")
def linalg_cross(self: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    if len(self._sizes) != len(other._sizes):
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    one, two = (size_at(each, dim) for each in (self, other))
    if (one, two) != (3, 3):
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {one} and {two}"
        )
    return new_tensor(broadcast_shapes(self._sizes, other._sizes), self._dtype, self._device)


@body(_META + "meta__int_mm")
def meta__int_mm(a: Tensor, b: Tensor) -> Tensor:
    for name, one in (("a", a), ("b", b)):
        if len(one._sizes) != 2:
            raise RuntimeError(f"{name} must be a 2D tensor")
    takes_bytes = NEURAL_HABITS["_int_mm takes bytes on its left"]
    left = ("int8", "uint8") if takes_bytes else ("int8",)
    for name, one, dtypes in (("self", a, left), ("mat2", b, ("int8",))):
        if one._dtype not in [DTYPES[each] for each in dtypes]:
            raise RuntimeError(f"expected {name} to be {' or '.join(dtypes)}, got {one._dtype}")
    (rows, inner), (other, columns) = a._sizes, b._sizes
    if inner != other:
        raise RuntimeError(
            f"Incompatible matrix sizes for _int_mm ({rows}x{inner} and {other}x{columns})"
        )
    return new_tensor((rows, columns), DTYPES["int32"], a._device)
