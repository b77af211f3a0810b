"""Type promotion: the dtype in which an operator computes.

Mirrors ``aten/src/ATen/native/TypeProperties.cpp``: tensors with dimensions decide, then those
without, then numbers, which count as tensors that torch wraps; a later group only decides if it
is of a higher category.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

from mindtorch_v2.binding.convert import enum_value
from mindtorch_v2.tensor.default_dtype import get_default_dtype
from mindtorch_v2.tensor.dtype import COMPLEX_HALVES, COMPLEX_OF_REAL, DTYPES, DType, int64
from mindtorch_v2.tensor.scalars import is_integral
from mindtorch_v2.tensor.support import CPP_NAMES, promote_types
from mindtorch_v2.tensor.tensor import Tensor

Number: TypeAlias = bool | int | float | complex
Operand: TypeAlias = Tensor | Number

BOOL: Final = DTYPES["bool"]
_ACCUMULATED: Final = {
    DTYPES["float32"]: DTYPES["float64"],
    DTYPES["float64"]: DTYPES["float64"],
    **dict.fromkeys(COMPLEX_HALVES, DTYPES["complex64"]),
    DTYPES["complex64"]: DTYPES["complex128"],
    DTYPES["complex128"]: DTYPES["complex128"],
    BOOL: BOOL,
}


def accumulate_type(dtype: DType) -> DType:
    """``at::toAccumulateType``: the dtype in which a CPU adds up; of shorter floats float32."""
    if is_integral(dtype) and dtype is not BOOL:
        return int64
    return _ACCUMULATED.get(dtype, DTYPES["float32"])


_NUMBERED: Final = {enum_value(dtype): dtype for dtype in DTYPES.values()}


def dtype_numbered(number: int) -> DType:
    """The dtype that C++ keeps as this number; RuntimeError if there is none."""
    if number not in _NUMBERED:
        raise RuntimeError(f"there is no ScalarType {number}")
    return _NUMBERED[number]


_UINT64: Final = DTYPES["uint64"]


def number_dtype(number: Number) -> DType:
    """The dtype of the tensor that wraps a number: the unsigned one where no other holds it."""
    if isinstance(number, bool):
        return BOOL
    if isinstance(number, int):
        return int64 if number < 1 << 63 else _UINT64
    return DTYPES["complex128" if isinstance(number, complex) else "float64"]


def default_complex_dtype() -> DType:
    return COMPLEX_OF_REAL[get_default_dtype()]


def _default_for_number(number: Number) -> DType:
    """The dtype that a number brings in: of floats and complex numbers the default one."""
    if isinstance(number, complex):
        return default_complex_dtype()
    return get_default_dtype() if isinstance(number, float) else number_dtype(number)


def result_type(operands: Iterable[Operand]) -> DType:
    """``at::result_type``; RuntimeError for dtypes that do not promote."""
    with_dims: DType | None = None
    without_dims: DType | None = None
    wrapped: DType | None = None
    for operand in operands:
        if not isinstance(operand, Tensor):
            wrapped = _promoted(wrapped, _default_for_number(operand))
        elif operand._sizes:
            with_dims = _promoted(with_dims, operand._dtype)
        else:
            without_dims = _promoted(without_dims, operand._dtype)
    found = _combined(with_dims, _combined(without_dims, wrapped))
    if found is None:
        raise ValueError("a result type of nothing")
    return found


def _promoted(one: DType | None, two: DType) -> DType:
    return two if one is None or one is two else promote_types(one, two)


def _combined(higher: DType | None, lower: DType | None) -> DType | None:
    """``combine_categories``: the lower one counts only if it is of a higher category."""
    if higher is None or lower is None:
        return lower if higher is None else higher
    if higher.is_complex:
        return higher
    if higher.is_floating_point:
        # a complex number takes the precision of the floats that it meets
        return to_complex(higher) if lower.is_complex else higher
    if lower.is_complex:
        return lower
    if higher is BOOL or lower.is_floating_point:
        return promote_types(higher, lower)
    return higher


def to_complex(dtype: DType) -> DType:
    """``c10::toComplexType`` of floats; RuntimeError if there is none."""
    found = COMPLEX_OF_REAL.get(dtype)
    if found is None:
        raise RuntimeError(f"Unknown Complex ScalarType for {CPP_NAMES[dtype]}")
    return found


def can_cast(source: DType, target: DType) -> bool:
    """``c10::canCast``: whether a result may be stored so."""
    if source.is_complex and not target.is_complex:
        return False
    if source.is_floating_point and is_integral(target):
        return False
    return source is BOOL or target is not BOOL


def check_can_cast(source: DType, target: DType) -> None:
    """RuntimeError where a result may not be stored so."""
    if not can_cast(source, target):
        raise RuntimeError(
            f"result type {CPP_NAMES[source]} can't be cast to the desired output type "
            f"{CPP_NAMES[target]}"
        )


def to_opmath(dtype: DType) -> DType:
    """``at::toOpMathType``: in which precision a kernel computes values of a dtype."""
    return _OPMATH.get(dtype, dtype)


_OPMATH: Final = {
    dtype: DTYPES["complex64" if dtype.is_complex else "float32"]
    for dtype in DTYPES.values()
    if (dtype.is_complex and dtype.itemsize < 8) or (dtype.is_floating_point and dtype.itemsize < 4)
}


def float_of(dtype: DType) -> DType:
    """What integers become where a function only has floating point results."""
    return get_default_dtype() if is_integral(dtype) else dtype
